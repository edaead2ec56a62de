"""The KV cache in bytes: what each token of context keeps, layer by layer.

A layer that attends keeps for every token a key and a value for each of its KV heads, so that
it need not compute them again. A layer with a window keeps only the last tokens. A layer of
another kind (recurrent, convolution) keeps a state of constant size: it is told apart, and is not
part of the cache, as engines print it apart.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from twohalves.errors import UnknownName, WindowUnusable

KV_TYPES: dict[str, tuple[int, int]] = {
    "f32": (1, 4),
    "f16": (1, 2),
    "bf16": (1, 2),
    "q8_0": (32, 34),
    "q5_1": (32, 24),
    "q5_0": (32, 22),
    "q4_1": (32, 20),
    "q4_0": (32, 18),
}
"""Numbers in a block, and bytes of the block with its scale: ggml's block structures."""


def is_quantized(kv_type: str) -> bool:
    """True for a type that keeps numbers in blocks with a scale; engines want flash attention.

    Raises:
        KeyError: no such cache type.

    >>> is_quantized("q8_0"), is_quantized("bf16")
    (True, False)
    """
    numbers, _ = KV_TYPES[kv_type]
    return numbers > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class KvLayer:
    """What one attending layer keeps of each token."""

    heads: int
    """KV heads."""
    key_width: int
    """Numbers in one head's key."""
    value_width: int
    """Numbers in one head's value; 0 where values are read out of the keys."""
    window: int | None = None
    """Tokens that it looks back; None = all."""

    def bytes_per_token(self, kv_type: str, v_type: str | None = None) -> int:
        """Bytes of key and value, each a row of whole blocks.

        Args:
            kv_type: how keys are kept, a name in KV_TYPES.
            v_type: how values are kept; None = as the keys.

        Raises:
            UnknownName: no such cache type.
        """
        keys, values = self.heads * self.key_width, self.heads * self.value_width
        return _row_bytes(keys, kv_type) + _row_bytes(values, v_type or kv_type)


def _row_bytes(numbers: int, kv_type: str) -> int:
    if kv_type not in KV_TYPES:
        kind = "type of KV cache"
        raise UnknownName(kind, kv_type, tuple(KV_TYPES))
    block, size = KV_TYPES[kv_type]
    return -(-numbers // block) * size


@dataclass(frozen=True, slots=True, kw_only=True)
class KvShape:
    """A model as its KV cache sees it."""

    layers: tuple[KvLayer, ...]
    """The layers that keep keys and values of their own."""
    query_heads: int
    """Query heads of the layer that has most."""
    read: tuple[str, ...]
    """The metadata keys that it was read from."""
    notes: tuple[str, ...] = ()
    """What was assumed or is not counted: a sentence each."""
    state_bytes: int | None = 0
    """Bytes a sequence of the layers whose state does not grow; None = not known."""
    otherwise: tuple[tuple[str, KvShape], ...] = ()
    """The same model as other engines keep it: what they do, and the shape that follows."""
    trained: int | None = field(default=None, compare=False)
    """Tokens of the longest window that the model was made for; None = not told. It changes no
    size, so shapes that differ in it are equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PerToken:
    """Bytes that one token takes in the cache."""

    growing: int
    """In layers that keep every token."""
    windowed: int
    """In layers that keep the last tokens only."""


def uniform_shape(layers: int, heads: int, width: int) -> KvShape:
    """A model all of whose layers are alike and keep every token.

    Args:
        layers: that keep keys and values.
        heads: KV heads in each; a cache does not depend on how many query heads read them.
        width: numbers in a head's key, and in its value.
    """
    layer = KvLayer(heads=heads, key_width=width, value_width=width)
    return KvShape(layers=(layer,) * layers, query_heads=heads, read=())


def bytes_per_token(shape: KvShape, kv_type: str = "f16", v_type: str | None = None) -> PerToken:
    """Bytes a token: Σ over layers of KV heads × (key width + value width) × bytes a number.

    Args:
        shape: the model.
        kv_type: how the cache keeps its numbers, a name in KV_TYPES; with a `v_type` its keys.
        v_type: how the cache keeps values; None = as the keys.

    Raises:
        UnknownName: no such cache type.

    llama3.2:3b has 28 layers of 8 KV heads, keys and values 128 wide:

    >>> shape = uniform_shape(layers=28, heads=8, width=128)
    >>> bytes_per_token(shape).growing, bytes_per_token(shape, "q8_0").growing
    (114688, 60928)
    >>> bytes_per_token(shape, "q8_0", "f16").growing
    87808
    """
    each = [(layer.window, layer.bytes_per_token(kv_type, v_type)) for layer in shape.layers]
    return PerToken(
        growing=sum(size for window, size in each if window is None),
        windowed=sum(size for window, size in each if window is not None),
    )


def cache_bytes(
    shape: KvShape,
    tokens: int,
    *,
    slots: int = 1,
    kv_type: str = "f16",
    v_type: str | None = None,
) -> int:
    """Bytes of the cache of so many tokens in each slot, without `KvShape.state_bytes`.

    Args:
        shape: the model.
        tokens: of context, in each slot.
        slots: requests served at once, each with a context of its own.
        kv_type: how the cache keeps its numbers, a name in KV_TYPES; with a `v_type` its keys.
        v_type: how the cache keeps values; None = as the keys.

    Raises:
        UnknownName: no such cache type.
        WindowUnusable: fewer than one token, or fewer than one slot.
    """
    if min(tokens, slots) < 1:
        raise WindowUnusable(tokens, slots)
    return slots * sum(
        layer.bytes_per_token(kv_type, v_type)
        * (tokens if layer.window is None else min(tokens, layer.window))
        for layer in shape.layers
    )
