"""What the doctor says: lines for people, JSON for programs."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

from twohalves.doctor.examination import Examined
from twohalves.doctor.findings import Status, this_system

SCHEMA = 1
"""Raised when a key of the JSON changes its meaning or goes."""
_WIDTH = 12
_BAD = (Status.WARN, Status.FAIL)


def lines(examined: Sequence[Examined], system: str | None = None) -> list[str]:
    """One line a check, and below it what to do where there is something to do.

    Args:
        examined: what the checks came to.
        system: whose commands are shown; None = this one's.
    """
    said = []
    for each in examined:
        finding = each.finding
        said.append(f"{finding.status.upper():5} {each.check.name:{_WIDTH}} {finding.says}")
        step = finding.next_step(system or this_system())
        if step is not None:
            said.append(f"{'':{_WIDTH + 7}}Next: {step}")
    return said


def closing(examined: Sequence[Examined]) -> str:
    """The count of each outcome, in one line."""
    count = {status: sum(e.finding.status is status for e in examined) for status in Status}
    parts = [f"{count[status]} {status.upper()}" for status in Status if count[status]]
    return f"{len(examined)} checks: {', '.join(parts)}."


def troubled(examined: Sequence[Examined]) -> tuple[Examined, ...]:
    """Those with something to do for measuring or for the pages; not what only tests need."""
    return tuple(
        each for each in examined if each.finding.status in _BAD and each.check.serves != "tests"
    )


def blocking(examined: Sequence[Examined]) -> tuple[str, ...]:
    """Names of the checks without which nothing can be measured."""
    return tuple(
        each.check.name
        for each in examined
        if each.finding.status is Status.FAIL and each.check.serves == "measuring"
    )


def failed(examined: Sequence[Examined]) -> bool:
    """Whether any check ended in FAIL."""
    return any(each.finding.status is Status.FAIL for each in examined)


def as_json(examined: Sequence[Examined], system: str | None = None) -> str:
    """The same for programs; a check's facts stand in their own units."""
    where = system or this_system()
    record = {
        "schema": SCHEMA,
        "system": where,
        "failed": failed(examined),
        "checks": [
            {
                "check": each.check.name,
                "status": str(each.finding.status),
                "says": each.finding.says,
                "trouble": each.finding.trouble.title if each.finding.trouble else None,
                "next": each.finding.next_step(where),
                "facts": _facts(each.facts),
            }
            for each in examined
        ],
    }
    return json.dumps(record, indent=1)  # ASCII: no console may replace a letter in it


def _facts(facts: object) -> dict[str, Any] | None:
    if dataclasses.is_dataclass(facts) and not isinstance(facts, type):
        return dataclasses.asdict(facts)
    return None
