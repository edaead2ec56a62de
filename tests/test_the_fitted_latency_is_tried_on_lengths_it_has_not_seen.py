"""The fitted latency: right on made-up rows and the chapter's tables, else silent."""

import dataclasses
import re

import pytest

from tests.tables import rows_of
from twohalves.runs import Timing, fitting, material
from twohalves.runs.load import Run
from twohalves.show import clocks, fitted

SESSION = {"counters": {"steps_less": 1}}
TABLES = "prefill_decode;ttft;decode_vs_context;prompt_cache"
LENGTHS = (96, 298, 572, 1095, 2156)
BATCH = 512


def _smooth(n):
    """0.05 s, 0.5 ms a token, 20 ns a token squared."""
    return 0.05 + 5e-4 * n + 2e-8 * n**2


def _stairs(n):
    """0.05 s and 0.5 ms for each token of whole batches."""
    return 0.05 + 5e-4 * BATCH * -(-n // BATCH)


def _row(seq, asked, block, ttft_s, experiments=TABLES):
    """32 tokens out; a step takes 5 ms and 1 us a token of context, and nothing else takes time."""
    decode = round(31 * (5e-3 + 1e-6 * (asked + 16)) * 1e9)
    first = round(ttft_s * 1e9)
    return Timing(
        run_id="r", seq=seq, block=block, experiments=experiments, condition=str(asked),
        prompt_eval_count=asked, prompt_eval_duration=first - 1_000_000, eval_count=32,
        eval_duration=decode, load_duration=400_000, total_duration=first + decode,
        sent_ns=0, first_text_ns=first, last_text_ns=first + decode, done_ns=first + decode,
        n_chunks=32, server_first_at="2026-11-29T12:00:00Z",
        server_last_at=f"2026-11-29T12:00:00.{decode:09d}Z",
    )  # fmt: skip


def _run(folder, curve, blocks, lengths=LENGTHS, noise=0.0):
    """Each block a little slower than the one before, by so much."""
    rows = [
        _row(10 * block + number, asked, block, curve(asked) * (1 + noise * block))
        for block in range(1, blocks + 1)
        for number, asked in enumerate(lengths)
    ]
    return Run(folder=folder / "r", session=SESSION, timings=tuple(rows))


def test_a_run_gives_back_its_curves(tmp_path):
    """Rows made with known costs: the five coefficients come back."""
    found = fitting.fit(material.of_run(_run(tmp_path, _smooth, 3)))

    assert (0.05, 5e-4, 2e-8) == pytest.approx((found.t0_s, found.a_s, found.b_s), rel=1e-5)
    assert (5e-3, 1e-6) == pytest.approx((found.c_s, found.d_s), rel=1e-5)


def test_what_is_known_exactly_is_predicted_exactly(tmp_path):
    """Lengths left out, inner and longest, come out to a thousandth; the crude model misses."""
    found = fitting.hold_out(material.of_run(_run(tmp_path, _smooth, 3)))

    assert [each.total.asked for each in found.inner] == [298, 572, 1095]
    assert all(abs(each.fitted_off) < 1e-3 for each in (*found.inner, found.longest))
    assert abs(found.longest.crude_off) > 0.01


def test_a_length_left_out_is_not_seen(tmp_path):
    """The longest waits twice what its curve says, and only shorter ones may predict it."""
    run = _run(tmp_path, lambda n: _smooth(n) * (2 if n == 2156 else 1), 3)
    steps = 31 * (5e-3 + 1e-6 * 2172)
    expected = (_smooth(2156) + steps) / (2 * _smooth(2156) + steps) - 1

    found = fitting.hold_out(material.of_run(run))

    assert expected == pytest.approx(found.longest.fitted_off, abs=1e-4)


def test_the_crude_model_on_the_chapters_totals():
    """prompt / 2,000 + 64 / 190 against 0.487, 0.863, 2.476, 5.182: 22, 5, 11, 22 percent low."""
    found = fitting.compare(material.of_chapter())

    assert [-22, -5, -11, -22] == [round(100 * each.crude_off) for each in found]
    assert all(abs(each.fitted_off) < 0.05 for each in found)


def test_the_chapters_steps_are_steps():
    """64 tokens at 189.1 tok/s took 0.3384 s, and that were 63 steps of 5.372 ms."""
    first = material.of_chapter().steps[0]

    assert (83 + 32, 5.372e-3) == pytest.approx((first.tokens, first.seconds), rel=1e-4)


def test_a_length_left_out_is_left_out_of_both_tables():
    """Without 7,427 tokens the decode row of 7,414 must go as well, and nothing else."""
    left = material.of_chapter().without(7427)

    assert [90, 960, 3731] == [point.asked for point in left.first]
    assert [83, 965, 3731] == [point.asked for point in left.steps]


@pytest.mark.parametrize(("curve", "shows"), [(_stairs, True), (_smooth, False)])
def test_a_staircase_is_named_where_it_is(tmp_path, curve, shows):
    """Rows made in whole batches show it; smooth ones do not."""
    lengths = (96, 480, 700, 1020, 1095, 1500, 2156, 4247)
    run = _run(tmp_path, curve, 3, lengths)

    assert shows is fitting.stairs(material.of_run(run)).show
    assert shows is ("**The staircase shows**" in fitted.staircase(run).data)


def test_a_staircase_within_the_noise_is_not_named(tmp_path):
    """The same stairs in rows that differ by 60 percent, or in single ones, are not claimed."""
    lengths = (96, 480, 700, 1020, 1095, 1500, 2156, 4247)
    noisy, single = _run(tmp_path, _stairs, 3, lengths, noise=0.5), _run(
        tmp_path, _stairs, 1, lengths)  # fmt: skip

    assert not fitting.stairs(material.of_run(noisy)).show
    assert "cannot be told from noise" in fitted.staircase(noisy).data
    assert "nobody can say" in fitted.staircase(single).data


def test_intervals_hold_what_was_put_in(tmp_path):
    """Blocks up to 1, 2 ... 5 percent slower: the cost of a token lies between 1.01 and 1.05."""
    found = fitting.intervals(material.of_run(_run(tmp_path, _smooth, 5, noise=0.01)))

    assert 5e-4 * 1.01 <= found["a_s"].low < 5e-4 * 1.03 < found["a_s"].high <= 5e-4 * 1.05
    assert found["c_s"].low == pytest.approx(5e-3, rel=1e-5)


def test_few_blocks_have_no_intervals(tmp_path):
    """Three blocks: curves, a dash for each interval, and the reason."""
    shown = fitted.coefficients(_run(tmp_path, _smooth, 3))

    assert rows_of(shown)[0] == ["once a request", "50.0 ms", "–", "95.1 ms"]
    assert "From 3 blocks no interval can be claimed: it takes 5." in shown.data


def test_five_blocks_are_said_to_give_too_narrow_an_interval(tmp_path):
    """Of normal values, 84 of 100 such intervals from five blocks hold the mean, not 95."""
    assert "too narrow" in fitted.coefficients(_run(tmp_path, _smooth, 5)).data


def test_the_formulas_are_printed(tmp_path):
    """0.05 + 0.5 k + 0.02 k squared seconds, and 5 + 1 k milliseconds, k in thousands."""
    shown = fitted.formulas(_run(tmp_path, _smooth, 3)).data

    assert "\\approx 0.0500 + 0.500\\,k + 0.0200\\,k^2" in shown
    assert "\\approx 5.00 + 1.00\\,k" in shown


def test_measured_beside_both_models(tmp_path):
    """96 tokens: 0.098 s and 31 steps of 5.112 ms, 257 ms in all; fitted is off by nothing."""
    first = rows_of(fitted.against_measured(_run(tmp_path, _smooth, 3)))[0]

    assert first[:3] == ["96", "32", "257 ms"]
    assert first[5:] == ["257 ms", "0.0%"]


def test_the_chapters_errors_are_shown():
    """The column of the crude model's errors, as a reader sees it."""
    rows = rows_of(fitted.chapter_against_measured())

    assert [row[4] for row in rows] == ["−22%", "−5.3%", "−11%", "−22%"]


def test_between_and_beyond_stand_apart(tmp_path):
    """One sentence each for the run and the chapter, with both kinds of error."""
    shown = fitted.held_out(_run(tmp_path, _smooth, 3)).data

    assert "**On your run** each of 3 inner lengths" in shown
    assert re.search(r"2,156 tokens, predicted from the shorter ones: fitted 0\.0% too", shown)
    assert "crude 21.8% too low" in shown


@pytest.mark.parametrize("lengths", [(96,), (96, 298)])
def test_too_few_lengths_fit_nothing(tmp_path, lengths):
    """One or two lengths make no curve: each text says so, and none fails."""
    run = _run(tmp_path, _smooth, 6, lengths)

    assert fitting.fit(material.of_run(run)) is None
    assert fitting.intervals(material.of_run(run)) is None
    for show in (fitted.formulas, fitted.coefficients, fitted.against_measured):
        assert "nothing is fitted" in show(run).data
    assert "too few lengths to leave one out" in fitted.held_out(run).data
    assert "too few lengths to see" in fitted.staircase(run).data


def test_a_token_more_makes_no_length(tmp_path):
    """Counts of 96, 97 and 98 at one length asked for are one length."""
    run = _run(tmp_path, _smooth, 3, (96,))
    rows = [dataclasses.replace(row, prompt_eval_count=95 + row.block) for row in run.timings]

    assert fitting.fit(material.of_run(dataclasses.replace(run, timings=tuple(rows)))) is None


def test_only_rows_that_may_be_compared_are_fitted(tmp_path):
    """Warm rows, answers in one piece, another server's and invalid ones are left out."""
    run = _run(tmp_path, _smooth, 3)
    slow = _row(99, 1095, 1, 60.0)
    others = [
        dataclasses.replace(slow, **what)
        for what in ({"variant": "warm"}, {"streamed": False}, {"setup": "two_slots"},
                     {"valid": False}, {"role": "audit"})
    ]  # fmt: skip
    mixed = dataclasses.replace(run, timings=(*run.timings, *others))

    assert material.of_run(run) == material.of_run(mixed)


def test_an_older_run_says_what_stands_in(tmp_path):
    """Rows of section 31.1 alone serve, and the caption tells."""
    run = _run(tmp_path, _smooth, 3)
    older = tuple(dataclasses.replace(row, experiments="prefill_decode") for row in run.timings)
    shown = fitted.coefficients(dataclasses.replace(run, timings=older))

    assert rows_of(shown)[0][1] == "50.0 ms"
    assert "stand in" in shown.data
    assert "stand in" not in fitted.coefficients(run).data


def test_the_missing_milliseconds(tmp_path):
    """The chapter's 66.7 to 73.5 ms; in the made-up run 1 ms, 0.4 of it loading."""
    shown = clocks.missing(_run(tmp_path, _smooth, 3)).data

    assert "66.7 ms to 73.5 ms are left" in shown
    assert "leave, in the median, 1.00 ms in neither half" in shown
    assert "load 0.400 ms, first step and rest 0.600 ms, transport 0 ms" in shown


def test_a_server_that_tells_no_total(tmp_path):
    """Without total_duration nothing is made up."""
    run = _run(tmp_path, _smooth, 3)
    rows = tuple(dataclasses.replace(row, total_duration=None) for row in run.timings)

    assert "does not tell enough" in clocks.missing(dataclasses.replace(run, timings=rows)).data


def test_the_second_clock_speaks_up(tmp_path):
    """31 steps by both clocks agree; if every record held two tokens they would not."""
    run = _run(tmp_path, _smooth, 3)
    halved = tuple(dataclasses.replace(row, n_chunks=16) for row in run.timings)
    silent = tuple(dataclasses.replace(row, server_first_at="") for row in run.timings)

    assert "furthest apart by 0.0%" in clocks.pace(run).data
    assert "In 15 of them they differ by more than 3%" in clocks.pace(
        dataclasses.replace(run, timings=halved)).data  # fmt: skip
    assert "one clock only" in clocks.pace(dataclasses.replace(run, timings=silent)).data
