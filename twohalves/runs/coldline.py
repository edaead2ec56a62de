"""Seconds of prefill by prompt length, where nothing was cached: the run's own yardstick."""

from __future__ import annotations

import itertools
import statistics
from dataclasses import dataclass

import numpy as np

from twohalves.runs import derive
from twohalves.runs.conditions import by_length
from twohalves.runs.load import Run
from twohalves.runs.schema import Timing

_APART = 0.8
"""Two lengths tell a slope if the shorter is at most this part of the longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColdLine:
    """Straight pieces through the median cold prefill of each length, from 0 tokens on."""

    tokens: tuple[float, ...]
    """Prompt lengths, tokens, ascending; the first is 0."""
    seconds: tuple[float, ...]
    """Seconds of prefill at each, never falling; at 0 what a request costs before any token."""

    def at(self, tokens: float) -> float:
        """Seconds of a cold prefill; beyond the longest length its last slope goes on."""
        if tokens <= self.tokens[-1]:
            return float(np.interp(tokens, self.tokens, self.seconds))
        longest, last = self.tokens[-1], self.seconds[-1]
        n, t = next(
            (n, t)
            for n, t in zip(reversed(self.tokens), reversed(self.seconds), strict=True)
            if n <= _APART * longest
        )
        return last + (tokens - longest) * (last - t) / (longest - n)

    def cached(self, tokens: float, seconds: float) -> float:
        """Prompt tokens that must have come from cache for so short a prefill: an estimate.

        Reading on from c cached tokens to n costs what a cold prompt of n costs more than one
        of c, and once what every request costs: seconds = at(n) - at(c) + at(0), solved for c.
        At least one token is always read.

        Args:
            tokens: of the prompt.
            seconds: its prefill took.
        """
        grid = [n for n in self.tokens if n < tokens]
        costs = [self.at(n) for n in (*grid, tokens)]
        found = float(np.interp(self.at(tokens) + self.at(0) - seconds, costs, [*grid, tokens]))
        return max(0.0, min(found, tokens - 1))


def cold_line(run: Run) -> ColdLine | None:
    """The line through a run's cold rows on its own server; None if it has none."""
    cold = [
        row
        for row in run.timings
        if row.valid and row.role == "measure" and row.variant == "cold" and not row.setup
    ]
    points = sorted(point for _, rows in by_length(cold) if (point := _point(rows)))
    if not points:
        return None
    tokens = [n for n, _ in points]
    seconds = list(itertools.accumulate((t for _, t in points), max))
    return ColdLine(tokens=(0.0, *tokens), seconds=(_before_any(tokens, seconds), *seconds))


def _point(rows: list[Timing]) -> tuple[float, float] | None:
    counts = [row.prompt_eval_count for row in rows if row.prompt_eval_count is not None]
    times = [t for row in rows if (t := derive.prefill_s(row)) is not None]
    return (statistics.median(counts), statistics.median(times)) if counts and times else None


def _before_any(tokens: list[float], seconds: list[float]) -> float:
    """Seconds at 0 tokens: the line through the two shortest lengths, never below 0."""
    if len(tokens) < 2 or tokens[0] == tokens[1]:
        return 0.0
    slope = (seconds[1] - seconds[0]) / (tokens[1] - tokens[0])
    return max(0.0, seconds[0] - slope * tokens[0])
