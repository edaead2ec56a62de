"""Where a request's time went: every nanosecond has a name, and the names add up."""

import dataclasses
import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twohalves.measure.ask import ask
from twohalves.measure.connection import Connection
from twohalves.runs import Timing, derive
from twohalves.runs.parts import chapter_outside_both, middle, parts, stamp_ns, two_clocks

# The server began at 12:00:00 and was done 1.9 s later. It loaded for 0.1 s and read for 0.8 s;
# its first text stands at 0.93 s, so the first step took 30 ms. 32 tokens took 0.93 s, which
# leaves 40 ms. The client sent at its 7th second, waited 1.905 s and saw text after 0.932 s.
ROW = Timing(
    run_id="r", seq=1, prompt_eval_count=900, prompt_eval_duration=800_000_000,
    eval_count=32, eval_duration=930_000_000, load_duration=100_000_000,
    total_duration=1_900_000_000, sent_ns=7_000_000_000, first_text_ns=7_932_000_000,
    last_text_ns=8_862_000_000, done_ns=8_905_000_000, n_chunks=32,
    server_first_at="2026-11-29T12:00:00.93Z", server_last_at="2026-11-29T12:00:01.86Z",
    server_done_at="2026-11-29T12:00:01.900000000Z",
)  # fmt: skip
MS = 1_000_000


def test_each_part_by_hand():
    """Load 100, prefill 800, first step 30, decode 930, rest 40, transport 5 ms: 1,905 in all."""
    assert parts(ROW).named() == {
        "load": 100 * MS,
        "prefill": 800 * MS,
        "first step": 30 * MS,
        "decode": 930 * MS,
        "rest": 40 * MS,
        "transport": 5 * MS,
    }
    assert parts(ROW).wall_ns == 1905 * MS
    assert parts(ROW).outside_both_ns == 175 * MS


@pytest.mark.parametrize(
    "lacking", [{"server_done_at": ""}, {"server_first_at": "noon"}, {"streamed": False}]
)
def test_without_stamps_two_parts_are_one(lacking):
    """An older row does not tell the first step: its 30 ms and the rest's 40 are 70 together."""
    found = parts(dataclasses.replace(ROW, **lacking))

    assert found.first_step_ns is None
    assert found.named()["first step and rest"] == 70 * MS
    assert "first step" not in found.named()
    assert found.wall_ns == 1905 * MS


def test_a_little_less_than_nothing_is_shown():
    """The text is stamped 2 ms before prefill ended by its counter: -2 ms, and 72 ms of rest."""
    found = parts(dataclasses.replace(ROW, server_first_at="2026-11-29T12:00:00.898Z"))

    assert (found.first_step_ns, found.rest_ns) == (-2 * MS, 72 * MS)
    assert found.wall_ns == 1905 * MS


@pytest.mark.parametrize("first", ["2026-11-29T12:00:01.1Z", "2026-11-29T11:00:00.93Z"])
def test_stamps_that_cannot_be_are_not_trusted(first):
    """A first text five steps late, or a clock set back an hour: the two parts stay one."""
    found = parts(dataclasses.replace(ROW, server_first_at=first))

    assert found.first_step_ns is None
    assert found.rest_ns == 70 * MS


@pytest.mark.parametrize(
    "missing",
    ["load_duration", "prompt_eval_duration", "eval_duration", "total_duration", "sent_ns",
     "done_ns"],
)  # fmt: skip
def test_what_is_missing_is_no_zero(missing):
    """Without one of the counters there is no account, rather than a wrong one."""
    assert parts(dataclasses.replace(ROW, **{missing: None})) is None


def test_an_answer_of_one_token_has_no_decode():
    """Ollama leaves eval_duration out when it is 0."""
    one = dataclasses.replace(ROW, eval_count=1, eval_duration=None, server_first_at="")

    assert parts(one).decode_ns == 0
    assert parts(one).wall_ns == 1905 * MS


@given(st.lists(st.integers(0, 10**12), min_size=6, max_size=6), st.integers(-(10**10), 10**10))
def test_the_parts_always_add_up(durations, first):
    """Whatever the clocks say, the parts are the client's time, to the nanosecond."""
    load, prefill, decode, left, outside, sent = durations
    total = load + prefill + decode + left
    start = stamp_ns("2026-11-29T12:00:00Z")
    row = dataclasses.replace(
        ROW, load_duration=load, prompt_eval_duration=prefill, eval_duration=decode,
        total_duration=total, sent_ns=sent, done_ns=sent + total + outside,
        server_first_at=_stamp(start + first), server_done_at=_stamp(start + total),
    )  # fmt: skip

    assert parts(row).wall_ns == total + outside


