"""A server that answers as it is told: any status, any body, any pace, and it remembers.

routes = {"/api/version": Answer(body={"version": "0.24.0"})}
with Scripted(routes) as server:
    ...  # ask server.url, then look at server.asked
"""

from __future__ import annotations

import contextlib
import dataclasses
import http.server
import json
import socket
import threading
import time
from typing import Any


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer."""

    status: int = 200
    """HTTP status."""
    headers: dict[str, str] = dataclasses.field(default_factory=dict)
    """Beside the length; a content type of JSON is added to JSON bodies."""
    body: Any = b""
    """Bytes, text, or what becomes JSON; left out when there are chunks."""
    chunks: list[tuple[float, Any]] | None = None
    """(seconds to wait first, bytes or what becomes a JSON line) for each piece of a stream."""
    breaks_off: bool = False
    """Drop the connection instead of ending the answer."""
    delay_s: float = 0.0
    """Seconds before the status line."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request as it came."""

    method: str
    """GET, POST and so on."""
    path: str
    """With query."""
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes
    """As received."""

    @property
    def json(self) -> Any:
        """The body read as JSON."""
        return json.loads(self.body)


class Scripted:
    """A server on a free port of 127.0.0.1, for the time of a with-statement.

    A route's value is an Answer, a list of them (used in turn, the last one again and again),
    or a function from Asked to Answer. The path "*" answers all that has no route of its own;
    without it that is a 404.
    """

    def __init__(
        self, routes: dict[str, Any], *, host: str = "127.0.0.1", prefix: str = "", port: int = 0
    ) -> None:
        self.routes, self.prefix = routes, prefix
        self.asked: list[Asked] = []
        self._turns: dict[str, int] = {}
        self.stopping = threading.Event()
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        kind = type("Threads", (http.server.ThreadingHTTPServer,), {"address_family": family})
        self._server = kind((host, port), type("Bound", (_Handler,), {"script": self}))
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        shown = f"[{host}]" if ":" in host else host
        self.url = f"http://{shown}:{self.port}{prefix}"

    def __enter__(self) -> Scripted:
        threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        ).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()

    def answer(self, asked: Asked) -> Answer:
        """What the script says to a request."""
        path = asked.path.partition("?")[0]
        if not path.startswith(self.prefix):
            return Answer(status=404, body="404 page not found")
        route = self.routes.get(path.removeprefix(self.prefix), self.routes.get("*"))
        if callable(route):
            return route(asked)
        if isinstance(route, list):
            turn = self._turns.get(path, 0)
            self._turns[path] = turn + 1
            return route[min(turn, len(route) - 1)]
        return route or Answer(status=404, body="404 page not found")


class _Handler(http.server.BaseHTTPRequestHandler):
    script: Scripted
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(method=self.command, path=self.path, headers=headers, body=body)
        self.script.asked.append(asked)
        answer = self.script.answer(asked)
        with contextlib.suppress(OSError):
            self._send(answer)
        if answer.breaks_off:
            self.close_connection = True

    # the base class finds these by name
    do_POST = do_PUT = do_DELETE = do_HEAD = do_OPTIONS = do_CONNECT = do_GET  # noqa: N815

    def log_message(self, *_: object) -> None:
        """Tests are quiet."""

    def _send(self, answer: Answer) -> None:
        self._wait(answer.delay_s)
        body, media_type = _as_bytes(answer.body)
        self.send_response(answer.status)
        headers = {"Content-Type": media_type} | answer.headers
        if answer.chunks is None:
            headers["Content-Length"] = str(len(body) + (1 if answer.breaks_off else 0))
        else:
            headers |= {"Content-Type": "application/x-ndjson", "Transfer-Encoding": "chunked"}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if answer.chunks is None:
            self.wfile.write(body if self.command != "HEAD" else b"")
            return
        for delay, piece in answer.chunks:
            self._wait(delay)
            line = piece if isinstance(piece, bytes) else json.dumps(piece).encode() + b"\n"
            self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
        if not answer.breaks_off:
            self.wfile.write(b"0\r\n\r\n")

    def _wait(self, seconds: float) -> None:
        if seconds:
            self.script.stopping.wait(seconds)


def _as_bytes(body: Any) -> tuple[bytes, str]:
    if isinstance(body, bytes):
        return body, "application/octet-stream"
    if isinstance(body, str):
        return body.encode(), "text/plain"
    return json.dumps(body).encode(), "application/json"


def ollama_routes(*models: dict[str, Any], version: str = "0.24.0") -> dict[str, Any]:
    """The routes of an Ollama with these models.

    Args:
        models: entries as in /api/tags; under "show" what /api/show adds.
        version: what /api/version says.
    """
    shown = {model["name"]: model.get("show", {}) for model in models}
    listed = [{k: v for k, v in model.items() if k != "show"} for model in models]

    def show(asked: Asked) -> Answer:
        name = asked.json["model"]
        if name in shown:
            return Answer(body=shown[name])
        return Answer(status=404, body={"error": f"model '{name}' not found"})

    return {
        "/": Answer(body="Ollama is running"),
        "/api/version": Answer(body={"version": version}),
        "/api/tags": Answer(body={"models": listed}),
        "/api/show": show,
    }


def unused_port(host: str = "127.0.0.1") -> int:
    """A port on which nothing listens."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.bind((host, 0))
        return probe.getsockname()[1]


def until(condition: Any, seconds: float = 20.0) -> bool:
    """Wait for something to become true; False if it does not in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return bool(condition())


def name_two_addresses(monkeypatch: Any) -> None:
    """From now on host.docker.internal means ::1 first and 127.0.0.1 second, as in Docker."""
    real = socket.getaddrinfo

    def two(host: str, port: int, *args: Any, **kwargs: Any) -> list[Any]:
        if host != "host.docker.internal":
            return real(host, port, *args, **kwargs)
        six = (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("::1", port, 0, 0))
        return [six, (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(socket, "getaddrinfo", two)
