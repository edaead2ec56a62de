"""Who is asked next: the run's own server, waited for if it goes away, or a private one."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from twohalves.errors import AnotherAnswers, TwoHalvesError
from twohalves.measure import private
from twohalves.measure.connection import Connection
from twohalves.measure.journal import Journal
from twohalves.measure.patience import await_return
from twohalves.server import Server


class Lines:
    """The way to the run's own server, and to one private server at a time."""

    def __init__(self, server: Server, journal: Journal) -> None:
        self._journal = journal
        self._own = Connection(server)
        self.now = self._own
        """The way to whoever is asked now."""
        self.setup = private.OWN
        """Which server that is."""

    def close(self) -> None:
        """Close the connections and stop a private server."""
        self._leave()
        self._own.close()

    def enter(self, setup: str) -> None:
        """Turn to a server.

        Raises:
            TwoHalvesError: a private one cannot be had.
        """
        if setup != self.setup:
            self._leave()
            if setup != private.OWN:
                self._open(setup)

    def await_return(self, failure: TwoHalvesError, tell: Callable[[float], None]) -> float:
        """Wait until the server is back and see that it is the same; a private one is replaced.

        Returns:
            Seconds waited.

        Raises:
            ServerGone: it stayed away.
            AnotherAnswers: server or model are no longer those of the run.
        """
        began = time.monotonic()
        if self.setup == private.OWN:
            server = await_return(self.now.server, failure.what, tell)
            self._own.close()
            self._own = self.now = Connection(server)
            self._check_same(server)
        else:
            setup = self.setup
            self._leave()
            self._open(setup)
        return time.monotonic() - began

    def _open(self, setup: str) -> None:
        server = private.open_private(setup, self._journal.session)
        self._journal.record("setups", **{setup: server.settings_as_facts()})
        self.now, self.setup = Connection(server), setup

    def _leave(self) -> None:
        if self.setup != private.OWN:
            self.now.close()
            self.now.server.stop()
        self.now, self.setup = self._own, private.OWN

    def _check_same(self, server: Server) -> None:
        run, session = self._journal.folder.name, self._journal.session
        begun, name = session["server"], self._journal.model
        if not same_server(begun, server):
            told = f"{begun['kind']} {begun['version']}", f"{server.kind} {server.version}"
            raise AnotherAnswers(run, *told)
        now, then = self._own.digest(name), session["model"]["digest"]
        if now and then and now != then:
            told = f"{name} of digest {then[:12]}", f"{name} of digest {now[:12]}"
            raise AnotherAnswers(run, *told)


def same_server(begun: dict[str, Any], server: Server) -> bool:
    """Whether a server is of the kind, the version and the settings that a run was begun with.

    Args:
        begun: the fact "server" of the run.
        server: who answers now; settings that either side does not know are not compared.
    """
    now = {"kind": server.kind, "version": server.version} | server.settings_as_facts()
    known = [name for name in now if "unknown" not in {now[name], begun.get(name, "unknown")}]
    return all(now[name] == begun[name] for name in known)
