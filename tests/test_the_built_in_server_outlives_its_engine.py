"""A crash of the engine costs the request in hand; clients that leave cost nothing."""

import concurrent.futures
import contextlib
import os
import signal
import socket
import sys
import threading
import time

import httpx
import ollama
import psutil
import pytest

from tests.servers.builtin import MODEL, Started
from tests.servers.scripted import until

pytestmark = pytest.mark.engine

SHORT = {"num_predict": 2, "num_ctx": 8192}
LONG = " one" * 7000  # read for seconds, wherever these tests run


@pytest.fixture
def log(tmp_path):
    return tmp_path / "server.log"


@pytest.fixture
def server(log):
    with Started(log=log) as started:
        yield started


def crash_soon(server, after=0.5):
    """End the engine's process as a fault would, while it computes."""

    def crash():
        time.sleep(after)
        server.engine().kill()

    thread = threading.Thread(target=crash)
    thread.start()
    return thread


def has_ended(process):
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


def is_open(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def loaded(server):
    return httpx.get(f"{server.url}/api/ps", trust_env=False).json()["models"]


def test_a_crash_is_answered_and_the_next_request_is_served(server, log):
    """Status 500 with Ollama's words, a line in the log, and then all is as before."""
    server.ask(prompt="Hi", options=SHORT)
    crashing = crash_soon(server)
    answer = server.ask(prompt=LONG, options=SHORT)
    crashing.join()

    assert answer.status_code == 500
    assert answer.json() == {
        "error": "an error was encountered while running the model: unexpected EOF"
    }
    assert server.ask(prompt="Hi", options=SHORT).json()["eval_count"] == 2
    assert "the engine broke off" in log.read_text(encoding="utf-8")


def test_a_crash_inside_a_stream_is_its_last_line(server):
    """As Ollama does when its runner is killed; the official client raises its own error."""
    server.ask(prompt="Hi", options=SHORT)
    client = ollama.Client(server.url, trust_env=False)
    stream = client.generate(
        MODEL,
        "Once upon a time",
        raw=True,
        stream=True,
        options={"num_predict": 8000, "num_ctx": 8192, "temperature": 0},
    )
    next(stream)
    server.engine().kill()

    with pytest.raises(ollama.ResponseError, match="unexpected EOF") as caught:
        list(stream)
    assert caught.value.status_code == -1


def test_a_crash_between_requests_is_not_noticed(server):
    """Nobody asked anything, so nobody is told: it is listed no more, and loaded again."""
    server.ask(prompt="Hi", options=SHORT)
    engine = server.engine()
    ports = [each.laddr.port for each in engine.net_connections()]
    engine.kill()

    assert ports
    assert until(lambda: not any(map(is_open, ports)))
    assert loaded(server) == []
    assert server.ask(prompt="Hi", options=SHORT).status_code == 200


def test_a_crash_takes_no_other_server_along():
    """Both streams of a server with two slots end; a third client is served at once."""
    with Started(env={"OLLAMA_NUM_PARALLEL": "2"}) as server:
        server.ask(prompt="Hi", options=SHORT)
        crashing = crash_soon(server)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(lambda _: server.ask(prompt=LONG, options=SHORT), range(2)))
        crashing.join()

        assert [answer.status_code for answer in answers] == [500, 500]
        assert server.ask(prompt="Hi", options=SHORT).status_code == 200


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize("when", ["load", "prefill", "decode"])
def test_sigterm_ends_it_whatever_it_does(server, when):
    """Within 5 seconds, with exit code 0, and the engine's process goes too."""
    if when != "load":
        server.ask(prompt="Hi", options=SHORT)
    with contextlib.closing(server.begin(4 if when == "decode" else 7000)):
        assert until(server.engine if when == "load" else server.is_computing)
        engine = server.engine()
        server.process.send_signal(signal.SIGTERM)

        assert server.process.wait(5) == 0
        assert until(lambda: has_ended(engine))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize("when", ["load", "prefill"])
def test_a_killed_server_leaves_no_engine_behind(server, when):
    """Also when nothing could be tidied up, and before the engine has said that it is ready."""
    with contextlib.closing(server.begin(7000)):
        assert until(server.engine if when == "load" else server.is_computing)
        engine = server.engine()
        os.kill(server.process.pid, signal.SIGKILL)

        assert until(lambda: has_ended(engine))


@pytest.mark.parametrize("slots", ["1", "3"])
def test_fifty_clients_that_leave_in_the_middle_leave_no_slot_busy(slots):
    """Some while they wait, some in the prompt, some in the answer; then the engine rests."""
    with Started(env={"OLLAMA_NUM_PARALLEL": slots}) as server:
        server.ask(prompt="Hi", options=SHORT)
        wires = [server.begin(4 if number % 2 else 300) for number in range(50)]
        time.sleep(0.5)
        for wire in wires:
            wire.close()

        assert until(lambda: not server.is_computing(), 30)
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            answers = list(pool.map(lambda _: server.ask(prompt="Hi", options=SHORT), range(3)))
        assert [answer.json()["eval_count"] for answer in answers] == [2, 2, 2]
        assert len(loaded(server)) == 1
        assert until(lambda: server.seen.num_threads() < 10)
