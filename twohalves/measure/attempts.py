"""From a planned request to a kept row: a fresh prompt, one answer, its flags, the files."""

from __future__ import annotations

import dataclasses
import pathlib
import time
from collections.abc import Iterable, Sequence

from twohalves.errors import AnotherAnswers
from twohalves.measure import clocks
from twohalves.measure.ask import Answered, ask, digest
from twohalves.measure.connection import Connection, Loaded
from twohalves.measure.journal import window_held
from twohalves.measure.plan import Group, Planned
from twohalves.measure.progress import seconds_for
from twohalves.measure.prompts import Calibration, Prompt, calibrate, plausible
from twohalves.measure.variants import Script
from twohalves.runs import Keeper, Timing, load
from twohalves.runs.session import Session
from twohalves.runs.validity import (
    Expected,
    flags,
    is_valid,
    outside,
    rest,
    usual_prefill_rate,
)
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
        self.loaded: Loaded | None = None
        """The model in memory as seen after the newest request; None = not there, or not told."""
        self._attempts: dict[int, int] = {}
        for seq, attempt in [*kept, *records(folder)]:  # a kill may have come between the files
            self._attempts[seq] = max(attempt, self._attempts.get(seq, 0))
        self.goes_on = bool(self._attempts)
        """Whether an earlier session of this run had an answer."""
        self._points: list[tuple[int, int]] = []
        self._script = Script()
        self._attempt = 1

    @property
    def calibration(self) -> Calibration:
        """How the model counts our prose, as far as is known."""
        return calibrate(self._points)

    def begin(self, group: Group) -> None:
        """Start requests that belong together: all of them anew, as one attempt."""
        self._attempt = 1 + max(self._attempts.get(request.seq, 0) for request in group)
        self._script.begin()

    def ask(self, request: Planned, line: Connection) -> Answered:
        """Ask the next request of the group once and keep the row.

        Raises:
            AnotherAnswers: the model behind the name has changed; the row is kept, flagged.
            CannotKeep: the row could not be written.
            TwoHalvesError: nobody took the request, or it was refused for what it asks.
        """
        prompt = self._script.prompt(request, self.calibration)
        planned = self._planned(request, line, prompt.nonce)
        before = clocks.read()
        line.transport.silence_s = longest_silence(request, self.rows)
        answered = ask(line, planned, prompt.text, self.began_ns)
        self.at = clocks.read()
        self.loaded = next(iter(line.loaded(self._session["model"]["name"]) or ()), None)
        other = self._other_model()
        slept_s = clocks.between(before, self.at).slept_s
        found = self._found(answered, self._expected(request, prompt), slept_s)
        answered = _flagged(answered, (*found, "other_model") if other else found)
        self._attempts[request.seq] = answered.row.attempt
        self._keeper.keep(answered.row, answered.record)
        self.rows.append(answered.row)
        if other:
            begun = str(self._session["model"]["digest"])
            raise AnotherAnswers(self._folder.name, _model(begun), _model(other))
        self._script.answered(request, answered.reply)
        counted = answered.row.prompt_eval_count
        cut = "truncated" in found  # its count tells of the window, not of the tokenizer
        if prompt.units and counted and not cut and plausible(counted, request.prompt_tokens):
            self._points.append((prompt.units, counted))
        return answered

    def _planned(self, request: Planned, line: Connection, nonce: str) -> Timing:
        settings = line.server.settings
        return Timing(
            run_id=self._folder.name,
            seq=request.seq,
            block=request.block,
            experiments=request.experiments,
            condition=request.condition,
            variant=request.variant,
            pair=request.pair,
            attempt=self._attempt,
            role=request.role,
            model=self._session["model"]["name"],
            slots=settings.slots if settings else None,
            num_ctx=int(self._session["options"]["num_ctx"]),
            num_predict=request.num_predict,
            nonce_hash=digest(nonce),
            setup=request.setup,
            streamed=request.streamed,
        )

    def _other_model(self) -> str | None:
        """The digest of the model that is loaded, if it is not the run's."""
        begun = self._session["model"]["digest"]
        now = self.loaded.digest if self.loaded else None
        return now if begun and now != begun else None

    def _found(self, answered: Answered, expected: Expected, slept_s: float) -> tuple[str, ...]:
        refused = "refused" in answered.noticed  # then there is no answer to judge
        judged = () if refused else flags(answered.row, expected)
        if slept_s:  # which explains why this program stood still
            judged = (*(flag for flag in judged if flag != "stalled"), "slept")
        return (*judged, *answered.noticed)

    def _expected(self, request: Planned, prompt: Prompt) -> Expected:
        here = [row for row in self.rows if row.setup == request.setup and row.valid]
        measured = [row for row in here if row.role != "warmup"]
        loads = _known(row.load_duration for row in measured)
        if not loads:  # a warm-up may have loaded the model: the quickest of them did so least
            loads = _known(row.load_duration for row in here)
            loads = [min(loads)] if loads else []
        counters = self._session.get("counters", {})
        warming = request.role == "warmup"
        return Expected(
            prompt_tokens=request.prompt_tokens,
            num_predict=request.num_predict,
            num_ctx=window_held(self._session),
            cut=counters.get("cut"),
            counts_cached=counters.get("counts_cached", True),
            usual_load_ns=_median(loads),
            usual_rest_ns=_median(_known(map(rest, measured))),
            usual_outside_ns=_median(_known(map(outside, measured))),
            usual_prefill_rate=usual_prefill_rate(here, request.prompt_tokens),
            gpu_share_begun=self._session["model"].get("gpu_share"),
            gpu_share_now=self.loaded.gpu_share if self.loaded else None,
            length_known=not warming and (bool(prompt.units) or request.variant == "warm"),
            any_answer=request.experiments == "traffic",
            warming=warming,
        )


def is_answered(group: Group, rows: Sequence[Timing]) -> bool:
    """True if one attempt has a row that will do for each request of the group."""
    done: dict[int, set[int]] = {}
    wanted = {request.seq for request in group}
    for row in rows:
        if row.seq in wanted and row.role != "warmup" and will_do(row):
            done.setdefault(row.attempt, set()).add(row.seq)
    return any(seqs == wanted for seqs in done.values())


def will_do(row: Timing) -> bool:
    """A row that counts; of a warm-up and of a planted fault it is enough that they came."""
    return row.valid or (row.role in {"warmup", "audit"} and bool(row.done_reason))


def longest_silence(request: Planned, rows: Sequence[Timing]) -> float | None:
    """Seconds of silence after which an answer is given up; None while nobody can tell.

    A warm-up may load the model, which no row tells the time of.
    """
    expected_s = None if request.role == "warmup" else seconds_for([request], rows, reuse=False)
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
