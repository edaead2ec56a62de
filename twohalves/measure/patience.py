"""A server that went away in the middle of a run is waited for, but not for ever."""

from __future__ import annotations

import time
from collections.abc import Callable

from twohalves.errors import ServerGone, TwoHalvesError
from twohalves.server import Server, find

RETURN_S = 120.0
"""Seconds that a server may take to come back."""
PAUSE_S = 1.0
"""Seconds between two looks."""


def await_return(server: Server, reason: str, tell: Callable[[float], None]) -> Server:
    """Wait until a server answers again; one of our own is started anew.

    Args:
        server: who answered before.
        reason: how it was lost, for the error.
        tell: called before each look with the seconds waited so far.

    Raises:
        ServerGone: it stayed away.
    """
    where = {"TWOHALVES_SERVER": "builtin" if server.started else server.url}
    began = time.monotonic()
    while True:
        waited_s = time.monotonic() - began
        tell(waited_s)
        time.sleep(PAUSE_S)
        try:
            return find(environ=where)
        except TwoHalvesError as error:
            if waited_s >= RETURN_S:
                raise ServerGone(server.url, round(waited_s), reason) from error
