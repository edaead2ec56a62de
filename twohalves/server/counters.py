"""What a server's counters mean: they have the same names everywhere and not the same sense.

Read in Ollama's sources, version by version, and observed on 0.24.0; the engines' quirks that
matter for one prompt and its answer, no others.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from twohalves.server.answering import Server

_LAST_BATCH_ONLY = ((0, 12, 5), (0, 12, 6))
_WITHOUT_CACHED = (0, 30, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """How to read the counters of one server."""

    steps_less: int
    """Answer tokens that `eval_duration` does not cover: 1 where the first token comes with the
    prompt (GGUF engines), else 0."""
    counts_cached: bool
    """True if `prompt_eval_count` includes tokens served from the cache."""
    prefill_is_whole: bool
    """False if `prompt_eval_duration` covers only the last batch: no rate can be computed."""


def meaning(server: Server, model_format: str | None = "gguf") -> Meaning:
    """How to read the counters.

    Args:
        server: who answers.
        model_format: `gguf` or `safetensors`; None = not told, taken for GGUF.
    """
    version = _numbers(server.version) if server.kind != "builtin" else None
    return Meaning(
        steps_less=0 if model_format == "safetensors" else 1,
        counts_cached=version != _WITHOUT_CACHED,
        prefill_is_whole=version not in _LAST_BATCH_ONLY,
    )


def _numbers(version: str | None) -> tuple[int, ...] | None:
    found = re.match(r"(\d+)\.(\d+)\.(\d+)", version or "")
    return tuple(int(part) for part in found.groups()) if found else None
