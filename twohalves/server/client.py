"""The official client, set up so that nothing can hang and no proxy sees loopback."""

from __future__ import annotations

import time
import urllib.parse
from collections.abc import Iterator
from typing import Any

import httpx

from twohalves.server.answering import Server
from twohalves.server.loopback import is_loopback
from twohalves.server.official import ollama
from twohalves.server.variables import proxy_for, understood

TIMEOUT = httpx.Timeout(connect=5, read=600, write=60, pool=5)
"""Seconds; reading waits long because a slow machine is silent while it reads the prompt."""
LONGEST_ANSWER_S = 3600.0
"""A server that drips one byte now and then is given up after this."""


def client(
    server: Server,
    *,
    transport: httpx.BaseTransport | None = None,
    timeout: httpx.Timeout | float = TIMEOUT,
    longest_s: float = LONGEST_ANSWER_S,
) -> ollama.Client:
    """An `ollama.Client` for a server.

    Args:
        server: whom to ask.
        transport: sends in place of httpx's own, for example to record; see `sender`.
        timeout: seconds for connecting and for each silence.
        longest_s: seconds that a whole answer may take.

    Raises:
        VariablesNotUnderstood: a proxy or a certificate of the environment cannot be used.
    """
    more: dict[str, Any] = {} if transport is None else {"transport": transport}
    with understood():
        return ollama.Client(
            host=server.url,
            timeout=timeout,
            # with a proxy in the environment httpx would go round a transport that it was given
            trust_env=transport is None and not _is_loopback(server),
            event_hooks={"response": [bounded(longest_s)]},
            **more,
        )


def sender(server: Server) -> httpx.HTTPTransport:
    """What really sends to a server: straight to loopback, elsewhere as the environment says.

    Raises:
        VariablesNotUnderstood: a proxy or a certificate of the environment cannot be used.
    """
    with understood():
        return httpx.HTTPTransport(proxy=proxy_for(server.url), trust_env=not _is_loopback(server))


def _is_loopback(server: Server) -> bool:
    return is_loopback(urllib.parse.urlsplit(server.url).hostname)


class bounded:  # noqa: N801  # a hook, used like a function
    """A hook for httpx: an answer that takes longer than so many seconds raises ReadTimeout."""

    def __init__(self, longest_s: float) -> None:
        self._longest_s = longest_s

    def __call__(self, response: httpx.Response) -> None:
        """Give the answer's body its time limit."""
        if isinstance(response.stream, httpx.SyncByteStream):
            response.stream = _Bounded(response.stream, response.request, self._longest_s)


class _Bounded(httpx.SyncByteStream):
    def __init__(
        self, stream: httpx.SyncByteStream, request: httpx.Request, longest_s: float
    ) -> None:
        self._stream = stream
        self._request = request
        self._longest_s = longest_s

    def __iter__(self) -> Iterator[bytes]:
        end = time.monotonic() + self._longest_s
        for piece in self._stream:
            yield piece
            if time.monotonic() > end:
                text = f"the answer took more than {self._longest_s:g} s"
                raise httpx.ReadTimeout(text, request=self._request)

    def close(self) -> None:
        self._stream.close()
