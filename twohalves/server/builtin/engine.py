"""The engine: llama.cpp in a process of its own, asked over its own loopback HTTP port.

One engine holds one model with one window. To change the window a new one is made; see
`residence`. A crash of the engine ends its process and nothing else, and ending the process
frees all it held. Its port is open to every program of this machine, so it wants a random key
and answers no web page.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import pathlib
import secrets
import socket
import subprocess
import sys
import urllib.parse
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import IO, Any, cast

from twohalves.errors import EngineBroke, EngineMissing, RequestRefused, WeightsUnreadable
from twohalves.server.answering import Started

PROGRAM = pathlib.Path(__file__).with_name("engine_process.py")
"""What runs as the engine's own process."""
_BROKEN_OFF = "unexpected EOF"  # Ollama's words for a runner that is gone
_SILENCE_S = 600
"""Longest wait for the engine's next byte; it pings every 30 seconds while it computes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings:
    """What cannot be changed without loading anew."""

    num_ctx: int
    """Window in tokens."""
    num_batch: int
    """Prompt tokens computed at once."""
    num_thread: int | None
    """Threads; None = as many as the engine finds cores."""
    setup: Started
    """What the server was started with; each slot has a window of its own."""


class Completion:
    """One running completion: its events in order, and a way to stop it from outside."""

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        """Of a request that has been sent; nothing has been read yet."""
        self._connection = connection
        self._socket = connection.sock
        self._is_aborted = False

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The engine's events; the last one has `stop` true.

        Raises:
            RequestRefused: the engine refused the request, with its own words.
            EngineBroke: the engine went away or sent something unreadable.
            ConnectionAbortedError: after `abort`.
        """
        try:
            yield from _events(_accepted(self._connection))
        except (OSError, http.client.HTTPException, ValueError) as error:
            if self._is_aborted:
                raise ConnectionAbortedError from error
            raise EngineBroke(_BROKEN_OFF) from error

    def abort(self) -> None:
        """End the engine's work; safe from another thread, and when it has ended already."""
        self._is_aborted = True
        with contextlib.suppress(OSError):  # closed already
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Give the connection back; the engine then stops what is not finished."""
        self._connection.close()


class Engine:
    """One loaded model."""

    def __init__(self, path: pathlib.Path, settings: EngineSettings) -> None:
        """Begin to load a model; `await_ready` waits for the end of it.

        Raises:
            EngineBroke: the system gives it no process.
        """
        self.settings = settings
        self.room = 0
        """Longest prompt in tokens; the engine keeps one place for the answer."""
        self._path = path
        self._key = secrets.token_hex(16)
        self._netloc = ""
        self._process = _start()

    @property
    def exit_code(self) -> int | None:
        """How its process ended, by `close` or by a crash; None = it lives."""
        return self._process.poll()

    def await_ready(self) -> None:
        """Wait until the model is loaded: from a tenth of a second to minutes, by size.

        Raises:
            EngineMissing: the engine's package is not installed.
            WeightsUnreadable: the engine refused the file.
            EngineBroke: its process ended while it loaded, by a crash or by `close`.
        """
        said = self._tell()
        if "missing" in said:
            raise EngineMissing(said["missing"])
        if "refused" in said:
            raise WeightsUnreadable(str(self._path), "engine", said["refused"])
        self._netloc = urllib.parse.urlsplit(said["address"]).netloc
        properties = self._ask("GET", "/props")
        self.room = properties["default_generation_settings"]["n_ctx"] - 1

    def _tell(self) -> dict[str, str]:
        """Say what to load, and hear how it went."""
        pipe_in, pipe_out = _pipes(self._process)
        settings = asdict(self.settings)
        wanted = {"model": str(self._path), "key": self._key, **settings.pop("setup"), **settings}
        try:
            pipe_in.write(json.dumps(wanted).encode("ascii") + b"\n")
            pipe_in.flush()
            said: dict[str, str] = json.loads(pipe_out.readline())
        except (OSError, ValueError) as error:
            detail = f"it ended while it loaded, with exit code {self._process.wait()}"
            raise EngineBroke(detail) from error
        return said

    def tokenize(self, text: str) -> list[int]:
        """Token ids of a prompt, as the engine itself would read it."""
        body = {"content": text, "add_special": True, "parse_special": True}
        return list(self._ask("POST", "/tokenize", body)["tokens"])

    def detokenize(self, tokens: list[int]) -> str:
        """The text of token ids."""
        return str(self._ask("POST", "/detokenize", {"tokens": tokens})["content"])

    def render(self, messages: list[dict[str, str]]) -> str:
        """A conversation in the model's own chat template."""
        return str(self._ask("POST", "/apply-template", {"messages": messages})["prompt"])

    def follows(self, schema: dict[str, Any]) -> bool:
        """False for a JSON schema that the engine would drop without a word.

        Asked for one token that no JSON value begins with, and made very likely, it gives
        another only if the schema binds it. This forgets the slot's prefix.
        """
        never = self.tokenize("T")[-1]
        probe = {
            "prompt": [never],
            "n_predict": 1,
            "temperature": 0,
            "logit_bias": [[never, 100.0]],
            "json_schema": schema,
        }
        return "T" not in str(self._ask("POST", "/completion", probe)["content"])

    def complete(self, body: dict[str, Any]) -> Completion:
        """Start a completion.

        Raises:
            EngineBroke: the engine does not answer.
        """
        return Completion(self._request("POST", "/completion", body | {"stream": True}))

    def close(self) -> None:
        """Unload, also while it loads. What runs is cut off: its readers meet an EngineBroke."""
        self._process.kill()
        self._process.wait()
        for pipe in _pipes(self._process):
            with contextlib.suppress(OSError):
                pipe.close()

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        connection = self._request(method, path, body)
        try:
            record: dict[str, Any] = json.loads(_accepted(connection).read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise EngineBroke(_BROKEN_OFF) from error
        finally:
            connection.close()
        return record

    def _request(
        self, method: str, path: str, body: dict[str, Any] | None
    ) -> http.client.HTTPConnection:
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        content = None if body is None else json.dumps(body).encode("ascii")
        # one connection a request: pooled ones broke now and then
        connection = http.client.HTTPConnection(self._netloc, timeout=_SILENCE_S)
        try:
            connection.request(method, path, content, headers)
        except OSError as error:
            connection.close()
            raise EngineBroke(_BROKEN_OFF) from error
        return connection


def _start() -> subprocess.Popen[bytes]:
    command = [sys.executable, "-P", "-X", "utf8", str(PROGRAM)]
    flags = 0
    if sys.platform == "win32":
        flags = subprocess.CREATE_NO_WINDOW
    try:
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, creationflags=flags
        )
    except OSError as error:  # no memory, no handles: not a client that left
        detail = f"its process cannot be started ({error.strerror})"
        raise EngineBroke(detail) from error


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    return cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)


def _accepted(connection: http.client.HTTPConnection) -> http.client.HTTPResponse:
    """The response to a request that the engine does not refuse."""
    response = connection.getresponse()
    if response.status != http.client.OK:
        refusal = response.read().decode("utf-8", errors="replace")
        raise RequestRefused(response.status, _message(refusal))
    return response


def _events(response: http.client.HTTPResponse) -> Iterator[Any]:
    """Server-sent events; lines that carry no data are pings."""
    for line in response:
        if line.startswith(b"data: "):
            event = json.loads(line[6:])
            yield event
            if event.get("stop"):
                return
        elif line.startswith(b"error: "):
            raise ValueError(_message(line[7:].decode("utf-8", errors="replace")))
    raise ConnectionError(_BROKEN_OFF)


def _message(text: str) -> str:
    """The engine's own sentence inside its error record."""
    try:
        record = json.loads(text)
        return str(record.get("error", record)["message"])
    except (ValueError, TypeError, KeyError, AttributeError):
        return text.strip()
