"""Which rows may count, decided before anybody looks at their values.

A flag names what was noticed; the flags in INVALID rule a row out. Nothing is ever dropped
for being slow.
"""

from __future__ import annotations

from dataclasses import dataclass

from twohalves.runs.schema import Timing
from twohalves.server.counters import Cut, cut_counts

LENGTH_TOLERANCE = 0.03
"""How far the achieved prompt length may lie from the one asked for, a fraction."""

INVALID = frozenset(
    {
        "no_answer",
        "no_counters",
        "too_few_tokens",
        "truncated",
        "off_length",
        "reloaded",
        "cached_prefix",
    }
)
"""Flags that rule a row out. Others only inform: none yet"""

_SHARED_HEAD = 4  # the word before the entry number, and what a server puts before a raw prompt
_RELOAD_FLOOR_NS = 500_000_000
_RELOAD_FACTOR = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What the request asked for."""

    prompt_tokens: int
    """Prompt length asked for."""
    num_predict: int
    """Answer length asked for, tokens."""
    num_ctx: int
    """Context window asked for, tokens."""
    usual_load_ns: int | None
    """Median load_duration of the run so far; None at its beginning."""
    cut: Cut | None = None
    """Where this server cuts a prompt that is too long; None = not known."""
    warming: bool = False
    """True for warm-ups, which may load the model and whose length calibrates the rest."""


def flags(row: Timing, expected: Expected) -> tuple[str, ...]:
    """What is wrong or remarkable about one answered request, in a fixed order."""
    if not row.done_reason:
        return ("no_answer",)
    if row.prompt_eval_count is None or not row.prompt_eval_duration or row.eval_count is None:
        return ("no_counters",)
    found = []
    if _too_few(row, expected):
        found.append("too_few_tokens")
    if _truncated(row.prompt_eval_count, expected):
        found.append("truncated")
    elif not expected.warming and _off_length(row.prompt_eval_count, expected):
        found.append("off_length")
    if not expected.warming and _reloaded(row.load_duration, expected.usual_load_ns):
        found.append("reloaded")
    cached = row.prompt_eval_cached_count or 0
    if row.variant == "cold" and cached > _SHARED_HEAD:
        found.append("cached_prefix")
    return tuple(found)


def is_valid(found: tuple[str, ...]) -> bool:
    """True when none of the flags rules the row out."""
    return not INVALID.intersection(found)


def _too_few(row: Timing, expected: Expected) -> bool:
    short = (row.eval_count or 0) < expected.num_predict
    return short or row.done_reason != "length" or not row.eval_duration


def _truncated(count: int, expected: Expected) -> bool:
    """The signatures of a silent cut, where fewer tokens were counted than sent."""
    if expected.prompt_tokens <= count:
        return False
    return count in cut_counts(expected.num_ctx, expected.cut)


def _off_length(count: int, expected: Expected) -> bool:
    return abs(count - expected.prompt_tokens) > LENGTH_TOLERANCE * expected.prompt_tokens


def _reloaded(load_ns: int | None, usual_ns: int | None) -> bool:
    if load_ns is None or usual_ns is None:
        return False
    return load_ns > max(_RELOAD_FLOOR_NS, _RELOAD_FACTOR * usual_ns)
