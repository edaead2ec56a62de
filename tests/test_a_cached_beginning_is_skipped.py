"""The fitted latency of a prompt partly in cache, against a sum over tokens one by one."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twohalves.formulas import FittedLatency, constant_rates

CURVE = FittedLatency(t0_s=0.1, a_s=0.001, b_s=1e-6, c_s=0.005, d_s=2e-7, warm_s=0.015)


def read_one_by_one(curve, first, last):
    """Token i costs a, and b for each pair of which it is the later: 2i - 1 of them with itself."""
    return sum(curve.a_s + curve.b_s * (2 * i - 1) for i in range(first + 1, last + 1))


def written_one_by_one(curve, prompt, output):
    """Step j finds the prompt and j tokens more; those counted from half a token on average."""
    steps = range(1, output + 1)
    return sum(curve.c_s + curve.d_s * (prompt + j - 0.5) for j in steps)


@pytest.mark.parametrize(("tokens", "cached"), [(1, 0), (10, 9), (600, 360), (600, 599), (5, 5)])
def test_what_is_left_is_read_and_looks_back_at_everything(tokens, cached):
    """t0, the price of a warm start, and every token behind the cached ones."""
    cold = CURVE.t0_s + read_one_by_one(CURVE, 0, tokens)
    warm = CURVE.t0_s + CURVE.warm_s + read_one_by_one(CURVE, cached, tokens)

    assert CURVE.ttft_s(tokens) == pytest.approx(cold)
    assert CURVE.ttft_s(tokens, cached) == pytest.approx(min(cold, warm) if cached else cold)
    saved = read_one_by_one(CURVE, 0, cached) - CURVE.warm_s
    assert CURVE.saved_s(cached) == pytest.approx(max(0, saved))


def test_the_answer_is_written_one_by_one():
    """Where no token of the answer is free, the closed form is the sum over all steps."""
    curve = FittedLatency(t0_s=0, a_s=0, b_s=0, c_s=0.005, d_s=2e-7, free_tokens=0)

    assert curve.decode_s(890, 53) == pytest.approx(written_one_by_one(curve, 890, 53))
    assert curve.decode_s(890, 0) == 0


def test_the_first_token_comes_with_the_prompt():
    """One token of output takes no step; a second one takes a step."""
    assert CURVE.decode_s(1000, 1) == 0
    assert CURVE.decode_s(1000, 2) == pytest.approx(0.005 + 2e-7 * 1001)


def test_a_cache_that_costs_more_than_it_saves_is_passed_over():
    """14 tokens at 1 ms are less than the 15 ms of a warm start, 16 are more."""
    flat = constant_rates(1000, 100, warm_s=0.015)

    assert flat.ttft_s(100, 14) == flat.ttft_s(100) == pytest.approx(0.1)
    assert flat.ttft_s(100, 16) == pytest.approx(0.099)
    assert [0, 0.001] == pytest.approx([flat.saved_s(14), flat.saved_s(16)])


@given(st.integers(1, 5000), st.lists(st.floats(0, 1), min_size=2, max_size=6))
def test_more_hits_never_take_longer(tokens, rates):
    """The time to the first token falls from none cached to all of it."""
    found = [CURVE.ttft_s(tokens, tokens * rate) for rate in sorted([0, *rates, 1])]

    assert all(later <= sooner + 1e-12 for sooner, later in itertools.pairwise(found))


def test_the_widgets_defaults():
    """1,600 of 4,000 tokens at 2,025 a second, 15 ms, 200 at 190: 0.805 + 1.053 = 1.858 s."""
    widget = constant_rates(2025, 190, warm_s=0.015)

    assert widget.ttft_s(4000, 2400) == pytest.approx(0.8051, abs=5e-5)
    assert widget.total_s(4000, 200, 2400) == pytest.approx(1.8578, abs=5e-5)
    assert widget.saved_s(2400) == pytest.approx(1.1702, abs=5e-5)


@pytest.mark.parametrize(
    ("ask", "named"),
    [
        (lambda: CURVE.ttft_s(10, 11), "cached_tokens must be from 0 to the 10 .*, got 11"),
        (lambda: CURVE.ttft_s(10, -1), "cached_tokens"),
        (lambda: CURVE.ttft_s(-1), "cached_tokens"),
        (lambda: CURVE.decode_s(-1, 1), "prompt_tokens must be at least 0"),
        (lambda: CURVE.decode_s(1, float("nan")), "output_tokens must be at least 0"),
        (lambda: CURVE.total_s(1, 0), "output_tokens must be at least 1"),
        (lambda: constant_rates(0, 1), "prefill_tok_s must be above 0"),
        (lambda: constant_rates(1, -1), "decode_tok_s must be above 0"),
    ],
)
def test_impossible_counts_are_named(ask, named):
    """More cached than there is, less than nothing, no answer at all."""
    with pytest.raises(ValueError, match=named):
        ask()
