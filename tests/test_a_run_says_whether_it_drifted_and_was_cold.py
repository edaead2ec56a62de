"""The control's verdict, the planted faults, the times of cold rows, and when blocks may end."""

import dataclasses
import pathlib

import pytest

from tests.servers import modelled
from twohalves.measure import live, measure
from twohalves.measure.notes import notes
from twohalves.measure.tight import tight_enough
from twohalves.runs import Run, Timing, named
from twohalves.runs.audits import audits
from twohalves.runs.choose import newest_sample
from twohalves.runs.drift import drifts, worst
from twohalves.server import find
from twohalves.show import repeats

SESSION = named(newest_sample()).session
MS = 1_000_000


def _row(seq, *, prefill_ms=500.0, decode_ms=340.0, **facts):
    said = {
        "condition": "1000",
        "experiments": "prefill_decode",
        "prompt_eval_count": 1000,
        "prompt_eval_duration": round(prefill_ms * MS),
        "eval_count": 64,
        "eval_duration": round(decode_ms * MS),
        "done_reason": "length",
        "sent_ns": 0,
        "done_ns": round((prefill_ms + decode_ms) * MS),
    }
    return Timing(run_id="made", seq=seq, **(said | facts))


def _run(*rows, **facts):
    return Run(folder=pathlib.Path("made"), session=SESSION | facts, timings=rows)


def _controls(prefills):
    rows = enumerate(prefills, 1)
    return _run(*[_row(seq, prefill_ms=prefill, role="control") for seq, prefill in rows])


@pytest.mark.parametrize(
    ("prefills", "verdict", "change"),
    [
        ([500, 500, 500, 500, 500, 500], "steady", 0),
        ([500, 510, 520, 530, 540, 550, 560], "drifted", 60 / 530),
        ([560, 550, 540, 530, 520, 510, 500], "drifted", -60 / 530),
        ([500, 501, 502, 503, 504, 505, 506], "steady", 6 / 503),
        ([500, 503, 506, 509, 512, 515, 518], "moved", 18 / 509),
        ([500, 530, 560, 590], "unknown", 90 / 545),
        ([500, 620, 480, 640, 470, 600, 510], "unknown", None),
    ],
)
def test_the_verdict_of_a_control_by_hand(prefills, verdict, change):
    """A line's change is its rise over its median; four points and wild ones carry no verdict.

    6 of 503 ms are 1.2%, 18 of 509 are 3.5%, 60 of 530 are 11.3%; on a
    straight line the interval is the slope.
    """
    found = drifts(_controls(prefills))[0]

    assert found.of == "prefill"
    if change is not None:
        assert found.change == pytest.approx(change, abs=1e-9)
    assert found.verdict == verdict


def test_the_worse_half_decides():
    """Decode that drifts is the run's drift, though prefill held."""
    rows = [_row(seq, decode_ms=340 + 10 * seq, role="control") for seq in range(1, 8)]
    found = worst(_run(*rows))

    assert ("decode", "drifted") == (found.of, found.verdict)
    assert found.change == pytest.approx(60 / 380)


def test_a_control_that_is_a_token_longer_is_not_slower():
    """Seconds are taken by token: 1,010 tokens in 505 ms are as fast as 1,000 in 500."""
    rows = [
        _row(seq, prefill_ms=0.5 * (1000 + seq), prompt_eval_count=1000 + seq, role="control")
        for seq in range(1, 8)
    ]

    assert drifts(_run(*rows))[0].change == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("count", [0, 1])
def test_a_run_without_two_controls_has_no_drift(count):
    """As one that was killed early: nothing is said."""
    run = _controls([500] * count)

    assert () == drifts(run)
    assert worst(run) is None


def test_a_drift_is_said_with_what_it_blocks():
    """The note names the half, the change with its interval, and what still stands."""
    said = " ".join(notes(_controls([500, 510, 520, 530, 540, 550, 560])))

    assert "The control's prefill became 11.3% slower over the run (95% interval" in said
    assert "ratios within a block stand" in said


