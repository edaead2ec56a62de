"""Reserved against used: the chapter's 2,000 and 200, in one piece and in blocks."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twohalves.errors import QuantityUnusable
from twohalves.formulas.paging import held_tokens, shared_tokens
from twohalves.runs.reference import claim
from twohalves.show import paging


def test_blocks_by_hand():
    """200 tokens are 12.5 blocks of 16: 13, room for 208. 192 are 12; none need none."""
    assert [held_tokens(used, 16) for used in (200, 192, 193, 1, 0)] == [208, 192, 208, 16, 0]
    assert held_tokens(200, 1) == 200
    assert held_tokens(200, 256) == 256


def test_a_shared_beginning_by_hand():
    """1,000 = 62 x 16 + 8: 992 once, and 8 + 200 = 208 = 13 blocks for each of four."""
    assert shared_tokens(1000, 200, 4, 16) == 992 + 4 * 208
    assert shared_tokens(1000, 200, 1, 16) == held_tokens(1200, 16) == 1200
    assert shared_tokens(10, 5, 3, 16) == 3 * 16  # no whole block to share
    assert shared_tokens(32, 0, 3, 16) == 32
    assert shared_tokens(32, 5, 0, 16) == 0


@pytest.mark.parametrize(
    ("ask", "name"),
    [
        (lambda: held_tokens(-1, 16), "used"),
        (lambda: held_tokens(1, 0), "block"),
        (lambda: shared_tokens(-1, 1, 1, 16), "prefix"),
        (lambda: shared_tokens(1, 1, -1, 16), "sequences"),
    ],
)
def test_what_cannot_be_is_refused(ask, name):
    """By its name."""
    with pytest.raises(ValueError, match=name):
        ask()


@given(st.integers(0, 10**6), st.integers(0, 10**4), st.integers(1, 50), st.integers(1, 512))
def test_less_than_a_block_is_wasted_and_sharing_never_costs(prefix, own, sequences, block):
    """Whatever the lengths."""
    held = held_tokens(prefix + own, block)

    assert 0 <= held - (prefix + own) < block
    together = shared_tokens(prefix, own, sequences, block)
    assert prefix + own <= together <= sequences * held
    assert together >= prefix // block * block + sequences * own


def test_the_chapters_example_in_words():
    """1,800 x 114,688 = 206 MB are empty; 14 GiB hold 65 whole reservations, and 630 in blocks."""
    said = paging.saved().data

    assert claim("paged_used") / claim("paged_reserved") == 0.1
    for part in ("2,000 tokens", "10% of it", "0.206 GB", "13 blocks", "208 tokens", "96%"):
        assert part in said
    assert "65 such requests have room in one piece each, and 630 in blocks, 9.7× as many." in said
    assert "0 such requests have room in one piece each, and 630 in blocks." in (
        paging.saved(200_000).data
    )


def test_the_prediction_asks_for_what_the_picture_counts():
    """With the same lengths, and without the answer."""
    asked = paging.guess().data

    assert asked.startswith("> **Prediction**")
    for part in ("2,000 tokens", "comes to 200", "blocks of 16 tokens"):
        assert part in asked
    assert "9" not in asked


def test_a_shared_beginning_in_words():
    """4 x 1,200 = 4,800 against 1,824 tokens: 62% less."""
    said = paging.shared(1000, 200, 4).data

    assert "62 whole blocks" in said
    assert "62% less" in said


def test_a_beginning_that_nobody_shares_saves_nothing():
    """5 tokens fill no block of 16; and one sequence is alone, with 1,200 x 114,688 bytes."""
    assert "only whole blocks are shared" in paging.shared(5, 200, 10).data
    alone = paging.shared(1000, 200, 1).data
    assert "there is nobody to share it" in alone
    assert "0.128 GiB (0.138 GB) are held either way" in alone


def test_the_picture_is_to_scale():
    """A tenth is filled above; below, nine sequences of 208 of 2,000 tokens, filled to 200."""
    drawn = paging.picture().data
    widths = [float(each) for each in re.findall(r'<rect[^>]* width="([\d.]+)"', drawn)]

    assert widths[0] / (widths[0] + widths[1]) == pytest.approx(0.1, abs=0.001)
    filled, empty = widths[2:20:2], widths[3:20:2]
    assert len(filled) == len(empty) == 9
    assert all(each == widths[0] for each in filled)
    assert sum(filled) == pytest.approx(0.9 * (widths[0] + widths[1]), rel=0.005)
    assert "200 used, 10%" in drawn
    assert "9 sequences in the same room" in drawn


def test_the_picture_draws_any_lengths():
    """As long as something is used and no more than was reserved; a long block holds just one."""
    assert "1 sequence in the same room" in paging.picture(100, 60, 16).data
    assert "1 sequence in the same room" in paging.picture(100, 100, 1).data
    assert "112 tokens for each, 1 sequence in a little more" in paging.picture(100, 100, 16).data


def test_more_sequences_than_pixels_are_one_bar():
    """62,500 boxes would be no picture; 10 of each 16 tokens are still filled."""
    drawn = paging.picture(1_000_000, 10).data
    widths = [float(each) for each in re.findall(r'<rect[^>]* width="([\d.]+)"', drawn)]

    assert "62,500 sequences in the same room" in drawn
    assert len(widths) < 10
    assert widths[2] / (widths[2] + widths[3]) == pytest.approx(10 / 16, abs=0.002)


@pytest.mark.parametrize(
    ("ask", "wanted"),
    [
        (lambda: paging.picture(100, 0), "used as a whole number from 1 to 100,"),
        (lambda: paging.saved(100, 101), "used as a whole number from 1 to 100,"),
        (lambda: paging.picture(0), "reserved as a whole number from 1 "),
        (lambda: paging.saved(2000, 200, 0), "block as a whole number from 1 "),
        (lambda: paging.shared(-1, 200, 4), "shared_tokens as a whole number from 0 "),
        (lambda: paging.shared(1000, 0, 4), "own_tokens as a whole number from 1 "),
        (lambda: paging.shared(1000, 200, 2.5), "users as a whole number from 1 "),
        (lambda: paging.shared(1000, 200, 4, 0), "block as a whole number from 1 "),
    ],
)
def test_no_room_and_nobody_are_answered_with_what_to_give(ask, wanted):
    """By the name of what is wrong, and its limits."""
    with pytest.raises(QuantityUnusable) as refused:
        ask()
    assert f"Give {wanted}" in refused.value.next_step