def _stamp(ns):
    whole = datetime.datetime.fromtimestamp(ns // 10**9, datetime.UTC)
    return f"{whole:%Y-%m-%dT%H:%M:%S}.{ns % 10**9:09d}Z"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:01.5Z", 1_500_000_000),
        ("1970-01-01T00:00:00.123456789Z", 123_456_789),
        ("1970-01-01T01:00:00.000000001+01:00", 1),
        ("1969-12-31T19:30:00-04:30", 0),
        ("1969-12-31T23:59:59.999999999Z", -1),
        ("2026-11-29T17:45:35.681859315z", 1_795_974_335_681_859_315),
    ],
)
def test_a_stamp_is_read_to_the_nanosecond(text, expected):
    """Go writes up to nine digits, and servers elsewhere an offset."""
    assert expected == stamp_ns(text)


@pytest.mark.parametrize("text", ["", "12:00", "2026-02-31T00:00:00Z", "2026-11-29T12:00:00"])
def test_what_is_no_stamp_is_not_known(text):
    """No date, no such day, no zone: nothing is guessed."""
    assert stamp_ns(text) is None


def test_two_clocks_of_one_decode():
    """31 records in 0.93 s by the stamps and 31 steps in 0.93 s by the counters: 30 ms each."""
    clocks = two_clocks(ROW)

    assert (clocks.counters_s, clocks.stamps_s) == pytest.approx((0.030, 0.030))
    assert clocks.agree


@pytest.mark.parametrize(("chunks", "agree", "off"), [(31, False, 1 / 30), (16, False, 16 / 15)])
def test_clocks_that_disagree_say_so(chunks, agree, off):
    """Fewer records than tokens: 30 in the time of 31 steps are 3.3 percent slower each."""
    clocks = two_clocks(dataclasses.replace(ROW, n_chunks=chunks))

    assert off == pytest.approx(clocks.off)
    assert agree is clocks.agree


@pytest.mark.parametrize("lacking", [{"n_chunks": 1}, {"server_last_at": ""}, {"eval_count": 1}])
def test_one_record_is_no_clock(lacking):
    """A pace needs two stamps and a step."""
    assert two_clocks(dataclasses.replace(ROW, **lacking)) is None


def test_what_a_user_feels():
    """First text after 0.932 s; 31 more tokens in 0.93 s are 30 ms each."""
    assert derive.ttft_s(ROW) == pytest.approx(0.932)
    assert derive.tpot_s(ROW) == pytest.approx(0.030)
    whole = dataclasses.replace(ROW, streamed=False)
    assert (derive.ttft_s(whole), derive.tpot_s(whole)) == (None, None)


def test_the_middle_request_is_a_real_one():
    """Of three it is the median; of two the faster; one without clocks does not count."""
    slow, slower = (dataclasses.replace(ROW, seq=n, done_ns=n * 10**10) for n in (2, 3))
    unknown = dataclasses.replace(ROW, done_ns=None)

    assert middle([slower, ROW, slow]) is slow
    assert middle([slower, slow, unknown]) is slow
    with pytest.raises(ValueError, match="at least one"):
        middle([unknown])


def test_what_the_chapter_leaves_out():
    """0.300 - 0.066 - 32 / 191.3 = 0.0667 s, and so on: 67 to 74 ms in every cold row."""
    found = chapter_outside_both()

    assert [0.067, 0.069, 0.069, 0.068, 0.071, 0.073] == [round(row.cold_s, 3) for row in found]
    assert all(0.068 <= row.warm_s <= 0.073 for row in found)


@pytest.mark.engine
def test_a_real_server_is_taken_apart(builtin_server):
    """Its stamps are understood, its first text lies within its total, and the parts add up."""
    line = Connection(builtin_server)
    asked = Timing(run_id="r", seq=1, model="smollm2:135m", num_ctx=2048, num_predict=8)
    row = ask(line, asked, "Entry 48213077. The cat sat on the mat and", 0).row
    line.close()
    first, done = stamp_ns(row.server_first_at), stamp_ns(row.server_done_at)

    assert done - row.total_duration < first <= done
    assert parts(row).wall_ns == row.done_ns - row.sent_ns
