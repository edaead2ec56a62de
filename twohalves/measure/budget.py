"""What a profile with a budget leaves out on a slow or busy machine.

A block that has not begun is left out whole, and so that there is time for what comes after the
blocks. A block that has begun gives up its longest prompts, which cost the most, and keeps the
short ones. What comes after the blocks is left out by experiment.
"""

from __future__ import annotations

from collections.abc import Sequence

from twohalves.measure.plan import Group, Planned
from twohalves.measure.progress import seconds_for
from twohalves.runs.schema import Timing

ALWAYS = 600
"""Prompts of so many tokens or fewer are asked on any machine."""
GRACE = 1.2
"""What has begun may end so many times the budget after the start."""


def affordable(
    waiting: Sequence[Group], rows: Sequence[Timing], budget_s: float | None, elapsed_s: float
) -> list[Group]:
    """What is still to be asked, in order, without what no longer fits.

    Args:
        waiting: requests to come; the first of them are next.
        rows: rows so far, from which the time is estimated.
        budget_s: seconds for the whole run; None for no limit.
        elapsed_s: seconds since its beginning.
    """
    kept, first = list(waiting), waiting[0][0]
    if budget_s is None or first.role != "measure":
        return kept
    late_s = budget_s * GRACE - elapsed_s
    if not first.in_blocks:
        return _from_experiment(kept, rows, late_s)
    if first.block == 1 or has_begun(first, rows):
        return _begun(kept, first.block, rows, late_s)
    after = [group for group in kept if comes_after(group[0])]
    block = [group for group in kept if group[0].in_blocks and group[0].block == first.block]
    return kept if _fit([*block, *after], rows, budget_s - elapsed_s) else after


def comes_after(request: Planned) -> bool:
    """True for what is asked when the blocks are over."""
    return not request.in_blocks and (request.role != "control" or request.block is None)


def has_begun(request: Planned, rows: Sequence[Timing]) -> bool:
    """True if a condition of the request's block was asked; a control may stand before them."""
    return any(row.role == "measure" and row.block == request.block for row in rows)


def _begun(
    kept: list[Group], block: int | None, rows: Sequence[Timing], left_s: float
) -> list[Group]:
    while not _fit([group for group in kept if _closes(group[0], block)], rows, left_s):
        costly = [group for group in kept if group[0].block == block and _may_go(group[0])]
        if not costly:
            break
        kept.remove(max(costly, key=lambda group: group[0].prompt_tokens))
    return kept


def _closes(request: Planned, block: int | None) -> bool:
    """True for the conditions of the block, and the controls up to the end."""
    inside = request.in_blocks or request.role == "control"
    return inside and request.block in {block, None}


def _from_experiment(kept: list[Group], rows: Sequence[Timing], left_s: float) -> list[Group]:
    """From the first experiment on that has begun or still fits."""
    while kept and (experiment := kept[0][0].experiments):
        mine = [group for group in kept if group[0].experiments == experiment]
        if any(row.experiments == experiment for row in rows) or _fit(mine, rows, left_s):
            break
        kept = [group for group in kept if group not in mine]
    return kept


def _fit(groups: Sequence[Group], rows: Sequence[Timing], left_s: float) -> bool:
    """True if they take no longer; also while nobody knows."""
    needed = seconds_for([request for group in groups for request in group], rows)
    return needed is None or needed <= left_s


def _may_go(request: Planned) -> bool:
    return request.in_blocks and request.prompt_tokens > ALWAYS
