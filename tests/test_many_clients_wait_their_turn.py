"""Who comes while others are answered waits and is served; who comes too late is told so."""

import concurrent.futures
import select
import sys

import pytest

from tests.models import tiny
from tests.servers.builtin import Started
from tests.servers.scripted import until

pytestmark = pytest.mark.engine

NAME = "tiny:1k"
LONG = {"num_ctx": 4096, "num_predict": 40_000, "num_thread": 1}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return tiny.llama(tmp_path_factory.mktemp("models") / "tiny.gguf")


def begin(server):
    return server.begin(4, model=NAME, options=LONG)


def test_a_full_queue_refuses_the_next(model):
    """Status 503 and Ollama's words; those who wait keep their places and are answered."""
    short = {"num_ctx": 512, "num_predict": 2, "num_thread": 1}
    with Started("--model", model, env={"OLLAMA_MAX_QUEUE": "3"}) as server:
        first = begin(server)
        assert until(server.is_computing)
        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            waiting = [
                pool.submit(server.ask, model=NAME, prompt="Hi", options=short) for _ in range(12)
            ]
            assert until(lambda: sum(each.done() for each in waiting) == 9)
            first.close()
            answers = [each.result() for each in waiting]

    refused = [answer for answer in answers if answer.status_code == 503]
    assert len(refused) == 9
    assert {answer.json()["error"] for answer in refused} == {
        "server busy, please try again.  maximum pending requests exceeded"
    }
    assert [a.json()["eval_count"] for a in answers if a.status_code == 200] == [2, 2, 2]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_more_clients_wait_than_a_shell_gives_handles(model):
    """With 256 handles, as on macOS, a hundred clients wait and none is sent away."""
    import resource

    given = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, given[1]))
    try:
        server = Started("--model", model)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, given)
    with server:
        wires = [begin(server) for _ in range(100)]
        try:
            assert until(lambda: server.seen.num_fds() > 300, 20)
            ended, _, _ = select.select(wires, [], [], 1)
            assert len(ended) <= 1  # the one that is answered
        finally:
            for wire in wires:
                wire.close()
