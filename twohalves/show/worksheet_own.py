"""The reader's own request on the worksheet: its four lines, its levers, its share of input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from IPython.display import Markdown

from twohalves.formulas import bill
from twohalves.measure.counting import Counted
from twohalves.measure.request import OF_SYSTEM
from twohalves.runs.reference import claim
from twohalves.show.calculator import Outcome, RateSet, Start, outcome
from twohalves.show.calculator.spec import Values, spec
from twohalves.show.calculator.start import begin
from twohalves.show.calculator.words import dollars, exact_percent, said
from twohalves.show.markdown import say, table
from twohalves.show.numbers import fixed, percent
from twohalves.show.worksheet_bill import month, prices

_LINES = (
    ("prompt_tokens", "prompt tokens", "count them", "ws_prompt", 1),
    ("hit_rate", "of which cached", "measure it", "ws_hit_pct", 100),
    ("output_tokens", "output tokens", "count them", "ws_output", 1),
    ("requests", "requests a month", "a decision", "ws_requests", 1),
)
"""Input, what it is called, how to come by it, the chapter's claim, and what divides that."""


def values(rates: Sequence[RateSet], start: Mapping[str, Start]) -> Values:
    """What the worksheet begins with."""
    return begin(spec("worksheet"), start, rates).values


def computed(rates: Sequence[RateSet], start: Mapping[str, Start]) -> Outcome:
    """What it then shows."""
    return outcome("worksheet", values(rates, start), rates)


def lines(start: Mapping[str, Start]) -> Markdown:
    """The four lines: how to come by each, the chapter's value, and the reader's."""
    inputs = {each["id"]: each for each in spec("worksheet")["inputs"]}
    rows = []
    for name, label, how, printed, divisor in _LINES:
        described, given = inputs[name], start.get(name)
        yours = "–" if given is None else said(described, float(given.value))
        rows.append([label, how, said(described, claim(printed) / divisor), yours])
    caption = "The four lines. The chapter's come from its example, yours from this notebook."
    return table(["line", "how", "chapter", "yours"], rows, caption)


def whose_hit_rate(counted: Counted, start: Mapping[str, Start]) -> Markdown:
    """The hit rate that was measured beside what the parts of the request allow.

    Args:
        counted: the reader's request; of its parts, those of the system message come first and
            are the same each time.
        start: of the worksheet; its hit rate was measured on other requests.
    """
    stable = sum(part.tokens for part in counted.parts if part.name in OF_SYSTEM)
    stable = min(stable, counted.prompt_tokens)  # a template may leave out some of it
    most = stable / counted.prompt_tokens
    given = start.get("hit_rate")
    measured = "None was measured: the worksheet begins with the chapter's."
    if given is not None:
        measured = (
            f"{exact_percent(float(given.value))} was measured on the traffic of section 31.5, in "
            "which the same documents come back."
        )
    return say(
        f"**Is that your hit rate?** {measured} In your request instructions, tools and examples "
        f"stand on top: {fixed(stable)} of {fixed(counted.prompt_tokens)} tokens. If everything "
        f"behind them is new each time, a cache finds at most {percent(most)} of the prompt: then "
        "set the hit rate of your worksheet to that. Only your own traffic can tell."
    )


def input_percent(rates: Sequence[RateSet], start: Mapping[str, Start]) -> float | None:
    """Percent of the bill that is input; None = nothing costs anything."""
    share = computed(rates, start).results["input_share"]
    return None if share is None else 100 * share


def levers(rates: Sequence[RateSet], start: Mapping[str, Start]) -> Markdown:
    """Which lever still saves most dollars, which most seconds, and whether those agree."""
    found = computed(rates, start)
    if not found.results["cost_total"]:
        return say("At these prices nothing costs anything, so there is nothing to save.")
    by_money, by_time = _ranked(found, 0), _ranked(found, 1)
    labels, reached = _labels(), [name for name in _labels() if found.results[name] is None]
    best, last = by_money[0], by_money[-1]
    told = (
        f"**On your request “{labels[best]}” saves most: {found.texts[best]} a month** of "
        f"{found.texts['cost_total']}; “{labels[last]}” {_little(found, last)}."
    )
    if reached:
        why = "you have it"
        if "hit_rate" not in start:
            why = "the worksheet begins with the chapter's, since none was measured"
        told += f" “{labels[reached[0]]}” is not among them: {why}."
    if by_money == by_time:
        return say(f"{told} Seconds put them in the same order.")
    order = ", ".join(f"“{labels[name]}” {found.texts[f'{name}_s']}" for name in by_time)
    return say(f"{told} Seconds put them in another order: {order}.")


def _little(found: Outcome, lever: str) -> str:
    """What the last lever does: it saves least, or where cached tokens are dear it costs."""
    text = found.texts[lever]
    lost = (found.results[lever] or 0.0) < 0
    return f"would cost {text.removeprefix('−')} more" if lost else f"saves least, {text}"


def levers_together() -> Markdown:
    """Two levers at once on the chapter's bill: less than the sum of each alone."""
    plain, sheet = month().uncached, prices()
    before = bill(plain, sheet).total
    half = plain.prompt_tokens / 2
    shorter, cached = replace(plain, prompt_tokens=half), month()
    both = before - bill(replace(cached, prompt_tokens=half), sheet).total
    alone = [before - bill(traffic, sheet).total for traffic in (shorter, cached)]
    return say(
        f"Savings do not add up. On the chapter's {dollars(before)} without a cache half the "
        f"prompt saves {dollars(alone[0])} and a hit rate of {fixed(claim('ws_hit_pct'))}% saves "
        f"{dollars(alone[1])}. Both together save {dollars(both)}, not {dollars(sum(alone))}: "
        "what is no longer sent can no longer be cached."
    )


def _labels() -> dict[str, str]:
    """What the worksheet calls its levers, by the ids of what they save a month."""
    [rows] = [each["rows"] for each in spec("worksheet")["tables"] if each["id"] == "levers"]
    return {row["cells"][0]: row["label"] for row in rows}


def _ranked(found: Outcome, column: int) -> list[str]:
    """The levers that are left, by what they save: 0 = a month, 1 = a request."""
    suffix = ("", "_s")[column]
    left = [name for name in _labels() if found.results[name] is not None]
    return sorted(left, key=lambda name: -(found.results[f"{name}{suffix}"] or 0.0))
