"""Layers that keep a state instead of keys and values: its bytes do not grow with context.

The formula is llama.cpp's (`n_embd_r` and `n_embd_s` in `src/llama-hparams.cpp`), which keeps
states in 32-bit numbers: a window of a convolution's last inputs, and what the recurrence has
gathered. It covers Mamba 1 and 2, gated delta nets and short convolutions.
"""

from __future__ import annotations

_NUMBER = 4
"""Bytes of a number of the state."""


def layer_state_bytes(*, inner: int, state: int, kernel: int, groups: int = 0) -> int:
    """Bytes a sequence of one layer, 4 × ((kernel − 1)(inner + 2 groups state) + inner state).

    Args:
        inner: numbers that the layer works on; of a delta net value heads × value width, of a
            short convolution the hidden state.
        state: numbers gathered for each of them; of a delta net the key width.
        kernel: inputs that its convolution sees.
        groups: pairs of further inputs of the convolution, `state` numbers each; of a delta net
            the key heads; 0 with Mamba 1.

    Qwen3.6-27B: 48 layers of 48 × 128 numbers, 16 key heads of 128, a convolution over 4. An
    engine's log gives 598.5 MiB for four sequences:

    >>> 4 * 48 * layer_state_bytes(inner=48 * 128, state=128, kernel=4, groups=16) / 1024**2
    598.5
    """
    convolution = (kernel - 1) * (inner + 2 * groups * state)
    return _NUMBER * (convolution + inner * state)
