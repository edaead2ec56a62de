"""Intervals that stand between two order statistics, whatever the distribution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

CONFIDENCE = 0.95
"""What every interval of this book is asked to reach, a fraction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A distribution-free interval."""

    low: float
    """Lower order statistic."""
    high: float
    """Upper order statistic."""
    confidence: float
    """Probability that the interval covers the true value, a fraction."""

    def times(self, factor: float) -> Interval:
        """The same interval in a unit that is so many times smaller; the factor is above 0."""
        return Interval(low=self.low * factor, high=self.high * factor, confidence=self.confidence)


def narrowest(ordered: Sequence[float], below: Sequence[int]) -> Interval | None:
    """The narrowest symmetric interval that reaches CONFIDENCE.

    The true value lies outside the k-th smallest and the k-th largest value with probability
    2 * P(L <= k - 1), where L is how many of the values lie below it.

    Args:
        ordered: the values, smallest first.
        below: in how many of all equally likely cases L is 0, 1, 2 ...

    Returns:
        None when so few values cannot reach that confidence.
    """
    cases, tail, best = sum(below), 0, None
    for k in range(1, len(ordered) // 2 + 1):
        tail += below[k - 1]
        covered = 1 - 2 * tail / cases
        if covered < CONFIDENCE:
            break
        best = Interval(low=ordered[k - 1], high=ordered[-k], confidence=covered)
    return best
