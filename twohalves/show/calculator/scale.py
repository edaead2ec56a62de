"""Where a slider stands for a value: on a straight scale, or on one of two-digit values.

Requests a month reach from one to ten billion. A straight slider over that range has no place
for the small numbers, so it runs through 1, 2, … 10, 11, … 99, 100, 110, … instead; the number
field beside it takes what lies between.
"""

from __future__ import annotations

import bisect
from functools import cache

from twohalves.show.calculator.spec import Input


def position(described: Input, value: float) -> float:
    """Where the slider stands: the value itself, or the number of the stop at or below it."""
    if described["scale"] == "linear":
        return value
    return bisect.bisect_right(stops(described), value) - 1


def value_at(described: Input, place: float) -> float:
    """The value for which the slider stands at this place."""
    return place if described["scale"] == "linear" else stops(described)[int(place)]


def ends(described: Input) -> tuple[float, float]:
    """The slider's first and last place."""
    if described["scale"] == "linear":
        return described["min"], described["max"]
    return 0, len(stops(described)) - 1


def stops(described: Input) -> tuple[float, ...]:
    """What a slider of two-digit values runs through, both ends included; ascending."""
    low, high = described["min"], described["max"]
    return _stops(low, low or described["from"], high, described["decimals"])


@cache
def _stops(low: float, first: float, high: float, decimals: int) -> tuple[float, ...]:
    found = {low, high}
    power = -decimals - 1
    while float(f"1e{power}") <= high:
        for digits in range(10, 100):
            value = float(f"{digits}e{power}")
            if first <= value <= high and float(f"{value:.{decimals}f}") == value:
                found.add(value)
        power += 1
    return tuple(sorted(found))
