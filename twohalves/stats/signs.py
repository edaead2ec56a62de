"""How often something held, against a coin: the sign test."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """In how many of several independent comparisons a claim held."""

    holds: int
    """Comparisons in which it held."""
    of: int
    """Comparisons made; a tie is one in which it did not hold."""

    @property
    def p(self) -> float:
        """Probability that a fair coin does at least as well: P(Binomial(of, 1/2) >= holds).

        One-sided, because the claim names its direction beforehand (Conover, Practical
        Nonparametric Statistics, section 3.4).

        >>> Signs(holds=5, of=5).p, Signs(holds=4, of=5).p
        (0.03125, 0.1875)
        """
        at_least = sum(math.comb(self.of, k) for k in range(self.holds, self.of + 1))
        return at_least / (1 << self.of)