@pytest.mark.parametrize(("last_ms", "times"), [(500, None), (749, None), (2460, "7.2 times")])
def test_a_neighbor_who_computes_shows_in_three_controls(last_ms, times):
    """340, 345 and 2,460 ms of decode are 7.2 to 1; less than half as much again is nothing."""
    rows = [
        _row(seq, decode_ms=decode, prefill_ms=prefill, role="control")
        for seq, (prefill, decode) in enumerate([(500, 340), (500, 345), (last_ms, 340)], 1)
    ]
    if times:
        rows[-1] = _row(3, decode_ms=last_ms, role="control")
    said = " ".join(notes(_run(*rows)))

    assert ("something else used this machine" in said) is bool(times)
    assert not times or f"up to {times} as long for its decode" in said


def test_few_controls_are_said():
    """Two to four cannot carry an interval, and the note says how many can."""
    said = " ".join(notes(_controls([500, 501, 502])))

    assert "The 3 controls of this run cannot tell" in said
    assert "takes 5." in said


def _audited(**flags):
    """What a run plants: a prompt, the same again, and one after an unloading."""
    first = _row(90, role="audit", pair="audit-duplicate", prompt_hash="duplicate")
    planted = [
        _row(
            91 + at,
            role="audit",
            pair=f"audit-{name}",
            prompt_hash=name,
            flags=flag,
            valid=not flag,
        )
        for at, (name, flag) in enumerate(flags.items())
    ]
    return [first, *planted]


@pytest.mark.parametrize(
    ("flags", "duplicate", "reload"),
    [
        ({"duplicate": "cached_prefix", "reload": "reloaded"}, True, True),
        ({"duplicate": "too_fast;repeats_itself", "reload": "waited"}, True, False),
        ({"duplicate": "", "reload": ""}, False, False),
        ({}, None, None),
    ],
)
def test_planted_faults_are_found_or_missed(flags, duplicate, reload):
    """Each audit's own flag counts, and no other."""
    found = audits(_run(*_audited(**flags)))

    assert (duplicate, reload) == (found.duplicate_flagged, found.reload_flagged)


def test_a_planted_fault_without_an_answer_says_nothing():
    """A dropped connection is no blind detector, and neither is a run that ended before it."""
    first, again = _audited(duplicate="no_answer")
    again = dataclasses.replace(again, done_reason="")

    assert audits(_run(first)).duplicate_flagged is None
    assert audits(_run(first, again)).duplicate_flagged is None


@pytest.mark.parametrize("tells", [True, False])
def test_a_measured_run_finds_its_planted_repeat(tmp_path, tells):
    """On a server with a cache, by its count where it tells one and by the time where not."""
    counting = modelled.Counting(tells_shared=tells)
    server = modelled.Modelled(slots=1, counting=counting)
    with modelled.scripted.Scripted(server.routes()) as scripted:
        run = measure(live(find(environ={"TWOHALVES_SERVER": scripted.url}), None, tmp_path))

    found = audits(run)
    assert found.duplicate_flagged
    assert tells == found.tells_cached
    assert found.grows is (None if tells else True)
    assert () == found.fast


def test_a_steady_control_says_so_on_the_page():
    """Seven calls within 1.2%: the page gives the far end of the interval, and no verdict less."""
    said = repeats.control(_controls([500, 501, 502, 503, 504, 505, 506])).data

    assert "neither half became slower or faster by more than 1.2%" in said
    assert "the machine drifted" in repeats.control(_controls(range(500, 580, 10))).data


def test_a_missed_fault_is_told_and_a_noticed_one_is_not():
    """The run says that it cannot show its rows to be cold; a planted fault is no invalid row."""
    missed = " ".join(notes(_run(*_audited(duplicate="", reload=""))))
    noticed = " ".join(notes(_run(*_audited(duplicate="cached_prefix", reload="reloaded"))))

    assert "this run cannot show that its cold rows were cold" in missed
    assert "its reload was not noticed" in missed
    assert "on purpose" not in noticed
    assert "invalid" not in noticed


