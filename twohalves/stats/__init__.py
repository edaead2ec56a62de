"""Statistics of repeats: plain functions on numbers, no rows, no files, no pictures."""

from twohalves.stats.bootstrap import block_interval, block_intervals
from twohalves.stats.fit import (
    Line,
    Quadratic,
    Staircase,
    line,
    nonnegative,
    quadratic,
    staircase,
)
from twohalves.stats.summary import Interval, Summary, median_interval, summarize

__all__ = [
    "Interval",
    "Line",
    "Quadratic",
    "Staircase",
    "Summary",
    "block_interval",
    "block_intervals",
    "line",
    "median_interval",
    "nonnegative",
    "quadratic",
    "staircase",
    "summarize",
]
