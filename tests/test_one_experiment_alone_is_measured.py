"""`measure --experiment NAME`: its requests and no others, resumed as such; `--private` beside."""

import pytest

from tests import verb
from tests.servers import scripted
from tests.servers.process import Loading
from twohalves.errors import Interrupted, OllamaMissing, UnknownName
from twohalves.measure import EXPERIMENTS, live, measure
from twohalves.measure.book import kept_run
from twohalves.runs import listed, load
from twohalves.server import find

AROUND = 2 + 2 + 3
"""Warm-ups, a control at each end, and audits."""
COUNTS = {"streaming": 2, "traffic": 40, "cache_broken": 5 * 2 + 4}
"""Requests of `quick` beside those around."""


@pytest.fixture
def server():
    with scripted.Scripted(Loading().routes()) as server:
        yield server


def _book(server, runs):
    return live(find(environ={"TWOHALVES_SERVER": server.url}), None, runs)


def _give(server, runs, *words, **variables):
    where = ("--host", server.url, "--out", str(runs))
    return verb.give("measure", *words, *where, variables=variables)


def _stopped(server, runs, **what):
    """A run that ended after three requests."""

    def stop(progress):
        if progress.done == 3:
            raise KeyboardInterrupt

    before = set(listed(runs))
    with pytest.raises(Interrupted):
        measure(_book(server, runs), report=stop, **what)
    [name] = set(listed(runs)) - before
    return name


@pytest.mark.parametrize("name", COUNTS)
def test_only_its_requests_are_asked(server, tmp_path, name):
    """With the warm-ups, controls and audits that every run needs."""
    run = measure(_book(server, tmp_path), experiment=name)

    assert [name] == run.session["experiments"]
    assert COUNTS[name] == len(run.measured(name))
    assert AROUND + COUNTS[name] == len(run.timings)
    assert {name} == {row.experiments for row in run.timings if row.role == "measure"}


def test_it_does_for_a_page_that_needs_no_more(server, tmp_path):
    """A page of that experiment takes it; one that needs all measures anew."""
    book = _book(server, tmp_path)
    run = measure(book, experiment="streaming")

    assert run.id == kept_run(book, ("streaming",)).id
    assert kept_run(book, EXPERIMENTS) is None


def test_the_command_measures_it(server, tmp_path):
    """By name, into the folder that is named."""
    told = _give(server, tmp_path, "--experiment", "streaming")

    assert 0 == told.returncode, told.stderr
    [name] = listed(tmp_path)
    assert f"{AROUND + 2} rows." in told.stdout.decode()
    assert ["streaming"] == load(tmp_path / name).session["experiments"]


def test_a_slip_in_its_name_is_answered_before_anything_starts(server, tmp_path):
    """The nearest one is named, and no folder is made."""
    told = _give(server, tmp_path, "--experiment", "streming")

    assert 0 != told.returncode
    assert "'streaming'" in told.stderr.decode()
    assert () == listed(tmp_path)
    assert [] == server.asked
    with pytest.raises(UnknownName):
        measure(_book(server, tmp_path), experiment="streming")


@pytest.mark.parametrize("named", [True, False], ids=["by its name", "by the same command"])
def test_it_is_gone_on_with(server, tmp_path, named):
    """The rest of this experiment, not of all; an unfinished run of all stays as it is."""
    whole = _stopped(server, tmp_path)
    alone = _stopped(server, tmp_path, experiment="streaming")

    words = ("--resume", alone) if named else ("--experiment", "streaming")
    told = _give(server, tmp_path, *words)

    assert 0 == told.returncode, told.stderr
    run = load(tmp_path / alone)
    assert ("complete", ["streaming"]) == (run.session["status"], run.session["experiments"])
    assert 2 == len(run.measured("streaming"))
    assert 3 == len(load(tmp_path / whole).timings)
    assert {whole, alone} == set(listed(tmp_path))


def test_a_second_ollama_is_started_on_request_only(server, tmp_path):
    """Asked for where there is no `ollama` to start: the run says so and is complete."""
    told = _give(server, tmp_path, "--experiment", "cache_broken", "--private", PATH="")

    assert 0 == told.returncode, told.stderr
    [name] = listed(tmp_path)
    session = load(tmp_path / name).session
    assert "complete" == session["status"]
    assert {OllamaMissing().what} == set(session["left_out"].values())
    assert 3 == len(session["left_out"])
    assert "cache_broken:two_slots" in told.stderr.decode()
