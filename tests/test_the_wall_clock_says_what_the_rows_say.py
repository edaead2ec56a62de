"""Sentences, tables and pictures of section 31.2, on rows small enough to check by hand."""

import dataclasses
import re
import types

import pytest

from tests.tables import cells_of
from twohalves import lab
from twohalves.runs import Timing
from twohalves.runs.load import Run
from twohalves.show import byte_count, decode, figures, streaming, wall_clock, where

OWN_KEYS = {
    "general.architecture": "llama",
    "llama.block_count": 30,
    "llama.attention.head_count": 9,
    "llama.attention.head_count_kv": 3,
    "llama.embedding_length": 576,
}
"""SmolLM2-135M: 2 x 30 layers x 3 heads x 64 numbers x 2 bytes = 23,040 bytes a token in f16."""
SESSION = {
    "schema": 2,
    "profile": "chapter",
    "started_at": "2026-11-29T10:00:00+00:00",
    "server": {"kind": "builtin", "version": "1", "kv_type": "f16"},
    "model": {"name": "m", "size": 100_000_000, "own_keys": OWN_KEYS},
    "counters": {"steps_less": 1},
    "predictions": {},
}
BEGAN = "2026-11-29T10:00:"


def _row(seq, tokens, experiments, prefill, step, *, streamed=True, pair="", out=64):
    """A request: 10 ms load, prefill, 20 ms first step, steps, 30 ms rest, 5 ms transport."""
    decode_s = step * (out - 1)
    first = 0.010 + prefill + 0.020
    server = first + decode_s + 0.030
    total = server + 0.005
    return Timing(
        run_id="r", seq=seq, condition=str(tokens), experiments=experiments, pair=pair,
        streamed=streamed, prompt_eval_count=tokens, prompt_eval_cached_count=0,
        prompt_eval_duration=_ns(prefill), eval_count=out, eval_duration=_ns(decode_s),
        load_duration=_ns(0.010), total_duration=_ns(server), sent_ns=0,
        first_text_ns=_ns(first + 0.005 if streamed else total), done_ns=_ns(total),
        last_text_ns=_ns(first + 0.005 + decode_s if streamed else total), n_chunks=out,
        server_first_at=_stamp(first) if streamed else "",
        server_last_at=_stamp(first + decode_s) if streamed else "",
        server_done_at=_stamp(server),
    )  # fmt: skip


def _ns(seconds):
    return round(seconds * 1e9)


def _stamp(seconds):
    return f"{BEGAN}{seconds:012.9f}Z"


def _run(tmp_path, rows, **session):
    return Run(folder=tmp_path / "r", session=SESSION | session, timings=tuple(rows))


@pytest.fixture
def run(tmp_path):
    """The chapter's plan in small: three waits, three contexts, one row of 31.1, two pairs."""
    rows = [
        *(_row(n, 90, "ttft", 0.230, 0.010) for n in (1, 2, 3)),
        *(_row(n, 3731, "ttft", 5.965, 0.030) for n in (4, 5, 6)),
        *(_row(n, 7427, "ttft", 17.965, 0.0300) for n in (7, 8, 9)),
        *(_row(n, 83, "decode_vs_context", 0.2, 0.010) for n in (11, 12, 13)),
        *(_row(n, 3731, "decode_vs_context", 6.0, 0.020) for n in (14, 15, 16)),
        *(_row(n, 7414, "decode_vs_context", 18.0, 0.040) for n in (17, 18, 19)),
        _row(21, 4247, "prefill_decode", 7.0, 0.021, out=32),
        _row(31, 1095, "streaming", 1.0, 0.01, pair="streaming-b1"),
        _row(32, 1095, "streaming", 1.02, 0.01, pair="streaming-b1", streamed=False),
        _row(33, 1095, "streaming", 1.0, 0.01, pair="streaming-b2"),  # its twin is missing
    ]
    return _run(tmp_path, rows)


