"""When the profile `thorough` has blocks enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from twohalves.measure.profiles import TABLES
from twohalves.runs import Timing, derive
from twohalves.stats import median_interval, summarize

LEAST_BLOCKS = 6
"""Fewer repeats cannot carry a 95% interval of a median."""
DECODE = 0.05
"""How far the ends of that interval may lie from the median of decode, a fraction."""
PREFILL = 0.10
"""The same for prefill."""


def tight_enough(rows: Sequence[Timing]) -> bool:
    """Whether every condition's 95% interval of the median is narrow, so that blocks may end.

    Conditions are those of the chapter's tables; one without enough valid rows is not narrow.
    The prefill of a warm row is not asked to be: it takes a few milliseconds that vary by a
    third, and whether a cache makes reading 80 or 100 times faster is not worth another hour.

    Args:
        rows: of the run so far, in any order.
    """
    conditions: dict[tuple[str, str, str], list[Timing]] = {}
    blocks = set()
    for row in rows:
        if row.role == "measure" and not set(TABLES).isdisjoint(row.experiments.split(";")):
            key = (row.experiments, row.condition, row.variant)
            conditions.setdefault(key, []).append(row)
            blocks.add(row.block)
    return len(blocks) >= LEAST_BLOCKS and all(map(_is_narrow, conditions.values()))


def _is_narrow(rows: list[Timing]) -> bool:
    valid = [row for row in rows if row.valid]
    is_warm = any(row.variant != "cold" for row in valid)
    return _within(valid, derive.decode_rate_raw, DECODE) and (
        is_warm or _within(valid, derive.prefill_rate, PREFILL)
    )


def _within(
    rows: list[Timing], quantity: Callable[[Timing], float | None], tolerance: float
) -> bool:
    values = [value for row in rows if (value := quantity(row)) is not None]
    interval = median_interval(values)
    if interval is None:
        return False
    median = summarize(values).median
    low, high = (1 - tolerance) * median, (1 + tolerance) * median
    return low <= interval.low and interval.high <= high
