"""A latency objective as a limit on the batch: how many requests one step may serve."""

from __future__ import annotations

import math

from twohalves.formulas.ranges import positive
from twohalves.formulas.roofline import Roof, decode_step


def batch_within(
    roof: Roof,
    limit_s: float,
    parameters: float,
    bits: float,
    cache_bytes: float = 0,
    *,
    attention_flop: float = 0,
) -> int:
    """The largest batch whose step of decode takes no longer than a limit.

    A step takes the longer of (N b / 8 + B K) / bandwidth and B (2 N + A) / peak; solved for B.
    An upper bound: no chip reaches its roof, and prompts read between the steps delay them too.

    Args:
        roof: the chip's two limits.
        limit_s: seconds that a user may wait for the next token, above 0.
        parameters: N, weights of the model, above 0.
        bits: b, of a weight, on average, above 0.
        cache_bytes: K, that one request reads of its own cache, at least 0.
        attention_flop: A, that it spends on it, at least 0. The chapter leaves it out.

    Returns:
        0 where not even one user is served in time.

    Raises:
        ValueError: an argument outside its range.

    >>> batch_within(Roof(peak_flop_s=989e12, bandwidth=3.35e12), 0.01, 3.2e9, 16)
    1545
    """
    positive(limit_s=limit_s)
    one = decode_step(parameters, bits, 1, cache_bytes=cache_bytes, attention_flop=attention_flop)
    room = limit_s * roof.bandwidth - (one.bytes_moved - cache_bytes)
    if room < 0:
        return 0
    by_arithmetic = limit_s * roof.peak_flop_s / one.flop
    return math.floor(min(by_arithmetic, room / cache_bytes if cache_bytes else by_arithmetic))
