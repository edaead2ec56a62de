"""What is asked in which order: every block complete, every order its own, controls between."""

import pytest

from twohalves.errors import UnknownName
from twohalves.measure.plan import as_facts, from_facts, plan, skipped
from twohalves.measure.profiles import PROFILES, profile

CHAPTER = profile("chapter")


def _lengths(requests, block):
    return [r.prompt_tokens for r in requests if r.role == "measure" and r.block == block]


def test_the_chapter_profile_counts_as_the_chapter_does():
    """Six lengths five times, 11 controls, 2 warm-ups."""
    requests = plan(CHAPTER, 8192, seed=1)
    roles = [request.role for request in requests]

    assert (30, 11, 2) == tuple(roles.count(role) for role in ("measure", "control", "warmup"))
    assert [request.seq for request in requests] == list(range(1, 44))


def test_every_block_holds_every_length_once():
    """No length is ever missing from a block, whatever the order."""
    requests = plan(CHAPTER, 8192, seed=7)

    for block in range(1, 6):
        assert sorted(_lengths(requests, block)) == [96, 298, 572, 1095, 2156, 4247]


def test_blocks_have_orders_of_their_own():
    """Over 200 seeds each length comes first about equally often: 1/6 of 1,000 blocks."""
    firsts = [
        _lengths(plan(CHAPTER, 8192, seed), block)[0]
        for seed in range(200)
        for block in range(1, 6)
    ]

    for length in CHAPTER.lengths:
        assert 110 < firsts.count(length) < 225


def test_the_order_is_repeatable():
    """The seed in session.json gives the same plan, and the plan survives the file."""
    requests = plan(CHAPTER, 8192, seed=3)

    assert requests == plan(CHAPTER, 8192, seed=3)
    assert requests != plan(CHAPTER, 8192, seed=4)
    assert requests == from_facts(as_facts(requests))


def test_controls_stand_at_start_and_end():
    """The first request after the warm-ups and the very last are controls."""
    requests = plan(profile("quick"), 8192, seed=2)

    assert ["warmup", "warmup", "control"] == [r.role for r in requests[:3]]
    assert requests[-1].role == "control"
    assert all(r.num_predict == 64 for r in requests if r.role == "control")


def test_the_longest_prompt_of_quick_comes_once():
    """4,247 tokens cost as much as a whole block: once, in the last block."""
    requests = plan(profile("quick"), 8192, seed=2)

    assert [r.block for r in requests if r.prompt_tokens == 4247] == [3]


@pytest.mark.parametrize(
    ("window", "left_out"),
    [(8192, ()), (4343, ()), (4342, (4247,)), (2048, (2156, 4247)), (128, CHAPTER.lengths)],
)
def test_lengths_beyond_the_window_are_left_out(window, left_out):
    """A prompt needs its tokens, 32 of answer and 64 to spare."""
    assert skipped(CHAPTER, window) == left_out
    requests = plan(CHAPTER, window, seed=1)
    assert not {r.prompt_tokens for r in requests if r.role == "measure"} & set(left_out)


def test_an_unknown_profile_names_the_known_ones():
    """A slip of the finger is answered with what exists."""
    with pytest.raises(UnknownName) as caught:
        profile("quik")

    assert all(name in caught.value.what for name in PROFILES)
    assert "'quick'" in caught.value.next_step
