"""Rows outlive kills, full disks and torn lines."""

import errno
import json
import os

import pytest

from twohalves.errors import CannotKeep, RunUnreadable
from twohalves.runs import Keeper, Timing, Whose, load, unfinished, unreadable
from twohalves.runs import session as session_file

SESSION = {
    "schema": 2,
    "experiments": ["prefill_decode"],
    "load_average": {"before": None},
    "machine": {"id": "m", "logical_cores": 2},
    "model": {"name": "m", "digest": "d"},
    "options": {"num_ctx": 8192},
    "plan": [],
    "profile": "quick",
    "server": {"kind": "ollama", "version": "0.24.0"},
    "skipped_lengths": [],
    "started_at": "2026-11-29T10:00:00+00:00",
    "status": "unfinished",
}


def _row(seq):
    return Timing(
        run_id="r",
        seq=seq,
        prompt_eval_count=96,
        prompt_eval_duration=64_000_000,
        eval_count=32,
        eval_duration=162_000_000,
    )


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "run"
    path.mkdir()
    session_file.write(path, SESSION)
    return path


def test_a_row_is_on_disk_before_the_next_request(folder):
    """After keep() returns, another process reads the row and the raw record."""
    Keeper(folder).keep(_row(1), {"done": True, "eval_count": 32})

    assert [row.seq for row in load(folder).timings] == [1]
    raw = json.loads((folder / "raw.jsonl").read_text(encoding="utf-8"))
    assert raw == {"seq": 1, "attempt": 1, "record": {"done": True, "eval_count": 32}}


@pytest.mark.parametrize("cut", range(8, 68, 7))
def test_a_torn_last_line_is_set_aside_and_the_rows_before_it_stay(folder, cut):
    """A kill in the middle of a write costs that line only, and the pieces are kept."""
    keeper = Keeper(folder)
    keeper.keep(_row(1), {})
    keeper.keep(_row(2), {})
    path = folder / "timings.csv"
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])

    reread = load(folder)
    assert [row.seq for row in reread.timings] == [1]
    assert "cut short" in reread.notes[0]

    Keeper(folder).keep(_row(3), {})
    assert [row.seq for row in load(folder).timings] == [1, 3]
    assert "lacks 1 answer (request 2), which raw.jsonl holds" in load(folder).notes[0]
    assert (folder / "timings.csv.torn").exists()


def test_a_torn_header_is_written_anew(folder):
    """A kill during the very first write leaves half a header; the next start mends it."""
    (folder / "timings.csv").write_bytes(b"run_id,seq,blo")

    Keeper(folder).keep(_row(1), {})

    assert [row.seq for row in load(folder).timings] == [1]


def test_a_full_disk_is_one_clear_error(folder, monkeypatch):
    """When the disk is full the error says that the earlier rows are safe, and they are."""
    keeper = Keeper(folder)
    keeper.keep(_row(1), {})
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CannotKeep, match="No space left") as caught:
        keeper.keep(_row(2), {})
    monkeypatch.undo()

    assert "the rows so far are kept" in caught.value.next_step
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_disk_that_fills_up_in_the_second_file_leaves_neither_half(folder, monkeypatch):
    """The record was written and its row was not: the record is taken back too."""
    keeper = Keeper(folder)
    keeper.keep(_row(1), {})
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    flushed = []

    def full_the_second_time(_):
        flushed.append(_)
        if len(flushed) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full_the_second_time)
    with pytest.raises(CannotKeep):
        keeper.keep(_row(2), {})
    monkeypatch.undo()

    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}
    keeper.keep(_row(2), {})
    assert [row.seq for row in load(folder).timings] == [1, 2]


def test_session_json_is_whole_or_not_there(folder, monkeypatch):
    """A failed write leaves the old facts and no stray file."""
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        session_file.write(folder, SESSION | {"status": "complete"})

    assert session_file.read(folder)["status"] == "unfinished"
    assert [path.name for path in folder.iterdir()] == ["session.json"]


def test_facts_that_are_missing_are_named(folder):
    """A session.json with holes is refused by name and hides no other run."""
    other = folder.parent / "broken"
    other.mkdir()
    (other / "session.json").write_text('{"schema": 1}', encoding="utf-8")
    (other / "timings.csv").write_text("run_id,seq\n", encoding="utf-8")

    with pytest.raises(RunUnreadable, match="it lacks experiments, load_average, machine, model"):
        session_file.read(other)
    assert [error.args[0] for error in unreadable(folder.parent)] == ["broken"]
    whose = Whose(machine_id="m", server_kind="ollama", model_digest="d")
    assert unfinished(whose, ["prefill_decode"], "quick", folder.parent)["run_id"] == folder.name
