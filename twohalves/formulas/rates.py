"""Tokens per second, from counts and seconds."""

from __future__ import annotations


def rate(tokens: float, seconds: float) -> float | None:
    """Tokens per second; None where no time passed or nothing was done.

    >>> rate(96, 0.064)
    1500.0
    """
    if tokens <= 0 or seconds <= 0:
        return None
    return tokens / seconds


def decode_steps(output_tokens: int, free: int = 1) -> int:
    """Passes over the model that the decode clock of an answer covers.

    Prefill ends with the probabilities of the next token, so the first token of the answer
    costs no step of its own. Engines built on llama.cpp start their decode clock there:
    `eval_duration` spans `eval_count` - 1 steps. An engine whose clock covers that first token
    too has none free.

    Args:
        output_tokens: tokens of the answer, the first one included.
        free: tokens that the decode clock does not cover.

    >>> decode_steps(32), decode_steps(32, free=0)
    (31, 32)
    """
    return max(output_tokens - free, 0)
