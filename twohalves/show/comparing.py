"""Two runs of the reader's beside each other, for a terminal: ratios always, seconds where fair."""

from __future__ import annotations

from twohalves.measure.profiles import TABLES
from twohalves.measure.trust import drift_note
from twohalves.runs import Run, machine
from twohalves.runs.comparing import SETTINGS, Quantity, differences, quantities, shared
from twohalves.runs.drift import worst
from twohalves.show.numbers import fixed, percent, significant
from twohalves.show.plain import NOTHING, paragraph, table
from twohalves.stats import Interval, summarize

_FEW = (
    f"{NOTHING}: so few values carry no 95% interval. Three against three reach {percent(0.9)} at "
    f"most, four against four {percent(34 / 35)}."
)


def obstacles(first: Run, second: Run) -> list[str]:
    """Why seconds and rates of the two cannot be compared, a sentence each; none if they can."""
    said = [
        f"They differ in {each.fact}: {each.first} against {each.second}."
        for each in differences(first, second)
    ]
    for run in (first, second):
        if machine.was_busy(run.session):
            said.append(f"The machine was busy when {run.id} began.")
        drift = worst(run)
        if drift and drift.verdict == "drifted":
            said.append(f"{run.id} drifted. {drift_note(run)}")
    return said


def compared(first: Run, second: Run, width: int) -> list[str]:
    """Why not all can be compared, what stands, and a table for each quantity both measured."""
    against = obstacles(first, second)
    lines = paragraph(f"A = {first.id}, B = {second.id}. B/A is median over median.", width)
    lines += ["", *_verdict(against, width), *_doubts(first, second, width)]
    tables = [
        each
        for experiment in TABLES
        for each in _tables(first, second, experiment, width, ratios_only=bool(against))
    ]
    if not tables:
        none = "They share no condition: no prompt and answer of the same length."
        return [*lines, "", *paragraph(none, width)]
    lines += [line for each in tables for line in ("", *each)]
    if any(NOTHING in line.split() for each in tables for line in each):
        lines += ["", *paragraph(_FEW, width)]
    return lines


def _verdict(against: list[str], width: int) -> list[str]:
    if not against:
        return paragraph("Nothing is known that forbids to compare seconds and rates.", width)
    start = (
        "Seconds and rates are not compared. Ratios within a request, a pair or a block carry "
        "their own yardstick and are."
    )
    return [*paragraph(start, width), *(line for each in against for line in _item(each, width))]


def _item(text: str, width: int) -> list[str]:
    first, *others = paragraph(text, width - 2, "  ")
    return [f"- {first[2:]}", *others]


def _doubts(first: Run, second: Run, width: int) -> list[str]:
    """What is not known and might matter."""
    said = []
    for run in (first, second):
        if any(run.session["server"].get(name, "unknown") == "unknown" for name in SETTINGS):
            said.append(f"How the server of {run.id} was started is not known.")
        drift = worst(run)
        if drift is None or drift.verdict == "unknown":
            said.append(f"Whether the machine drifted during {run.id}, its controls cannot tell.")
        if run.session["status"] != "complete":
            said.append(f"{run.id} is {run.session['status']}: its later blocks are missing.")
    return [line for each in said for line in _item(each, width)]


def _tables(
    first: Run, second: Run, experiment: str, width: int, *, ratios_only: bool
) -> list[list[str]]:
    pairs = zip(quantities(first, experiment), quantities(second, experiment), strict=False)
    shown = [
        _quantity(experiment, one, other, width)
        for one, other in pairs
        if one.is_ratio or not ratios_only
    ]
    return [lines for lines in shown if lines]


def _quantity(experiment: str, first: Quantity, second: Quantity, width: int) -> list[str]:
    lines = shared(first, second)
    if not lines:
        return []
    header = ["tokens", "A", "B", "B/A", "95% interval", "values"]
    rows = [
        [
            fixed(line.asked),
            significant(summarize(line.first).median),
            significant(summarize(line.second).median),
            fixed(line.ratio.value, 3),
            _interval(line.ratio.interval),
            f"{fixed(len(line.first))}, {fixed(len(line.second))}",
        ]
        for line in lines
    ]
    title = paragraph(f"{experiment}: {first.name}", width)
    return [*title, *table(header, rows, width)]


def _interval(interval: Interval | None) -> str:
    return f"{fixed(interval.low, 3)} to {fixed(interval.high, 3)}" if interval else NOTHING
