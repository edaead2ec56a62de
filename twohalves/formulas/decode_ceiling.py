"""How fast decode can be if memory is all that limits it: bytes a second over bytes a step."""

from __future__ import annotations

from twohalves.formulas.ranges import not_negative, positive


def decode_ceiling(bandwidth: float, weights_bytes: float, cache_bytes: float = 0) -> float:
    """Steps a second when every step reads all weights and the whole cache, and waits for both.

    steps/s = bandwidth / (weights_bytes + cache_bytes), for one request at a time: the ceiling
    of section 31.7 of the chapter, with the cache that it adds at long context.

    Args:
        bandwidth: bytes a second that memory delivers, above 0.
        weights_bytes: bytes of weights that a step reads, above 0.
        cache_bytes: bytes of keys and values that it reads, at least 0.

    Raises:
        ValueError: an argument outside its range.

    The chapter's chip and file, with an empty cache:

    >>> decode_ceiling(380e9, 2.0e9)
    190.0
    """
    positive(bandwidth=bandwidth, weights_bytes=weights_bytes)
    not_negative(cache_bytes=cache_bytes)
    return bandwidth / (weights_bytes + cache_bytes)


def bandwidth_used(steps_per_s: float, weights_bytes: float, cache_bytes: float = 0) -> float:
    """Bytes a second that decode at this rate has read: the ceiling, solved for its bandwidth.

    Args:
        steps_per_s: measured decode rate, steps a second, above 0.
        weights_bytes: bytes of weights that a step reads, above 0.
        cache_bytes: bytes of keys and values that it reads, at least 0.

    Raises:
        ValueError: an argument outside its range.

    >>> bandwidth_used(190, 2.0e9) / 1e9
    380.0
    """
    positive(steps_per_s=steps_per_s, weights_bytes=weights_bytes)
    not_negative(cache_bytes=cache_bytes)
    return steps_per_s * (weights_bytes + cache_bytes)
