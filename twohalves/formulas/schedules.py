"""Who sits in a batch when: three ways to share slots, counted in steps of decode.

All requests are there at the beginning, every step takes the same time however many share it,
and a prompt takes none. So the counts show what the order alone does, and nothing of a machine.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Stay:
    """One request in its slot."""

    slot: int
    """From 0."""
    start: int
    """Steps that were over when it came in."""
    written: int
    """Steps that were over when its last token was there."""
    left: int
    """Steps that were over when its slot was free again."""


def continuous(lengths: Sequence[int], slots: int) -> tuple[Stay, ...]:
    """Whoever has finished leaves, and the next takes the slot with the next step.

    Iteration-level scheduling: Yu and others, "Orca", OSDI 2022 (section 31.4 of the chapter).

    Args:
        lengths: tokens of each answer, at least 1, in the order of arrival.
        slots: requests that share a step, at least 1.

    Raises:
        ValueError: no slot, or an answer of no token.

    >>> [stay.left for stay in continuous([4, 1, 2], 2)]
    [4, 1, 3]
    """
    _check(lengths, slots)
    free = [(0, slot) for slot in range(slots)]
    stays = []
    for length in lengths:
        start, slot = heapq.heappop(free)
        stays.append(Stay(slot=slot, start=start, written=start + length, left=start + length))
        heapq.heappush(free, (start + length, slot))
    return tuple(stays)


def static(lengths: Sequence[int], slots: int) -> tuple[Stay, ...]:
    """A batch is filled, runs until its longest answer is written, and leaves as a whole.

    Args:
        lengths: tokens of each answer, at least 1, in the order of arrival.
        slots: requests that share a step, at least 1.

    Raises:
        ValueError: no slot, or an answer of no token.

    >>> [stay.left for stay in static([4, 1, 2], 2)]
    [4, 4, 6]
    """
    _check(lengths, slots)
    stays: list[Stay] = []
    start = 0
    for first in range(0, len(lengths), slots):
        batch = lengths[first : first + slots]
        left = start + max(batch)
        stays += [
            Stay(slot=slot, start=start, written=start + length, left=left)
            for slot, length in enumerate(batch)
        ]
        start = left
    return tuple(stays)


def one_at_a_time(lengths: Sequence[int]) -> tuple[Stay, ...]:
    """No batching: one slot, and everybody waits for those who came before.

    Args:
        lengths: tokens of each answer, at least 1, in the order of arrival.

    Raises:
        ValueError: an answer of no token.
    """
    return continuous(lengths, 1)


def _check(lengths: Sequence[int], slots: int) -> None:
    if slots < 1:
        msg = f"slots must be at least 1, got {slots}"
        raise ValueError(msg)
    if not lengths or min(lengths) < 1:
        msg = f"lengths must be at least one answer of a token or more, got {list(lengths)}"
        raise ValueError(msg)