@pytest.fixture
def quick(tmp_path):
    """Shared timings of 32 tokens, the longest asked once, and no trial of streaming."""
    shared = "prefill_decode;ttft;decode_vs_context;prompt_cache"
    rows = [_row(n, 96, shared, 0.2, 0.010, out=32) for n in (1, 2, 3)]
    rows += [_row(n, 1095, shared, 1.5, 0.011, out=32) for n in (4, 5, 6)]
    return _run(tmp_path, [*rows, _row(7, 4247, shared, 8.0, 0.014, out=32)])


def test_ttft_is_the_clients_and_its_share_is_of_the_whole(run):
    """0.01 + 0.23 + 0.02 + 0.005 = 265 ms; 63 steps of 10 ms and 30 ms more: 0.925 s; 28.6%."""
    assert ["90", "28.6%", "265 ms", "925 ms", "3"] == cells_of(wall_clock.own_table(run), 0)
    # 17.965 + 0.035 = 18.0 s; 63 x 0.03 + 0.03 = 1.92 s more
    assert ["7,427", "90.4%", "18.0 s", "19.9 s", "3"] == cells_of(wall_clock.own_table(run), 2)


def test_shares_stand_first_beside_the_chapters(run):
    """The chapter prints 0.132 of 0.487 s and 4.715 of 5.182 s: 27.1% and 91.0%."""
    shown = wall_clock.beside_the_chapter(run)

    assert ["90", "28.6%", "27.1%"] == cells_of(shown, 0)[:3]
    assert ["7,427", "90.4%", "91.0%", "18.0 s", "4.715 s", "19.9 s", "5.182 s"] == cells_of(
        shown, 2
    )
    assert "Both write 64 tokens" in shown.data
    assert "lengths differ" not in shown.data


def test_only_lengths_alike_stand_side_by_side(quick):
    """96 by 90, 1,095 by 960 and 4,247 by 3,731; nothing of the run is near 7,427.

    The chapter prints 58.7% for 0.506 of 0.863 s, which are 58.6%: shown is what is printed.
    """
    shown = wall_clock.beside_the_chapter(quick)

    assert ["96 by 90", "1,095 by 960", "4,247 by 3,731"] == [
        cells_of(shown, n)[0] for n in range(3)
    ]
    assert "58.7%" == cells_of(shown, 1)[2]
    assert "Where lengths differ, yours stands first." in shown.data
    assert "7,427" not in shown.data
    assert "Yours wrote 32 tokens of answer, the chapter 64" in shown.data


def test_the_prompt_is_named_as_the_cause_only_where_it_is(run, tmp_path):
    """Long prefill: the prompt; a late first text without it: something else; else the writing."""
    assert "The prompt is long" in wall_clock.headline(run).data
    for part in ("**At 7,427 tokens", "90% of your request", "18.0 s of 19.9 s", "91%", "4.7 s"):
        assert part in wall_clock.headline(run).data

    writing = _run(tmp_path, [_row(1, 90, "ttft", 0.2, 0.1)])
    assert "writing still took longer" in wall_clock.headline(writing).data
    row = _row(1, 90, "ttft", 0.02, 0.001)
    late = dataclasses.replace(row, first_text_ns=_ns(3.0), done_ns=_ns(3.1))
    assert "look below for what is" in wall_clock.headline(_run(tmp_path, [late])).data


def test_a_longer_answer_makes_the_share_smaller(run):
    """18.0 / (18.0 + 499 x 0.03) = 54.6%; the chapter's 4.715 / (4.715 + 500 / 140.9) = 57.1%."""
    said = wall_clock.with_a_long_answer(run).data

    for part in ("500 tokens", "55%", "57% instead of 91%"):
        assert part in said


