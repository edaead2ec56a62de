"""The second run on a machine, or in a folder, is refused; no claim outlives a kill."""

import json
import pathlib
import subprocess
import sys
import tempfile

import pytest

from tests.servers import scripted
from tests.servers.process import Loading
from twohalves.errors import RunBusy
from twohalves.measure import live, measure
from twohalves.runs import claim_folder, claim_server, listed, load
from twohalves.runs import session as session_file
from twohalves.server import find

PROJECT = pathlib.Path(__file__).resolve().parents[1]
HOLDER = """\
import pathlib, sys
from twohalves.runs import claim_folder, claim_server
kind, what = sys.argv[1:]
claim = claim_server(what) if kind == "server" else claim_folder(pathlib.Path(what))
claim.tell("data/runs/theirs")
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def elsewhere():
    """Makes another process hold a claim; killed at the end."""
    held = []

    def hold(kind, what):
        process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, kind, what],
            cwd=PROJECT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        held.append(process)
        assert process.stdout.readline() == b"held\n"
        return process

    yield hold
    for process in held:
        process.kill()
        process.communicate()


@pytest.fixture
def server():
    with scripted.Scripted(Loading().routes()) as server:
        yield server


def _book(url, runs):
    return live(find(environ={"TWOHALVES_SERVER": url}), None, runs)


def _measure(url, runs):
    return measure(_book(url, runs), experiment="prefill_decode")


def test_the_second_run_on_a_server_is_refused_with_who_and_what_next(tmp_path, server, elsewhere):
    """The other's process and run are named, and no folder is left behind."""
    other = elsewhere("server", server.url)

    with pytest.raises(
        RunBusy, match=f"Process {other.pid} measures with a server on this"
    ) as caught:
        _measure(server.url, tmp_path)

    assert "into data/runs/theirs" in caught.value.what
    assert "give the same command again" in caught.value.next_step
    assert () == listed(tmp_path)


def test_a_killed_holder_holds_nothing(tmp_path, server, elsewhere):
    """After kill -9 the next run begins at once: no file has to be removed."""
    other = elsewhere("server", server.url)
    other.kill()
    other.wait()

    assert _measure(server.url, tmp_path).session["status"] == "complete"


def test_a_finished_run_leaves_no_claim_behind(tmp_path, server):
    """Its folder holds its own three files, and the temporary folder nothing of it."""
    run = _measure(server.url, tmp_path)

    names = {path.name for path in run.folder.iterdir()}
    assert {"session.json", "timings.csv", "raw.jsonl"} == names
    assert not list(pathlib.Path(tempfile.gettempdir()).glob("twohalves*/*.claimed"))


def test_all_servers_of_this_machine_share_it(elsewhere):
    """Two built-in servers, or one and an Ollama, have two ports and the same cores."""
    elsewhere("server", "http://127.0.0.1:11439")

    for url in ("http://localhost:11439", "http://[::1]:11439", "http://127.0.0.1:40123"):
        with pytest.raises(RunBusy, match="a server on this machine"):
            claim_server(url)
    claim_server("http://192.0.2.7:11439").release()


def test_another_machine_is_claimed_by_its_address(elsewhere):
    """The same host and port is one server; another port may be another machine's."""
    elsewhere("server", "http://192.0.2.7:11434")

    with pytest.raises(RunBusy, match=r"the server at http://192\.0\.2\.7:11434"):
        claim_server("http://192.0.2.7:11434")
    claim_server("http://192.0.2.7:11435").release()


def test_a_run_is_added_to_by_one_process_only(tmp_path, server, elsewhere):
    """Two computers may share a disk; the run's folder is claimed by itself."""
    done = _measure(server.url, tmp_path)
    session_file.write(done.folder, done.session | {"status": "unfinished"})
    other = elsewhere("folder", str(done.folder))

    with pytest.raises(RunBusy, match=f"Process {other.pid} measures with the run {done.id}"):
        _measure(server.url, tmp_path)
    assert done.timings == load(done.folder).timings


def test_a_claim_that_cannot_be_described_still_holds(tmp_path):
    """The words in the file are for people: half of them, or none, change nothing."""
    with claim_folder(tmp_path):
        for words in ("", '{"pid": 1', json.dumps([1])):
            (tmp_path / "claimed").write_text(words, encoding="utf-8")
            with pytest.raises(RunBusy, match="Another process measures with the run"):
                claim_folder(tmp_path)
    claim_folder(tmp_path).release()
