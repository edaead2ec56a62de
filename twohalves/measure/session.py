"""One measuring session: plan, warm up, ask, check, keep, until the plan is done.

Who writes which fact of session.json: `begin` everything known before the first request,
`_finish` what is known only at the end. A session stays "unfinished" until its last request
is kept, so a killed run is found again and goes on.
"""

from __future__ import annotations

import dataclasses
import datetime
import importlib.metadata
import pathlib
import re
import secrets
import time
from collections.abc import Sequence
from typing import Any

from twohalves.errors import CannotKeep, Interrupted, NoValidAnswer, PrefillNotTimed, WindowTooShort
from twohalves.measure import plan as planning
from twohalves.measure.ask import KEEP_ALIVE, OPTIONS, ask, digest
from twohalves.measure.budget import affordable
from twohalves.measure.plan import Planned
from twohalves.measure.profiles import EXPERIMENT, NUM_CTX, Profile
from twohalves.measure.progress import Progress, Report, seconds_for, silent
from twohalves.measure.prompts import calibrate, fresh, plausible
from twohalves.measure.transport import RecordingTransport
from twohalves.runs import SCHEMA, Keeper, Run, Timing, load, machine
from twohalves.runs import session as session_file
from twohalves.runs.session import Session
from twohalves.runs.validity import Expected, flags, is_valid
from twohalves.server import ModelFacts, Server, client, meaning, sender
from twohalves.stats import summarize

ATTEMPTS = 3
"""How often one request is asked, each time with new text, before it is given up."""
GIVE_UP_AFTER = 3
"""So many requests given up in a row end the session: something is wrong with the server."""


def begin(
    server: Server,
    model: ModelFacts,
    profile: Profile,
    folder: pathlib.Path,
    predictions: dict[str, Any] | None = None,
) -> Session:
    """Make the run's folder and write down all that is known before the first request.

    Args:
        server: who answers.
        model: which model, with its window.
        profile: how much to measure.
        folder: the folder to make; its name becomes the run's.
        predictions: what the reader guessed beforehand.

    Raises:
        WindowTooShort: no prompt of the profile fits the model's window.
        PrefillNotTimed: this server's prefill clock cannot be used.
        CannotKeep: the folder cannot be made.
    """
    session = {
        "schema": SCHEMA,
        "run_id": folder.name,
        "started_at": _now(),
        "status": "unfinished",
        **_planned(model, profile),
        **_answering(server, model),
        "machine": machine.facts(),
        "packages": {name: importlib.metadata.version(name) for name in _packages(server)},
        "load_average": {"before": machine.load_average()},
        "predictions": predictions or {},
    }
    try:
        folder.mkdir(parents=True)
        session_file.write(folder, session)
    except OSError as error:
        raise CannotKeep(str(folder), error.strerror or str(error)) from error
    return session


def _planned(model: ModelFacts, profile: Profile) -> Session:
    """What will be asked, in which order and with which options."""
    window = min(NUM_CTX, model.context_length or NUM_CTX)
    left_out = planning.skipped(profile, window)
    if len(left_out) == len(profile.lengths) + len(profile.once):
        raise WindowTooShort(model.name, window, min(profile.lengths))
    seed = secrets.randbelow(2**31)
    same = {"num_ctx": window, "raw": True, "truncate": False, "keep_alive": KEEP_ALIVE}
    return {
        "profile": profile.name,
        "experiments": [EXPERIMENT],
        "seed": seed,
        "plan": planning.as_facts(planning.plan(profile, window, seed)),
        "skipped_lengths": list(left_out),
        "options": OPTIONS | same,
    }


def _answering(server: Server, model: ModelFacts) -> Session:
    """Who answers, and how its counters are to be read."""
    meant = meaning(server, model.format)
    if not meant.prefill_is_whole:
        raise PrefillNotTimed(server.version or "")
    return {
        "server": {"kind": server.kind, "version": server.version} | server.settings_as_facts(),
        "counters": dataclasses.asdict(meant),
        "model": model.as_facts(),
    }


def _packages(server: Server) -> tuple[str, ...]:
    """What of the installed packages took part."""
    engine = ("xllamacpp",) if server.kind == "builtin" and server.started else ()
    return ("ollama", "httpx", *engine)


