"""A run from its first request to its last: warm up, ask, check, keep, whatever happens.

Between two requests the run looks around: did the machine sleep, did another program change
the model's window, is the server still there? What disturbed a request costs that request,
which is asked again with new text; what was noticed stands in session.json.
"""

from __future__ import annotations

import contextlib
import pathlib
import time
from collections.abc import Sequence
from typing import Any

from twohalves.errors import (
    AnotherAnswers,
    Interrupted,
    NoValidAnswer,
    ServerShared,
    ServerUnreachable,
    TwoHalvesError,
)
from twohalves.measure import clocks
from twohalves.measure import plan as planning
from twohalves.measure.attempts import Asker
from twohalves.measure.budget import affordable
from twohalves.measure.connection import Connection
from twohalves.measure.patience import RETURN_S, await_return
from twohalves.measure.plan import Planned
from twohalves.measure.profiles import Profile
from twohalves.measure.progress import Progress, Report, seconds_for, silent
from twohalves.runs import Run, Timing, claim_folder, load, machine
from twohalves.runs import session as session_file
from twohalves.server import Server

ATTEMPTS = 3
"""How often one request is asked, each time with new text, before it is given up."""
GIVE_UP_AFTER = 3
"""So many requests given up in a row end the session: something is wrong with the server."""


def carry_out(
    server: Server, folder: pathlib.Path, profile: Profile, report: Report = silent
) -> Run:
    """Ask what the run's plan still lacks and keep each row as it comes.

    Args:
        server: who answers.
        folder: a run begun with `begin`, perhaps interrupted since.
        profile: the profile it was begun with.
        report: told of progress between requests, never during one.

    Raises:
        RunBusy: another process adds to this run.
        Interrupted: the reader pressed Ctrl-C; everything measured is kept.
        NoValidAnswer: not even the first control came back valid, or several in a row did not.
        ServerGone: the server went away and stayed away; everything measured is kept.
        ServerShared: another program makes the server load the model anew each time.
        AnotherAnswers: server or model are no longer those of the run.
        TwoHalvesError: the server refused; everything measured is kept.
    """
    with claim_folder(folder) as claim, contextlib.closing(_Work(server, folder, profile)) as work:
        claim.tell(str(folder))
        work.report = report
        try:
            work.carry_out()
        except KeyboardInterrupt:
            raise Interrupted(folder.name, len(work.answered), len(work.requests)) from None
    return load(folder)


def same_server(begun: dict[str, Any], server: Server) -> bool:
    """Whether a server is of the kind, the version and the settings that a run was begun with.

    Args:
        begun: the fact "server" of the run.
        server: who answers now; settings that either side does not know are not compared.
    """
    now = {"kind": server.kind, "version": server.version} | server.settings_as_facts()
    known = [name for name in now if "unknown" not in {now[name], begun.get(name, "unknown")}]
    return all(now[name] == begun[name] for name in known)


