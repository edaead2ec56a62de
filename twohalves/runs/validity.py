"""Which rows may count, decided before anybody looks at their values.

A flag names what was noticed; the flags in INVALID rule a row out. Nothing is ever dropped
for being slow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from twohalves.runs import derive
from twohalves.runs.schema import Timing
from twohalves.server.counters import Cut, cut_counts
from twohalves.stats import summarize

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
    "too_fast": "the prompt was read so fast that part of it must have come from a cache",
    "spilled": "another part of the model was in the graphics memory than at the beginning",
    "slept": "the machine slept meanwhile",
    "stalled": "this program or the way to the server stood still meanwhile",
    "other_model": "another model answered under the same name",
}
"""Flags that rule a row out, with their meaning."""
INFORMATIVE = {
    "waited": "the request waited for another program's",
    "only_thinking": "all tokens went into thinking, none into the answer",
    "repeats_itself": "the answer went in circles",
}
"""Flags that only say what was noticed: such a row counts."""

_SHARED_HEAD = 4  # what a server puts before a raw prompt, and a digit or two that agree by chance
_RELOAD_FLOOR_NS = 150_000_000
_RELOAD_FACTOR = 3
_WAIT_FLOOR_NS = 500_000_000
_WAIT_FACTOR = 5
_STALL_FLOOR_NS = 2_000_000_000
_STALL_FACTOR = 5
_FAST_FACTOR = 3
_FAST_TOKENS = 200  # below, fixed costs make most of the time, and they vary
_ALIKE = 2  # prompts up to so many times longer or shorter are read about equally fast
_FAST_ROWS = 3  # of fewer, one that was held up would make its like look fast
_SPILL = 0.01
_CIRCLE_CHUNKS = 8
_CIRCLE_SHARE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What the request asked for, and what is usual in its run."""

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
    usual_prefill_rate: float | None = None
    """What `usual_prefill_rate` gives, tokens per second; None = not known."""
    gpu_share_begun: float | None = None
    """Share of the model in graphics memory at the run's beginning; None = not told."""
    gpu_share_now: float | None = None
    """The same after this answer; None = not told."""
    cut: Cut | None = None
    """Where this server cuts a prompt that is too long; None = not known."""
    counts_cached: bool = True
    """False if this server's prompt_eval_count leaves cached tokens out."""
    length_known: bool = True
    """False if nobody could count the prompt beforehand: an answer or the time is part of it."""
    any_answer: bool = False
    """True if the answer may be shorter than asked for."""
    warming: bool = False
    """True for warm-ups, which may load the model and whose length calibrates the rest."""


def flags(row: Timing, expected: Expected) -> tuple[str, ...]:
    """What is wrong or remarkable about one answered request, in a fixed order."""
    for flag in _ALONE:
        if DETECTORS[flag](row, expected):
            return (flag,)
    return tuple(flag for flag, notices in DETECTORS.items() if notices(row, expected))


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


def usual_prefill_rate(rows: Iterable[Timing], prompt_tokens: int) -> float | None:
    """How fast cold prompts of about this length were read so far, tokens per second.

    Only prompts of at least half and at most twice the length are compared: over a wider range
    an honest rate changes by more than a cache does, because fixed costs weigh on short prompts
    and attention on long ones.

    Args:
        rows: of the run so far.
        prompt_tokens: length of the prompt in question.

    Returns:
        The median over the valid cold rows; None if they are too few to tell which is odd.
    """
    rates = [
        rate
        for row in rows
        if row.valid and row.role != "warmup" and row.variant == "cold"
        if _are_alike(row.prompt_eval_count or 0, prompt_tokens)
        if (rate := derive.prefill_rate(row)) is not None
    ]
    return summarize(rates).median if len(rates) >= _FAST_ROWS else None


def is_valid(found: tuple[str, ...]) -> bool:
    """True when none of the flags rules the row out."""
    return INVALID.keys().isdisjoint(found)


def _no_answer(row: Timing, _: Expected) -> bool:
    return not row.done_reason


def _no_counters(row: Timing, expected: Expected) -> bool:
    uncounted = row.prompt_eval_count is None and expected.counts_cached  # else a 0 is left out
    return uncounted or not row.prompt_eval_duration or row.eval_count is None


def _too_few(row: Timing, expected: Expected) -> bool:
    if expected.any_answer:
        return False
    short = (row.eval_count or 0) < expected.num_predict
    return short or row.done_reason != "length" or not row.eval_duration


