"""What a handful of repeats can say: median, range, spread, and an honest interval."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from twohalves.stats.order import Interval, narrowest


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Repeats of one quantity, in the unit of the values given."""

    n: int
    """Number of values."""
    median: float
    """Middle value; the mean of the two middle ones when n is even."""
    low: float
    """Smallest value."""
    high: float
    """Largest value."""

    @property
    def spread(self) -> float:
        """Range over median, (high - low) / median: the one definition used in this book."""
        return (self.high - self.low) / self.median


def summarize(values: Sequence[float]) -> Summary:
    """Summarize repeats of one quantity.

    Raises:
        ValueError: no values, or one that is not finite.
    """
    if not values:
        msg = "values must hold at least one number, got none"
        raise ValueError(msg)
    for value in values:
        if not math.isfinite(value):
            msg = f"values must be finite, got {value}"
            raise ValueError(msg)
    return Summary(
        n=len(values), median=statistics.median(values), low=min(values), high=max(values)
    )


def median_interval(values: Sequence[float]) -> Interval | None:
    """The narrowest symmetric order-statistic interval that reaches 95 percent.

    Between the k-th smallest and the k-th largest of n values the true median lies with
    probability 1 - 2 * P(Binomial(n, 1/2) <= k - 1), whatever the distribution
    (David & Nagaraja, Order Statistics, section 7.1).

    Returns:
        None when n values cannot reach that: fewer than six.

    >>> median_interval([1, 2, 3, 4, 5]) is None
    True
    >>> median_interval([6, 1, 5, 2, 4, 3])
    Interval(low=1, high=6, confidence=0.96875)
    """
    n = len(values)
    return narrowest(sorted(values), [math.comb(n, k) for k in range(n + 1)])
