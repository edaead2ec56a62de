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

INVALID = {
    "no_answer": "the answer did not come to its end",
    "refused": "the server found the prompt too long for its window",
    "no_counters": "the server did not say what it did",
    "too_few_tokens": "the answer was shorter than asked for",
    "truncated": "the prompt was cut by the server",
    "off_length": "the prompt was not of the length asked for",
    "reloaded": "the model was loaded anew",
    "cached_prefix": "part of the prompt came from a cache",
    "slept": "the machine slept meanwhile",
    "stalled": "this program or the way to the server stood still meanwhile",
    "other_model": "another model answered under the same name",
}
"""Flags that rule a row out, with their meaning."""
INFORMATIVE = {
    "waited": "the request waited for another program's",
    "only_thinking": "all tokens went into thinking, none into the answer",
}
"""Flags that only say what was noticed: such a row counts."""

_SHARED_HEAD = 4  # the word before the entry number, and what a server puts before a raw prompt
_RELOAD_FLOOR_NS = 500_000_000
_RELOAD_FACTOR = 5
_WAIT_FLOOR_NS = 500_000_000
_WAIT_FACTOR = 5
_STALL_FLOOR_NS = 2_000_000_000
_STALL_FACTOR = 5


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
    usual_rest_ns: int | None = None
    """Median of what `rest` gives in the run so far; None at its beginning."""
    usual_outside_ns: int | None = None
    """Median of what `outside` gives in the run so far; None at its beginning."""
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
    load, left, cached = row.load_duration, rest(row), row.prompt_eval_cached_count or 0
    truncated = _truncated(row.prompt_eval_count, expected)
    off = not expected.warming and _off_length(row.prompt_eval_count, expected)
    loaded = _unusual(load, expected.usual_load_ns, _RELOAD_FLOOR_NS, _RELOAD_FACTOR)
    found = {
        "too_few_tokens": _too_few(row, expected),
        "truncated": truncated,
        "off_length": off and not truncated,
        "reloaded": loaded and not expected.warming,
        "cached_prefix": row.variant == "cold" and cached > _SHARED_HEAD,
        "stalled": _unusual(
            outside(row), expected.usual_outside_ns, _STALL_FLOOR_NS, _STALL_FACTOR
        ),
        "waited": _unusual(left, expected.usual_rest_ns, _WAIT_FLOOR_NS, _WAIT_FACTOR),
    }
    return tuple(flag for flag, applies in found.items() if applies)


def rest(row: Timing) -> int | None:
    """Nanoseconds of the request that no part of it explains: mostly its wait for a free slot.

    A queue is in no counter of its own. Prefill and decode do not contain it, so a row that
    waited counts; whoever made it wait may have taken cores, too, which is why it is flagged.
    """
    parts = (row.load_duration, row.prompt_eval_duration, row.eval_duration)
    if row.total_duration is None or None in parts:
        return None
    return row.total_duration - sum(part for part in parts if part is not None)


def outside(row: Timing) -> int | None:
    """Nanoseconds between sending and end of which the server knows nothing.

    Its own counters do not contain them; the client's clocks do, and with them the time to
    the first token.
    """
    if row.total_duration is None or row.done_ns is None or row.sent_ns is None:
        return None
    return row.done_ns - row.sent_ns - row.total_duration


def is_valid(found: tuple[str, ...]) -> bool:
    """True when none of the flags rules the row out."""
    return INVALID.keys().isdisjoint(found)


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


def _unusual(value: int | None, usual: int | None, floor: int, factor: int) -> bool:
    if value is None or usual is None:
        return False
    return value > max(floor, factor * usual)
