"""The reader's own request on the worksheet: its four lines, its levers, its share of input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from IPython.display import Markdown

from twohalves.formulas import bill
from twohalves.runs.reference import claim
from twohalves.show.calculator import Outcome, RateSet, Start, outcome, spec
from twohalves.show.calculator.spec import Values
from twohalves.show.calculator.start import begin
from twohalves.show.calculator.words import FORMATS, dollars
from twohalves.show.markdown import say, table
from twohalves.show.numbers import fixed
from twohalves.show.worksheet_bill import month, prices

_LINES = (
    ("prompt_tokens", "prompt tokens", "ws_prompt", 1),
    ("hit_rate", "of which cached", "ws_hit_pct", 100),
    ("output_tokens", "output tokens", "ws_output", 1),
    ("requests", "requests a month", "ws_requests", 1),
)
"""Input, what it is called, the chapter's claim, and by what that has to be divided."""


def values(rates: Sequence[RateSet], start: Mapping[str, Start]) -> Values:
    """What the worksheet begins with."""
    return begin(spec("worksheet"), start, rates).values


def computed(rates: Sequence[RateSet], start: Mapping[str, Start]) -> Outcome:
    """What it then shows."""
    return outcome("worksheet", values(rates, start), rates)


def lines(start: Mapping[str, Start]) -> Markdown:
    """The four lines: the chapter's value, the reader's, and where that comes from."""
    inputs = {each["id"]: each for each in spec("worksheet")["inputs"]}
    rows = []
    for name, label, printed, divisor in _LINES:
        shape = FORMATS[inputs[name]["format"]]
        given = start.get(name)
        rows.append(
            [
                label,
                shape(claim(printed) / divisor),
                "–" if given is None else shape(float(given.value)),
                "" if given is None else given.source,
            ]
        )
    caption = "The four lines. The chapter's come from its example, yours from this notebook."
    return table(["line", "chapter", "yours", "where yours comes from"], rows, caption)


def input_percent(rates: Sequence[RateSet], start: Mapping[str, Start]) -> float | None:
    """Percent of the bill that is input; None = nothing costs anything."""
    share = computed(rates, start).results["input_share"]
    return None if share is None else 100 * share


def levers(rates: Sequence[RateSet], start: Mapping[str, Start]) -> Markdown:
    """Which lever still saves most dollars, which most seconds, and whether those agree."""
    found = computed(rates, start)
    by_money, by_time = _ranked(found, 0), _ranked(found, 1)
    labels, reached = _labels(), [name for name in _labels() if found.results[name] is None]
    best, last = by_money[0], by_money[-1]
    said = (
        f"**On your request “{labels[best]}” saves most: {found.texts[best]} a month** of "
        f"{found.texts['cost_total']}; “{labels[last]}” saves least, {found.texts[last]}."
    )
    if reached:
        said += f" “{labels[reached[0]]}” is not among them: you have it."
    if by_money == by_time:
        return say(f"{said} Seconds put them in the same order.")
    order = ", ".join(f"“{labels[name]}” {found.texts[f'{name}_s']}" for name in by_time)
    return say(f"{said} Seconds put them in another order: {order}.")


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
