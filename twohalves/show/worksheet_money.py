"""From tokens to dollars: what a ratio of tokens becomes, and for which tasks it turns round."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from IPython.display import Markdown

from twohalves.formulas import Prices, Traffic, bill
from twohalves.runs.reference import claim
from twohalves.show.calculator import Start
from twohalves.show.calculator.spec import spec
from twohalves.show.calculator.words import exact_percent, number
from twohalves.show.markdown import say, table
from twohalves.show.worksheet_bill import month, prices

_DEARER_OUTPUT = 5
"""Times the price of input: chosen here, the factor at which the chapter's lower figure lies."""


def ratios(start: Mapping[str, Start]) -> Markdown:
    """Tokens in for one out, and dollars in for one out without and with a cache.

    Args:
        start: of the worksheet, with what was counted of the reader's request.
    """
    shapes = {
        "the chapter's summary": month(),
        "your request": _own(start),
        "a short question, a long answer": _long_answer(),
    }
    rows = [
        [
            label,
            _to_one(_tokens(traffic)),
            _to_one(_money(traffic.uncached, prices())),
            exact_percent(traffic.hit_rate),
            _to_one(_money(traffic, prices())),
        ]
        for label, traffic in shapes.items()
    ]
    header = ["request", "tokens, in : out", "dollars, no cache", "hit rate", "dollars, cached"]
    return table(header, rows, "In to out, all at the chapter's illustrative prices.")


def converted() -> Markdown:
    """The chapter's ratio at two prices of output, and with the cache."""
    traffic, sheet = month(), prices()
    plain, dear = traffic.uncached, replace(sheet, output=_DEARER_OUTPUT * sheet.uncached)
    return say(
        f"The chapter's nearly {_to_one(round(_tokens(traffic)))} in tokens is "
        f"{_to_one(_money(plain, sheet))} in money, since a token written costs "
        f"{number(sheet.output / sheet.uncached)} times one that is read. At "
        f"{number(_DEARER_OUTPUT)} times it would be {_to_one(_money(plain, dear))}: hence the "
        f"chapter's {number(claim('money_ratio_low'))} or {number(claim('money_ratio_high'))} to "
        f"1. At {exact_percent(traffic.hit_rate)} cached it is {_to_one(_money(traffic, sheet))}."
    )


def turns_round() -> Markdown:
    """How many tokens in for one out make both halves of the bill equal."""
    traffic, sheet = month(), prices()
    mean = traffic.hit_rate * sheet.cached + (1 - traffic.hit_rate) * sheet.uncached
    return say(
        "Where does it turn round? Both halves of the bill are equal when a request reads "
        f"{number(sheet.output / sheet.uncached)} tokens for each one that it writes, or "
        f"{number(sheet.output / mean)} at {exact_percent(traffic.hit_rate)} cached. Where it "
        "reads more, a shorter prompt saves more than an answer that is shorter by as many "
        "percent. Where it reads less, and surely where it writes more than it reads, the answer "
        "is the larger half."
    )


def _own(start: Mapping[str, Start]) -> Traffic:
    """The reader's request in the chapter's month; what `start` lacks is the chapter's."""
    known = ("prompt_tokens", "output_tokens", "hit_rate")
    return replace(month(), **{name: float(start[name].value) for name in known if name in start})


def _long_answer() -> Traffic:
    """The example of section 31.1 in which decode is the larger half."""
    values = spec("latency")["presets"][-1]["values"]
    return replace(month(), **{name: float(value) for name, value in values.items()})


def _tokens(traffic: Traffic) -> float:
    return traffic.prompt_tokens / traffic.output_tokens


def _money(traffic: Traffic, sheet: Prices) -> float:
    made = bill(traffic, sheet)
    return made.input / made.output


def _to_one(ratio: float) -> str:
    return f"{number(ratio)} : 1"
