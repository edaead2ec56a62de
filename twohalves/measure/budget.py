"""What a profile with a budget leaves out on a slow or busy machine.

A block that has not begun is left out whole. A block that has begun gives up its longest
prompts, which cost the most, and keeps the short ones.
"""

from __future__ import annotations

from collections.abc import Sequence

from twohalves.measure.plan import Planned
from twohalves.measure.progress import seconds_for
from twohalves.runs.schema import Timing

ALWAYS = 600
"""Prompts of so many tokens or fewer are asked on any machine."""
GRACE = 1.2
"""A begun block may end so many times the budget after the start."""


def affordable(
    waiting: Sequence[Planned], rows: Sequence[Timing], budget_s: float | None, elapsed_s: float
) -> list[Planned]:
    """What is still to be asked, in order, without what no longer fits.

    Args:
        waiting: requests to come; the first of them is next.
        rows: rows so far, from which the time is estimated.
        budget_s: seconds for the whole run; None for no limit.
        elapsed_s: seconds since its beginning.
    """
    kept = list(waiting)
    block = kept[0].block
    if budget_s is None or block is None:
        return kept
    begun = block == 1 or block in {row.block for row in rows}
    left_s = budget_s * (GRACE if begun else 1) - elapsed_s
    if not begun:
        return kept if _fits(kept, block, rows, left_s) else [r for r in kept if r.block is None]
    while not _fits(kept, block, rows, left_s):
        costly = [r for r in kept if r.block == block and _may_go(r)]
        if not costly:
            break
        kept.remove(max(costly, key=lambda request: request.prompt_tokens))
    return kept


def _fits(requests: Sequence[Planned], block: int, rows: Sequence[Timing], left_s: float) -> bool:
    """True if the block and the controls at the end take no longer; also while nobody knows."""
    needed = seconds_for([r for r in requests if r.block in {block, None}], rows)
    return needed is None or needed <= left_s


def _may_go(request: Planned) -> bool:
    return request.role == "measure" and request.prompt_tokens > ALWAYS
