"""Fetch a model, with progress."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from twohalves.errors import CannotPull
from twohalves.server.answering import Server
from twohalves.server.border import translated
from twohalves.server.client import client

_SILENCE_S = 120.0
_LONGEST_S = 24 * 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulled:
    """How far a model has come."""

    status: str
    """The server's word for what it is doing."""
    completed_bytes: int | None
    """Of the part it is fetching; None = not told."""
    total_bytes: int | None
    """Size of that part; None = not told."""


def pull(server: Server, name: str) -> Iterator[Pulled]:
    """Fetch a model through the server; each step says how far it has come.

    Args:
        server: who fetches.
        name: such as llama3.2:3b.

    Raises:
        CannotPull: the built-in server fetches nothing.
        TwoHalvesError: the server cannot be asked, or refuses.
    """
    if server.kind == "builtin":
        raise CannotPull(name)
    with translated(server), client(server, timeout=_SILENCE_S, longest_s=_LONGEST_S) as asking:
        for step in asking.pull(name, stream=True):
            yield Pulled(
                status=step.status or "",
                completed_bytes=step.completed,
                total_bytes=step.total,
            )
