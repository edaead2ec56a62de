"""What llama.cpp sets aside for a cache: the formula, in whole blocks of cells.

A cache that has no window holds as many cells as were asked for; one with a window holds the
window and a batch, so that the window is whole for each token of the batch. Both are rounded up.
Source: llama.cpp, `src/llama-context.cpp` and `src/llama-kv-cache-iswa.cpp`, and its own log.
"""

from __future__ import annotations

from twohalves.errors import WindowUnusable
from twohalves.formulas.kv_cache import KvShape

BATCH = 512
"""Prompt tokens that are computed together: Ollama's num_batch."""
CELLS = 256
"""llama.cpp rounds the tokens of a cache up to a multiple of this."""


def allocated_bytes(  # what an engine is started with
    shape: KvShape,
    window: int,
    *,
    slots: int = 1,
    kv_type: str = "f16",
    v_type: str | None = None,
    batch: int = BATCH,
) -> int:
    """Bytes of all the caches of keys and values, as the engine allocates them at the start.

    Args:
        shape: the model.
        window: tokens in each slot.
        slots: requests served at once, each with caches of its own.
        kv_type: how keys are kept, a name in `kv_cache.KV_TYPES`.
        v_type: how values are kept; None = as keys.
        batch: prompt tokens that are computed together.

    Raises:
        WindowUnusable: fewer than one token, or fewer than one slot.
        UnknownName: no such cache type.

    SmolLM2-135M, asked for 500 tokens, gets 512:

    >>> from twohalves.formulas import uniform_shape
    >>> allocated_bytes(uniform_shape(30, 3, 64), 500) == 512 * 23_040
    True
    """
    if min(window, slots) < 1:
        raise WindowUnusable(window, slots)
    cells = whole_cells(window)
    return slots * sum(
        layer.bytes_per_token(kv_type, v_type)
        * (cells if layer.window is None else min(cells, whole_cells(layer.window + batch)))
        for layer in shape.layers
    )


def whole_cells(tokens: int) -> int:
    """So many tokens, rounded up to whole blocks of cells.

    >>> whole_cells(256), whole_cells(257)
    (256, 512)
    """
    return -(-tokens // CELLS) * CELLS
