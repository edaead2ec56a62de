"""Find who answers, by the rules the reader can set; start the built-in server if nobody does."""

from __future__ import annotations

import dataclasses
import json
import os
import socket
from collections.abc import Mapping

from twohalves.errors import (
    AnswerUnreadable,
    HostUnknown,
    NoServer,
    NotOllama,
    ProxyAnswered,
    ServerBroke,
    ServerSilent,
    ServerUnreachable,
    TwoHalvesError,
    VariableUnusable,
)
from twohalves.server.answering import Kind, Server
from twohalves.server.child import shared_builtin
from twohalves.server.endpoint import Endpoint, parse_endpoint
from twohalves.server.loopback import is_loopback
from twohalves.server.variables import named_proxy
from twohalves.server.wire import Patience, fetch

_CHOICE, _HOST = "TWOHALVES_SERVER", "OLLAMA_HOST"
_QUICK = Patience(connect_s=1.0, silence_s=2.0, total_s=4.0)
_CALM = Patience(connect_s=3.0, silence_s=10.0, total_s=15.0)


def find(
    *,
    environ: Mapping[str, str] | None = None,
    start_builtin: bool = True,
    named_by: str = _CHOICE,
) -> Server:
    """Find a server, or start one.

    TWOHALVES_SERVER (`ollama`, `builtin` or a URL) decides; else OLLAMA_HOST; else Ollama at
    its usual place if it answers; else the built-in server, in a process of its own.

    Args:
        environ: variables to read; None = this process's.
        start_builtin: False = never start one.
        named_by: where the reader wrote what stands in TWOHALVES_SERVER; errors name it.

    Raises:
        EndpointMalformed: a variable names no server.
        ServerUnreachable: nobody answers where a variable points.
        NotOllama: something else answers there.
        NoServer: nobody answers, and nothing may be started.
        TwoHalvesError: the built-in server cannot be started here.
    """
    variables = os.environ if environ is None else environ
    choice = variables.get(_CHOICE, "").strip()
    host = variables.get(_HOST, "").strip()
    usual = parse_endpoint("127.0.0.1", _HOST)
    if choice.lower() == "builtin":
        return _start(usual, allowed=start_builtin)
    if choice.lower() == "ollama":
        return _only_ollama(_at(parse_endpoint(host or "127.0.0.1", _HOST), _CALM))
    if choice:
        return _at(_chosen(choice, named_by), _CALM)
    if host:
        return _at(parse_endpoint(host, _HOST), _CALM)
    try:
        return _at(usual, _QUICK)
    except (ServerUnreachable, ServerSilent, NotOllama):
        return _start(usual, allowed=start_builtin)


def _chosen(choice: str, named_by: str) -> Endpoint:
    if not any(mark in choice for mark in ".:") and not is_loopback(choice.lower()):
        raise VariableUnusable(named_by, choice)
    return parse_endpoint(choice, named_by)


def _start(usual: Endpoint, *, allowed: bool) -> Server:
    if not allowed:
        raise NoServer(usual.url)
    return shared_builtin()


def _only_ollama(server: Server) -> Server:
    if server.kind != "ollama":
        raise NotOllama(server.url, "it is a server of another kind", "")
    return server


def _at(endpoint: Endpoint, patience: Patience) -> Server:
    """The server at an endpoint, after asking it who it is."""
    endpoint = _one_address(endpoint, patience)
    try:
        status, body = fetch(endpoint.url, "/api/version", patience=patience)
        _, greeting = fetch(endpoint.url, "/", patience=patience)
    except HostUnknown:  # there is no address that could be named
        raise
    except ServerUnreachable as error:
        detail = f"{error.args[1]}; tried {_addresses(endpoint)}"
        raise type(error)(endpoint.url, detail, endpoint.likely) from error
    except (ServerBroke, AnswerUnreadable) as error:
        raise NotOllama(endpoint.url, str(error.args[1]), endpoint.likely) from error
    version = _version(body) if status == 200 else None
    if version is None:
        raise _stranger(endpoint, status, body)
    return Server(url=endpoint.url, kind=_kind(greeting), version=version, notes=endpoint.notes)


def _one_address(endpoint: Endpoint, patience: Patience) -> Endpoint:
    """For localhost the address that really listens: it may have two, and only one answers."""
    if not endpoint.host.endswith("localhost"):
        return endpoint
    for address in ("127.0.0.1", "::1"):
        try:
            socket.create_connection((address, endpoint.port), patience.connect_s).close()
        except OSError:
            continue
        return dataclasses.replace(endpoint, host=address)
    return endpoint


def _kind(greeting: bytes) -> Kind:
    if greeting.startswith(b"Ollama is running"):
        return "ollama"
    return "builtin" if greeting.startswith(b"Two Halves built-in") else "other"


def _version(body: bytes) -> str | None:
    try:
        record = json.loads(body)
    except ValueError:
        return None
    version = record.get("version") if isinstance(record, dict) else None
    return version if isinstance(version, str) else None


def _stranger(endpoint: Endpoint, status: int, body: bytes) -> TwoHalvesError:
    text = " ".join(body[:200].decode("utf-8", errors="replace").split())[:60]
    said = f"status {status}, {text!r}"
    proxy = named_proxy(endpoint.url)
    if proxy:
        return ProxyAnswered(endpoint.url, proxy, said)
    return NotOllama(endpoint.url, said, endpoint.likely)


def _addresses(endpoint: Endpoint) -> str:
    proxy = named_proxy(endpoint.url)
    if proxy:
        return f"through the proxy {proxy}"
    try:
        found = socket.getaddrinfo(endpoint.host, endpoint.port, type=socket.SOCK_STREAM)
    except OSError as error:
        return f"no address: {error.strerror or error}"
    addresses = dict.fromkeys(str(entry[4][0]) for entry in found)
    return f"{' and '.join(addresses)}, port {endpoint.port}"
