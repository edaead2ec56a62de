"""Slope, ratio and sign test: right by hand, and silent where so few repeats cannot speak."""

import itertools
import math
import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twohalves.stats import Signs, points_needed, ratio_of_medians, trend
from twohalves.stats.ratio import ranks
from twohalves.stats.trend import inversions


def test_the_slope_is_the_median_of_the_slopes_between_pairs():
    """Of (0,0) (1,2) (3,3) the slopes are 2, 1 and 1/2: their median is 1."""
    found = trend([3, 0, 1], [3, 0, 2])

    assert (1.0, None, 3) == (found.slope, found.interval, found.n)


def test_one_odd_value_does_not_turn_the_slope():
    """Six points on a line of slope 2, one of them thrown far off: still 2."""
    assert trend([0, 1, 2, 3, 4, 5], [0, 2, 4, 60, 8, 10]).slope == pytest.approx(2.0)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_inversions_are_those_of_all_orders(n):
    """Counted one by one over all n! orders."""
    counted = [0] * (n * (n - 1) // 2 + 1)
    for order in itertools.permutations(range(n)):
        counted[sum(a > b for a, b in itertools.combinations(order, 2))] += 1

    assert counted == inversions(n)


def test_four_points_carry_no_95_percent_interval_and_five_do():
    """Of 4! = 24 orders 2 are monotone, 91.7 percent; of 5! = 120 also 2, 98.3 percent."""
    assert 5 == points_needed()
    assert trend(range(4), [1, 2, 3, 4]).interval is None
    assert trend(range(5), [1, 2, 3, 4, 5]).interval.confidence == pytest.approx(118 / 120)


def test_ten_points_take_the_order_statistics_of_kendalls_table():
    """For n = 10, P(S >= 23) = 0.023 and P(S >= 21) = 0.036: the 12th slope of 45 from each end.

    S = 45 - 2 L, so S >= 23 is L <= 11, that is k - 1 = 11.
    """
    tail = sum(inversions(10)[:12]) / math.factorial(10)
    y = [3.0, 1.0, 4.0, 1.5, 5.0, 9.0, 2.0, 6.0, 5.5, 3.5]
    slopes = sorted((y[b] - y[a]) / (b - a) for a, b in itertools.combinations(range(10), 2))
    found = trend(range(10), y).interval

    assert tail == pytest.approx(0.023, abs=0.0005)
    assert (slopes[11], slopes[-12]) == (found.low, found.high)
    assert found.confidence == pytest.approx(1 - 2 * tail)


def test_the_interval_covers_as_often_as_it_says():
    """On 600 lines with skewed noise the true slope is inside in at least 95 of 100, give or take.

    Exact coverage for n = 7 is 96.9 percent; four standard errors of 600 trials are 2.8.
    """
    draw = random.Random(7)  # noqa: S311  # no secret
    inside = 0
    for _ in range(600):
        y = [0.5 * at + draw.expovariate(1) for at in range(7)]
        found = trend(range(7), y).interval
        inside += found.low <= 0.5 <= found.high

    assert 0.94 < inside / 600 < 1


@pytest.mark.parametrize(("x", "y"), [([1], [1]), ([1, 2], [1]), ([1, 1, 2], [1, 2, 3])])
def test_what_has_no_slope_is_refused(x, y):
    """One point, two lists that do not fit, two values at one place."""
    with pytest.raises(ValueError, match="x "):
        trend(x, y)


@pytest.mark.parametrize(("m", "n"), [(1, 1), (2, 3), (3, 3), (4, 2)])
def test_rank_sums_are_those_of_all_orders(m, n):
    """Counted one by one over all ways to mix two groups."""
    counted = [0] * (m * n + 1)
    for first in itertools.combinations(range(m + n), m):
        second = set(range(m + n)) - set(first)
        counted[sum(a > b for a in first for b in second)] += 1

    assert counted == ranks(m, n)


@pytest.mark.parametrize(
    ("m", "n", "confidence"),
    [(3, 3, None), (1, 30, None), (4, 4, 1 - 2 / 70), (3, 5, 1 - 2 / 56), (5, 5, 1 - 8 / 252)],
)
def test_what_blocks_can_claim_of_a_ratio(m, n, confidence):
    """Three against three cannot reach 95 percent (1 - 2/20); 5 against 5 leave out U <= 2.

    Of the 252 orders of 5 and 5, U is 0, 1, 2 in 1, 1 and 2 of them.
    """
    found = ratio_of_medians(range(1, m + 1), range(1, n + 1)).interval

    assert confidence == pytest.approx(confidence if found is None else found.confidence)
    assert (found is None) == (confidence is None)


def test_a_ratio_by_hand():
    """5 against 5: the third of the 25 quotients from either end."""
    above, below = [10, 12, 14, 16, 18], [1, 2, 3, 4, 5]
    quotients = sorted(a / b for a in above for b in below)
    found = ratio_of_medians(above, below)

    assert found.value == pytest.approx(14 / 3)
    assert (quotients[2], quotients[-3]) == (found.interval.low, found.interval.high)


@pytest.mark.parametrize(("above", "below"), [([], [1]), ([1], []), ([1, 0], [1]), ([1], [-1])])
def test_a_ratio_of_nothing_is_refused(above, below):
    """No quotient without values, and none of zero."""
    with pytest.raises(ValueError, match="above 0"):
        ratio_of_medians(above, below)


@given(
    st.lists(st.floats(1, 1e3), min_size=4, max_size=8),
    st.lists(st.floats(1, 1e3), min_size=4, max_size=8),
)
def test_a_ratio_lies_in_its_interval_and_turns_over_with_it(above, below):
    """B over A is one through A over B, interval and all."""
    found, turned = ratio_of_medians(above, below), ratio_of_medians(below, above)

    assert found.interval.low <= found.value * (1 + 1e-9)
    assert found.value <= found.interval.high * (1 + 1e-9)
    assert found.value == pytest.approx(1 / turned.value)
    assert found.interval.low == pytest.approx(1 / turned.interval.high)
    assert found.value == pytest.approx(statistics.median(above) / statistics.median(below))


@pytest.mark.parametrize(
    ("holds", "of", "p"), [(5, 5, 1 / 32), (3, 3, 1 / 8), (9, 10, 11 / 1024), (0, 4, 1), (0, 0, 1)]
)
def test_a_sign_test_by_hand(holds, of, p):
    """Five of five happens to a fair coin once in 32 times; none of none proves nothing."""
    assert p == pytest.approx(Signs(holds=holds, of=of).p)
