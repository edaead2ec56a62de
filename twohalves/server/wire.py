"""Raw exchanges with a server, for what the official client cannot ask or would drop."""

from __future__ import annotations

import json
import urllib.parse
from dataclasses import dataclass
from typing import Any

import httpx

from twohalves.errors import AnswerUnreadable, ModelMissing, ServerRefused
from twohalves.server.border import translated
from twohalves.server.client import bounded
from twohalves.server.loopback import is_loopback
from twohalves.server.variables import understood

_LARGEST_ANSWER = 256 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long an exchange may take."""

    connect_s: float = 3.0
    """Seconds to connect, for each address of the host."""
    silence_s: float = 20.0
    """Seconds without a byte."""
    total_s: float = 60.0
    """Seconds in all."""


def fetch(
    url: str, path: str, body: dict[str, Any] | None = None, patience: Patience | None = None
) -> tuple[int, bytes]:
    """GET a path, or POST a JSON body to it.

    Args:
        url: the server's address.
        path: with a slash first.
        body: None = GET.
        patience: time limits.

    Returns:
        Status and body.

    Raises:
        TwoHalvesError: no connection, or no whole answer in time.
    """
    limits = patience or Patience()
    timeout = httpx.Timeout(limits.silence_s, connect=limits.connect_s)
    with understood():
        client = httpx.Client(
            timeout=timeout,
            trust_env=not is_loopback(urllib.parse.urlsplit(url).hostname),
            event_hooks={"response": [bounded(limits.total_s)]},
            follow_redirects=True,
        )
    with (
        translated(url),
        client as asking,
        asking.stream("GET" if body is None else "POST", url + path, json=body) as response,
    ):
        received = bytearray()
        for piece in response.iter_bytes():
            received += piece
            if len(received) > _LARGEST_ANSWER:
                raise AnswerUnreadable(url, "an answer of more than 256 MiB")
        return response.status_code, bytes(received)


def fetch_json(
    url: str, path: str, body: dict[str, Any] | None = None, patience: Patience | None = None
) -> dict[str, Any]:
    """Exchange JSON objects.

    Raises:
        ModelMissing: 404, the server does not have the model named in the body.
        ServerRefused: another status than 200.
        AnswerUnreadable: not a JSON object.
    """
    status, received = fetch(url, path, body, patience)
    try:
        record = json.loads(received)
    except ValueError as error:
        record = {"error": received[:80].decode("utf-8", errors="replace")}
        if status == httpx.codes.OK:
            raise AnswerUnreadable(url, f"{path} answers {record['error']!r}") from error
    if not isinstance(record, dict):
        raise AnswerUnreadable(url, f"{path} answers no JSON object")
    if status == httpx.codes.NOT_FOUND and body and "model" in body:
        raise ModelMissing(str(body["model"]), ())
    if status != httpx.codes.OK:
        raise ServerRefused(url, status, str(record.get("error", "no reason given")))
    return record
