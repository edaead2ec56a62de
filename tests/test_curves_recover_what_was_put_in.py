"""Fits and their intervals: known coefficients come back, and too little claims nothing."""

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twohalves.formulas import FittedLatency
from twohalves.stats import block_intervals, line, nonnegative, quadratic, staircase

LENGTHS = (96, 298, 572, 1095, 2156, 4247)
COSTS = st.floats(1e-6, 1)


def block_interval(blocks, quantity):
    """The interval of one quantity."""
    found = block_intervals(blocks, lambda rows: (quantity(rows),))
    return found and found[0]


def test_a_curve_comes_back_exactly():
    """0.05 + 0.0005 n + 2e-8 n^2 at 1,000 is 0.57 s; six such points give the three numbers."""
    seconds = [0.05 + 0.0005 * n + 2e-8 * n**2 for n in LENGTHS]

    found = quadratic(LENGTHS, seconds)

    assert (0.05, 0.0005, 2e-8) == pytest.approx((found.t0, found.a, found.b), rel=1e-9)
    assert found.at(1000) == pytest.approx(0.57)


def test_a_line_comes_back_exactly():
    """5 ms and 0.25 ms for each thousand tokens: 6 ms at 4,000."""
    found = line([100, 2000, 7000], [5.025e-3, 5.5e-3, 6.75e-3])

    assert (5e-3, 2.5e-7) == pytest.approx((found.c, found.d), rel=1e-9)
    assert found.at(4000) == pytest.approx(6e-3)


def test_stairs_come_back_exactly():
    """1 ms a token of whole batches: 96 and 500 tokens pay for 512, 513 for 1,024."""
    lengths = (96, 500, 513, 1095, 2156)
    paid = (512, 512, 1024, 1536, 2560)

    found = staircase(lengths, [0.1 + 0.001 * tokens for tokens in paid])

    assert (0.1, 0.001) == pytest.approx((found.t0, found.a), rel=1e-9)
    assert found.b == pytest.approx(0, abs=1e-12)
    assert found.at(512) == pytest.approx(found.at(1)) == pytest.approx(0.612)


@given(COSTS, COSTS, st.floats(1e-9, 1e-6))
def test_any_costs_come_back(t0, a, b):
    """Whatever the coefficients, the curve through exact points is the curve itself."""
    found = quadratic(LENGTHS, [t0 + a * n + b * n**2 for n in LENGTHS])

    for n in LENGTHS:
        assert found.at(n) == pytest.approx(t0 + a * n + b * n**2, rel=1e-6)


def test_each_error_counts_as_a_fraction():
    """A constant for 1 and 2: relative weights give (1 + 1/2) / (1 + 1/4) = 1.2, and not 1.5."""
    assert nonnegative([[1.0, 1.0]], [1.0, 2.0]) == pytest.approx((1.2,))


def test_no_cost_is_below_zero():
    """Times that fall with length: the best line has d = 0, and c is (1+1/2+1/3)/(1+1/4+1/9)."""
    found = line([1, 2, 3], [3.0, 2.0, 1.0])

    assert found.d == 0
    assert found.c == pytest.approx((1 + 1 / 2 + 1 / 3) / (1 + 1 / 4 + 1 / 9))


@given(st.lists(st.floats(0.01, 10), min_size=4, max_size=4))
def test_nothing_near_is_better(values):
    """No small step from the coefficients, within bounds, has a smaller sum of squares."""
    columns = [[1.0] * 4, [1.0, 2.0, 3.0, 5.0], [1.0, 4.0, 9.0, 25.0]]
    found = nonnegative(columns, values)

    def loss(coefficients):
        models = [
            sum(c * x for c, x in zip(coefficients, at, strict=True))
            for at in zip(*columns, strict=True)
        ]
        return sum((m / y - 1) ** 2 for m, y in zip(models, values, strict=True))

    assert min(found) >= 0
    for steps in itertools.product((-1e-4, 0, 1e-4), repeat=3):
        near = [max(0.0, each + step) for each, step in zip(found, steps, strict=True)]
        assert loss(found) <= loss(near) + 1e-9


@pytest.mark.parametrize(
    ("fit", "x", "y", "message"),
    [
        (quadratic, [96, 96, 298], [1, 1, 2], "3 different"),
        (staircase, [96, 298], [1, 2], "3 different"),
        (line, [96, 96], [1, 1], "2 different"),
        (line, [96, 298], [1, 0], "above 0"),
        (line, [96, 298], [1, float("nan")], "above 0"),
        (line, [96, 298], [1, 2, 3], "3 values"),
    ],
)
def test_too_little_is_refused(fit, x, y, message):
    """A curve needs as many lengths as it has coefficients, and times above zero."""
    with pytest.raises(ValueError, match=message):
        fit(x, y)


def test_the_latency_is_the_sum_of_its_steps():
    """0.1 + 0.5 + 0.02 s to the first token; four steps at 1,001 to 1,004 tokens of context."""
    model = FittedLatency(t0_s=0.1, a_s=5e-4, b_s=2e-8, c_s=5e-3, d_s=1e-6)
    steps = sum(5e-3 + 1e-6 * context for context in (1001, 1002, 1003, 1004))

    assert model.ttft_s(1000) == pytest.approx(0.62)
    assert model.total_s(1000, 5) == pytest.approx(0.62 + steps, rel=1e-12)
    assert model.total_s(1000, 1) == pytest.approx(0.62)


@pytest.mark.parametrize(("n", "m", "name"), [(-1, 5, "prompt"), (10, 0, "output")])
def test_impossible_requests_are_named(n, m, name):
    """No prompt of fewer than 0 tokens, no answer of none."""
    model = FittedLatency(t0_s=1, a_s=1, b_s=1, c_s=1, d_s=1)
    with pytest.raises(ValueError, match=name):
        model.total_s(n, m)


def test_few_blocks_claim_nothing():
    """Four blocks give no interval, five do."""
    blocks = [[float(n)] for n in range(5)]

    assert block_interval(blocks[:4], sum) is None
    assert block_interval(blocks, sum) is not None


def test_blocks_are_drawn_whole():
    """In each block the rows cancel, so a sum over whole blocks never varies."""
    found = block_interval([[n, -n] for n in range(1, 7)], sum)

    assert (found.low, found.high, found.confidence) == (0, 0, 0.95)


def test_the_same_rows_give_the_same_interval():
    """Seeded, so a page shows the same numbers on every day."""
    blocks = [[1.0, 2.0], [2.0], [4.0], [8.0, 1.0], [3.0]]

    assert block_interval(blocks, max) == block_interval(blocks, max)


def test_an_interval_of_a_mean_covers_it():
    """Of 200 samples of ten blocks around 5, about 90 percent of the intervals hold 5."""
    chance = random.Random(7)  # noqa: S311  # a made-up sample
    held = 0
    for _ in range(200):
        blocks = [[chance.gauss(5, 1)] for _ in range(10)]
        found = block_interval(blocks, lambda rows: sum(rows) / len(rows))
        held += found.low <= 5 <= found.high

    assert 0.82 <= held / 200 <= 0.98


def test_draws_that_cannot_be_used():
    """Some refused draws are left out; if they are many, nothing is claimed."""

    def needs(least):
        def different(rows):
            if len(set(rows)) < least:
                raise ValueError(least)
            return (float(len(set(rows))),)

        return different

    blocks = [[n] for n in range(5)]

    assert block_intervals(blocks, needs(2)) is not None  # 1 draw in 625 has a single value
    assert block_intervals(blocks, needs(5)) is None  # 96 percent have fewer than five