def test_a_sliding_window_explains_a_repeat_that_was_read_anew():
    """As of Gemma 3: expected, and not called a fault."""
    model = SESSION["model"] | {"sliding_window": 512}
    said = " ".join(notes(_run(*_audited(duplicate=""), model=model)))

    assert "That is expected of a model with a sliding window (512 tokens)" in said
    assert "cannot show" not in said


def _cold(times, **facts):
    """Rows of three blocks; times: prefill in ms by length."""
    return [
        _row(
            seq,
            block=1 + seq // len(times),
            condition=str(length),
            prompt_eval_count=length,
            prefill_ms=ms,
            **facts,
        )
        for seq, (length, ms) in enumerate([*times.items()] * 3)
    ]


def test_prefill_that_does_not_grow_was_served_from_a_cache():
    """96 to 4,247 tokens in 15 ms each, as the chapter's warm rows; its cold ones grow."""
    warm = _run(*_cold({96: 16, 1095: 16, 4247: 15}))
    cold = _run(*_cold({96: 64, 1095: 520, 4247: 2292}))

    assert audits(warm).grows is False
    assert audits(cold).grows is True
    assert "served from a cache" in " ".join(notes(warm))
    assert "served from a cache" not in " ".join(notes(cold))


def test_where_counts_tell_times_are_not_asked():
    """A cached count of zero is better evidence than a clock."""
    found = audits(_run(*_cold({96: 16, 4247: 15}, prompt_eval_cached_count=0)))

    assert (None, ()) == (found.grows, found.fast)


def test_two_lengths_near_each_other_tell_nothing():
    """A fixed cost may hide what 298 tokens take more than 96."""
    assert audits(_run(*_cold({96: 60, 298: 70}))).grows is None


def test_a_row_far_faster_than_its_like_is_told_and_kept():
    """300 ms where the other blocks took 520 is 0.58 of them; 320 would be 0.62."""
    rows = _cold({96: 64, 1095: 520, 4247: 2292})
    odd = next(row for row in rows if row.condition == "1095")
    for ms, told in ((300, True), (320, False)):
        changed = dataclasses.replace(odd, prompt_eval_duration=ms * MS)
        run = _run(*[changed if row is odd else row for row in rows])

        assert told == (changed in audits(run).fast)
        assert told == (f"request {odd.seq}." in " ".join(notes(run)))
        assert changed in run.measured("prefill_decode")


def _blocks(count, *, prefill=(0.0,), decode=(0.0,), **facts):
    """One condition in so many blocks, off its usual time by these fractions in turn."""
    return [
        _row(
            block,
            block=block,
            prefill_ms=500 * (1 + prefill[block % len(prefill)]),
            decode_ms=340 * (1 + decode[block % len(decode)]),
            **facts,
        )
        for block in range(1, count + 1)
    ]


@pytest.mark.parametrize(
    ("rows", "enough"),
    [
        (_blocks(5), False),
        (_blocks(6), True),
        (_blocks(6, decode=(0, 0.04)), True),
        (_blocks(6, decode=(0, 0.3)), False),
        (_blocks(6, prefill=(0, 0.12)), True),
        (_blocks(6, prefill=(0, 0.3)), False),
        (_blocks(6, prefill=(0, 0.3), variant="warm", experiments="prompt_cache"), True),
        ([*_blocks(6), *_blocks(5, condition="96")], False),
        ([*_blocks(6), _row(7, block=1, experiments="traffic", variant="stable_top")], True),
        ([*_blocks(6), _row(7, block=1, experiments="cache_broken")], True),
        ([*_blocks(5), *_blocks(6, valid=False)[5:]], False),
        ([], False),
    ],
)
def test_blocks_may_end_when_every_interval_is_tight(rows, enough):
    """With six the 95% interval of a median is the range: 5% for decode, 10% for prefill.

    Half the rows 12% slower: the median lies 6% above the quick ones, and 6% below the slow.
    """
    assert enough is tight_enough(rows)
