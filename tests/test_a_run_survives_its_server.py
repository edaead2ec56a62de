"""The server dies, comes back, stays away, changes its model or is used by others: no row lost."""

import json

import httpx
import pytest

from tests.rows import invalid, is_whole, judged
from tests.servers import scripted
from tests.servers.process import Loading, Process
from twohalves.errors import (
    AnotherAnswers,
    CannotResume,
    ServerBroke,
    ServerGone,
    ServerRefused,
    ServerShared,
)
from twohalves.measure import Profile, live, measure, patience, plan, profiles
from twohalves.measure.notes import notes
from twohalves.runs import listed, load
from twohalves.server import find


@pytest.fixture(autouse=True)
def _in_a_hurry(monkeypatch):
    monkeypatch.setattr(patience, "PAUSE_S", 0.05)


@pytest.fixture
def mortal():
    """A server in a process of its own."""
    processes = []

    def start(**how):
        processes.append(Process(**how))
        return processes[-1]

    yield start
    for each in processes:
        each.stop()


@pytest.fixture
def shared(tmp_path):
    """A server in this process that knows what it has in memory."""
    model = Loading()
    with scripted.Scripted(model.routes()) as server:
        model.url = server.url
        model.server = server
        yield model


def _book(url, runs):
    return live(find(environ={"TWOHALVES_SERVER": url}), None, runs)


def _only(runs):
    [name] = listed(runs)
    return load(runs / name)


def _measure(url, runs, **how):
    return measure(_book(url, runs), experiment="prefill_decode", **how)


def test_a_server_that_dies_in_an_answer_and_returns_costs_that_answer(tmp_path, mortal):
    """The broken answer is a row with its reason; the model is warmed; the request comes anew."""
    server = mortal(dies_at=9)
    told = []

    def report(progress):
        if progress.waiting and not any(each.waiting for each in told):
            server.kill()  # it is dead already: take note of it
            server.start()
        told.append(progress)

    run = _measure(server.url, tmp_path, report=report)

    is_whole(run)
    [lost] = invalid(run)
    assert ("no_answer", 3) == (lost.flags, lost.n_chunks)
    at = run.timings.index(lost)
    warmed, again = run.timings[at + 1 : at + 3]
    assert ("warmup", 2) == (warmed.role, warmed.attempt)
    assert warmed.load_duration > 500_000_000
    assert (lost.seq, 2) == (again.seq, again.attempt)
    assert again.prompt_hash != lost.prompt_hash
    kept = (run.folder / "raw.jsonl").read_text(encoding="utf-8").splitlines()
    assert "broke off" in json.loads(kept[at])["record"]["error"]
    waiting = next(each for each in told if each.waiting)
    assert "waiting for the server to come back (0 of 120 s)" in str(waiting)
    assert {26} == {each.total for each in told if each.seconds_left != 0}
    said = " ".join(notes(run))
    assert "The server went away and came back once while it was measured." in said
    assert "1 answer was invalid and left out: no_answer (1: the answer did not come" in said


def test_a_server_that_dies_between_two_requests_costs_nothing(tmp_path, mortal):
    """Nobody took the request, so there is no row of it; it is asked when the server is back."""
    server = mortal()
    died = []

    def report(progress):
        if progress.done == 8 and not died:
            died.append(True)
            server.kill()
        elif progress.waiting and len(died) == 1:
            died.append(True)
            server.start()

    run = _measure(server.url, tmp_path, report=report)

    is_whole(run)
    assert not [row for row in invalid(run) if row.role != "warmup"]
    assert ["server_lost"] == [each["kind"] for each in run.session["noticed"]]


def test_a_server_that_stays_away_ends_the_session_and_the_same_command_goes_on(
    tmp_path, mortal, monkeypatch
):
    """With the server back nothing is asked twice."""
    monkeypatch.setattr(patience, "RETURN_S", 0.2)
    server = mortal(dies_at=7)

    with pytest.raises(ServerGone, match="went away and did not come back") as caught:
        _measure(server.url, tmp_path)
    kept = _only(tmp_path)
    assert kept.session["status"] == "unfinished"
    assert 7 == len(kept.timings)
    assert "give the same command again: the run goes on" in caught.value.next_step

    server.kill()
    server.start()
    run = _measure(server.url, tmp_path)

    is_whole(run)
    assert kept.timings == run.timings[:7]
    assert "The run was stopped and gone on with once" in " ".join(notes(run))


