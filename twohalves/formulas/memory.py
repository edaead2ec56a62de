"""The memory that a server needs for a model: weights, cache, and room to compute in."""

from __future__ import annotations

from twohalves.formulas.kv_cache import KvShape, cache_bytes

FIXED_MARGIN = 176 * 1024**2
"""Bytes for the process itself, its vocabulary and its activations. Measured with llama.cpp and
a model of 135M parameters: 86 to 111 MB beyond weights and cache, at windows from 512 to 8,192
and with four slots. Ollama 0.24 counts 190 MB for gemma3:270m, which knows 262,144 tokens."""
WEIGHTS_MARGIN = 0.05
"""Part of the weights that is added for the wider activations of larger models: an estimate."""
BATCH = 512
"""Prompt tokens that are computed together: Ollama's num_batch."""
CELLS = 256
"""llama.cpp rounds the tokens of a cache up to a multiple of this."""


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

    weights + cache + what a batch needs over the whole window + margin. A batch needs a mask,
    window × BATCH × 2 bytes (1,024 a token, as Ollama 0.24 was seen to count), and without flash
    attention its scores as well, query heads × window × BATCH × 4 bytes. The margin is
    FIXED_MARGIN + WEIGHTS_MARGIN × weights.

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
    cells = -(-(window + 1) // CELLS) * CELLS
    cache = cache_bytes(shape, cells, slots=slots, kv_type=kv_type, beyond=BATCH)
    scores = 0 if flash_attention else 4 * shape.query_heads
    batch = slots * cells * BATCH * (2 + scores)
    margin = FIXED_MARGIN + round(WEIGHTS_MARGIN * weights_bytes)
    return weights_bytes + cache + batch + margin
