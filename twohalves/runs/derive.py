"""From a row in nanoseconds to seconds, rates and shares: one function a quantity.

Each returns None where the server did not say enough; a missing counter is never a zero.
"""

from __future__ import annotations

from typing import TypeVar

from twohalves.formulas import decode_steps, rate
from twohalves.runs.schema import Timing

NS = 1_000_000_000
"""Nanoseconds a second."""
Number = TypeVar("Number", bound=float)


def processed_tokens(row: Timing) -> int | None:
    """Prompt tokens that prefill really worked on: all of them, less those from cache.

    A server that reports no cached count is taken at its word only for prompts that nobody
    has sent before, which is what every cold row is.
    """
    if row.prompt_eval_count is None:
        return None
    return row.prompt_eval_count - (row.prompt_eval_cached_count or 0)


def prefill_s(row: Timing) -> float | None:
    """Seconds of prefill."""
    return _seconds(row.prompt_eval_duration)


def decode_s(row: Timing) -> float | None:
    """Seconds of decode: from the first token of the answer to its last."""
    return _seconds(row.eval_duration)


def total_s(row: Timing) -> float | None:
    """Seconds from sending to the end of the answer, by the client's clock."""
    if row.done_ns is None or row.sent_ns is None:
        return None
    return (row.done_ns - row.sent_ns) / NS


def ttft_s(row: Timing) -> float | None:
    """Seconds from sending to the first text, by the client's clock: time to first token.

    None for an answer that came in one piece: its first text is its end.
    """
    if row.first_text_ns is None or row.sent_ns is None or not row.streamed:
        return None
    return (row.first_text_ns - row.sent_ns) / NS


def tpot_s(row: Timing) -> float | None:
    """Seconds a token after the first, by the client's clock: time per output token."""
    if row.first_text_ns is None or row.last_text_ns is None or not row.streamed:
        return None
    steps = 0 if row.eval_count is None else decode_steps(row.eval_count)
    return (row.last_text_ns - row.first_text_ns) / NS / steps if steps else None


def ttft_share(row: Timing) -> float | None:
    """Time to first token over the time of the whole request, a fraction."""
    first, total = ttft_s(row), total_s(row)
    return first / total if first is not None and total else None


def prefill_rate(row: Timing) -> float | None:
    """Prompt tokens processed per second of prefill."""
    return _rate(processed_tokens(row), prefill_s(row))


def decode_rate(row: Timing, free: int = 1) -> float | None:
    """Answer tokens per second of decode, over the steps its clock covers.

    Args:
        row: the row.
        free: tokens that the clock leaves out, `counters.steps_less` of the session: 1 on GGUF
            engines, where N tokens take N - 1 steps.
    """
    steps = None if row.eval_count is None else decode_steps(row.eval_count, free)
    return _rate(steps, decode_s(row))


def decode_rate_raw(row: Timing) -> float | None:
    """eval_count over eval_duration, as most tools print it: one step too many."""
    return _rate(row.eval_count, decode_s(row))


def rate_ratio(row: Timing, free: int = 1) -> float | None:
    """How many times longer a token takes to write than to read, within one request."""
    reading, writing = prefill_rate(row), decode_rate(row, free)
    return reading / writing if reading and writing else None


def known(value: Number | None, row: Timing) -> Number:
    """A quantity of a row that counts, which has all of its counters and clocks.

    Raises:
        ValueError: it is missing all the same; the row is named.
    """
    if value is None:
        msg = f"row {row.seq} counts as valid but lacks a counter or a clock"
        raise ValueError(msg)
    return value


def _seconds(ns: int | None) -> float | None:
    return None if ns is None else ns / NS


def _rate(tokens: int | None, seconds: float | None) -> float | None:
    if tokens is None or seconds is None:
        return None
    return rate(tokens, seconds)
