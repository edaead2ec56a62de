"""Statistics of repeats: plain functions on numbers, no rows, no files, no pictures."""

from twohalves.stats.summary import Interval, Summary, median_interval, summarize

__all__ = ["Interval", "Summary", "median_interval", "summarize"]