def test_a_server_that_fails_each_time_is_not_asked_for_ever(tmp_path, shared):
    """It answers and each answer breaks off: three rows say so, then its own error."""

    def break_it(progress):
        if progress.done == 8:
            shared.server.routes["/api/generate"] = scripted.Answer(chunks=[], breaks_off=True)

    with pytest.raises(ServerBroke, match="broke off"):
        _measure(shared.url, tmp_path, report=break_it)

    kept = _only(tmp_path)
    assert ["no_answer"] * 3 == [row.flags for row in kept.timings if not row.valid]
    assert 8 == len([row for row in kept.timings if row.valid])


def test_a_crash_of_the_runner_is_waited_out(tmp_path, shared):
    """Status 500 is the server's failure, not the request's: a row, and the request again."""
    crash = scripted.Answer(status=500, body={"error": "llama runner process has terminated"})

    def once(asked):
        shared.server.routes["/api/generate"] = shared.generate
        return crash

    def report(progress):
        if progress.done == 8 and not progress.waiting and shared.answered == 8:
            shared.server.routes["/api/generate"] = once

    run = _measure(shared.url, tmp_path, report=report)

    is_whole(run)
    assert ["no_answer"] == [row.flags for row in invalid(run)]


@pytest.mark.engine
def test_a_built_in_server_that_dies_is_started_again(tmp_path, monkeypatch):
    """Killed in the middle: a new one, at another address, goes on with the same run."""
    tiny = Profile(
        name="tiny", points=profiles.points((48,), num_predict=4), blocks=2, control_every=9
    )
    monkeypatch.setitem(profiles.PROFILES, "tiny", tiny)
    short = {"CONTROL_TOKENS": 64, "CONTROL_PREDICT": 4, "WARMUP_TOKENS": (40, 80)}
    for name, value in short.items():
        monkeypatch.setattr(plan, name, value)
    addresses = []

    def report(progress):
        if progress.done == 4 and not progress.waiting and len(addresses) == 1:
            addresses.append("killed")
            server.stopper.__self__.process.kill()

    with find(environ={"TWOHALVES_SERVER": "builtin"}) as server:
        addresses.append(server.url)
        run = measure(live(server, None, tmp_path), profile_name="tiny", report=report)
        with find(environ={"TWOHALVES_SERVER": "builtin"}) as again:
            addresses.append(again.url)

    is_whole(run)
    assert "killed" == addresses[1]
    assert addresses[0] != addresses[2]
    assert ["server_lost"] == [each["kind"] for each in run.session["noticed"]]


def test_a_failure_at_the_very_start_is_told_at_once(tmp_path, shared):
    """A model that does not fit into memory is no reason to wait."""
    text = "model requires more system memory (9.1 GiB) than is available (3.9 GiB)"
    shared.server.routes["/api/generate"] = scripted.Answer(status=500, body={"error": text})

    with pytest.raises(ServerRefused, match="more system memory"):
        _measure(shared.url, tmp_path)
    assert ["no_answer"] == [row.flags for row in _only(tmp_path).timings]


@pytest.mark.parametrize(
    ("change", "now"),
    [({"version": "0.30.1"}, "ollama 0.30.1"), ({"digest": "e" * 64}, "of digest eeeeeeeeeeee")],
)
def test_another_server_or_model_after_the_return_ends_the_run(tmp_path, mortal, change, now):
    """An update while it was away: rows of two versions or models must not mix."""
    server = mortal(dies_at=9)

    def report(progress):
        if progress.waiting:
            server.kill()
            server.start(**change)

    with pytest.raises(AnotherAnswers, match=now):
        _measure(server.url, tmp_path, report=report)
    kept = _only(tmp_path)
    assert 9 == len(kept.timings)

    with pytest.raises(CannotResume, match=r"begun with Ollama 0\.24\.0"):
        _measure(server.url, tmp_path, folder=kept.folder)
    _measure(server.url, tmp_path)
    assert 2 == len(listed(tmp_path))


