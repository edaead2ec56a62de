"""The built-in engine is installed only when nobody else is there to answer, or when asked for."""

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from twohalves.bootstrap import BUILTIN, MODEL, Environment
from twohalves.commands import engine


class _Server(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(self.server.status)
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def answering(request):
    """A server where Ollama would be, answering with the status given; None = nobody."""
    server = HTTPServer(("127.0.0.1", 0), _Server)
    server.status = request.param
    address = server.server_address
    thread = threading.Thread(target=server.serve_forever)
    if request.param is None:
        server.server_close()
        yield address
        return
    thread.start()
    yield address
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    ("answering", "variables", "expected"),
    [
        (200, {}, False),
        (None, {}, True),
        (404, {}, True),
        (200, {"TWOHALVES_SERVER": "builtin"}, True),
        (None, {"TWOHALVES_SERVER": "ollama"}, False),
        (None, {"TWOHALVES_SERVER": "http://10.0.0.1:11434"}, False),
        (None, {"OLLAMA_HOST": "10.0.0.1"}, False),
        (None, {"OLLAMA_HOST": " ", "TWOHALVES_SERVER": ""}, True),
    ],
    indirect=["answering"],
)
def test_who_is_there_decides(answering, variables, expected, monkeypatch):
    """A server that the reader named is never replaced; a proxy is never asked."""
    monkeypatch.setattr(engine, "OLLAMA", answering)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")

    assert expected is engine.needed(variables)


def test_engine_and_model_come_together(monkeypatch):
    """One is of no use without the other."""
    installed = []
    monkeypatch.setattr(Environment, "install", lambda _, wanted: installed.append(wanted))
    engine.provide({"TWOHALVES_SERVER": "builtin"})

    assert [BUILTIN, MODEL] == installed
