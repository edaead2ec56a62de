"""A run from its first request to its last: warm up, ask, check, keep, whatever happens.

Between two requests the run looks around: did the machine sleep, did another program change
the model's window, is the server still there? What disturbed a request costs that request and
those that belong to it, which are asked again with new text; what was noticed stands in
session.json.
"""

from __future__ import annotations

import contextlib
import pathlib
import time
from collections.abc import Sequence

from twohalves.errors import (
    CannotKeep,
    Interrupted,
    NoValidAnswer,
    ServerShared,
    ServerUnreachable,
    TwoHalvesError,
)
from twohalves.measure import clocks
from twohalves.measure import plan as planning
from twohalves.measure.attempts import Asker, is_answered, will_do
from twohalves.measure.budget import affordable, comes_after, has_begun
from twohalves.measure.journal import Journal
from twohalves.measure.lines import Lines
from twohalves.measure.patience import RETURN_S
from twohalves.measure.plan import Group, Planned
from twohalves.measure.private import OWN, part
from twohalves.measure.profiles import Profile
from twohalves.measure.progress import Progress, Report, seconds_for, silent
from twohalves.measure.tight import tight_enough
from twohalves.runs import Run, Timing, claim_folder, load
from twohalves.runs.audits import RELOAD
from twohalves.server import Server

ATTEMPTS = 3
"""How often a group is asked, each time with new text, before it is given up."""
GIVE_UP_AFTER = 3
"""So many groups given up in a row end the session: something is wrong with the server."""


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


