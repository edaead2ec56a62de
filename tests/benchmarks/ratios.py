"""How a benchmark tells its pairs: the median and, where there are enough, its interval."""

import statistics

from twohalves.stats import median_interval


def told(values, digits=3):
    """A median with its distribution-free 95% interval, as text."""
    interval = median_interval(values)
    middle = f"{statistics.median(values):.{digits}f}"
    if interval is None:
        return f"{middle} (too few pairs for an interval)"
    return f"{middle} [{interval.low:.{digits}f}, {interval.high:.{digits}f}]"
