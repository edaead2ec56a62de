"""An answer that repeats itself to its end says so: small models go in circles."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twohalves.runs import Timing
from twohalves.runs.loops import loop_chunks
from twohalves.runs.validity import Expected, flags, is_valid


def _by_definition(texts):
    """The largest L whose last L pieces have a period of at most L / 2, tried one by one."""
    for length in range(len(texts), 1, -1):
        end = texts[-length:]
        for period in range(1, length // 2 + 1):
            if all(end[i] == end[i + period] for i in range(length - period)):
                return length
    return 0


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ("", 0),
        ("a", 0),
        ("ab", 0),
        ("aa", 2),
        ("abcabc", 6),
        ("xabcab", 0),  # the pattern is not there twice
        ("xabcabca", 7),  # twice, and the beginning of a third
        ("aaaab", 0),  # it went in a circle and left it
        ("the end end end", 12),  # " end" three times
    ],
)
def test_the_circle_at_the_end_is_measured(texts, expected):
    """By hand, a letter a piece."""
    assert expected == loop_chunks(list(texts))


@given(st.lists(st.sampled_from("ab"), max_size=24) | st.lists(st.sampled_from("abc"), max_size=18))
def test_the_quick_way_finds_what_the_definition_says(texts):
    """For every order of a few pieces."""
    assert _by_definition(texts) == loop_chunks(texts)


@pytest.mark.parametrize(
    ("circle", "chunks", "found"),
    [(32, 32, True), (16, 32, True), (15, 32, False), (8, 8, True), (7, 7, False), (0, 32, False)],
)
def test_half_of_the_answer_and_eight_pieces_make_a_circle(circle, chunks, found):
    """The row is flagged and counts: what was said does not change how long it took."""
    row = Timing(
        run_id="r",
        seq=1,
        prompt_eval_count=1000,
        prompt_eval_duration=500_000_000,
        eval_count=32,
        eval_duration=192_000_000,
        done_reason="length",
        n_chunks=chunks,
        loop_chunks=circle,
    )
    asked = Expected(prompt_tokens=1000, num_predict=32, num_ctx=8192, usual_load_ns=None)

    assert (("repeats_itself",) if found else ()) == flags(row, asked)
    assert is_valid(flags(row, asked))
    assert () == flags(dataclasses.replace(row, loop_chunks=None), asked)
