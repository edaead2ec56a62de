"""An Ollama of known rates: it counts the prompt's words and reports the durations they imply.

Nothing is slept: the counters alone are scripted, so that a whole run takes a second and what
the harness recovers can be compared with what was put in.
"""

from __future__ import annotations

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


class Modelled:
    """Routes for `Scripted`: prefill at 2,000 tokens a second, decode at 190 steps a second."""

    def __init__(self, *, prefill=2000.0, decode=190.0, window=131072, version="0.24.0"):
        self.prefill, self.decode, self.window, self.version = prefill, decode, window, version
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
            "/api/tags": scripted.Answer(body={"models": [model | {"details": DETAILS}]}),
            "/api/show": scripted.Answer(
                body={"details": DETAILS, "model_info": info, "capabilities": ["completion"]}
            ),
            "/api/ps": scripted.Answer(body={"models": []}),
            "/api/generate": self.generate,
        }

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
            "prompt_eval_count": count,
            "prompt_eval_duration": round(1e9 * count / self.prefill),
            "eval_count": written,
            "eval_duration": round(1e9 * (written - 1) / self.decode),
        }
        fault = self.faults.get(self.answered)
        if fault is not None:
            final = fault(final)
        if not body.get("stream", True):
            return scripted.Answer(body=final | {"response": " word" * written})
        chunk = {"created_at": "2026-11-29T15:10:08Z", "response": " word", "done": False}
        lines = [chunk] * written + ([final] if final else [])
        text = "".join(json.dumps(line) + "\n" for line in lines)
        return scripted.Answer(
            headers={"content-type": "application/x-ndjson"},
            body=text,
            breaks_off=final is None,
        )
