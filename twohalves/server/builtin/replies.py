"""What the server answers: records with the fields, the order and the units of Ollama."""

from __future__ import annotations

import datetime
import json
import time
from collections.abc import Callable
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


def response(_role: str, text: str) -> dict[str, Any]:
    """How /api/generate says a text."""
    return {"response": text}


def message(role: str, text: str) -> dict[str, Any]:
    """How /api/chat says a text."""
    return {"message": {"role": role, "content": text}}


class Replies:
    """The records of one answer."""

    def __init__(self, model: str, say: Callable[[str, str], dict[str, Any]]) -> None:
        """Answer under a name.

        Args:
            model: name as asked.
            say: `response` or `message`, by endpoint.
        """
        self._model = model
        self._say = say

    def piece(self, text: str, logprobs: list[dict[str, Any]]) -> dict[str, Any]:
        """The record of one token.

        Args:
            text: what it says.
            logprobs: how likely it was; empty = not asked for.
        """
        record = self._record(text, done=False)
        return record | {"logprobs": logprobs} if logprobs else record

    def empty(self, reason: str) -> dict[str, Any]:
        """The answer where nothing is to be answered: `load` or `unload`."""
        return self._record("", done=True) | {"done_reason": reason}

    def rendered(self, prompt: str) -> dict[str, Any]:
        """The answer to a request that only asks what the model would be given."""
        shown = {"rendered_template": prompt}
        return self._record("", done=False, role="") | {"_debug_info": shown}

    def final(
        self,
        text: str,
        event: dict[str, Any],
        spans_ns: tuple[int, int],
        *,
        context: list[int] | None = None,
        logprobs: list[dict[str, Any]],
    ) -> dict[str, Any]:
        """The last record, with the counters.

        Args:
            text: the whole answer, or "" at the end of a stream.
            event: the engine's last event; its `timings` are milliseconds.
            spans_ns: in all, and until the engine was ready.
            context: token ids to go on from; None = not offered.
            logprobs: how likely each token was, unless told before; empty = not asked for.
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
            "logprobs": logprobs or None,
        }
        return {
            **self._record(text, done=True),
            "done_reason": "length" if event.get("stop_type") == "limit" else "stop",
            **{name: value for name, value in counters.items() if value is not None},
        }

    def _record(self, text: str, *, done: bool, role: str = "assistant") -> dict[str, Any]:
        said = self._say(role, text)
        return {"model": self._model, "created_at": timestamp(), **said, "done": done}


def logprobs(event: dict[str, Any], *, top: bool) -> list[dict[str, Any]]:
    """How likely the tokens of an event were.

    Args:
        event: one of the engine's.
        top: with the likeliest tokens beside each.
    """
    told: list[dict[str, Any]] = []
    for entry in event.get("completion_probabilities", ()):
        beside = {"top_logprobs": [_logprob(each) for each in entry["top_logprobs"]]} if top else {}
        told.append(_logprob(entry) | beside)
    return told


def _logprob(entry: dict[str, Any]) -> dict[str, Any]:
    return {name: entry[name] for name in ("token", "logprob", "bytes")}


def _ns(milliseconds: float) -> int:
    return round(milliseconds * 1e6)