def test_the_bars_have_one_scale(run):
    """The longest fills the width of 584; 90 tokens take 0.925 / 19.92 of it, 28.6% of it blue."""
    svg = wall_clock.bars(run).data
    widths = [float(w) for w in re.findall(r'<rect[^>]* width="([\d.]+)"', svg)]

    assert widths[4] + widths[5] == pytest.approx(584, abs=0.02)
    assert widths[0] + widths[1] == pytest.approx(584 * 0.925 / 19.92, abs=0.02)
    assert widths[0] / (widths[0] + widths[1]) == pytest.approx(0.2865, abs=1e-3)
    assert "<title>Until the first token, and after it" in svg


def test_streaming_moves_the_text_and_not_the_prefill(run):
    """Streamed: text at 1.035 of 1.695 s; in one piece at 1.715 s: 40% off. One pair is whole."""
    assert ["streamed", "1.00 s", "1.04 s", "1.70 s"] == cells_of(streaming.own_table(run), 0)
    assert ["in one piece", "1.02 s", "1.72 s", "1.72 s"] == cells_of(streaming.own_table(run), 1)
    assert "1 pair of requests of 1,095 prompt tokens" in streaming.own_table(run).data
    said = streaming.verdict(run).data
    for part in (
        "1.72 s into a wait of 1.04 s",
        "40% off",
        "2.0% less",
        "5.2 s",
        "4.7 s",
        "9% off",
    ):
        assert part in said


def test_a_trial_without_a_whole_pair_is_no_trial(tmp_path):
    """A request whose twin did not count is compared with nothing."""
    alone = _run(tmp_path, [_row(1, 1095, "streaming", 1.0, 0.01, pair="p")])

    for shown in (streaming.own_table(alone), streaming.verdict(alone)):
        assert shown.data.startswith("> **Note**")


def test_decode_is_counted_by_steps_and_compared_with_the_first_row(run):
    """10, 20 and 40 ms a step: 100, 50, 25 tok/s; half and a quarter of the rate."""
    shown = decode.own_table(run)

    assert ["83", "100", "10.00", "–", "–", "3"] == cells_of(shown, 0)
    assert ["3,731", "50.0", "20.00", "−50%", "+100%", "3"] == cells_of(shown, 1)
    assert ["7,414", "25.0", "40.00", "−75%", "+300%", "3"] == cells_of(shown, 2)


def test_beside_the_chapter_decode_is_counted_as_it_counts(run):
    """64 tokens over 63 steps of 10 ms: 101.6 tok/s and 9.84 ms; printed are 189.1 and 5.29."""
    shown = decode.beside_the_chapter(run)

    assert ["83", "–", "–", "102", "189.1", "9.84", "5.29"] == cells_of(shown, 0)
    assert ["7,414", "−75%", "−25%"] == cells_of(shown, 2)[:3]


def test_the_slowdown_is_said_both_ways(run, quick):
    """75% of the rate is 4.0 times the time; 28.6% is 40% more; the chapter: 25% and 34%."""
    said = decode.slowdown(run).data
    for part in ("lost 75%", "4.0 times as long", "40.0 ms instead of 10.0 ms", "25%", "34% more"):
        assert part in said
    assert decode.times_as_long(run) == pytest.approx(4.0)

    said = decode.slowdown(quick).data
    assert "lost 29%" in said
    assert "40% more time" in said


def test_a_decode_that_does_not_slow_is_not_said_to(tmp_path):
    """Half a percent is no slowdown, and one length is no comparison."""
    flat = [_row(1, 83, "decode_vs_context", 1, 0.01), _row(2, 965, "decode_vs_context", 1, 0.01)]
    assert "costs no more" in decode.slowdown(_run(tmp_path, flat)).data
    assert "does not show" in decode.paid_twice(_run(tmp_path, flat)).data
    assert "nothing to explain" in byte_count.verdict(_run(tmp_path, flat)).data
    assert "holds one length" in decode.slowdown(_run(tmp_path, flat[:1])).data