class _Work:
    """The moving parts of a session."""

    def __init__(self, server: Server, folder: pathlib.Path, profile: Profile) -> None:
        self.report: Report = silent
        self._journal = Journal(folder)
        self._profile = profile
        self.requests = planning.from_facts(self._journal.session["plan"])
        self._asker = Asker(folder, self._journal.session)
        self._groups = planning.groups(self.requests)
        done = [group for group in self._groups if is_answered(group, self._asker.rows)]
        self.answered = {request.seq for group in done for request in group}
        """Requests that need not be asked again."""
        self._lines = Lines(server, self._journal)
        self._is_cold = False
        self._was_loaded = False
        self._windows: set[int] = set()
        self._given_up = 0
        self._failures = 0
        self._lost_s = 0.0

    def close(self) -> None:
        self._lines.close()

    def carry_out(self) -> None:
        if self._asker.goes_on:
            self._journal.notice("resumed")
        waiting = self._lacking()
        while waiting and (waiting := self._still_wanted(waiting)):
            self._tell(waiting)
            if self._can_ask(setup := waiting[0][0].setup, waiting):
                del waiting[0]
            else:
                waiting = [group for group in waiting if group[0].setup != setup]
        self._journal.finish(self.requests, self._asker.rows, self._asker.calibration)
        self.report(Progress(done=len(self.answered), total=len(self.answered), seconds_left=0))

    def _lacking(self) -> list[Group]:
        """What is neither answered nor left out so far, each server's part with its warm-ups."""
        left_out = self._journal.session.get("left_out", {})
        waiting = [group for group in self._groups if group[0].seq not in self.answered]
        asked = {group[0].setup for group in waiting if group[0].role != "warmup"}
        asked = {setup for setup in asked if part(setup) not in left_out}
        return [group for group in waiting if group[0].setup in asked]

    def _still_wanted(self, waiting: list[Group]) -> list[Group]:
        """What there is time for, and what would still make an interval narrower."""
        first, rows = waiting[0][0], self._asker.rows
        elapsed_s = (time.perf_counter_ns() - self._asker.began_ns) / 1e9 - self._lost_s
        enough = self._profile.enough
        begins = first.in_blocks and not has_begun(first, rows)
        if enough and begins and (first.block or 0) > enough and tight_enough(rows):
            return [group for group in waiting if comes_after(group[0])]
        return affordable(waiting, rows, self._profile.budget_s, elapsed_s)

    def _can_ask(self, setup: str, waiting: Sequence[Group]) -> bool:
        """Ask the next group; False if it needs a private server that will not do.

        Why not is put on record. Without the run's own server there is no run, but there is one
        without a private server.
        """
        if setup != self._lines.setup:
            self._was_loaded, self._is_cold = False, waiting[0][0].role != "warmup"
        try:
            self._lines.enter(setup)
            self._answer(waiting)
        except TwoHalvesError as error:
            if setup == OWN or isinstance(error, CannotKeep):
                raise
            self._journal.record("left_out", **{part(setup): error.what})
            self._failures = self._given_up = 0
            return False
        return True

    def _answer(self, waiting: Sequence[Group]) -> None:
        """Ask the next group until all of it will do, at most a few times; keep every attempt."""
        group = waiting[0]
        tried: list[Timing] = []
        reason, disturbed = "", 0
        while len(tried) < ATTEMPTS and not (tried and "refused" in tried[-1].flags):
            if disturbed == ATTEMPTS:
                self._refuse_to_share()
            self._look_around()
            self._warm(waiting)
            last, reason = self._ask_all(group, waiting)
            if last is None:
                disturbed += self._is_cold
            elif will_do(last):
                self.answered |= {request.seq for request in group}
                self._given_up = 0
                return
            else:
                tried.append(last)
        self._give_up(group, tried, reason)

    def _ask_all(self, group: Group, waiting: Sequence[Group]) -> tuple[Timing | None, str]:
        """Ask a group to its end, or to the first answer that will not do.

        Returns:
            The last row, and why it did not come to its end; no row if nobody took the request,
            or if something happened in between that an earlier answer must not be compared over.
        """
        self._asker.begin(group)
        row, reason = None, ""
        for number, request in enumerate(group):
            if number:
                self._tell(waiting, begun=number)
                self._look_around()
                if self._is_cold:
                    return None, reason
            row, reason = self._attempt(request, waiting)
            if row is None or not will_do(row):
                break
        return row, reason

    def _refuse_to_share(self) -> None:
        url, model = self._lines.now.server.url, self._journal.model
        raise ServerShared(url, model, tuple(sorted(self._windows)))

    def _give_up(self, group: Group, tried: list[Timing], reason: str) -> None:
        self._given_up += 1
        self.answered |= {request.seq for request in group}  # no more of it in this session
        if all("reloaded" in row.flags for row in tried):
            self._refuse_to_share()
        nothing_yet = not any(row.valid for row in self._asker.rows if row.role != "warmup")
        if nothing_yet or self._given_up == GIVE_UP_AFTER:
            raise NoValidAnswer(group[0].condition, len(tried), tried[-1].flags, reason)

    def _attempt(self, request: Planned, waiting: Sequence[Group]) -> tuple[Timing | None, str]:
        """One row, and why it did not come to its end; waits for a server that went away.

        Returns:
            No row if nobody took the request.
        """
        try:
            if request.pair == RELOAD:
                self._lines.now.unload(self._journal.model)
            answered = self._asker.ask(request, self._lines.now)
        except ServerUnreachable as error:
            self._await_server(error, waiting)
            return None, error.what
        if answered.failure is None:
            self._failures = 0
            self._was_loaded = bool(self._asker.loaded)
            self._note_place(answered.row)
            return answered.row, ""
        self._await_server(answered.failure, waiting)
        return answered.row, answered.failure.what

    def _note_place(self, row: Timing) -> None:
        """What the model was given, of graphics memory and of window, as of the first answer."""
        if row.done_reason and "gpu_share" not in self._journal.session["model"]:
            place = self._asker.loaded
            given = {"gpu_share": place and place.gpu_share, "window": place and place.window}
            self._journal.record("model", **given)

    def _await_server(self, failure: TwoHalvesError, waiting: Sequence[Group]) -> None:
        """Wait until the server is back, and see that it is the same one.

        Raises:
            TwoHalvesError: the failure itself, if the server never worked or fails each time.
        """
        self._failures += 1
        worked = any(row.done_reason for row in self._asker.rows)
        if not worked or self._failures == ATTEMPTS:
            raise failure

        def tell(waited_s: float) -> None:
            self._tell(
                waiting,
                f"waiting for the server to come back ({waited_s:.0f} of {RETURN_S:.0f} s)",
            )

        waited_s = self._lines.await_return(failure, tell)
        self._lost_s += waited_s
        self._is_cold, self._was_loaded = True, False
        self._journal.notice("server_lost", reason=failure.what, seconds=round(waited_s, 1))

    def _look_around(self) -> None:
        """What happened since the last request."""
        gap = clocks.between(self._asker.at, clocks.read())
        if gap.slept_s:
            self._journal.notice("slept", seconds=gap.slept_s)
            self._is_cold = True
        if gap.set_s:
            self._journal.notice("clock_set", seconds=gap.set_s)
        self._asker.at = clocks.read()  # what was noticed is noticed once
        self._look_at_model()

    def _look_at_model(self) -> None:
        """Did another program change its window, or take its place?"""
        loaded = self._lines.now.loaded(self._journal.model) if self._was_loaded else None
        if loaded is None:
            return
        window = loaded[0].window if loaded else None
        if not loaded:
            self._journal.notice("unloaded")
        elif window not in {None, self._journal.window}:
            self._windows.add(window or 0)
            self._journal.notice("other_window", window=window)
        else:
            return
        self._is_cold, self._was_loaded = True, False  # what was noticed is noticed once

    def _warm(self, waiting: Sequence[Group]) -> None:
        """Warm up anew what was left cold; ends with an answer, or the failure of each time."""
        setup = self._lines.setup
        warmups = [r for r in self.requests if r.role == "warmup" and r.setup == setup]
        while self._is_cold:
            self._is_cold = False
            self._asker.begin((warmups[0],))
            self._attempt(warmups[0], waiting)

    def _tell(self, waiting: Sequence[Group], why: str = "", begun: int = 0) -> None:
        """Report how far the run is, `begun` requests of the next group being answered."""
        requests = [request for group in waiting for request in group]
        left = {request.seq for request in requests}
        self.report(
            Progress(
                done=len(self.answered) + begun,
                total=len(self.answered | left),
                seconds_left=seconds_for(requests[begun:], self._asker.rows),
                waiting=why,
            )
        )
