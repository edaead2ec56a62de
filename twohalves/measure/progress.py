"""How far a run is, and how long it may still take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from twohalves.measure.plan import Planned
from twohalves.runs import derive
from twohalves.runs.schema import Timing
from twohalves.stats import summarize

OVERHEAD_S = 0.1
"""Seconds a request takes beside its tokens, roughly."""
_REUSED = {"warm", "ts_bottom", "appended", "stable_top"}
"""Variants of a prompt that most servers hold nearly all of, so that little is left to read."""
_LEFT = 60  # tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Where a run stands between two requests."""

    done: int
    """Requests answered."""
    total: int
    """Requests planned."""
    seconds_left: float | None
    """Estimate of the time left; None before anything is known."""
    waiting: str = ""
    """What is waited for, in words; empty while the run goes on."""

    def __str__(self) -> str:
        """In words, with the time left where it is known."""
        said = f"{self.done} of {self.total} requests"
        if self.waiting:
            return f"{said}, {self.waiting}"
        left = self.seconds_left
        return said if left is None else f"{said}, about {left:.0f} s left"


Report = Callable[[Progress], None]
"""Receives progress; draws it, prints it or records it."""


def silent(progress: Progress) -> None:
    """A report that shows nothing."""


def seconds_for(
    requests: Sequence[Planned], rows: Sequence[Timing], *, reuse: bool = True
) -> float | None:
    """Estimated seconds for requests to come, from the rates of the rows so far.

    Args:
        requests: what is to come.
        rows: rows so far.
        reuse: False to reckon with a server that holds nothing of an earlier prompt.

    Returns:
        None while no row has both rates.
    """
    cold = [row for row in rows if row.variant == "cold"]  # a prompt that was held tells no rate
    prefill = [rate for row in cold if (rate := derive.prefill_rate(row))]
    decode = [rate for row in rows if (rate := derive.decode_rate(row))]
    if not prefill or not decode:
        return None
    reading, writing = summarize(prefill).median, summarize(decode).median
    return sum(
        OVERHEAD_S
        + (_LEFT if reuse and request.variant in _REUSED else request.prompt_tokens) / reading
        + request.num_predict / writing
        for request in requests
    )
