"""What the server answers: records with the fields, the order and the units of Ollama."""

from __future__ import annotations

import datetime
import json
import time
from dataclasses import dataclass
from typing import Any

_LAST_SECOND = 253_402_300_799
"""The end of year 9999, where dates end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """What this server's own clock measures, in nanoseconds."""

    arrived_ns: int
    """When the request came in; monotonic."""
    load_ns: int
    """From then until the engine was ready for it, without a wait for a free slot."""

    def total_ns(self) -> int:
        """From the request's arrival until now."""
        return time.perf_counter_ns() - self.arrived_ns


def encode(record: dict[str, Any]) -> bytes:
    """One record as UTF-8 JSON, without a line end."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def timestamp(epoch_ns: int | None = None) -> str:
    """RFC 3339 in UTC with nanoseconds, trailing zeros cut, as Go writes it.

    >>> timestamp(1_700_000_000_120_000_000)
    '2023-11-14T22:13:20.12Z'

    Args:
        epoch_ns: nanoseconds since 1970; None = now.
    """
    seconds, nanoseconds = divmod(time.time_ns() if epoch_ns is None else epoch_ns, 10**9)
    moment = datetime.datetime.fromtimestamp(min(seconds, _LAST_SECOND), tz=datetime.UTC)
    fraction = f".{nanoseconds:09d}".rstrip("0").rstrip(".")
    return f"{moment:%Y-%m-%dT%H:%M:%S}{fraction}Z"


def piece(model: str, text: str) -> dict[str, Any]:
    """The record of one token."""
    return {"model": model, "created_at": timestamp(), "response": text, "done": False}


def empty(model: str, reason: str) -> dict[str, Any]:
    """The answer to a request without a prompt: `load` or `unload`."""
    return {
        "model": model,
        "created_at": timestamp(),
        "response": "",
        "done": True,
        "done_reason": reason,
    }


def rendered(model: str, prompt: str) -> dict[str, Any]:
    """The answer to a request that only asks what the model would be given."""
    shown = {"rendered_template": prompt}
    return {"model": model, "created_at": timestamp(), "response": "", "done": False,
            "_debug_info": shown}  # fmt: skip


def final(
    model: str,
    text: str,
    event: dict[str, Any],
    spans_ns: tuple[int, int],
    context: list[int] | None,
) -> dict[str, Any]:
    """The last record, with the counters.

    Args:
        model: name as asked.
        text: the whole answer, or "" at the end of a stream.
        event: the engine's last event; its `timings` are milliseconds.
        spans_ns: in all, and until the engine was ready.
        context: token ids to go on from; None = not offered.
    """
    timings = event["timings"]
    counters = {
        "context": context,
        "total_duration": spans_ns[0],
        "load_duration": spans_ns[1],
        "prompt_eval_count": timings["cache_n"] + timings["prompt_n"],
        "prompt_eval_cached_count": timings["cache_n"],
        "prompt_eval_duration": _ns(timings["prompt_ms"]),
        "eval_count": timings["predicted_n"],
        # the first token comes with the prompt: one token has no duration of its own
        "eval_duration": _ns(timings["predicted_ms"]) if timings["predicted_n"] > 1 else None,
    }
    return {
        "model": model,
        "created_at": timestamp(),
        "response": text,
        "done": True,
        "done_reason": "length" if event.get("stop_type") == "limit" else "stop",
        **{name: value for name, value in counters.items() if value is not None},
    }


def _ns(milliseconds: float) -> int:
    return round(milliseconds * 1e6)