def test_a_model_pulled_anew_in_the_middle_ends_the_run(tmp_path, shared):
    """The same name, another digest: the row is kept and flagged, and no further one is asked."""

    def pull(progress):
        if progress.done == 8:
            shared.digest = "e" * 64

    with pytest.raises(AnotherAnswers, match="digest eeeeeeeeeeee"):
        _measure(shared.url, tmp_path, report=pull)

    last = _only(tmp_path).timings[-1]
    assert not last.valid
    assert "other_model" in last.flags.split(";")


def test_another_program_with_another_window_costs_a_warm_up(tmp_path, shared):
    """It is seen before the next request, the window is brought back, and the note says so."""

    def chat(progress):
        if progress.done in {8, 12}:
            other = {"model": "llama3.2:3b", "prompt": "Hi", "options": {"num_ctx": 4096}}
            other["options"]["num_predict"] = 1
            httpx.post(f"{shared.url}/api/generate", json=other, trust_env=False)

    run = _measure(shared.url, tmp_path, report=chat)

    is_whole(run)
    assert not [row for row in invalid(run) if row.role != "warmup"]
    assert [4096, 4096] == [each["window"] for each in run.session["noticed"]]
    said = " ".join(notes(run))
    assert "Another program loaded the model with another window twice" in said


def test_a_server_short_of_memory_is_not_taken_for_another_program(tmp_path, shared):
    """It holds the model with a smaller window than asked for; nobody warms it up in vain."""
    shared.holds = 4096
    run = _measure(shared.url, tmp_path)

    assert "noticed" not in run.session
    assert 2 == len([row for row in run.timings if row.role == "warmup"])
    assert "a window of 4,096 tokens where 8,192 were asked for" in " ".join(notes(run))


def test_another_program_that_never_stops_ends_the_run_clearly(tmp_path, shared):
    """Between our look and our request it changes the window, again and again."""
    asked = shared.generate

    def contended(request):
        if shared.answered > 8:
            shared.loaded = (4096, shared.digest)
        return asked(request)

    shared.server.routes["/api/generate"] = contended
    with pytest.raises(ServerShared, match="Another program uses the server") as caught:
        _measure(shared.url, tmp_path)

    assert "`ollama ps`" in caught.value.next_step
    assert "give the same command again" in caught.value.next_step
    invalid = [row for row in _only(tmp_path).timings if not row.valid]
    assert ["reloaded"] * 3 == [row.flags for row in invalid]


def test_a_model_that_was_unloaded_is_warmed_again(tmp_path, shared):
    """`ollama stop` in another window: the load time falls on a warm-up, not on a measurement."""

    def unload(progress):
        if progress.done == 8:
            shared.loaded = None

    run = _measure(shared.url, tmp_path, report=unload)

    is_whole(run)
    assert not [row for row in invalid(run) if row.role != "warmup"]
    assert ["unloaded"] == [each["kind"] for each in run.session["noticed"]]


def test_a_request_that_waited_for_others_counts_and_is_flagged(tmp_path, shared):
    """A queue is in no counter: what total leaves unexplained tells of it."""
    rest = {"total_duration": 10_000_000_000}
    for number in range(1, 99):
        shared.faults[number] = lambda final: (
            final
            | {
                "total_duration": sum(
                    final[name]
                    for name in ("load_duration", "prompt_eval_duration", "eval_duration")
                )
                + 30_000_000
            }
        )
    shared.faults[9] = lambda final: final | rest

    run = _measure(shared.url, tmp_path)

    is_whole(run)
    [waited] = [row for row in judged(run) if row.flags]
    assert ("waited", True) == (waited.flags, waited.valid)
    assert "1 answer counts although something was noticed: waited (1: " in " ".join(notes(run))