def new_folder(runs: pathlib.Path, profile: Profile, model: str) -> pathlib.Path:
    """A name for a run that no other has: date, time, profile, model."""
    stamp = datetime.datetime.now().astimezone().strftime("%Y-%m-%d-%H%M")
    plain = re.sub(r"[^a-z0-9.]+", "-", model.lower()).strip("-")
    base = f"{stamp}-{profile.name}-{plain}"
    names = (base if number == 1 else f"{base}-{number}" for number in range(1, 1000))
    return next(runs / name for name in names if not (runs / name).exists())


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
        Interrupted: the reader pressed Ctrl-C; everything measured is kept.
        NoValidAnswer: not even the first control came back valid, or several in a row did not.
        TwoHalvesError: the server stopped answering; everything measured is kept.
    """
    work = _Work(server, folder, profile, report)
    try:
        work.carry_out()
    except KeyboardInterrupt:
        raise Interrupted(folder.name, len(work.answered), len(work.requests)) from None
    finally:
        work.close()
    return load(folder)


class _Work:
    """The moving parts of a session."""

    def __init__(
        self, server: Server, folder: pathlib.Path, profile: Profile, report: Report
    ) -> None:
        run = load(folder) if (folder / "timings.csv").exists() else None
        self.session = session_file.read(folder)
        self.requests = planning.from_facts(self.session["plan"])
        self.rows: list[Timing] = list(run.timings) if run else []
        self.answered = {row.seq for row in self.rows if row.role != "warmup" and row.valid}
        """Requests that need not be asked again."""
        self._server, self._folder, self._profile, self._report = server, folder, profile, report
        self._keeper = Keeper(folder)
        self._transport = RecordingTransport(sender(server), extra={"truncate": False})
        self._client = client(server, transport=self._transport)
        self._points: list[tuple[int, int]] = []
        self._nonce = ""
        self._given_up = 0
        self._began_ns = time.perf_counter_ns()

    def close(self) -> None:
        self._transport.close()

    def carry_out(self) -> None:
        waiting = [request for request in self.requests if request.seq not in self.answered]
        while waiting:
            budget = self._profile.budget_s
            waiting = affordable(waiting, self.rows, budget, self._elapsed_s())
            self._report(self._progress(waiting))
            self._answer(waiting.pop(0))
        self._finish()

    def _answer(self, request: Planned) -> None:
        """Ask until the answer is valid, at most a few times, and keep every attempt."""
        before = sum(row.seq == request.seq for row in self.rows)
        for attempt in range(before + 1, before + ATTEMPTS + 1):
            row = self._ask(request, attempt)
            if row.valid or request.role == "warmup":
                self.answered.add(request.seq)
                self._given_up = 0
                return
        self._given_up += 1
        self.answered.add(request.seq)  # no more of it in this session
        nothing_yet = not any(row.valid for row in self.rows if row.role != "warmup")
        if nothing_yet or self._given_up == GIVE_UP_AFTER:
            raise NoValidAnswer(request.condition, ATTEMPTS, self.rows[-1].flags)

    def _ask(self, request: Planned, attempt: int) -> Timing:
        prompt = fresh(request.prompt_tokens, calibrate(self._points), self._nonce)
        self._nonce = prompt.nonce
        window = int(self.session["options"]["num_ctx"])
        planned = Timing(
            run_id=self._folder.name,
            seq=request.seq,
            block=request.block,
            experiments=EXPERIMENT,
            condition=request.condition,
            attempt=attempt,
            role=request.role,
            model=self.session["model"]["name"],
            slots=self._server.settings.slots if self._server.settings else None,
            num_ctx=window,
            num_predict=request.num_predict,
            nonce_hash=digest(prompt.nonce),
        )
        answered = ask(
            self._client, self._transport, self._server, planned, prompt.text, self._began_ns
        )
        found = flags(answered.row, self._expected(request, window))
        row = _flagged(answered.row, found)
        self._keeper.keep(row, answered.record)
        self.rows.append(row)
        if row.prompt_eval_count and plausible(row.prompt_eval_count, request.prompt_tokens):
            self._points.append((prompt.units, row.prompt_eval_count))
        return row

    def _expected(self, request: Planned, window: int) -> Expected:
        loads = [row.load_duration for row in self.rows if row.valid and row.load_duration]
        return Expected(
            prompt_tokens=request.prompt_tokens,
            num_predict=request.num_predict,
            num_ctx=window,
            cut=self.session.get("counters", {}).get("cut"),
            usual_load_ns=int(summarize(loads).median) if loads else None,
            warming=request.role == "warmup",
        )

    def _progress(self, waiting: Sequence[Planned]) -> Progress:
        return Progress(
            done=len(self.answered),
            total=len(self.answered) + len(waiting),
            seconds_left=seconds_for(waiting, self.rows),
        )

    def _finish(self) -> None:
        asked = {request.block for request in self.requests if request.block}
        measured = {row.block for row in self.rows if row.block}
        planned = {request.prompt_tokens for request in self.requests}
        line = calibrate(self._points)
        self.session |= {
            "status": "complete",
            "ended_at": _now(),
            "blocks": {"planned": len(asked), "measured": len(measured)},
            "no_time_for": sorted(planned - {int(r.condition) for r in self.rows}),
            "calibration": {"fixed": line.fixed, "per_unit": line.per_unit},
        }
        self.session["load_average"]["after"] = machine.load_average()
        session_file.write(self._folder, self.session)
        self._report(Progress(done=len(self.answered), total=len(self.answered), seconds_left=0))

    def _elapsed_s(self) -> float:
        return (time.perf_counter_ns() - self._began_ns) / 1e9


def _flagged(row: Timing, found: tuple[str, ...]) -> Timing:
    return dataclasses.replace(row, valid=is_valid(found), flags=";".join(found))


def _now() -> str:
    return datetime.datetime.now().astimezone().isoformat(timespec="seconds")
