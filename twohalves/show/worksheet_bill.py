"""The chapter's worked bill, multiplied out, and what can be read off it.

Everything here is at the chapter's illustrative prices, which are no provider's, so that it stays
what it is whatever a reader sets elsewhere on the page.
"""

from __future__ import annotations

from IPython.display import Markdown

from twohalves.formulas import (
    Prices,
    Traffic,
    bill,
    hit_rate_worth_the_output,
    saved_by_cache,
)
from twohalves.runs.reference import claim
from twohalves.show.calculator.words import dollars, exact_percent, millions, share
from twohalves.show.markdown import say, table
from twohalves.show.numbers import counted, fixed, percent

_PERCENT = 100


def month(hit_rate: float | None = None) -> Traffic:
    """The chapter's example: a month of summaries of a short article.

    Args:
        hit_rate: in place of the chapter's, a fraction.
    """
    return Traffic(
        prompt_tokens=claim("ws_prompt"),
        output_tokens=claim("ws_output"),
        hit_rate=claim("ws_hit_pct") / _PERCENT if hit_rate is None else hit_rate,
        write_share=0,
        requests=claim("ws_requests"),
    )


def prices() -> Prices:
    """The chapter's three; writing to the cache costs what reading does."""
    return Prices(
        uncached=claim("price_uncached"),
        cached=claim("price_cached"),
        written=claim("price_uncached"),
        output=claim("price_output"),
    )


def worked() -> Markdown:
    """Three products and their sum, a line each."""
    traffic, sheet = month(), prices()
    made = bill(traffic, sheet)
    read, hits = fixed(traffic.prompt_tokens), exact_percent(traffic.hit_rate)
    missed = exact_percent(1 - traffic.hit_rate)
    header = ["line", "tokens a month", "price per million", "cost a month"]
    kinds = [
        ("uncached", f"uncached input ({missed} of {read})"),
        ("cached", f"cached input ({hits} of {read})"),
        ("output", f"output ({fixed(traffic.output_tokens)})"),
    ]
    rows = [
        [
            label,
            millions(getattr(made, f"{kind}_tokens")),
            dollars(getattr(sheet, kind)),
            dollars(getattr(made, kind)),
        ]
        for kind, label in kinds
    ]
    rows.append(["**total**", "", "", f"**{dollars(made.total)}**"])
    caption = (
        f"The chapter's example, {counted(traffic.requests, 'request')} a month. "
        "Illustrative prices, no provider's."
    )
    return table(header, rows, caption)


def without_the_cache() -> Markdown:
    """The same month with every prompt token at the full price."""
    made, without = bill(month(), prices()), bill(month().uncached, prices())
    return say(
        f"Without the cache the same month costs **{dollars(without.total)}**, of which "
        f"{dollars(without.input)} is input. The cache takes off "
        f"{dollars(without.total - made.total)}, or {percent(1 - made.total / without.total)}."
    )


def by_hit_rate() -> Markdown:
    """The bill at hit rates from none to all, the break-even with free output among them."""
    rates = sorted({0.0, _break_even(), month().hit_rate, 0.9, 1.0})
    rows = []
    for rate in rates:
        made = bill(month(rate), prices())
        saved = saved_by_cache(month(rate), prices())
        rows.append(
            [
                percent(rate, 0 if rate * _PERCENT % 1 == 0 else 1),
                dollars(made.input),
                dollars(made.output),
                dollars(made.total),
                dollars(saved),
                share(made.input / made.total),
            ]
        )
    header = ["hit rate", "input", "output", "bill", "saved by the cache", "input of the bill"]
    return table(header, rows, "The chapter's example at its illustrative prices, by hit rate.")


def what_to_read_off() -> Markdown:
    """The hit rate against any change of the answers; tokens against dollars."""
    traffic = month()
    made, saved = bill(traffic, prices()), saved_by_cache(traffic, prices())
    tokens = traffic.prompt_tokens / (traffic.prompt_tokens + traffic.output_tokens)
    return say(
        f"**The hit rate outweighs whatever is done to the answers.** At "
        f"{exact_percent(traffic.hit_rate)} the cache saves {dollars(saved)}. All output "
        f"together costs {dollars(made.output)}, so even answers without a single token would "
        f"save less. That holds above a hit rate of {percent(_break_even(), 1)}, where the cache "
        "saves exactly what the output costs.",
        f"**Tokens are not dollars.** Once the cache works, input is {share(tokens)} of the "
        f"tokens and {share(made.input / made.total)} of the bill, about two thirds.",
    )


def _break_even() -> float:
    """The hit rate that saves what all output costs; at the chapter's prices there is one."""
    return hit_rate_worth_the_output(month(), prices()) or 0.0
