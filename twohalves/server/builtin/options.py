"""The `options` of a request: their types, their defaults, and what the engine makes of them.

Types, refusals and defaults are those of Ollama 0.24; an unknown option is ignored, as there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from twohalves.errors import RequestRefused

DEFAULT_NUM_CTX = 4096
_SMALLEST_NUM_CTX = 4
_SMALLEST_BATCH = 8
"""Of one token the engine dies: it warms up with two."""
_LARGEST_INT = 2**31 - 1

_INTEGERS = {
    "num_batch": 512, "num_thread": 0, "num_predict": -1, "num_keep": 4,
    "seed": -1, "top_k": 40, "repeat_last_n": 64, "num_gpu": -1, "main_gpu": 0,
}  # fmt: skip
_FLOATS = {
    "temperature": 0.8, "top_p": 0.9, "min_p": 0.0, "typical_p": 1.0, "repeat_penalty": 1.1,
    "presence_penalty": 0.0, "frequency_penalty": 0.0,
}  # fmt: skip
_SAMPLING = ("top_k", "repeat_last_n", *_FLOATS)
"""Options that the engine takes under the same name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """A request's options, checked and complete."""

    num_ctx: int
    """Window in tokens, not yet clamped to what the model was trained for."""
    num_batch: int
    """Prompt tokens computed at once."""
    num_thread: int | None
    """Threads; None = the engine's choice."""
    num_predict: int | None
    """Longest answer in tokens; None = no limit asked."""
    num_keep: int
    """First tokens that survive a cut."""
    seed: int
    """-1 = another one each time."""
    stop: tuple[str, ...]
    """Texts that end the answer, besides the tokens that end it for this model."""
    sampling: dict[str, float]
    """Temperature and the like, under the engine's names."""


def read_options(given: dict[str, Any], default_num_ctx: int = DEFAULT_NUM_CTX) -> Options:
    """Check options and fill in the defaults.

    Args:
        given: as in the request.
        default_num_ctx: window where the request names none, in tokens.

    Raises:
        RequestRefused: 500, an option of a wrong type; the status is Ollama's.
    """
    if not isinstance(given.get("use_mmap", False), bool | None):
        raise RequestRefused(500, 'option "use_mmap" must be of type boolean')
    integers = {"num_ctx": default_num_ctx, **_INTEGERS}
    known = {name: _integer(name, given.get(name), default) for name, default in integers.items()}
    sampling = {name: _float(name, given.get(name), default) for name, default in _FLOATS.items()}
    window = max(known["num_ctx"], _SMALLEST_NUM_CTX)
    if known["repeat_last_n"] < 0:  # as far as the window reaches
        known["repeat_last_n"] = window
    return Options(
        num_ctx=window,
        num_batch=max(min(known["num_batch"], window), _SMALLEST_BATCH),
        num_thread=known["num_thread"] if known["num_thread"] > 0 else None,
        num_predict=known["num_predict"] if known["num_predict"] > 0 else None,
        num_keep=max(known["num_keep"], 0),
        seed=known["seed"],
        stop=_stop(given.get("stop")),
        sampling={**sampling, **{name: known[name] for name in _SAMPLING if name in known}},
    )


def _integer(name: str, value: object, default: int) -> int:
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RequestRefused(500, f'option "{name}" must be of type integer')
    return int(min(max(value, -_LARGEST_INT), _LARGEST_INT))


def _float(name: str, value: object, default: float) -> float:
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RequestRefused(500, f'option "{name}" must be of type float32')
    return float(min(max(value, -_LARGEST_INT), _LARGEST_INT))


def _stop(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise RequestRefused(500, 'option "stop" must be of type array')
    if not all(isinstance(text, str) for text in value):
        raise RequestRefused(500, 'option "stop" must be of an array of strings')
    return tuple(text for text in value if text)
