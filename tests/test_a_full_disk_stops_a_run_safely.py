"""A disk that fills up in the middle of a run: no torn row, a clear error, and later it goes on."""

import os
import pathlib

import pytest

from tests import verb
from tests.servers import scripted
from tests.servers.process import Loading
from twohalves.errors import CannotKeep
from twohalves.measure import live, measure
from twohalves.runs import listed, load
from twohalves.runs import session as session_file
from twohalves.server import find

ROOM = 34_000
"""Bytes that a file may have: enough for session.json, not for all rows."""


@pytest.fixture
def server():
    with scripted.Scripted(Loading().routes()) as server:
        yield server


def _measured(server, runs, room=None):
    import resource

    def shrink():
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    words = ("measure", "--out", str(runs), "--host", server.url)
    return verb.give(*words, before=shrink if room else None)


@pytest.mark.skipif(os.name == "nt", reason="Windows cannot limit the size of a file")
def test_the_command_says_what_is_safe_and_goes_on_when_there_is_room(tmp_path, server):
    """A file takes no further byte: the rows before are whole, and the same command goes on."""
    stopped = _measured(server, tmp_path, ROOM)

    said = stopped.stderr.decode()
    assert 3 == stopped.returncode, said
    assert "A row could not be written to" in said
    assert "the rows so far are kept" in said
    assert "Traceback" not in said
    [name] = listed(tmp_path)
    for file in ("timings.csv", "raw.jsonl"):
        assert (tmp_path / name / file).read_bytes().endswith(b"\n")
    before = load(tmp_path / name)
    assert () == before.notes
    assert len(before.timings) > 5

    again = _measured(server, tmp_path)

    assert 0 == again.returncode, again.stderr
    run = load(tmp_path / name)
    assert before.timings == run.timings[: len(before.timings)]
    assert run.session["status"] == "complete"
    assert not list(run.folder.glob("*.torn"))


def test_facts_that_cannot_be_written_leave_the_old_ones(tmp_path, server, monkeypatch):
    """At the last moment session.json finds no room: all rows stay, and the next start ends it."""
    book = live(find(environ={"TWOHALVES_SERVER": server.url}), None, tmp_path)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pathlib.Path, "replace", full)
    with pytest.raises(CannotKeep, match="No space left"):
        measure(book, experiment="prefill_decode")
    assert [] == list(tmp_path.iterdir())
    monkeypatch.undo()

    def fill(progress):
        if progress.done == 20:
            monkeypatch.setattr(pathlib.Path, "replace", full)

    with pytest.raises(CannotKeep, match="No space left") as caught:
        measure(book, experiment="prefill_decode", report=fill)
    monkeypatch.undo()

    assert "give the same command again" in caught.value.next_step
    [name] = listed(tmp_path)
    assert session_file.read(tmp_path / name)["status"] == "unfinished"
    before = load(tmp_path / name).timings
    run = measure(book, experiment="prefill_decode")
    assert before == run.timings[: len(before)]
    assert run.session["status"] == "complete"


def test_a_folder_that_takes_nothing_is_said_at_once(tmp_path, server):
    """A file stands where the runs' folder should be."""
    (tmp_path / "runs").write_text("", encoding="utf-8")
    book = live(find(environ={"TWOHALVES_SERVER": server.url}), None, tmp_path / "runs")

    with pytest.raises(CannotKeep, match="runs"):
        measure(book, experiment="prefill_decode")
