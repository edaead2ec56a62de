"""Whoever sleeps or stands still costs the request in flight; a clock that was set, nothing."""

import dataclasses

import pytest

from tests.rows import invalid, judged
from tests.servers.process import Loading
from twohalves.measure import clocks, live, measure
from twohalves.measure.clocks import Gap, Reading
from twohalves.measure.notes import notes
from twohalves.measure.transport import RecordingTransport
from twohalves.runs import Whose, listed, readers_run, unfinished
from twohalves.runs import session as session_file
from twohalves.server import find

ONE = "prefill_decode"
"""The experiment that is measured."""


@pytest.fixture
def clock(monkeypatch):
    """The real clocks, ahead by what a test says."""
    ahead = {"through_s": 0.0, "wall_s": 0.0}
    real = clocks.read

    def read():
        now = real()
        return dataclasses.replace(
            now,
            through_s=(now.through_s or now.awake_s) + ahead["through_s"],
            wall_s=now.wall_s + ahead["wall_s"],
        )

    monkeypatch.setattr(clocks, "read", read)
    return ahead


def _sleep(clock, seconds):
    clock["through_s"] += seconds
    clock["wall_s"] += seconds


@pytest.fixture
def model():
    with Loading().serving() as loading:
        yield loading


def _measure(model, runs, report=lambda _: None):
    book = live(find(environ={"TWOHALVES_SERVER": model.url}), None, runs)
    return measure(book, experiment=ONE, report=report)


def test_a_request_in_which_the_machine_slept_is_asked_again(tmp_path, model, clock):
    """An hour passed that no counter knows: flagged, and the next attempt counts."""

    def asleep(final):
        _sleep(clock, 3600)
        return final

    model.faults[9] = asleep
    run = _measure(model, tmp_path)

    [bad] = invalid(run)
    assert ("slept", 1) == (bad.flags, bad.attempt)
    assert [2] == [row.attempt for row in run.timings if row.seq == bad.seq and row.valid]
    assert "invalid and left out: slept (1: the machine slept meanwhile)" in " ".join(notes(run))


def test_a_request_in_which_this_program_stood_still_is_asked_again(tmp_path, model):
    """The server was done in 0.3 s and the answer came after 20: its time to the end is wrong."""
    usual = RecordingTransport.handle_request

    def held_up(transport, request):
        answer = usual(transport, request)
        if model.answered == 9:
            transport.newest().sent_ns -= 20_000_000_000
        return answer

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RecordingTransport, "handle_request", held_up)
        run = _measure(model, tmp_path)

    [bad] = invalid(run)
    assert ("stalled", 1) == (bad.flags, bad.attempt)
    assert [2] == [row.attempt for row in run.timings if row.seq == bad.seq and row.valid]
    assert "stalled (1: this program or the way to the server stood" in " ".join(notes(run))


def test_sleep_between_two_requests_costs_a_warm_up(tmp_path, model, clock):
    """No row is hurt; the model is warmed before the next one, and the run says so."""
    run = _measure(model, tmp_path, lambda told: told.done == 8 and _sleep(clock, 600))

    assert not invalid(run)
    [noticed] = run.session["noticed"]
    assert "slept" == noticed["kind"]
    assert 600 == pytest.approx(noticed["seconds"], abs=1)
    assert 3 == len([row for row in judged(run) if row.role == "warmup"])
    assert "The machine slept once while it was measured." in " ".join(notes(run))


@pytest.mark.parametrize("seconds", [-7200, 7200])
def test_a_clock_that_was_set_is_noted_and_hurts_nothing(tmp_path, model, clock, seconds):
    """Two hours back or forward: durations come from clocks that cannot be set."""

    def set_it(told):
        if told.done == 8:
            clock["wall_s"] += seconds

    run = _measure(model, tmp_path, set_it)

    assert not invalid(run)
    assert [seconds] == [each["seconds"] for each in run.session["noticed"]]
    assert all(0 < row.done_ns - row.sent_ns < 60e9 for row in run.timings)
    assert "The system's clock was set" in " ".join(notes(run))


@pytest.mark.parametrize(
    ("after", "gap"),
    [
        ((10, 110, 1010), Gap(slept_s=0.0, set_s=0.0)),
        ((10, 3710, 4610), Gap(slept_s=3600.0, set_s=0.0)),
        ((10, 110, -6190), Gap(slept_s=0.0, set_s=-7200.0)),
        ((10, 3710, 11810), Gap(slept_s=3600.0, set_s=7200.0)),
        ((10, 110.4, 1010.7), Gap(slept_s=0.0, set_s=0.0)),
        ((10, None, 4610), Gap(slept_s=3600.0, set_s=0.0)),
        ((10, None, -6190), Gap(slept_s=0.0, set_s=-7200.0)),
    ],
)
def test_three_clocks_tell_sleep_from_setting(after, gap):
    """Ten seconds awake; what the others say beside that is sleep, or a clock that was set."""
    awake, through, wall = after
    before = Reading(awake_s=0, through_s=None if through is None else 100, wall_s=1000)

    assert gap == clocks.between(before, Reading(awake_s=awake, through_s=through, wall_s=wall))


def test_the_clocks_of_this_system_agree_when_nothing_happens():
    """Two readings in a row: neither sleep nor setting."""
    assert Gap(slept_s=0.0, set_s=0.0) == clocks.between(clocks.read(), clocks.read())


def test_the_newest_run_is_the_one_begun_last_whatever_the_clock_said(tmp_path, model):
    """The clock was set back by a year between two runs: the second is still the newer one."""
    first, second = _measure(model, tmp_path), _measure(model, tmp_path)
    back = second.session | {"started_at": "2025-01-01T00:00:00+00:00"}
    session_file.write(second.folder, back)
    whose = Whose(
        machine_id=first.session["machine"]["id"],
        server_kind="ollama",
        model_digest=first.session["model"]["digest"],
    )

    assert 2 == len(listed(tmp_path))
    assert second.id == readers_run(whose, (ONE,), tmp_path).id
    for run in (first, second):
        session = session_file.read(run.folder) | {"status": "unfinished"}
        session_file.write(run.folder, session)
    assert second.id == unfinished(whose, (ONE,), "quick", tmp_path)["run_id"]
