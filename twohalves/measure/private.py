"""The servers that two users take turns on: the run's own, and private ones laid out on purpose.

How many prompts a server holds depends on its slots and on the main memory that it may use, and
neither can be asked for in a request. So an experiment on them needs servers of its own, which
are started one after the other and stopped again.
"""

from __future__ import annotations

import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from twohalves.errors import PrivateServesAnother
from twohalves.server import Server, facts, start
from twohalves.server.loopback import is_loopback

OWN = ""
"""The run's own server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """How a private server is laid out."""

    slots: int = 1
    """Requests computed at once."""
    host_cache: int = 0
    """MiB of main memory for prompts that had to leave their slot."""


SETUPS: dict[str, Setup] = {
    "one_slot": Setup(),
    "two_slots": Setup(slots=2),
    "host_cache": Setup(host_cache=512),
}


def part(setup: str) -> str:
    """What of a run is asked of a private server, as session.json names it in `left_out`."""
    return f"cache_broken:{setup}"


def setups(server: Server, *, agreed: bool) -> tuple[tuple[str, ...], dict[str, str]]:
    """Which of them can be asked, and why the others cannot.

    Args:
        server: the run's own.
        agreed: True if the reader wants a second Ollama.

    Returns:
        Names in the order they are asked in, the run's own first; reasons by name.
    """
    is_plain = _laid_out(server) == SETUPS["one_slot"]
    wanted = [name for name in SETUPS if not (is_plain and name == "one_slot")]
    why = _impossible(server, agreed=agreed)
    if why:
        return (OWN,), dict.fromkeys(wanted, why)
    return (OWN, *wanted), {}


def _laid_out(server: Server) -> Setup | None:
    known = server.settings
    return Setup(slots=known.slots, host_cache=known.host_cache_mib) if known else None


def _impossible(server: Server, *, agreed: bool) -> str:
    if not is_loopback(urllib.parse.urlsplit(server.url).hostname):
        return "its server would run on another machine than the one measured"
    if server.kind == "builtin" or (server.kind == "ollama" and agreed):
        return ""
    if server.kind == "ollama":
        return (
            "it needs a second Ollama, which is started only with `--private`, in a notebook with "
            "`private=True`"
        )
    return "a server of this kind cannot be started by this program"


def open_private(name: str, session: Mapping[str, Any]) -> Server:
    """Start one of the private servers; whoever asked stops it.

    Args:
        name: one of SETUPS.
        session: facts of the run: server and model as begun.

    Raises:
        PrivateServesAnother: its model is another one than the run's.
        TwoHalvesError: it cannot be started, has no such model, or would not fit.
    """
    layout, begun = SETUPS[name], session["model"]
    is_ollama = session["server"]["kind"] == "ollama"
    server = start(
        slots=layout.slots,
        host_cache=layout.host_cache,
        model=begun["name"] if is_ollama else None,
        window=int(session["options"]["num_ctx"]),
        program="ollama" if is_ollama else "builtin",
        agreed=is_ollama,
    )
    try:
        _check_model(server, begun)
    except BaseException:
        server.stop()
        raise
    return server


def _check_model(server: Server, begun: Mapping[str, Any]) -> None:
    digest = facts(server, begun["name"]).digest
    if begun["digest"] and digest != begun["digest"]:
        raise PrivateServesAnother(begun["name"])
