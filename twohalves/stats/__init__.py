"""Statistics of repeats: plain functions on numbers, no rows, no files, no pictures."""

from twohalves.stats.bootstrap import block_intervals
from twohalves.stats.fit import (
    Line,
    Quadratic,
    Staircase,
    line,
    nonnegative,
    quadratic,
    staircase,
)
from twohalves.stats.order import Interval
from twohalves.stats.ratio import Ratio, ratio_of_medians
from twohalves.stats.signs import Signs
from twohalves.stats.summary import Summary, median_interval, summarize
from twohalves.stats.trend import Trend, points_needed, trend

__all__ = [
    "Interval",
    "Line",
    "Quadratic",
    "Ratio",
    "Signs",
    "Staircase",
    "Summary",
    "Trend",
    "block_intervals",
    "line",
    "median_interval",
    "nonnegative",
    "points_needed",
    "quadratic",
    "ratio_of_medians",
    "staircase",
    "summarize",
    "trend",
]