def test_a_long_prompt_is_paid_twice(run):
    """18 s once and 30 ms more a token: 600 tokens until both are even."""
    said = decode.paid_twice(run).data

    for part in ("7,414 prompt tokens", "18.0 s once", "30.0 ms", "600 tokens"):
        assert part in said


def test_tables_are_compared_at_matching_context(run, quick, tmp_path):
    """47.6 tok/s at 4,247 goes with 50.0 at 3,731, 5% apart, and not with 25.0 at 7,414."""
    said = decode.at_matching_context(run).data
    for part in ("4,247 tokens with 161", "3,731 tokens, which has 161", "which has 141"):
        assert part in said
    assert "3,731 tokens, 50.0 tok/s, 5% apart. The last one is not: 7,414 tokens" in said

    assert "the same requests" in decode.at_matching_context(quick).data
    alone = [_row(1, 83, "decode_vs_context", 1, 0.01), _row(2, 4247, "prefill_decode", 1, 0.01)]
    assert "No row here is near" in decode.at_matching_context(_run(tmp_path, alone)).data
    assert "lacks the first table" in decode.at_matching_context(_run(tmp_path, alone[:1])).data


def test_bytes_that_do_not_explain_a_slowdown_are_not_blamed(run):
    """100 MB and 23,040 B a token: 7,414 tokens are 270.8 MB a step against 101.9 at 83.

    At 100 steps a second 10.19 GB/s, which allows 37.6 steps where 25 came. The added 168.9 MB
    took 30 ms more, 5.63 GB/s: 55% of the pace of the short row.
    """
    assert ["7,414", "100 MB", "171 MB", "37.6", "25.0", "66%"] == cells_of(
        byte_count.own_table(run), 2
    )
    said = byte_count.verdict(run).data
    for part in ("37.6 tok/s; 25.0", "10.2 GB/s", "5.63 GB/s", "55%", "chapter's story**: the"):
        assert part in said


def test_a_run_that_departs_from_the_story_says_so(tmp_path):
    """3,731 tokens add 84 MB; at 40 ms instead of 10 they passed at 2.80 GB/s of 10.19: 27%."""
    rows = [_row(1, 83, "decode_vs_context", 1, 0.01), _row(2, 3731, "decode_vs_context", 1, 0.04)]
    said = byte_count.verdict(_run(tmp_path, rows)).data

    for part in ("**Here your run departs from the chapter's story.**", "27%", "arithmetic"):
        assert part in said
    # 380 GB/s over 2 GB and 60,928 B a token: 1.05 of 1.81 ms more, at the pace of its first row
    assert "the added bytes explain 65%" in said


def test_no_cause_is_read_from_a_disturbed_run(tmp_path):
    """10, 90 and 30 ms a step: the middle row was slow for another reason."""
    rows = [
        _row(n, tokens, "decode_vs_context", 1, step)
        for n, tokens, step in ((1, 83, 0.010), (2, 965, 0.090), (3, 3731, 0.030))
    ]
    said = byte_count.verdict(_run(tmp_path, rows)).data
    assert "no cause can be read" in said
    assert "story" not in said

    nearly = [rows[0], _row(2, 965, "decode_vs_context", 1, 0.0315), rows[2]]
    assert "story" in byte_count.verdict(_run(tmp_path, nearly)).data


def test_the_chapters_bytes_are_those_of_its_own_numbers():
    """380 GB/s, 2.0 GB, q8_0: 189.5, 184.6, 170.6, 155.0 against 189.1, 186.7, 160.6, 140.9."""
    shown = byte_count.chapter_table()

    assert [["189.5", "189.1"], ["184.6", "186.7"], ["170.6", "160.6"], ["155.0", "140.9"]] == [
        cells_of(shown, n)[3:5] for n in range(4)
    ]


