"""A KV shape with what its reader must know: what was assumed, and what other engines do.

A model's file says what attention needs. How much of it is kept is the engine's choice: windows
may be ignored, and latent rows written out. So one figure never stands without its assumption.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass

from twohalves.formulas.kv_cache import KvLayer, KvShape

_LATENT = (
    "One latent row a layer, from which keys and values are both read: an engine that also keeps "
    "the values apart takes more."
)
_WRITTEN_OUT = (
    "Keys and values of all heads are written out, as the engine does with this file: the model "
    "itself needs one latent row a layer."
)
INDEXER = "The cache of its indexer is not counted."
"""Said of a model that picks the tokens to attend to with a small cache of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Latent:
    """What a latent row stands for; 0 = not told."""

    rank: int
    """Numbers of the row that values are read from."""
    heads: int
    """Query heads, each of which has keys and values of its own when they are written out."""
    key_width: int
    """Numbers in the key of one head, written out."""
    value_width: int
    """Numbers in the value of one head, written out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class States:
    """Layers whose state does not grow."""

    layers: int = 0
    """How many there are."""
    bytes_each: int | None = None
    """Bytes a sequence in each; None = not known."""


def noted_shape(
    layers: tuple[KvLayer, ...],
    *,
    query_heads: int,
    read: Iterable[str],
    states: States,
    latent: Latent | None = None,
    further: Iterable[str] = (),
) -> KvShape:
    """The shape, its assumptions in words, and the shapes under other assumptions.

    Args:
        layers: that keep keys and values of their own.
        query_heads: of the layer that has most.
        read: the metadata keys that were read.
        states: the layers that keep a state.
        latent: what the rows stand for, where they are latent.
        further: sentences that only the caller knows.
    """
    windowed = any(layer.window for layer in layers)
    said = [*[_LATENT] * (latent is not None), *_of_states(states), *further]
    shape = KvShape(
        layers=layers,
        query_heads=query_heads,
        read=tuple(dict.fromkeys(read)),
        notes=tuple(said),
        state_bytes=_bytes_of(states),
    )
    others = [("keeps all tokens in every layer", _without_windows(layers))] * windowed
    others += _written_out(layers, latent)
    return dataclasses.replace(
        shape,
        otherwise=tuple((what, dataclasses.replace(shape, layers=kept)) for what, kept in others),
    )


def written_out(shape: KvShape, rank: int, rope: int) -> KvShape:
    """The same shape, with a remark that one latent row would do in place of what it keeps.

    Args:
        shape: a latent model whose keys and values are written out for all heads.
        rank: numbers of a latent row that values are read from.
        rope: numbers of it that tell the place; 0 = not told.
    """
    shape = dataclasses.replace(shape, notes=(*shape.notes, _WRITTEN_OUT))
    if not rope:
        return shape
    row = KvLayer(heads=1, key_width=rank + rope, value_width=0)
    latent = dataclasses.replace(shape, layers=(row,) * len(shape.layers), otherwise=())
    return dataclasses.replace(
        shape, otherwise=(*shape.otherwise, ("keeps one latent row a layer", latent))
    )


def _bytes_of(states: States) -> int | None:
    if not states.layers:
        return 0
    return None if states.bytes_each is None else states.layers * states.bytes_each


def _of_states(states: States) -> list[str]:
    if not states.layers:
        return []
    size = "its size is not known here" if states.bytes_each is None else "it is told apart"
    kept = "layer keeps" if states.layers == 1 else "layers keep"
    return [f"{states.layers} {kept} a state of constant size, not counted in the cache: {size}."]


def _without_windows(layers: tuple[KvLayer, ...]) -> tuple[KvLayer, ...]:
    return tuple(dataclasses.replace(layer, window=None) for layer in layers)


def _written_out(
    layers: tuple[KvLayer, ...], latent: Latent | None
) -> list[tuple[str, tuple[KvLayer, ...]]]:
    if latent is None:
        return []
    others = []
    if latent.rank:
        kept = tuple(dataclasses.replace(layer, value_width=latent.rank) for layer in layers)
        others.append(("keeps values beside the latent rows", kept))
    if latent.key_width and latent.value_width:
        full = KvLayer(
            heads=latent.heads, key_width=latent.key_width, value_width=latent.value_width
        )
        others.append(("writes out keys and values of all heads", (full,) * len(layers)))
    return others
