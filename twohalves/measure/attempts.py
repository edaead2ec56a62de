"""From a planned request to a kept row: a fresh prompt, one answer, its flags, the files."""

from __future__ import annotations

import dataclasses
import pathlib
import time
from collections.abc import Iterable, Sequence

from twohalves.errors import AnotherAnswers
from twohalves.measure import clocks
from twohalves.measure.ask import Answered, ask, digest
from twohalves.measure.connection import Connection
from twohalves.measure.plan import Planned
from twohalves.measure.profiles import EXPERIMENT
from twohalves.measure.progress import seconds_for
from twohalves.measure.prompts import Calibration, calibrate, fresh, plausible
from twohalves.runs import Keeper, Timing, load
from twohalves.runs.session import Session
from twohalves.runs.validity import Expected, flags, is_valid, outside, rest
from twohalves.runs.witness import records
from twohalves.stats import summarize

PATIENCE = 20
"""An answer may be silent for so many times as long as it should take as a whole ..."""
SHORTEST_PATIENCE_S = 120.0
"""... and at least so many seconds: another program may make the server load the model anew."""


class Asker:
    """Asks one request after another and keeps what comes."""

    def __init__(self, folder: pathlib.Path, session: Session) -> None:
        """Take up the rows that the folder holds.

        Raises:
            TwoHalvesError: the files cannot be read, or not be added to.
        """
        self._keeper = Keeper(folder)
        self._folder, self._session = folder, session
        self.rows = list(load(folder).timings)
        """All rows so far, in the order they were measured."""
        self.began_ns = time.perf_counter_ns()
        """The clock at the beginning of this session."""
        self.at = clocks.read()
        """The clocks after the newest request."""
        kept = [(row.seq, row.attempt) for row in self.rows]
        self._attempts: dict[int, int] = {}
        for seq, attempt in [*kept, *records(folder)]:  # a kill may have come between the files
            self._attempts[seq] = max(attempt, self._attempts.get(seq, 0))
        self.goes_on = bool(self._attempts)
        """Whether an earlier session of this run had an answer."""
        self._points: list[tuple[int, int]] = []
        self._nonce = ""

    @property
    def calibration(self) -> Calibration:
        """How the model counts our prose, as far as is known."""
        return calibrate(self._points)

    def ask(self, request: Planned, line: Connection) -> Answered:
        """Ask one request once, with new text, and keep the row.

        Raises:
            AnotherAnswers: the model behind the name has changed; the row is kept, flagged.
            CannotKeep: the row could not be written.
            TwoHalvesError: nobody took the request, or it was refused for what it asks.
        """
        prompt = fresh(request.prompt_tokens, self.calibration, self._nonce)
        self._nonce = prompt.nonce
        planned = self._planned(request, line, prompt.nonce)
        before = clocks.read()
        line.transport.silence_s = longest_silence(request, self.rows)
        answered = ask(line, planned, prompt.text, self.began_ns)
        self.at = clocks.read()
        other = self._other_model(line)
        found = self._found(answered, request, clocks.between(before, self.at).slept_s)
        answered = _flagged(answered, (*found, "other_model") if other else found)
        self._attempts[request.seq] = answered.row.attempt
        self._keeper.keep(answered.row, answered.record)
        self.rows.append(answered.row)
        if other:
            begun = str(self._session["model"]["digest"])
            raise AnotherAnswers(self._folder.name, _model(begun), _model(other))
        counted = answered.row.prompt_eval_count
        cut = "truncated" in found  # its count tells of the window, not of the tokenizer
        if counted and not cut and plausible(counted, request.prompt_tokens):
            self._points.append((prompt.units, counted))
        return answered

    def _planned(self, request: Planned, line: Connection, nonce: str) -> Timing:
        settings = line.server.settings
        return Timing(
            run_id=self._folder.name,
            seq=request.seq,
            block=request.block,
            experiments=EXPERIMENT,
            condition=request.condition,
            attempt=self._attempts.get(request.seq, 0) + 1,
            role=request.role,
            model=self._session["model"]["name"],
            slots=settings.slots if settings else None,
            num_ctx=int(self._session["options"]["num_ctx"]),
            num_predict=request.num_predict,
            nonce_hash=digest(nonce),
        )

    def _other_model(self, line: Connection) -> str | None:
        """The digest of the model that is loaded, if it is not the run's."""
        begun = self._session["model"]["digest"]
        loaded = line.loaded(self._session["model"]["name"]) or ()
        return next(
            (each.digest for each in loaded if begun and each.digest not in {begun, None}), None
        )

    def _found(self, answered: Answered, request: Planned, slept_s: float) -> tuple[str, ...]:
        refused = "refused" in answered.noticed  # then there is no answer to judge
        judged = () if refused else flags(answered.row, self._expected(request))
        if slept_s:  # which explains why this program stood still
            judged = (*(flag for flag in judged if flag != "stalled"), "slept")
        return (*judged, *answered.noticed)

    def _expected(self, request: Planned) -> Expected:
        measured = [row for row in self.rows if row.valid and row.role != "warmup"]
        loads = _known(row.load_duration for row in measured)
        if not loads:  # a warm-up may have loaded the model: the quickest of them did so least
            loads = _known(row.load_duration for row in self.rows if row.valid)
            loads = [min(loads)] if loads else []
        return Expected(
            prompt_tokens=request.prompt_tokens,
            num_predict=request.num_predict,
            num_ctx=int(self._session["options"]["num_ctx"]),
            cut=self._session.get("counters", {}).get("cut"),
            usual_load_ns=_median(loads),
            usual_rest_ns=_median(_known(map(rest, measured))),
            usual_outside_ns=_median(_known(map(outside, measured))),
            warming=request.role == "warmup",
        )


def longest_silence(request: Planned, rows: Sequence[Timing]) -> float | None:
    """Seconds of silence after which an answer is given up; None while nobody can tell.

    A warm-up may load the model, which no row tells the time of.
    """
    expected_s = None if request.role == "warmup" else seconds_for([request], rows)
    return None if expected_s is None else max(SHORTEST_PATIENCE_S, PATIENCE * expected_s)


def _flagged(answered: Answered, found: tuple[str, ...]) -> Answered:
    row = dataclasses.replace(answered.row, valid=is_valid(found), flags=";".join(found))
    return dataclasses.replace(answered, row=row)


def _known(values: Iterable[int | None]) -> list[int]:
    return [value for value in values if value is not None]


def _median(values: list[int]) -> int | None:
    return int(summarize(values).median) if values else None


def _model(digest: str) -> str:
    return f"the model of digest {digest[:12]}"