class _Work:
    """The moving parts of a session."""

    def __init__(self, server: Server, folder: pathlib.Path, profile: Profile) -> None:
        for left in folder.glob(f"{session_file.FILE}.*.new"):  # of a process that was killed
            left.unlink(missing_ok=True)
        self.report: Report = silent
        self.session = session_file.read(folder)
        self.requests = planning.from_facts(self.session["plan"])
        self._folder, self._profile = folder, profile
        self._asker = Asker(folder, self.session)
        measured = [row for row in self._asker.rows if row.role != "warmup"]
        self.answered = {row.seq for row in measured if row.valid}
        """Requests that need not be asked again."""
        self._line = Connection(server)
        self._warmups = [request for request in self.requests if request.role == "warmup"]
        self._is_cold = False
        self._was_loaded = False
        self._windows: list[int] = []
        self._given_up = 0
        self._failures = 0
        self._lost_s = 0.0

    def close(self) -> None:
        self._line.close()

    def carry_out(self) -> None:
        if self._asker.goes_on:
            self._notice("resumed")
        waiting = [request for request in self.requests if request.seq not in self.answered]
        while waiting:
            elapsed_s = (time.perf_counter_ns() - self._asker.began_ns) / 1e9 - self._lost_s
            waiting = affordable(waiting, self._asker.rows, self._profile.budget_s, elapsed_s)
            self._tell(waiting)
            self._answer(waiting)
            del waiting[0]
        self._finish()

    def _answer(self, waiting: Sequence[Planned]) -> None:
        """Ask the next one until it is valid, at most a few times, and keep every attempt."""
        request = waiting[0]
        tried: list[Timing] = []
        reason = ""
        while len(tried) < ATTEMPTS and not (tried and "refused" in tried[-1].flags):
            self._look_around(waiting)
            row, reason = self._attempt(request, waiting)
            if row is None:
                continue
            tried.append(row)
            if row.valid or (request.role == "warmup" and row.done_reason):
                self.answered.add(request.seq)
                self._given_up = 0
                return
        self._give_up(request, tried, reason)

    def _give_up(self, request: Planned, tried: list[Timing], reason: str) -> None:
        self._given_up += 1
        self.answered.add(request.seq)  # no more of it in this session
        if all("reloaded" in row.flags for row in tried):
            windows = tuple(sorted(set(self._windows)))
            url, name = self._line.server.url, self.session["model"]["name"]
            raise ServerShared(url, name, windows)
        nothing_yet = not any(row.valid for row in self._asker.rows if row.role != "warmup")
        if nothing_yet or self._given_up == GIVE_UP_AFTER:
            raise NoValidAnswer(request.condition, len(tried), tried[-1].flags, reason)

    def _attempt(self, request: Planned, waiting: Sequence[Planned]) -> tuple[Timing | None, str]:
        """One row, and why it did not come to its end; waits for a server that went away.

        Returns:
            No row if nobody took the request.
        """
        try:
            answered = self._asker.ask(request, self._line)
        except ServerUnreachable as error:
            self._await_server(error, waiting)
            return None, error.what
        if answered.failure is None:
            self._failures = 0
            return answered.row, ""
        self._await_server(answered.failure, waiting)
        return answered.row, answered.failure.what

    def _await_server(self, failure: TwoHalvesError, waiting: Sequence[Planned]) -> None:
        """Wait until the server is back, and see that it is the same one.

        Raises:
            TwoHalvesError: the failure itself, if the server never worked or fails each time.
        """
        self._failures += 1
        worked = any(row.done_reason for row in self._asker.rows)
        if not worked or self._failures == ATTEMPTS:
            raise failure
        began = time.monotonic()

        def tell(waited_s: float) -> None:
            self._tell(
                waiting,
                f"waiting for the server to come back ({waited_s:.0f} of {RETURN_S:.0f} s)",
            )

        server = await_return(self._line.server, failure.what, tell)
        self._line.close()
        self._line = Connection(server)
        self._check_same(server)
        waited_s = time.monotonic() - began
        self._lost_s += waited_s
        self._is_cold = True
        self._was_loaded = False
        self._notice("server_lost", reason=failure.what, seconds=round(waited_s, 1))

    def _check_same(self, server: Server) -> None:
        begun, name = self.session["server"], self.session["model"]["name"]
        if not same_server(begun, server):
            told = f"{begun['kind']} {begun['version']}", f"{server.kind} {server.version}"
            raise AnotherAnswers(self._folder.name, *told)
        now, then = self._line.digest(name), self.session["model"]["digest"]
        if now and then and now != then:
            told = f"{name} of digest {then[:12]}", f"{name} of digest {now[:12]}"
            raise AnotherAnswers(self._folder.name, *told)

    def _look_around(self, waiting: Sequence[Planned]) -> None:
        """What happened since the last request; warm up anew where it left the model cold."""
        gap = clocks.between(self._asker.at, clocks.read())
        if gap.slept_s:
            self._notice("slept", seconds=gap.slept_s)
            self._is_cold = True
        if gap.set_s:
            self._notice("clock_set", seconds=gap.set_s)
        self._look_at_model()
        while self._is_cold:  # ends with an answer, or with the failure that comes each time
            self._is_cold = False
            self._attempt(self._warmups[0], waiting)

    def _look_at_model(self) -> None:
        """Did another program change its window, or take its place?"""
        loaded = self._line.loaded(self.session["model"]["name"])
        if loaded is None:
            return
        window = loaded[0].window if loaded else None
        if window not in {None, int(self.session["options"]["num_ctx"])} and self._was_loaded:
            self._windows.append(window or 0)
            self._notice("other_window", window=window)
            self._is_cold = True
        elif not loaded and self._was_loaded:
            self._notice("unloaded")
            self._is_cold = True
        self._was_loaded = bool(loaded) and any(row.done_reason for row in self._asker.rows)

    def _notice(self, kind: str, **facts: object) -> None:
        """Put on record what happened, at once."""
        self.session.setdefault("noticed", []).append(
            {"kind": kind, "at": session_file.now(), **facts}
        )
        session_file.write(self._folder, self.session)

    def _tell(self, waiting: Sequence[Planned], why: str = "") -> None:
        self.report(
            Progress(
                done=len(self.answered),
                total=len(self.answered | {request.seq for request in waiting}),
                seconds_left=seconds_for(waiting, self._asker.rows),
                waiting=why,
            )
        )

    def _finish(self) -> None:
        rows = self._asker.rows
        asked = {request.block for request in self.requests if request.block}
        measured = {row.block for row in rows if row.block}
        planned = {request.prompt_tokens for request in self.requests}
        line = self._asker.calibration
        self.session |= {
            "status": "complete",
            "ended_at": session_file.now(),
            "blocks": {"planned": len(asked), "measured": len(measured)},
            "no_time_for": sorted(planned - {int(r.condition) for r in rows}),
            "calibration": {"fixed": line.fixed, "per_unit": line.per_unit},
        }
        self.session["load_average"]["after"] = machine.load_average()
        session_file.write(self._folder, self.session)
        self.report(Progress(done=len(self.answered), total=len(self.answered), seconds_left=0))
