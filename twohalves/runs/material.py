"""What the latency curves are fitted on: the reader's rows, or the chapter's printed tables.

Time to the first token goes against the prompt's length, by the client's clock; the time of a
decode step against the tokens in its context, which is the prompt and, on average, half of the
answer. Both sources come as `Material`, so that one arithmetic serves both.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from twohalves.formulas import decode_steps
from twohalves.runs import derive, reference
from twohalves.runs.conditions import by_length, tokens_outside_the_clock
from twohalves.runs.load import Run
from twohalves.runs.schema import Timing

NEAR = 0.1
"""Lengths up to a tenth apart are one length when it is left out."""

_FOR_FIRST = ("ttft", "prefill_decode")
_FOR_STEPS = ("decode_vs_context", "ttft", "prefill_decode")
_FOR_RATES = ("prefill_decode", "ttft")


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One value at one length."""

    asked: int
    """Prompt length asked for, tokens: what makes two points of one length."""
    tokens: float
    """Where on the curve: prompt tokens, or tokens in the context."""
    seconds: float
    """The value."""
    block: int | None = None
    """Randomized block; None = a printed median."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """The median request of one length."""

    asked: int
    """Prompt length asked for, tokens."""
    prompt_tokens: float
    """Prompt length achieved, tokens."""
    output_tokens: float
    """Answer tokens."""
    seconds: float
    """Seconds of the whole request, by the client's clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """The two rates at one length, from which the crude model takes its constants."""

    asked: int | None
    """Prompt length asked for, tokens; None = constants that were given, of no length."""
    prefill_tok_s: float
    """Prompt tokens per second."""
    decode_tok_s: float
    """Answer tokens per second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What the curves are fitted on and compared with."""

    first: tuple[Point, ...]
    """Seconds to the first token against prompt tokens."""
    steps: tuple[Point, ...]
    """Seconds of a decode step against tokens in the context."""
    totals: tuple[Total, ...]
    """Whole requests, shortest prompt first."""
    paces: tuple[Pace, ...]
    """Rates for the crude model."""
    stands_in: bool = False
    """True for a run without the chapter's tables of section 31.2: its rows of 31.1 serve."""

    def without(self, asked: int) -> Material:
        """What is left if a length, and any within a tenth of it, had not been measured."""
        return Material(
            first=tuple(each for each in self.first if not _near(each.asked, asked)),
            steps=tuple(each for each in self.steps if not _near(each.asked, asked)),
            totals=self.totals,
            paces=tuple(
                each for each in self.paces if each.asked is None or not _near(each.asked, asked)
            ),
            stands_in=self.stands_in,
        )

    def blocks(self) -> list[list[tuple[bool, Point]]]:
        """Points by block, each with whether it is one of `first`; printed medians have none."""
        found: dict[int, list[tuple[bool, Point]]] = {}
        for is_first, points in ((True, self.first), (False, self.steps)):
            for point in points:
                if point.block is not None:
                    found.setdefault(point.block, []).append((is_first, point))
        return [found[block] for block in sorted(found)]


def of_run(run: Run) -> Material:
    """The run's valid cold rows, streamed and answered by its own server."""
    free = tokens_outside_the_clock(run)
    first = cold(run, *_FOR_FIRST)
    return Material(
        first=_points(first, derive.ttft_s, _prompt),
        steps=_points(cold(run, *_FOR_STEPS), lambda row: _step_s(row, free), _mean_context),
        totals=tuple(_total(asked, rows) for asked, rows in by_length(first)),
        paces=tuple(_paces(by_length(cold(run, *_FOR_RATES)), free)),
        stands_in=not (run.measured("ttft") and run.measured("decode_vs_context")),
    )


def of_chapter() -> Material:
    """The two tables of section 31.2, and the two constants of the chapter's crude model.

    Its decode rates count N tokens over the time of N - 1 steps; here a step is a step.
    """
    out = int(reference.claim("bar_output"))
    return Material(
        first=tuple(
            Point(asked=row.context_tokens, tokens=row.context_tokens, seconds=row.ttft_s)
            for row in reference.ttft()
        ),
        steps=tuple(
            Point(
                asked=row.context_tokens,
                tokens=row.context_tokens + out / 2,
                seconds=out / row.decode_tok_s / decode_steps(out),
            )
            for row in reference.decode_vs_context()
        ),
        totals=tuple(
            Total(
                asked=row.context_tokens,
                prompt_tokens=row.context_tokens,
                output_tokens=out,
                seconds=row.total_s,
            )
            for row in reference.ttft()
        ),
        paces=(
            Pace(
                asked=None,
                prefill_tok_s=reference.claim("prefill_rate_round"),
                decode_tok_s=reference.claim("decode_rate_round"),
            ),
        ),
    )


def cold(run: Run, *experiments: str) -> tuple[Timing, ...]:
    """The usable rows of the first of these experiments that has some.

    Usable are valid rows of new prompts, streamed, and answered by the run's own server.
    """
    for experiment in experiments:
        rows = tuple(
            row
            for row in run.measured(experiment)
            if row.variant == "cold" and row.streamed and not row.setup
        )
        if rows:
            return rows
    return ()


def _near(one: int, other: int) -> bool:
    return abs(one - other) <= NEAR * max(one, other)


def _points(
    rows: Iterable[Timing],
    value: Callable[[Timing], float | None],
    where: Callable[[Timing], float],
) -> tuple[Point, ...]:
    return tuple(
        Point(asked=int(row.condition), tokens=where(row), seconds=seconds, block=row.block)
        for row in rows
        if (seconds := value(row))
    )


def _prompt(row: Timing) -> float:
    return row.prompt_eval_count or 0


def _mean_context(row: Timing) -> float:
    return (row.prompt_eval_count or 0) + (row.eval_count or 0) / 2


def _step_s(row: Timing, free: int) -> float | None:
    rate = derive.decode_rate(row, free)
    return 1 / rate if rate else None


def _total(asked: int, rows: list[Timing]) -> Total:
    return Total(
        asked=asked,
        prompt_tokens=statistics.median(_prompt(row) for row in rows),
        output_tokens=statistics.median(row.eval_count or 0 for row in rows),
        seconds=statistics.median(derive.total_s(row) or 0 for row in rows),
    )


def _paces(lengths: list[tuple[int, list[Timing]]], free: int) -> Iterable[Pace]:
    for asked, rows in lengths:
        prefill = [rate for row in rows if (rate := derive.prefill_rate(row))]
        decode = [rate for row in rows if (rate := derive.decode_rate(row, free))]
        if prefill and decode:
            yield Pace(
                asked=asked,
                prefill_tok_s=statistics.median(prefill),
                decode_tok_s=statistics.median(decode),
            )
