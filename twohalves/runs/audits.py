"""Whether a run can show that its cold rows were cold: two planted faults, and two checks.

A detector that never fires may be blind. So each run plants a prompt that was sent before and a
request after the model was unloaded on purpose; both must be flagged. Where the server does not
tell how many tokens came from cache, the times of the cold rows are looked at as well: reading
must take longer for longer prompts, and no row may be far faster than its like.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from twohalves.runs import derive
from twohalves.runs.conditions import by_length
from twohalves.runs.load import Run
from twohalves.runs.schema import Timing
from twohalves.stats import summarize

DUPLICATE = "audit-duplicate"
"""Pair of a prompt and its planted repeat."""
RELOAD = "audit-reload"
"""Pair of the request after the model was unloaded on purpose."""
FAR_FASTER = 0.6
"""A cold row at so small a part of the median of its like in other blocks is told."""
_WIDE = 8  # lengths this many times apart tell whether time grows with length
_GROWS = 2  # then reading the longer takes at least so many times as long


@dataclass(frozen=True, slots=True, kw_only=True)
class Audits:
    """What the checks of one run found."""

    duplicate_flagged: bool | None
    """Whether the planted repeat was noticed; None = none was planted, or it got no answer."""
    reload_flagged: bool | None
    """Whether the planted reload was noticed; None = none was planted, or it got no answer."""
    sliding_window: int | None
    """Tokens of the model's sliding window, with which a repeat may be read anew; None = none."""
    tells_cached: bool
    """Whether the server tells how many tokens came from cache."""
    grows: bool | None
    """Whether cold prefill takes longer for longer prompts; None = told by counts, or too few
    lengths."""
    fast: tuple[Timing, ...]
    """Valid cold rows far faster than their like in other blocks; none if counts tell."""


def audits(run: Run) -> Audits:
    """What the planted faults and the times of the cold rows say."""
    cold = [row for row in run.timings if _is_cold(row)]
    reloads = _answers(run.timings, RELOAD)
    tells = any(row.prompt_eval_cached_count is not None for row in cold)
    return Audits(
        duplicate_flagged=_duplicate_flagged(_answers(run.timings, DUPLICATE)),
        reload_flagged=_carries(reloads[-1], {"reloaded"}) if reloads else None,
        sliding_window=run.session["model"].get("sliding_window"),
        tells_cached=tells,
        grows=None if tells else _grows(cold),
        fast=() if tells else tuple(row for row in cold if _is_fast(row, cold)),
    )


def _is_cold(row: Timing) -> bool:
    is_asked = row.valid and row.role == "measure" and not row.setup
    return is_asked and row.variant == "cold" and bool(row.prompt_eval_duration)


def _answers(rows: Iterable[Timing], pair: str) -> list[Timing]:
    return [row for row in rows if row.role == "audit" and row.pair == pair and row.done_reason]


def _duplicate_flagged(answers: list[Timing]) -> bool | None:
    """Of a prompt and its repeat the last must be flagged; None if the repeat is missing."""
    if not answers or answers[-1].prompt_hash not in {row.prompt_hash for row in answers[:-1]}:
        return None
    return _carries(answers[-1], {"cached_prefix", "too_fast"})


def _carries(row: Timing, wanted: set[str]) -> bool:
    return not wanted.isdisjoint(row.flags.split(";"))


def _grows(cold: list[Timing]) -> bool | None:
    lengths = by_length(cold)
    if not lengths or lengths[-1][0] < _WIDE * lengths[0][0]:
        return None
    shortest, longest = (
        summarize([derive.prefill_s(row) or 0 for row in rows]).median
        for _, rows in (lengths[0], lengths[-1])
    )
    return longest >= _GROWS * shortest


def _is_fast(row: Timing, cold: list[Timing]) -> bool:
    alike = [
        derive.prefill_s(other) or 0
        for other in cold
        if (other.condition, other.experiments) == (row.condition, row.experiments)
        and other.block != row.block
    ]
    # of two that differ nobody knows which is odd
    return len(alike) > 1 and (derive.prefill_s(row) or 0) <= FAR_FASTER * summarize(alike).median