def _truncated(row: Timing, expected: Expected) -> bool:
    """The signatures of a silent cut, where fewer tokens were counted than sent."""
    count = _whole_count(row, expected)
    if count is None or expected.prompt_tokens <= count:
        return False
    return count in cut_counts(expected.num_ctx, expected.cut)


def _off_length(row: Timing, expected: Expected) -> bool:
    count = _whole_count(row, expected)
    if count is None or not expected.length_known or _truncated(row, expected):
        return False
    off = count - expected.prompt_tokens
    if not expected.counts_cached:  # a short count tells of a cache
        off = max(off, 0)
    return abs(off) > LENGTH_TOLERANCE * expected.prompt_tokens


def _whole_count(row: Timing, expected: Expected) -> int | None:
    """Tokens of the prompt; None where the server counts only those that it read."""
    counts_all = expected.counts_cached or row.variant == "cold"
    return row.prompt_eval_count if counts_all else None


def _reloaded(row: Timing, expected: Expected) -> bool:
    """A loaded model's load_duration is no zero, but small, and a reload stands out of it.

    For a model that is loaded Ollama reports 1 to 110 ms, or 160 to 320 ms for some models; the
    built-in server less than 1 ms. Loading takes the smallest model 0.2 s in the built-in server
    and 0.5 s or more in Ollama, slower models four times their usual value and more. So the
    floor lies above the first range, and the factor above the second one's width of two. A
    machine so busy that it passes both costs one more request.
    """
    if expected.warming:
        return False
    return _unusual(row.load_duration, expected.usual_load_ns, _RELOAD_FLOOR_NS, _RELOAD_FACTOR)


def _cached_prefix(row: Timing, expected: Expected) -> bool:
    """By the count of cached tokens, or by what lacks where they are left out of the count."""
    if row.variant != "cold" or expected.warming:
        return False
    if expected.counts_cached or row.prompt_eval_cached_count is not None:
        return (row.prompt_eval_cached_count or 0) > _SHARED_HEAD
    lacking = expected.prompt_tokens - (row.prompt_eval_count or 0)
    return lacking > _SHARED_HEAD + LENGTH_TOLERANCE * expected.prompt_tokens


def _too_fast(row: Timing, expected: Expected) -> bool:
    """Where no count of cached tokens is told, time is the only witness.

    No machine reads a prompt three times as fast as others of its length in the same run. A
    smaller part from a cache is not noticed here, and neither is a cache that serves all rows.
    """
    is_told = row.prompt_eval_cached_count is not None
    if row.variant != "cold" or expected.warming or is_told:
        return False
    rate, usual = derive.prefill_rate(row), expected.usual_prefill_rate
    if rate is None or usual is None or (row.prompt_eval_count or 0) < _FAST_TOKENS:
        return False
    return rate > _FAST_FACTOR * usual


def _spilled(_: Timing, expected: Expected) -> bool:
    begun, now = expected.gpu_share_begun, expected.gpu_share_now
    return begun is not None and now is not None and abs(now - begun) > _SPILL


def _stalled(row: Timing, expected: Expected) -> bool:
    return _unusual(outside(row), expected.usual_outside_ns, _STALL_FLOOR_NS, _STALL_FACTOR)


def _waited(row: Timing, expected: Expected) -> bool:
    return _unusual(rest(row), expected.usual_rest_ns, _WAIT_FLOOR_NS, _WAIT_FACTOR)


def _repeats_itself(row: Timing, _: Expected) -> bool:
    circle = row.loop_chunks or 0
    return circle >= max(_CIRCLE_CHUNKS, _CIRCLE_SHARE * (row.n_chunks or 0))


def _unusual(value: int | None, usual: int | None, floor: int, factor: int) -> bool:
    if value is None or usual is None:
        return False
    return value > max(floor, factor * usual)


def _are_alike(tokens: int, others: int) -> bool:
    return tokens <= _ALIKE * others and others <= _ALIKE * tokens


DETECTORS: dict[str, Callable[[Timing, Expected], bool]] = {
    "no_answer": _no_answer,
    "no_counters": _no_counters,
    "too_few_tokens": _too_few,
    "truncated": _truncated,
    "off_length": _off_length,
    "reloaded": _reloaded,
    "cached_prefix": _cached_prefix,
    "too_fast": _too_fast,
    "spilled": _spilled,
    "stalled": _stalled,
    "waited": _waited,
    "repeats_itself": _repeats_itself,
}
"""What is noticed on the answer itself, a detector a flag. The exchange tells `refused` and
`only_thinking`, the clocks `slept`, the server's list of models `other_model`."""
_ALONE = ("no_answer", "no_counters")  # where these hold, nothing else can be judged
