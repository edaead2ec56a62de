"""How many times larger one group of repeats is than another that was measured apart from it."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from twohalves.stats.order import Interval, narrowest


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """One group over another."""

    value: float
    """Median over median."""
    interval: Interval | None
    """Where the true factor lies; None = too few values for 95 percent."""


def ratio_of_medians(above: Sequence[float], below: Sequence[float]) -> Ratio:
    """Median of one group over that of another, with a distribution-free interval.

    If the two groups differ by a factor alone, it lies between the k-th smallest and the k-th
    largest of all quotients of one value of each with probability 1 - 2 * P(U <= k - 1), where
    U is the statistic of Mann and Whitney: the interval of Moses for a shift, taken on
    logarithms (Hollander, Wolfe & Chicken, Nonparametric Statistical Methods, section 4.3).

    Args:
        above: values of the group on top, all above 0.
        below: values of the group below, all above 0.

    Raises:
        ValueError: an empty group, or a value that is not above 0.

    >>> ratio_of_medians([20, 22, 24], [10, 11, 12])
    Ratio(value=2.0, interval=None)
    """
    if not above or not below or min(*above, *below) <= 0:
        msg = "both groups must hold numbers above 0 only, and at least one"
        raise ValueError(msg)
    quotients = sorted(top / bottom for top in above for bottom in below)
    return Ratio(
        value=statistics.median(above) / statistics.median(below),
        interval=narrowest(quotients, ranks(len(above), len(below))),
    )


def ranks(m: int, n: int) -> list[int]:
    """In how many orders of m and n things U is 0, 1, 2 ... m n.

    The largest thing belongs to the first group, then it adds n, or to the second (Mann &
    Whitney 1947, Annals of Mathematical Statistics 18, 50-60).

    >>> ranks(2, 2)
    [1, 1, 2, 1, 1]
    """
    counts = {(0, second): [1] for second in range(n + 1)}
    for first in range(1, m + 1):
        counts[first, 0] = [1]
        for second in range(1, n + 1):
            into_first = [0] * second + counts[first - 1, second]
            into_second = counts[first, second - 1] + [0] * first
            counts[first, second] = [
                one + other for one, other in zip(into_first, into_second, strict=True)
            ]
    return counts[m, n]
