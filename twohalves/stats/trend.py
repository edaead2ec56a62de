"""Whether repeats rise or fall over a session: a slope that one odd value cannot turn."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from twohalves.stats.order import CONFIDENCE, Interval, narrowest


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """How one quantity changes along another."""

    slope: float
    """Unit of y per unit of x: the median of the slopes between all pairs of points."""
    interval: Interval | None
    """Where the true slope lies; None = too few points for 95 percent."""
    n: int
    """Number of points."""


def trend(x: Sequence[float], y: Sequence[float]) -> Trend:
    """The Theil-Sen slope with its exact distribution-free interval.

    Of the N = n (n - 1) / 2 slopes between pairs of points, the k-th smallest and the k-th
    largest enclose the true slope with probability 1 - 2 * P(L <= k - 1), where L is the number
    of inversions of a random order of n things (Sen 1968, Journal of the American Statistical
    Association 63, 1379-1389; the tables there are Kendall's). Equal values of y only widen what
    the interval covers.

    Args:
        x: where each value was taken, no two equal.
        y: the values.

    Raises:
        ValueError: fewer than two points, lengths that differ, or two equal x.

    >>> trend([0, 1, 2, 3, 4], [10, 11, 12, 13, 19])
    Trend(slope=1.0, interval=Interval(low=1.0, high=6.0, confidence=0.9833333333333333), n=5)
    """
    if len(x) != len(y) or len(x) < 2:
        msg = f"x and y must hold the same number of points, two or more: {len(x)} and {len(y)}"
        raise ValueError(msg)
    if len(set(x)) < len(x):
        msg = "x must not hold a value twice"
        raise ValueError(msg)
    points = sorted(zip(x, y, strict=True))
    slopes = sorted(
        (later[1] - earlier[1]) / (later[0] - earlier[0])
        for earlier, later in itertools.combinations(points, 2)
    )
    return Trend(
        slope=statistics.median(slopes),
        interval=narrowest(slopes, inversions(len(points))),
        n=len(points),
    )


def points_needed() -> int:
    """The fewest points whose slope can have an interval: n with 1 - 2 / n! >= CONFIDENCE.

    >>> points_needed()
    5
    """
    return next(n for n in itertools.count(2) if 1 - 2 / math.factorial(n) >= CONFIDENCE)


def inversions(n: int) -> list[int]:
    """How many of the n! orders of n things have 0, 1, 2 ... inversions.

    The n-th thing can be put in n places and so adds 0 to n - 1 inversions to any order of the
    others (Kendall & Gibbons, Rank Correlation Methods, section 5.2).

    >>> inversions(4)
    [1, 3, 5, 6, 5, 3, 1]
    """
    counts = [1]
    for places in range(2, n + 1):
        wider = len(counts) + places - 1
        counts = [sum(counts[max(0, total - places + 1) : total + 1]) for total in range(wider)]
    return counts
