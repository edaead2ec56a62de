"""From a prompt to what the engine is asked: tokens that fit, limits, sampling, grammar."""

from __future__ import annotations

import json
import re
from typing import Any

from twohalves.errors import RequestRefused
from twohalves.server.builtin.engine import Engine
from twohalves.server.builtin.options import Options
from twohalves.server.builtin.requests import Asked

_MOST_WINDOWS = 10
"""An answer without a limit ends after so many windows, as in Ollama."""
_HUGE_COUNT = re.compile(r'(?:(?:Items|Length)":|\{(?:\d*,)?)\d{6}')
"""A schema, or a pattern in it, that counts to 100,000 or more. The engine writes out each of
so many places: it would take all memory before it refuses."""
_OWN_TOKENS = 4
"""A text makes at most as many tokens as it has bytes, and these that begin and end it. One that
surely fits goes to the engine as it is: to count it first would delay its first token."""


def completion_body(asked: Asked, options: Options, engine: Engine, prompt: str) -> dict[str, Any]:
    """What the engine is asked.

    Args:
        asked: the request.
        options: the request's, complete.
        engine: how long its window is, and whether it can follow the format.
        prompt: the text, whole.

    Raises:
        RequestRefused: 400, a prompt too long that must not be cut, or a schema that the engine
            cannot follow; 500, a format that is neither "json" nor a schema.
    """
    window = engine.settings.num_ctx
    longest = options.num_predict or _MOST_WINDOWS * window
    read: str | list[int] = prompt
    if not asked.shift or len(prompt.encode()) + _OWN_TOKENS > min(window, engine.room):
        read = _fitting(engine.tokenize(prompt), asked, options, engine)
        if not asked.shift:
            longest = max(1, min(longest, window - len(read)))
    return {
        "prompt": read,
        "n_predict": longest,
        "n_keep": options.num_keep,
        "seed": options.seed & 0xFFFFFFFF,
        "stop": list(options.stop),
        "cache_prompt": True,
        "n_probs": max(asked.top_logprobs, 1) if asked.logprobs else 0,
        **options.sampling,
        **_grammar(asked.format, engine),
    }


def _fitting(tokens: list[int], asked: Asked, options: Options, engine: Engine) -> list[int]:
    window = engine.settings.num_ctx
    if len(tokens) > window and not asked.truncate:
        raise RequestRefused(400, "the input length exceeds the context length")
    return cut(tokens, min(window, engine.room), options.num_keep)


def cut(tokens: list[int], room: int, keep: int) -> list[int]:
    """The first `keep` tokens and the tail, as many as there is room for.

    >>> cut([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 7, 4)
    [0, 1, 2, 3, 7, 8, 9]
    """
    if len(tokens) <= room:
        return tokens
    keep = min(keep, room - 1)
    return tokens[:keep] + tokens[len(tokens) - (room - keep) :]


def _grammar(wanted: object, engine: Engine) -> dict[str, Any]:
    if wanted is None:
        return {}
    if wanted == "json":
        return {"json_schema": {"type": "object"}}
    if not isinstance(wanted, dict):
        quoted = json.dumps(json.dumps(wanted, separators=(",", ":")))
        expected = 'expected "json" or a valid JSON Schema object'
        raise RequestRefused(500, f"invalid format: {quoted}; {expected}")
    if _HUGE_COUNT.search(json.dumps(wanted, separators=(",", ":"))) or not engine.follows(wanted):
        raise RequestRefused(400, "the engine cannot follow this format")
    return {"json_schema": wanted}
