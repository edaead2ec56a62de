"""Intervals for whatever is computed from rows: whole blocks are drawn again and again."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from twohalves.stats.order import CONFIDENCE, Interval

Row = TypeVar("Row")

LEAST_BLOCKS = 5
"""Of fewer blocks no interval is made: see `block_intervals`."""
RESAMPLES = 2000
"""Draws."""
_ENOUGH = 0.9  # part of the draws that must give a value
_SEED = 31


def block_intervals(
    blocks: Sequence[Sequence[Row]],
    quantities: Callable[[list[Row]], Sequence[float]],
) -> tuple[Interval, ...] | None:
    """Percentile intervals of several quantities at once, by block bootstrap.

    As many blocks as there are get drawn with replacement, each with all its rows, since what
    was measured together shares the state of the machine. The middle part of what the draws
    give is the interval (Efron & Tibshirani, An Introduction to the Bootstrap, chapter 13).
    The draws are seeded: the same rows give the same interval.

    Args:
        blocks: rows by block.
        quantities: computes numbers from rows, always as many; a draw it refuses with
            ValueError is left out, for example one with too few lengths for a curve.

    Returns:
        None with fewer than five blocks, or if more than a tenth of the draws were refused.
        Four blocks can be drawn in only 35 ways, three in 10: the ends of such an interval
        would be single draws, and far too close. With five, 126 ways, it is still too
        narrow: of lognormal values 84 in 100 such intervals hold the mean, with twelve 91.

    >>> block_intervals([[1], [2], [3], [4]], lambda rows: [sum(rows)]) is None
    True
    """
    if len(blocks) < LEAST_BLOCKS:
        return None
    drawn = []
    for rows in _draws(blocks):
        with contextlib.suppress(ValueError):
            drawn.append(tuple(quantities(rows)))
    if len(drawn) < _ENOUGH * RESAMPLES:
        return None
    return tuple(_middle(sorted(values)) for values in zip(*drawn, strict=True))


def _draws(blocks: Sequence[Sequence[Row]]) -> Iterator[list[Row]]:
    chance = random.Random(_SEED)  # noqa: S311  # statistics, no secret
    for _ in range(RESAMPLES):
        yield [row for block in chance.choices(blocks, k=len(blocks)) for row in block]


def _middle(ordered: Sequence[float]) -> Interval:
    cut = int(len(ordered) * (1 - CONFIDENCE) / 2)
    return Interval(low=ordered[cut], high=ordered[-1 - cut], confidence=CONFIDENCE)