def test_bytes_that_nobody_knows_are_not_counted(run, tmp_path):
    """Without the model's shape or size there is a note; an untold cache type is said to be one."""
    for model in ({"name": "m", "size": 1}, SESSION["model"] | {"size": None}):
        unknown = _run(tmp_path, run.timings, model=model)
        assert "cannot be counted" in byte_count.own_table(unknown).data
        assert "cannot be counted" in byte_count.verdict(unknown).data
        assert "by bytes alone" not in figures.token_time_by_context(unknown).data
    untold = _run(tmp_path, run.timings, server={"kind": "ollama", "version": "0.24.0"})
    assert "type f16, taken as the default" in byte_count.own_table(untold).data
    assert "by bytes alone" in figures.token_time_by_context(run).data


def test_the_parts_of_a_request_add_up(run):
    """10 ms load, 230 prefill, 20 first step, 630 decode, 30 rest, 5 transport: 925 ms."""
    shown = where.own_table(run)

    assert ["90", "10.0", "230", "20.0", "630", "30.0", "5.00", "925"] == cells_of(shown, 0)
    svg = where.bars(run).data
    widths = [float(w) for w in re.findall(r'<rect[^>]* width="([\d.]+)"', svg)]
    assert sum(widths[:6]) == pytest.approx(584, abs=0.05)
    assert widths[1] / 584 == pytest.approx(230 / 925, abs=1e-3)
    assert "prefill 24.9%, decode 68.1%, neither 7.0%" in svg


def test_a_part_below_zero_is_shown_and_explained(run, tmp_path):
    """A total 31 ms short leaves -1 ms of rest; the sum stays the client's time."""
    row = _row(1, 90, "ttft", 0.230, 0.010)
    short = dataclasses.replace(
        row, total_duration=row.total_duration - _ns(0.031), server_done_at=_stamp(0.889)
    )
    shown = where.own_table(_run(tmp_path, [short]))

    assert ["−1.00", "36.0", "925"] == cells_of(shown, 0)[-3:]
    assert "two clocks meet" in shown.data
    assert "two clocks meet" not in where.own_table(run).data


def test_a_server_without_totals_cannot_be_taken_apart(tmp_path):
    """A note in place of table and picture."""
    row = dataclasses.replace(_row(1, 90, "ttft", 0.2, 0.01), total_duration=None)

    for shows in (where.own_table, where.bars):
        assert "cannot be taken apart" in shows(_run(tmp_path, [row])).data


def test_a_guess_waits_for_a_run_that_measured_it(run, tmp_path):
    """The cell that compares is no error where the run lacks the experiment."""
    empty = _run(tmp_path, [])

    assert wall_clock.longest_share(run) == pytest.approx(100 * 18.0 / 19.92)
    assert wall_clock.longest_share(empty) is None
    assert decode.times_as_long(empty) is None
    book = types.SimpleNamespace(replayed=empty, runs=tmp_path)
    assert "did not measure it" in lab.compare(book, empty, "31-02-share", None, "percent").data


PAGES = [
    function
    for module in (wall_clock, streaming, decode, byte_count, where, figures)
    for name, function in vars(module).items()
    if not name.startswith("_")
    and getattr(function, "__wrapped__", None)
    and function.__module__ == module.__name__
]


@pytest.mark.parametrize("shows", PAGES, ids=lambda each: f"{each.__module__}.{each.__name__}")
def test_a_run_without_the_experiment_is_answered_with_a_note(shows, tmp_path):
    """Every table, sentence and picture says how to measure what is missing."""
    assert shows(_run(tmp_path, [])).data.startswith("> **Note**")


@pytest.mark.parametrize("shows", PAGES, ids=lambda each: f"{each.__module__}.{each.__name__}")
def test_no_output_shows_what_is_no_number(shows, run, quick, tmp_path):
    """Nothing prints nan, inf, None or an exponent, also where each length was asked once."""
    once = _run(tmp_path, [row for row in run.timings if row.seq % 3 == 1])

    for shown in (shows(run).data, shows(quick).data, shows(once).data):
        assert not re.search(r"\bnan\b|\binf\b|None|\dE[-+]\d", shown)
