"""Which cache type a server uses, read from how its memory grows with the window.

No API tells it. But the model's metadata give the bytes a token for each type, and a server that
tells its size at several windows tells the bytes a token, too.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from twohalves.formulas.allocated import BATCH
from twohalves.formulas.kv_cache import KV_TYPES, KvShape, bytes_per_token

CLOSE = 0.01
"""Slopes that differ by less are one."""
_ESTIMATES = {"q8_0": 1.0, "q4_0": 0.5}
"""Bytes a number that Ollama's own estimate takes, without the scales of the blocks."""
_MASK = 2 * BATCH
"""Bytes a token of the mask that some engines count beside the cache."""


def bytes_a_token(sizes: Sequence[tuple[int, int]]) -> float | None:
    """The slope of size over window; None where there is none, or not one.

    Args:
        sizes: (window in tokens, bytes), windows ascending.

    >>> bytes_a_token([(2048, 143_762_688), (4096, 190_948_608), (8192, 285_320_448)])
    23040.0
    >>> bytes_a_token([(2048, 100), (4096, 200), (8192, 9_000)]) is None
    True
    """
    steps = [
        (more - less) / (longer - shorter)
        for (shorter, less), (longer, more) in itertools.pairwise(sizes)
        if longer > shorter
    ]
    if not steps or min(steps) <= 0 or max(steps) > (1 + CLOSE) * min(steps):
        return None
    (first, least), (last, most) = sizes[0], sizes[-1]
    return (most - least) / (last - first)


def types_by_slope(shape: KvShape, slope: float, slots: int = 1) -> tuple[str, ...]:
    """The cache types that would make memory grow so; none, one, or several that weigh the same.

    Args:
        shape: the model.
        slope: bytes a token, beyond the windows of layers that have one.
        slots: requests served at once; each keeps a cache, so that two slots of one byte a
            number look like one slot of two.

    SmolLM2-135M, in Ollama 0.24 with a q8_0 cache and without:

    >>> from twohalves.formulas import uniform_shape
    >>> shape = uniform_shape(30, 3, 64)
    >>> types_by_slope(shape, 11_520), types_by_slope(shape, 23_040)
    (('q8_0',), ('f16', 'bf16'))
    """
    numbers = bytes_per_token(shape, "f16").growing / 2
    found = []
    for kv_type in KV_TYPES:
        told = {float(bytes_per_token(shape, kv_type).growing)}
        told |= {numbers * _ESTIMATES[kv_type]} if kv_type in _ESTIMATES else set()
        expected = [slots * (cache + mask) for cache in told for mask in (0, _MASK)]
        expected += [slots * cache + _MASK for cache in told]
        if any(cache and abs(slope - cache) <= CLOSE * cache for cache in expected):
            found.append(kv_type)
    return tuple(found)
