"""Medians, spread and intervals: right values, and no claim that n cannot carry."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twohalves.stats import median_interval, summarize


def test_a_summary_by_hand():
    """Of 4, 1, 3, 2, 10 the median is 3 and the spread (10 - 1) / 3."""
    summary = summarize([4, 1, 3, 2, 10])

    assert (5, 3, 1, 10) == (summary.n, summary.median, summary.low, summary.high)
    assert summary.spread == pytest.approx(3.0)


def test_an_even_count_takes_the_mean_of_the_middle_two():
    """Of 1, 2, 3, 10 the median is 2.5."""
    assert summarize([10, 2, 1, 3]).median == pytest.approx(2.5)


@pytest.mark.parametrize("values", [[], [1.0, math.nan], [math.inf]])
def test_what_is_no_number_is_refused(values):
    """No mean over nothing, and no NaN that would wander into a page."""
    with pytest.raises(ValueError, match="values must"):
        summarize(values)


@pytest.mark.parametrize(
    ("n", "confidence"),
    [(5, None), (6, 0.96875), (7, 0.984375), (8, 0.9921875), (9, 0.9609375), (10, 0.978515625)],
)
def test_confidence_of_the_narrowest_interval(n, confidence):
    """Order-statistic coverage from the binomial table: n = 9 takes the 2nd and the 8th value."""
    found = median_interval(list(range(n)))

    assert confidence == (None if found is None else found.confidence)
    if n == 9:
        assert (1, 7) == (found.low, found.high)


@given(st.lists(st.floats(1, 1e6), min_size=6, max_size=30))
def test_an_interval_holds_its_median(values):
    """Whatever the values, the sample median lies inside its own interval."""
    found = median_interval(values)

    assert found.low <= summarize(values).median <= found.high
    assert found.confidence >= 0.95
