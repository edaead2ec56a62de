"""The HTTP side: paths, methods, headers, status codes; who may ask, and who has left."""

from __future__ import annotations

import contextlib
import http.server
import logging
import socket
import socketserver
import sys
import time
import urllib.parse
from http import HTTPStatus
from typing import Any

from twohalves.errors import EngineBroke, RequestRefused, TwoHalvesError
from twohalves.server.builtin import replies
from twohalves.server.builtin.answerer import Answerer
from twohalves.server.builtin.client import Client
from twohalves.server.builtin.endpoints import GREETING, PATHS, VERSION, Endpoints, read_asked
from twohalves.server.builtin.model import ServedModel
from twohalves.server.builtin.residence import Residence
from twohalves.server.loopback import is_loopback

_LARGEST_BODY = 32 * 2**20
_log = logging.getLogger(__name__)


class Listener(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """Listens on one loopback address; a thread a connection."""

    daemon_threads = True
    request_queue_size = 64
    # on Windows this flag would let two programs share the port
    allow_reuse_address = sys.platform != "win32"

    def __init__(
        self,
        address: tuple[str, int],
        model: ServedModel,
        residence: Residence,
        answerer: Answerer,
        engine_version: str,
    ) -> None:
        """Bind the address.

        Raises:
            OSError: the port is in use.
        """
        self.residence, self.answerer = residence, answerer
        self.endpoints = Endpoints(model, residence, engine_version)
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        super().__init__(address, Handler)

    @property
    def url(self) -> str:
        """Where it listens."""
        host, port = str(self.server_address[0]), self.server_address[1]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    def handle_error(self, request: object, client_address: object) -> None:
        """A broken connection is a client that left; anything else goes to the log."""
        error = sys.exception()
        if not isinstance(error, OSError):
            _log.error("request failed", exc_info=error)


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers the requests of one connection."""

    server: Listener
    protocol_version = "HTTP/1.1"
    timeout = 60  # seconds without a byte, reading or writing
    disable_nagle_algorithm = True
    wbufsize = -1  # written when flushed
    error_content_type = "text/plain"
    error_message_format = "%(code)d %(message)s"

    def do_GET(self) -> None:
        """Answer GET, and by the aliases below every other method."""
        arrived_ns = time.perf_counter_ns()
        self._streams = False
        try:
            self._dispatch(arrived_ns)
        except (RequestRefused, EngineBroke) as refusal:
            self._fail(refusal.status, refusal.text)
        except TwoHalvesError as error:
            self._fail(HTTPStatus.INTERNAL_SERVER_ERROR, error.what)
        except OSError:
            self.close_connection = True  # the client left
        except Exception:  # noqa: BLE001  # whatever it is, the client is told and the log knows
            _log.exception("request failed")
            self._fail(HTTPStatus.INTERNAL_SERVER_ERROR, "internal error of the built-in server")

    do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_GET  # noqa: N815

    def version_string(self) -> str:
        """What the Server header says."""
        return VERSION

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """One line a request, into the log."""
        _log.info(format, *args)

    def _dispatch(self, arrived_ns: int) -> None:
        if not self._is_local():
            self.close_connection = True  # its body is not read
            self._send(HTTPStatus.FORBIDDEN, b"", "")
            return
        body = self._body()
        path = urllib.parse.urlsplit(self.path).path
        allowed = PATHS.get(path)
        if allowed is None:
            self._send(HTTPStatus.NOT_FOUND, b"404 page not found", "text/plain")
        elif self.command == "OPTIONS":
            self._send(HTTPStatus.NO_CONTENT, b"", "", _preflight(allowed))
        elif self.command not in allowed:
            headers = {"Allow": ", ".join(allowed)}
            text = b"405 method not allowed"
            self._send(HTTPStatus.METHOD_NOT_ALLOWED, text, "text/plain", headers)
        else:
            self._answer(path, body, arrived_ns)

    def _answer(self, path: str, body: bytes, arrived_ns: int) -> None:
        if path == "/":
            self._send(HTTPStatus.OK, GREETING.encode(), "text/plain; charset=utf-8")
            return
        told = self.server.endpoints.tell(path, body)
        if told is None:
            self._compute(path, body, arrived_ns)
        else:
            self._reply(told)

    def _compute(self, path: str, body: bytes, arrived_ns: int) -> None:
        asked = read_asked(path, body)
        with (
            Client(self.connection) as client,
            contextlib.closing(self.server.answerer.answer(asked, arrived_ns, client)) as records,
        ):
            first = next(records)
            if not asked.stream or asked.is_empty or asked.render_only:
                self._reply(first)
                return
            self._begin_stream(first)
            for record in records:
                self._chunk(record)
        self._end_stream()

    def _begin_stream(self, record: dict[str, Any]) -> None:
        self.send_response(HTTPStatus.OK)
        headers = {"Transfer-Encoding": "chunked"} if self._knows_chunks else {}
        self.close_connection = self.close_connection or not headers  # its end ends the stream
        self._own_headers("application/x-ndjson", headers)
        self._streams = True
        self.end_headers()
        self._chunk(record)  # headers and first token leave together

    def _chunk(self, record: dict[str, Any]) -> None:
        line = replies.encode(record) + b"\n"
        self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line) if self._knows_chunks else line)
        self.wfile.flush()

    def _end_stream(self) -> None:
        self.wfile.write(b"0\r\n\r\n" if self._knows_chunks else b"")

    @property
    def _knows_chunks(self) -> bool:
        return self.request_version >= "HTTP/1.1"

    def _reply(self, record: dict[str, Any], status: int = HTTPStatus.OK) -> None:
        self._send(status, replies.encode(record), "application/json; charset=utf-8")

    def _fail(self, status: int, text: str) -> None:
        """An error record; inside a stream its last line, for the status is long gone."""
        with contextlib.suppress(OSError):
            if self._streams:
                self._chunk({"error": text})
                self._end_stream()
            else:
                self._reply({"error": text}, status)

    def _send(
        self, status: int, body: bytes, media_type: str, headers: dict[str, str] | None = None
    ) -> None:
        self.send_response(status)
        length = {} if status == HTTPStatus.NO_CONTENT else {"Content-Length": str(len(body))}
        self._own_headers(media_type, length | (headers or {}))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _own_headers(self, media_type: str, headers: dict[str, str]) -> None:
        if media_type:
            self.send_header("Content-Type", media_type)
        for name, value in headers.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        origin = self.headers.get("Origin")
        if origin and _is_loopback_origin(origin):
            self.send_header("Access-Control-Allow-Origin", origin)
            self.send_header("Vary", "Origin")

    def _is_local(self) -> bool:
        """False for a page or a name from elsewhere, whatever address it came by."""
        hosts = self.headers.get_all("Host") or []
        if not hosts and self.request_version == "HTTP/1.0":
            hosts = ["localhost"]  # that version knows no Host; every browser sends one
        origin = self.headers.get("Origin")
        return (
            len(hosts) == 1
            and is_loopback(_hostname(f"//{hosts[0]}"))
            and (origin is None or _is_loopback_origin(origin))
        )

    def _body(self) -> bytes:
        """The request's body.

        Raises:
            RequestRefused: too long, or its length is not said.
        """
        length = self.headers.get("Content-Length", "0").strip()
        if "Transfer-Encoding" in self.headers or not (length.isascii() and length.isdigit()):
            self.close_connection = True
            raise RequestRefused(411, "the built-in server wants a Content-Length")
        if len(length) > 12 or int(length) > _LARGEST_BODY:
            self.close_connection = True
            raise RequestRefused(413, f"request body too large (limit {_LARGEST_BODY} bytes)")
        return self.rfile.read(int(length))


def _is_loopback_origin(origin: str) -> bool:
    return origin.startswith(("http://", "https://")) and is_loopback(_hostname(origin))


def _hostname(url: str) -> str | None:
    try:
        return urllib.parse.urlsplit(url).hostname
    except ValueError:
        return None


def _preflight(allowed: tuple[str, ...]) -> dict[str, str]:
    return {
        "Access-Control-Allow-Methods": "GET,POST,PUT,PATCH,DELETE,HEAD,OPTIONS",
        "Access-Control-Allow-Headers": "Authorization,Content-Type,User-Agent,Accept",
        "Access-Control-Max-Age": "43200",
        "Allow": ", ".join(allowed),
    }
