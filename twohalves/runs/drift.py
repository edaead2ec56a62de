"""Whether the machine grew slower or faster while a run was measured, as its control tells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from twohalves.runs import derive
from twohalves.runs.load import Run
from twohalves.runs.schema import Timing
from twohalves.stats import Interval, summarize, trend

TOO_MUCH = 0.05
"""From so much change of the control on, a run's seconds are no measure for another run's."""
NOTEWORTHY = 0.02
"""From so much change on it is told."""
UNEVEN = 1.5
"""From so many times its shortest time on, the control was disturbed by something else."""

Phase = Literal["prefill", "decode"]
Verdict = Literal["steady", "moved", "drifted", "unknown"]
"""steady: it cannot have changed by more than TOO_MUCH; moved: it did change, by less than that;
drifted: it changed by more; unknown: too few controls, or they scatter too much to tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """How one timing of the control changed from the first control to the last."""

    of: Phase
    """What was timed."""
    change: float
    """Change of its seconds over the run, a fraction of their median; above 0 = slower."""
    interval: Interval | None
    """Where the true change lies; None = too few controls."""
    controls: int
    """Number of controls."""

    @property
    def verdict(self) -> Verdict:
        """What the controls say of this timing."""
        if self.interval is None:
            return "unknown"
        is_real = not self.interval.low <= 0 <= self.interval.high
        if is_real and abs(self.change) > TOO_MUCH:
            return "drifted"
        if is_real and abs(self.change) > NOTEWORTHY:
            return "moved"
        bounded = self.interval.low >= -TOO_MUCH and self.interval.high <= TOO_MUCH
        return "steady" if bounded else "unknown"


def drifts(run: Run) -> tuple[Drift, ...]:
    """Drift of the control's prefill and decode; none with fewer than two controls.

    Time is counted in requests, not by a clock: a run may pause for a night, and a clock may be
    set. What is timed is seconds a token, so that a control whose text came out a token longer
    does not look slow.
    """
    return tuple(_drift(name, points) for name, points in _timed(run) if len(points) > 1)


def unevenness(run: Run) -> tuple[Phase, float] | None:
    """The timing of the control that varied most: its longest time over its shortest.

    A trend looks for slow change only, and takes many controls; one neighbor who computes for
    half a minute shows in three. None without a control.
    """
    found = []
    for name, points in _timed(run):
        values = [value for _, value in points]
        if values:
            found.append((name, max(values) / min(values)))
    return max(found, key=lambda each: each[1], default=None)


def _timed(run: Run) -> list[tuple[Phase, list[tuple[int, float]]]]:
    """Place and seconds a token of each control, for prefill and for decode."""
    rows = run.controls()
    timings: dict[Phase, Callable[[Timing], float | None]] = {
        "prefill": lambda row: _per(derive.prefill_s(row), derive.processed_tokens(row)),
        "decode": lambda row: _per(derive.decode_s(row), row.eval_count),
    }
    return [
        (name, [(row.seq, value) for row in rows if (value := timed(row)) is not None])
        for name, timed in timings.items()
    ]


def worst(run: Run) -> Drift | None:
    """The drift that decides: drifted before unknown before moved; None without any."""
    order: tuple[Verdict, ...] = ("steady", "moved", "unknown", "drifted")
    return max(
        drifts(run),
        key=lambda each: (order.index(each.verdict), abs(each.change)),
        default=None,
    )


def _drift(of: Phase, points: Sequence[tuple[int, float]]) -> Drift:
    places, values = zip(*points, strict=True)
    found = trend(places, values)
    scale = (max(places) - min(places)) / summarize(values).median  # slope to change over the run
    return Drift(
        of=of,
        change=found.slope * scale,
        interval=found.interval and found.interval.times(scale),
        controls=found.n,
    )


def _per(seconds: float | None, tokens: int | None) -> float | None:
    return seconds / tokens if seconds and tokens else None
