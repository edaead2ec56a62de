"""Bandwidth over bytes a step: the chapter's ceilings, and what a rate says of its machine."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twohalves.formulas import bandwidth_used, decode_ceiling

Q8_0_PER_TOKEN = 60_928
POSITIVE = st.floats(min_value=1, max_value=1e15)


@pytest.mark.parametrize(
    ("context", "ceiling"), [(83, 189.5), (965, 184.6), (3731, 170.6), (7414, 155.0)]
)
def test_the_chapters_ceilings(context, ceiling):
    """380 GB/s over a 2.0 GB file and a q8_0 cache: 380 / (2.0 + 0.00506) = 189.5, and so on."""
    assert ceiling == round(decode_ceiling(380e9, 2.0e9, Q8_0_PER_TOKEN * context), 1)


def test_a_slower_laptop():
    """120 GB/s over 2.0 GB are 60 steps a second; 380 over 6.4 GB of fp16 weights are 59.4."""
    assert decode_ceiling(120e9, 2.0e9) == 60
    assert round(decode_ceiling(380e9, 6.4e9), 1) == 59.4


@given(rate=POSITIVE, weights=POSITIVE, cache=st.floats(min_value=0, max_value=1e15))
def test_a_rate_and_its_bandwidth_are_two_sides(rate, weights, cache):
    """The ceiling at the bandwidth that a rate has used is that rate."""
    used = bandwidth_used(rate, weights, cache)

    assert decode_ceiling(used, weights, cache) == pytest.approx(rate)


@given(weights=POSITIVE, cache=POSITIVE)
def test_a_longer_context_is_never_faster(weights, cache):
    """More cache to read, fewer steps."""
    assert decode_ceiling(1e9, weights, cache) <= decode_ceiling(1e9, weights)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((0, 1), "bandwidth must be above 0 and finite, got 0"),
        ((1, -2), "weights_bytes must be above 0 and finite, got -2"),
        ((1, 1, -3), "cache_bytes must be at least 0 and finite, got -3"),
    ],
)
def test_what_cannot_be_is_refused_by_name(arguments, said):
    """The parameter, the rule and the value."""
    with pytest.raises(ValueError, match=said):
        decode_ceiling(*arguments)
