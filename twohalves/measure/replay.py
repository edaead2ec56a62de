"""Plain calls of a notebook, kept with the run and given again in replay.

A notebook calls `client.generate(...)` like any program. When a page is published there is no
model to call, so the client answers from `calls.jsonl` of the run it shows: the bytes that a
server really sent, never an invention. Only while a site is being made from a fresh run
(TWOHALVES_RECORD names the server) is a call that the run lacks asked for and kept.
"""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
from typing import Any

import httpx

from twohalves.errors import CannotKeep, NotInThisRun

CALLS = "calls.jsonl"
RECORD_VARIABLE = "TWOHALVES_RECORD"


class ReplayTransport(httpx.BaseTransport):
    """Answers requests from a run; asks `beyond` for what the run lacks, if there is one."""

    def __init__(self, folder: pathlib.Path, beyond: httpx.BaseTransport | None = None) -> None:
        self._path = folder / CALLS
        self._beyond = beyond
        self._calls = _read(self._path)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Give the recorded answer to this very request.

        Raises:
            NotInThisRun: the run holds no answer to it, and there is nobody to ask.
        """
        key = _key(request)
        if key not in self._calls:
            if self._beyond is None:
                raise NotInThisRun(self._path.parent.name)
            self._calls[key] = self._keep(key, request, self._beyond)
        call = self._calls[key]
        return httpx.Response(
            call["status"],
            headers={"content-type": call["content_type"]},
            content=call["body"].encode("utf-8"),
        )

    def close(self) -> None:
        """Close the transport beyond, if there is one."""
        if self._beyond is not None:
            self._beyond.close()

    def _keep(
        self, key: str, request: httpx.Request, beyond: httpx.BaseTransport
    ) -> dict[str, Any]:
        response = beyond.handle_request(request)
        response.read()
        response.close()
        call = {
            "key": key,
            "path": request.url.path,
            "request": json.loads(request.content or b"null"),
            "status": response.status_code,
            "content_type": response.headers.get("content-type", ""),
            "body": response.content.decode("utf-8"),
        }
        try:
            with self._path.open("a", encoding="utf-8", newline="\n") as file:
                file.write(json.dumps(call, ensure_ascii=False) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise CannotKeep(str(self._path.parent), error.strerror or str(error)) from error
        return call


def _key(request: httpx.Request) -> str:
    """What identifies a request: its method, its endpoint and its body's meaning."""
    body = json.loads(request.read() or b"null")
    endpoint = request.url.path.rpartition("/api/")[2]
    told = json.dumps([request.method, endpoint, body], sort_keys=True)
    return hashlib.sha256(told.encode("utf-8")).hexdigest()


def _read(path: pathlib.Path) -> dict[str, dict[str, Any]]:
    """Recorded calls by key; a torn last line is passed over."""
    calls = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                call = json.loads(line)
            except ValueError:
                continue
            calls[call["key"]] = call
    return calls
