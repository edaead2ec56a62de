"""A pair is compared within a moment: what spoils one request of it costs all of them."""

import pytest

from tests.rows import invalid, is_whole
from tests.servers.process import Loading
from twohalves.errors import Interrupted, ServerShared
from twohalves.measure import Profile, live, measure, profiles
from twohalves.runs import listed, load
from twohalves.server import find

COLD, TWIN = 4, 5
"""Requests of the first pair: two warm-ups and a control come before."""


@pytest.fixture
def model():
    with Loading().serving() as loading:
        yield loading


def _measure(model, runs, **how):
    book = live(find(environ={"TWOHALVES_SERVER": model.url}), None, runs)
    return measure(book, **({"experiment": "prompt_cache"} | how))


def _attempts(run, seq):
    return [(row.attempt, row.valid) for row in run.timings if row.seq == seq]


def _counted(run, seq):
    return [row.attempt for row in run.measured("prompt_cache") if row.seq == seq]


def _spoil(final):
    return final | {"done_reason": "stop"}


def test_a_twin_that_fails_costs_its_pair(model, tmp_path):
    """Both are asked again, with new text, and only the new two count."""
    model.faults[TWIN] = _spoil
    run = _measure(model, tmp_path)

    is_whole(run)
    assert [(1, True), (2, True)] == _attempts(run, COLD)
    assert [(1, False), (2, True)] == _attempts(run, TWIN)
    assert [2] == _counted(run, COLD) == _counted(run, TWIN)
    old, new = [row.prompt_hash for row in run.timings if row.seq == COLD]
    assert old != new
    assert [new] == [row.prompt_hash for row in run.timings if row.seq == TWIN and row.valid]
    rows = run.measured("prompt_cache")
    assert len(rows) == 2 * len({row.pair for row in rows})


def test_a_cold_one_that_fails_is_not_followed_by_its_twin(model, tmp_path):
    """There is nothing to compare: the next request is the pair's second attempt."""
    model.faults[COLD] = _spoil
    run = _measure(model, tmp_path)

    is_whole(run)
    assert [(1, False), (2, True)] == _attempts(run, COLD)
    assert [(2, True)] == _attempts(run, TWIN)


def test_parts_of_two_attempts_never_make_a_pair(model, tmp_path, monkeypatch):
    """Two users: once the fourth request fails, then the second, twice; nothing of it counts."""
    users = Profile(name="quick", points=(), blocks=1, broken_tokens=96)
    monkeypatch.setitem(profiles.PROFILES, "quick", users)
    first = 2 + 2 + 5 * 2 + 1  # warm-ups, controls, five pairs
    for number in (first + 3, first + 5, first + 7):
        model.faults[number] = _spoil
    run = _measure(model, tmp_path, experiment="cache_broken")

    kept = [(row.attempt, row.valid) for row in run.timings if row.pair == "broken-users-own-b1"]
    good, bad = True, False
    assert [(1, good), (1, good), (1, good), (1, bad)] == kept[:4]
    assert [(2, good), (2, bad), (3, good), (3, bad)] == kept[4:]
    users = [row for row in run.measured("cache_broken") if "users" in row.pair]
    assert [3] == [row.attempt for row in users]  # a cold request, and nothing to compare it with


def test_a_kill_between_the_two_costs_the_pair(model, tmp_path):
    """The next start does not send the twin of a prompt that somebody may have pushed out."""

    def stop(progress):
        if progress.done == COLD:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted):
        _measure(model, tmp_path, report=stop)
    [name] = listed(tmp_path)
    assert COLD == load(tmp_path / name).timings[-1].seq

    run = _measure(model, tmp_path)

    is_whole(run)
    assert [(1, True), (2, True)] == _attempts(run, COLD)
    assert [(2, True)] == _attempts(run, TWIN)
    assert [2] == _counted(run, COLD) == _counted(run, TWIN)


def _disturbing(model, times):
    """Another program brings its own window in, right after the first of the pair."""
    seen = []

    def disturb(progress):
        if progress.done == COLD and len(seen) < times:
            seen.append(True)
            model.loaded = (4096, model.digest)

    return disturb


def test_another_program_between_the_two_costs_the_pair(model, tmp_path):
    """It may have emptied the cache: no row is invalid, yet the twin has no cold one."""
    run = _measure(model, tmp_path, report=_disturbing(model, 1))

    is_whole(run)
    assert not invalid(run)
    assert [(1, True), (2, True)] == _attempts(run, COLD)
    assert [(2, True)] == _attempts(run, TWIN)
    assert ["other_window"] == [each["kind"] for each in run.session["noticed"]]
    after = next(row for row in run.timings if (row.seq, row.attempt) == (COLD, 2))
    assert "warmup" == run.timings[run.timings.index(after) - 1].role


def test_another_program_that_comes_between_each_time_ends_the_run(model, tmp_path):
    """Three times, then the reader is told; what was measured is kept."""
    with pytest.raises(ServerShared, match="seen: 4096 tokens"):
        _measure(model, tmp_path, report=_disturbing(model, 99))

    [name] = listed(tmp_path)
    kept = load(tmp_path / name)
    assert [(1, True), (2, True), (3, True)] == _attempts(kept, COLD)
    assert [] == _attempts(kept, TWIN)
    assert "unfinished" == kept.session["status"]
