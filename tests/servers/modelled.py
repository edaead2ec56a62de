"""An Ollama of known rates: it counts the prompt's words and reports the durations they imply.

Nothing is slept: the counters alone are scripted, so that a whole run takes a second and what
the harness recovers can be compared with what was put in. `Counting` says how this version
counts: the same work, reported differently.
"""

from __future__ import annotations

import dataclasses
import json
import re

from tests.servers import scripted

DIGEST = "d" * 64
DETAILS = {
    "parent_model": "",
    "format": "gguf",
    "family": "llama",
    "families": ["llama"],
    "parameter_size": "3.2B",
    "quantization_level": "Q4_K_M",
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Counting:
    """How a version reports what it did. `shared` tokens of each prompt come from its cache."""

    shared: int = 0
    """Tokens at the head of each prompt that are in the cache."""
    counts_shared: bool = True
    """Whether prompt_eval_count includes them."""
    tells_shared: bool = False
    """Whether prompt_eval_cached_count says how many they were."""
    last_batch: int | None = None
    """Tokens of the last batch, if only its time is reported."""
    steps_less: int = 1
    """Tokens of the answer that its clock leaves out."""


class Modelled:
    """Routes for `Scripted`: prefill at 2,000 tokens a second, decode at 190 steps a second."""

    def __init__(
        self, *, prefill=2000.0, decode=190.0, window=131072, version="0.24.0", counting=None,
        model_format="gguf",
    ):  # fmt: skip
        self.prefill, self.decode, self.window, self.version = prefill, decode, window, version
        self.counting = counting or Counting()
        self.details = DETAILS | {"format": model_format}
        self.answered = 0
        self.faults = {}
        """By number of the answer, from 1: a function that changes its final record."""

    def routes(self):
        """What the server says where."""
        name = "llama3.2:3b"
        model = {"name": name, "model": name, "size": 2_000_000_000, "digest": DIGEST}
        info = {"general.architecture": "llama", "llama.context_length": self.window}
        return {
            "/": scripted.Answer(body="Ollama is running"),
            "/api/version": scripted.Answer(body={"version": self.version}),
            "/api/tags": scripted.Answer(body={"models": [model | {"details": self.details}]}),
            "/api/show": scripted.Answer(
                body={"details": self.details, "model_info": info, "capabilities": ["completion"]}
            ),
            "/api/ps": scripted.Answer(body={"models": []}),
            "/api/generate": self.generate,
        }

    def _prompt_counters(self, count):
        how = self.counting
        read = count - how.shared
        timed = min(read, how.last_batch or read)
        counters = {
            "prompt_eval_count": count if how.counts_shared else read,
            "prompt_eval_duration": round(1e9 * timed / self.prefill),
        }
        if how.tells_shared:
            counters["prompt_eval_cached_count"] = how.shared
        return {name: value for name, value in counters.items() if value}  # Go's omitempty

    def generate(self, asked):
        """One answer, its counters from the rates."""
        self.answered += 1
        body = asked.json
        count = 11 + len(re.findall(r"[A-Za-z]+|[^A-Za-z\s]+", body["prompt"])) - 3
        written = body["options"]["num_predict"]
        final = {
            "model": body["model"],
            "created_at": "2026-11-29T15:10:09Z",
            "response": "",
            "done": True,
            "done_reason": "length",
            "total_duration": 1,
            "load_duration": 60_000_000,
            "eval_count": written,
            "eval_duration": round(1e9 * (written - self.counting.steps_less) / self.decode),
        } | self._prompt_counters(count)
        fault = self.faults.get(self.answered)
        if fault is not None:
            final = fault(final)
        if not body.get("stream", True):
            words = "".join(f" word{number}" for number in range(written))
            return scripted.Answer(body=final | {"response": words})
        chunk = {"created_at": "2026-11-29T15:10:08Z", "done": False}
        lines = [chunk | {"response": f" word{number}"} for number in range(written)]
        lines += [final] if final else []
        text = "".join(json.dumps(line) + "\n" for line in lines)
        return scripted.Answer(
            headers={"content-type": "application/x-ndjson"},
            body=text,
            breaks_off=final is None,
        )
