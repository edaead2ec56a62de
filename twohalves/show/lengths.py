"""Rows of two tables that may stand beside each other: those of about the same length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from twohalves.show.numbers import fixed

Own = TypeVar("Own")
Printed = TypeVar("Printed")

ALIKE = 1.2
"""Lengths that differ by a larger factor are not compared."""


def factor(first: float, second: float) -> float:
    """By how much two lengths differ, at least 1.

    >>> factor(100, 125), factor(125, 100)
    (1.25, 1.25)
    """
    return max(first / second, second / first)


def beside(
    own: Sequence[Own],
    printed: Sequence[Printed],
    own_length: Callable[[Own], float],
    printed_length: Callable[[Printed], float],
) -> list[tuple[Own, Printed]]:
    """Each printed row with the own row nearest in length, if that is near enough.

    Args:
        own: the run's rows.
        printed: the chapter's rows.
        own_length: tokens of a row of the run.
        printed_length: tokens of a row of the chapter.
    """
    pairs = []
    for row in printed:
        length = printed_length(row)
        nearest = min(own, key=lambda line: factor(own_length(line), length))
        if factor(own_length(nearest), length) <= ALIKE:
            pairs.append((nearest, row))
    return pairs


def both(own: float, printed: float) -> str:
    """Two lengths that stand beside each other, as one cell: the chapter's only if it differs.

    >>> both(3731, 3731), both(1095, 960)
    ('3,731', '1,095 by 960')
    """
    shown = fixed(own)
    return shown if shown == fixed(printed) else f"{shown} by {fixed(printed)}"


def said_of(pairs: Sequence[tuple[float, float]]) -> str:
    """For a caption: which of two lengths is whose, if any differ; it begins with a space."""
    return " Where lengths differ, yours stands first." if any(a != b for a, b in pairs) else ""
