"""What travels between the official client and a server, kept as it came.

The client drops the fields it does not know and has no place for arrival times, but it hands
its transport to httpx. So the recording happens there: one layer below the client, one
above the socket.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx


@dataclass(slots=True, kw_only=True)
class Exchange:
    """One request and the pieces of its answer, with monotonic arrival times."""

    sent_ns: int
    """Clock just before sending."""
    status: int | None = None
    """HTTP status; None until the answer begins."""
    pieces: list[tuple[int, bytes]] = field(default_factory=list)
    """(clock, bytes) for each piece of the body as it arrived."""
    done_ns: int | None = None
    """Clock when the body ended; None if it broke off."""

    @property
    def body(self) -> bytes:
        """The whole body as received."""
        return b"".join(piece for _, piece in self.pieces)

    def records(self) -> list[tuple[int, dict[str, Any]]]:
        """The answer's NDJSON records, each with the clock at which its last byte arrived.

        Stops at a line that is not a JSON object: what a dropped connection leaves.
        """
        found: list[tuple[int, dict[str, Any]]] = []
        pending = b""
        for clock, piece in [*self.pieces, (self.done_ns or 0, b"\n")]:
            *lines, pending = (pending + piece).split(b"\n")
            for line in filter(bytes.strip, lines):
                record = _json_object(line)
                if record is None:
                    return found
                found.append((clock, record))
        return found


def _json_object(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


class RecordingTransport(httpx.BaseTransport):
    """Passes requests on, adds request fields the client does not offer, keeps every byte.

    Nothing is parsed while an answer streams; only the clock is read and the piece kept.
    """

    def __init__(
        self,
        inner: httpx.BaseTransport,
        *,
        extra: dict[str, Any] | None = None,
        clock: Callable[[], int] = time.perf_counter_ns,
    ) -> None:
        """Wrap a transport.

        Args:
            inner: the transport that really sends.
            extra: fields added to each JSON request body of /api/generate.
            clock: monotonic nanoseconds.
        """
        self._inner = inner
        self._extra = extra or {}
        self._clock = clock
        self._newest = Exchange(sent_ns=0)
        self.silence_s: float | None = None
        """Seconds that an answer may be silent, if that is less than the client allows."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request and wrap its answer's stream."""
        request = self._with_extra(request)
        self._limit(request.extensions.get("timeout", {}))
        exchange = Exchange(sent_ns=self._clock())
        self._newest = exchange
        response = self._inner.handle_request(request)
        exchange.status = response.status_code
        return httpx.Response(
            response.status_code,
            headers=response.headers,
            stream=_Recorded(response, exchange, self._clock),
            extensions=response.extensions,
        )

    def newest(self) -> Exchange:
        """The newest exchange; an empty one before the first."""
        return self._newest

    def close(self) -> None:
        """Close the transport underneath."""
        self._inner.close()

    def _limit(self, timeout: dict[str, float | None]) -> None:
        if self.silence_s is not None:
            timeout["read"] = min(self.silence_s, timeout.get("read") or self.silence_s)

    def _with_extra(self, request: httpx.Request) -> httpx.Request:
        content = request.read()
        if not self._extra or not request.url.path.endswith("/api/generate"):
            return request
        body = json.dumps(json.loads(content) | self._extra).encode("utf-8")
        headers = httpx.Headers(request.headers)
        headers["content-length"] = str(len(body))
        return httpx.Request(
            request.method,
            request.url,
            headers=headers,
            content=body,
            extensions=request.extensions,
        )


class _Recorded(httpx.SyncByteStream):
    """An answer's body that notes when each piece passed."""

    def __init__(
        self, response: httpx.Response, exchange: Exchange, clock: Callable[[], int]
    ) -> None:
        self._response = response
        self._exchange = exchange
        self._clock = clock

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._response.iter_raw():
            self._exchange.pieces.append((self._clock(), piece))
            yield piece
        self._exchange.done_ns = self._clock()

    def close(self) -> None:
        self._response.close()
