"""The one border to the outside: what the client raises becomes an error of ours.

Every call to a server, streams included while they are read, stands inside
`with translated(server):`. The most specific class wins; a test fails when httpx grows an
exception that is not in the table.
"""

from __future__ import annotations

import contextlib
import re
import socket
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pydantic

from twohalves.errors import (
    AnswerUnreadable,
    EndpointMalformed,
    HostUnknown,
    ModelMissing,
    NotBuiltIn,
    ProxyAnswered,
    ProxyUnreachable,
    ServerBroke,
    ServerBusy,
    ServerRefused,
    ServerSilent,
    ServerUnreachable,
    TwoHalvesError,
)
from twohalves.server.answering import Server
from twohalves.server.official import ollama
from twohalves.server.variables import named_proxy, proxy_for

_MODEL_NOT_FOUND = re.compile(r"model ['\"]?(?P<name>[^'\"]+?)['\"]? not found")

_OF_GATEWAYS = frozenset({407, 502, 504})

Translate = Callable[[str, Any], TwoHalvesError]


def _unreachable(url: str, error: Exception) -> TwoHalvesError:
    detail = str(error) if isinstance(error, httpx.HTTPError) else "connection refused"
    kind = ServerUnreachable
    if proxy_for(url):
        kind = ProxyUnreachable
    elif any(isinstance(cause, socket.gaierror) for cause in _causes(error)):
        kind = HostUnknown
    return kind(url, detail or "no connection", "")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _silent(url: str, _: Exception) -> TwoHalvesError:
    return ServerSilent(url)


def _broke(url: str, error: Exception) -> TwoHalvesError:
    return ServerBroke(url, str(error) or type(error).__name__)


def _unreadable(url: str, error: Exception) -> TwoHalvesError:
    first_line = str(error).partition("\n")[0]
    return AnswerUnreadable(url, first_line or type(error).__name__)


def _malformed(url: str, error: Exception) -> TwoHalvesError:
    return EndpointMalformed("The server's address", url, str(error) or "it is no URL")


def _proxy(url: str, error: Exception) -> TwoHalvesError:
    return ProxyAnswered(url, "of the environment", str(error) or "no answer")


def _by_proxy(url: str, error: ollama.ResponseError) -> TwoHalvesError | None:
    """Ollama refuses in JSON, and knows no gateway: a page, or a gateway's status, is a proxy's."""
    is_page = error.error.lstrip().startswith("<") or error.status_code in _OF_GATEWAYS
    proxy = named_proxy(url) if is_page else None
    if proxy is None:
        return None
    text = " ".join(error.error.split())[:60]
    return ProxyAnswered(url, proxy, f"status {error.status_code}, {text!r}")


def _refused(url: str, error: ollama.ResponseError) -> TwoHalvesError:
    if not_ours := _by_proxy(url, error):
        return not_ours
    found = _MODEL_NOT_FOUND.search(error.error)
    if error.status_code == httpx.codes.NOT_FOUND and found:
        return ModelMissing(found["name"], ())
    if error.status_code == httpx.codes.SERVICE_UNAVAILABLE:
        return ServerBusy(url)
    if error.status_code < 0:  # an error line inside a stream that began well
        return ServerBroke(url, error.error)
    return ServerRefused(url, error.status_code, error.error)


TABLE: dict[type[Exception], Translate] = {
    ollama.ResponseError: _refused,
    ollama.RequestError: _unreadable,
    pydantic.ValidationError: _unreadable,
    ConnectionError: _unreachable,  # the client raises the built-in one when not streaming
    httpx.ConnectError: _unreachable,
    httpx.ConnectTimeout: _unreachable,
    httpx.PoolTimeout: _silent,
    httpx.ReadTimeout: _silent,
    httpx.WriteTimeout: _silent,
    httpx.CloseError: _broke,
    httpx.ReadError: _broke,
    httpx.WriteError: _broke,
    httpx.RemoteProtocolError: _broke,
    httpx.LocalProtocolError: _unreadable,
    httpx.DecodingError: _unreadable,
    httpx.HTTPStatusError: _unreadable,
    httpx.TooManyRedirects: _unreadable,
    httpx.CookieConflict: _unreadable,
    httpx.RequestNotRead: _unreadable,
    httpx.ResponseNotRead: _unreadable,
    httpx.StreamClosed: _broke,
    httpx.StreamConsumed: _unreadable,
    httpx.InvalidURL: _malformed,
    httpx.UnsupportedProtocol: _malformed,
    httpx.ProxyError: _proxy,
    # for subclasses that a newer httpx may bring
    httpx.HTTPError: _broke,
    httpx.StreamError: _broke,
}
"""Which error of ours each outside error becomes."""


@contextlib.contextmanager
def translated(server: Server | str) -> Iterator[None]:
    """Turn what the client raises inside the block into errors of ours.

    Args:
        server: who is asked, or its URL; named in the error.

    Raises:
        TwoHalvesError: in place of any error of the client, of httpx or of pydantic.
    """
    url = server if isinstance(server, str) else server.url
    try:
        yield
    except TwoHalvesError:
        raise
    except tuple(TABLE) as error:
        kind = next(kind for kind in type(error).__mro__ if kind in TABLE)
        ours = TABLE[kind](url, error)
        if isinstance(ours, ModelMissing) and isinstance(server, Server):
            ours = NotBuiltIn(*ours.args[:2]) if server.kind == "builtin" else ours
        raise ours from error
