"""The memory that a server needs for a model: weights, cache, and room to compute in."""

from __future__ import annotations

from twohalves.formulas.allocated import BATCH, allocated_bytes, whole_cells
from twohalves.formulas.kv_cache import KvShape

FIXED_MARGIN = 176 * 1024**2
"""Bytes for the process itself, its vocabulary and its activations. Measured with llama.cpp and
a model of 135M parameters: 86 to 111 MB beyond weights and cache, at windows from 512 to 8,192
and with four slots. Ollama 0.24 counts 190 MB for gemma3:270m, which knows 262,144 tokens."""
WEIGHTS_MARGIN = 0.05
"""Part of the weights that is added for the wider activations of larger models: an estimate."""


def memory_needed(
    shape: KvShape,
    window: int,
    slots: int,
    kv_type: str,
    weights_bytes: int,
    *,
    flash_attention: bool = True,
) -> int:
    """Bytes that a server takes with the model loaded and its cache full.

    weights + what the engine keeps (`kept_bytes`) + room to compute in (`margin_bytes`).

    Args:
        shape: the model.
        window: tokens of context in each slot.
        slots: requests served at once.
        kv_type: how the cache keeps its numbers, a name in `kv_cache.KV_TYPES`.
        weights_bytes: size of the model's file.
        flash_attention: False if the engine runs without it.

    Raises:
        UnknownName: no such cache type.
    """
    kept = kept_bytes(shape, window, slots, kv_type)
    scores = 0 if flash_attention else shape.query_heads
    return weights_bytes + kept + margin_bytes(window, slots, weights_bytes, score_heads=scores)


def kept_bytes(
    shape: KvShape, window: int, slots: int, kv_type: str, v_type: str | None = None
) -> int:
    """Bytes of cache and state as llama.cpp allocates them, for a window of one token more.

    Args:
        shape: the model; a state that is not known is not counted.
        window: tokens of context in each slot.
        slots: requests served at once.
        kv_type: how the cache keeps its numbers, a name in `kv_cache.KV_TYPES`; with a `v_type`
            its keys.
        v_type: how the cache keeps values; None = as the keys.

    Raises:
        UnknownName: no such cache type.
    """
    cache = allocated_bytes(shape, window + 1, slots=slots, kv_type=kv_type, v_type=v_type)
    return cache + slots * (shape.state_bytes or 0)


def margin_bytes(window: int, slots: int, weights_bytes: int, *, score_heads: int = 0) -> int:
    """Bytes of room to compute in.

    A batch needs a mask, window × BATCH × 2 bytes (1,024 a token, as Ollama 0.24 was seen to
    count), and without flash attention its scores as well, query heads × window × BATCH × 4 bytes.
    To it come FIXED_MARGIN + WEIGHTS_MARGIN × weights.

    Args:
        window: tokens of context in each slot.
        slots: requests served at once.
        weights_bytes: size of the model's file.
        score_heads: query heads whose scores are kept; 0 with flash attention.
    """
    batch = slots * whole_cells(window + 1) * BATCH * (2 + 4 * score_heads)
    return batch + FIXED_MARGIN + round(WEIGHTS_MARGIN * weights_bytes)
