"""The engine: llama.cpp in this process, asked over its own loopback HTTP port.

One engine holds one model with one window. To change the window a new one is made; see
`residence`. Its port is open to every program of this machine, so it wants a random key and
answers no web page.
"""

from __future__ import annotations

import http.client
import json
import pathlib
import secrets
import socket
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from twohalves.errors import EngineBroke, EngineMissing, RequestRefused, WeightsUnreadable

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


class _Loaded(Protocol):
    """What is used of the engine's own class, which ships no types."""

    @property
    def listening_address(self) -> str: ...


class Completion:
    """One running completion: its events in order, and a way to stop it from outside."""

    def __init__(
        self,
        connection: http.client.HTTPConnection,
        wire: socket.socket,
        response: http.client.HTTPResponse,
    ) -> None:
        self._connection = connection
        self._socket = wire
        self._response = response
        self._is_aborted = False

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The engine's events; the last one has `stop` true.

        Raises:
            EngineBroke: the engine went away or sent something unreadable.
            ConnectionAbortedError: after `abort`.
        """
        try:
            yield from _events(self._response)
        except (OSError, http.client.HTTPException, ValueError) as error:
            if self._is_aborted:
                raise ConnectionAbortedError from error
            raise EngineBroke(str(error) or type(error).__name__) from error

    def abort(self) -> None:
        """End the engine's work; safe from another thread, and when it has ended already."""
        self._is_aborted = True
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            return  # closed already

    def close(self) -> None:
        """Give the connection back; the engine then stops what is not finished."""
        self._response.close()
        self._connection.close()


class Engine:
    """One loaded model."""

    def __init__(self, path: pathlib.Path, settings: EngineSettings) -> None:
        """Load a model; takes from a tenth of a second to minutes, by size.

        Raises:
            EngineMissing: the engine's package is not installed.
            WeightsUnreadable: the engine refused the file.
        """
        self.settings = settings
        self._key = secrets.token_hex(16)
        loaded = _load(path, settings, self._key)
        self._netloc = urllib.parse.urlsplit(loaded.listening_address).netloc
        self._loaded: _Loaded | None = loaded
        properties = self._ask("GET", "/props")
        self.room: int = properties["default_generation_settings"]["n_ctx"] - 1
        """Longest prompt in tokens; the engine keeps one place for the answer."""

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
            RequestRefused: the engine refused the request, with its own words.
            EngineBroke: the engine does not answer.
        """
        connection = self._connect()
        try:
            connection.connect()
            wire = connection.sock
            response = self._send(connection, "POST", "/completion", body | {"stream": True})
        except OSError as error:
            raise EngineBroke(str(error)) from error
        except BaseException:
            connection.close()
            raise
        return Completion(connection, wire, response)

    def close(self) -> None:
        """Unload. Nothing may be running: the engine does not survive that."""
        self._loaded = None

    def _connect(self) -> http.client.HTTPConnection:
        # one connection a request: pooled ones broke now and then
        return http.client.HTTPConnection(self._netloc, timeout=_SILENCE_S)

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        connection = self._connect()
        try:
            record: dict[str, Any] = json.loads(self._send(connection, method, path, body).read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise EngineBroke(str(error) or type(error).__name__) from error
        finally:
            connection.close()
        return record

    def _send(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        body: dict[str, Any] | None,
    ) -> http.client.HTTPResponse:
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        content = None if body is None else json.dumps(body).encode("ascii")
        try:
            connection.request(method, path, content, headers)
            response = connection.getresponse()
            if response.status == http.client.OK:
                return response
            status, refusal = response.status, response.read().decode("utf-8", errors="replace")
        except (OSError, http.client.HTTPException) as error:
            raise EngineBroke(str(error) or type(error).__name__) from error
        raise RequestRefused(status, _message(refusal))


def _load(path: pathlib.Path, settings: EngineSettings, key: str) -> _Loaded:
    try:
        import xllamacpp  # noqa: PLC0415  # a machine with Ollama does not have it
    except ImportError as error:
        raise EngineMissing(str(error)) from error
    wanted = xllamacpp.CommonParams()
    wanted.model.path = str(path)
    wanted.n_ctx = settings.num_ctx + 1  # a prompt may fill the whole window asked for
    wanted.n_batch = wanted.n_ubatch = settings.num_batch
    if settings.num_thread:
        wanted.cpuparams.n_threads = settings.num_thread
        wanted.cpuparams_batch.n_threads = settings.num_thread
    wanted.n_parallel = 1  # one slot, one remembered prefix
    wanted.cache_ram_mib = 0  # no second memory of prompts: what is measured must be computed
    wanted.ctx_shift = True
    wanted.fit_params = False  # never change what was asked for
    wanted.api_keys = [key]
    wanted.cors_origins = ""
    wanted.cors_credentials = False
    wanted.endpoint_slots = False
    wanted.ui = False
    wanted.verbosity = 0
    try:
        loaded: _Loaded = xllamacpp.Server(wanted)
    except RuntimeError as error:
        raise WeightsUnreadable(str(path), "engine", str(error)) from error
    return loaded


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
    raise ConnectionError("unexpected EOF")  # noqa: EM101, TRY003  # becomes an EngineBroke


def _message(text: str) -> str:
    """The engine's own sentence inside its error record."""
    try:
        record = json.loads(text)
        return str(record.get("error", record)["message"])
    except (ValueError, TypeError, KeyError, AttributeError):
        return text.strip()
