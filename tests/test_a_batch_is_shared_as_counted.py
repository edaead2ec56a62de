"""Who sits in a batch when, step by step, and how many a latency objective lets in."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twohalves.formulas import (
    Roof,
    batch_within,
    continuous,
    decode_step,
    one_at_a_time,
    static,
)

LENGTHS = st.lists(st.integers(1, 50), min_size=1, max_size=30)
SLOTS = st.integers(1, 8)
H100 = Roof(peak_flop_s=989e12, bandwidth=3.35e12)


def test_static_batches_wait_for_their_longest():
    """5, 1 and 2 in two slots: the first two leave at 5, the third comes at 5 and leaves at 7."""
    stays = static([5, 1, 2], 2)

    assert [(0, 5, 5), (0, 1, 5), (5, 7, 7)] == [
        (stay.start, stay.written, stay.left) for stay in stays
    ]
    assert [stay.slot for stay in stays] == [0, 1, 0]


def test_continuous_batches_wait_for_nobody():
    """The third takes the second's slot at 1 and leaves at 3; all is over at 5."""
    stays = continuous([5, 1, 2], 2)

    assert [(0, 0, 5), (1, 0, 1), (1, 1, 3)] == [
        (stay.slot, stay.start, stay.left) for stay in stays
    ]


def test_without_batching_all_wait_for_all():
    """One after another: 5, 6, 8."""
    assert [stay.left for stay in one_at_a_time([5, 1, 2])] == [5, 6, 8]


@given(LENGTHS, SLOTS)
def test_the_ranks_of_the_chapter_hold_for_any_answers(lengths, slots):
    """Throughput: none, static, continuous. In the slot: continuous as without, static not less."""
    none, fixed, free = (
        one_at_a_time(lengths),
        static(lengths, slots),
        continuous(lengths, slots),
    )
    last = [max(stay.left for stay in stays) for stays in (none, fixed, free)]

    assert last[0] == sum(lengths)
    assert last[0] >= last[1] >= last[2] >= max(lengths)
    assert [stay.left - stay.start for stay in free] == lengths
    assert all(
        stay.left - stay.start >= length for stay, length in zip(fixed, lengths, strict=True)
    )


@given(LENGTHS, SLOTS, st.sampled_from([static, continuous]))
def test_a_slot_holds_one_answer_at_a_time(lengths, slots, way):
    """Stays in one slot follow each other, and there are no more slots than asked for."""
    stays = way(lengths, slots)

    assert {stay.slot for stay in stays} <= set(range(slots))
    for slot in range(slots):
        here = sorted((stay.start, stay.left) for stay in stays if stay.slot == slot)
        assert all(before[1] <= after[0] for before, after in itertools.pairwise(here))


@pytest.mark.parametrize(("lengths", "slots"), [([], 2), ([0, 3], 2), ([3], 0), ([-1], 1)])
def test_nothing_to_share_is_refused(lengths, slots):
    """No answer, an answer of no token, no slot."""
    for way in (static, continuous):
        with pytest.raises(ValueError, match="at least"):
            way(lengths, slots)


@pytest.mark.parametrize(
    ("limit_s", "cache", "batch"),
    [
        # weights alone: 6.4 GB take 1.91 ms, a request computes 6.4 GFLOP in 6.47 microseconds
        (0.0019, 0, 0),
        (0.002, 0, 309),
        # 4,247 tokens are 0.487 GB: (0.01 * 3350 - 6.4) / 0.48708 = 55.6, and 0.05 gives 330.7
        (0.01, 4247 * 114_688, 55),
        (0.05, 4247 * 114_688, 330),
        # time for the weights and half a cache
        (0.002, 4247 * 114_688, 0),
    ],
)
def test_an_objective_limits_the_batch(limit_s, cache, batch):
    """By the smaller of what memory and arithmetic allow."""
    assert batch == batch_within(H100, limit_s, 3.2e9, 16, cache)


@given(
    st.floats(1e-4, 10), st.floats(1e8, 1e12), st.sampled_from([4, 5, 8, 16]), st.floats(0, 1e10)
)
def test_one_more_would_be_late(limit_s, parameters, bits, cache):
    """The step of that batch is in time, the step of a larger one is not."""
    batch = batch_within(H100, limit_s, parameters, bits, cache)
    almost = limit_s * (1 + 1e-9)

    if batch:
        assert H100.seconds(decode_step(parameters, bits, batch, cache_bytes=cache)) <= almost
    late = decode_step(parameters, bits, batch + 1, cache_bytes=cache)
    assert H100.seconds(late) >= limit_s * (1 - 1e-9)


@pytest.mark.parametrize("limit_s", [0, -1, float("nan"), float("inf")])
def test_no_time_is_no_objective(limit_s):
    """Zero, negative, not a number, without end."""
    with pytest.raises(ValueError, match="limit_s"):
        batch_within(H100, limit_s, 3.2e9, 16)


def test_what_attention_computes_shortens_the_batch():
    """With as much arithmetic again for each request, half of 1,545.3 are in time."""
    assert batch_within(H100, 0.01, 3.2e9, 16) == 1545
    assert batch_within(H100, 0.01, 3.2e9, 16, attention_flop=6.4e9) == 772
