"""Which layers of a config.json attend, to how many tokens, and which keep a state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from twohalves.formulas.config_keys import ConfigKeys

WITHOUT_ATTENTION = frozenset({"falcon_mamba", "mamba", "mamba2"})
"""Families that keep a state only."""
_FULL_EVERY = {
    "cohere2": 4, "exaone4": 4, "gemma2": 2, "gemma3": 6, "gemma3n": 5, "gpt_oss": 2, "llama4": 4,
    "olmo3": 4,
}  # fmt: skip
"""Of how many layers the last one has no window, where the file does not say."""
_ALL_SLIDE = frozenset({"mistral", "mixtral", "phi3", "phimoe", "starcoder2"})
"""Families all of whose layers have the window that the file tells."""
_WINDOW_LEFT_OUT = frozenset({"ministral", "mistral"})
"""Families of which a part of a file may leave out a window that the library knows."""
_STATES = frozenset({"conv", "linear_attention", "mamba"})
_FULL = frozenset({
    "attention", "deepseek_sparse_attention", "full_attention", "indexed_attention",
    "minimax_m3_sparse",
})  # fmt: skip
_NOTHING = frozenset({"mlp", "moe"})
_SLIDE = {"sliding_attention": "sliding_window", "chunked_attention": "attention_chunk_size"}
"""Kinds of layers with a window, and the key that tells it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What one layer keeps."""

    attends: bool = True
    """It keeps keys and values."""
    has_state: bool = False
    """It keeps a state of constant size."""
    window: int | None = None
    """Tokens that it looks back; None = all."""


_SEES_ALL, _STATE, _EMPTY = Kind(), Kind(attends=False, has_state=True), Kind(attends=False)


def layer_kinds(keys: ConfigKeys, count: int) -> Sequence[Kind]:
    """One kind for each layer; what is missing is noted in `keys`.

    A window that is no shorter than the longest text cuts nothing off: it is none.
    """
    kinds = _told_kinds(keys, count)
    if not any(kind.window for kind in kinds):
        return kinds
    longest = keys.told("max_position_embeddings")
    return [
        replace(kind, window=None) if kind.window and 0 < longest <= kind.window else kind
        for kind in kinds
    ]


def _told_kinds(keys: ConfigKeys, count: int) -> Sequence[Kind]:
    if keys.family in WITHOUT_ATTENTION:
        return [_STATE] * count
    if keys.family == "falcon_h1":  # attention and state side by side, in every layer
        return [Kind(has_state=True)] * count
    listed = next((key for key in ("layer_types", "layers_block_type") if keys.get(key)), None)
    if listed:
        return _listed(keys, listed, count)
    if keys.family in _HYBRIDS:
        return _HYBRIDS[keys.family](keys, count)
    return _windowed(keys, count)


def _listed(keys: ConfigKeys, key: str, count: int) -> Sequence[Kind]:
    names = keys.listed(key)
    if names and len(names) == count + keys.told("num_nextn_predict_layers"):
        names = names[:count]  # the others only guess tokens ahead
    if names is None or len(names) != count:
        keys.lack(key)
        return [_SEES_ALL] * count
    return [_named(keys, key, name) for name in names]


def _named(keys: ConfigKeys, key: str, name: Any) -> Kind:  # noqa: ANN401 - what a file holds
    if not isinstance(name, str):
        name = repr(name)  # no kind is called so, and a list or a table is none
    if name in _STATES:
        return _STATE
    if name in _NOTHING:
        return _EMPTY
    if name in _SLIDE:
        return Kind(window=keys.whole(_SLIDE[name]))
    if name not in _FULL:
        keys.lack(f"{key} {name!r}")
    return _SEES_ALL


def _windowed(keys: ConfigKeys, count: int) -> Sequence[Kind]:
    """Layers that all attend; some or all of them with a window."""
    key = "attention_chunk_size" if keys.family == "llama4" else "sliding_window"
    window = keys.optional(key)
    if not window or keys.get("use_sliding_window") is False:
        by_default = keys.family in _FULL_EVERY
        by_default |= keys.is_part and keys.family in _WINDOW_LEFT_OUT
        if by_default and keys.get(key) is None and not keys.is_null(key):
            keys.lack(key)  # a file that leaves it out relies on a default
        return [_SEES_ALL] * count
    slides = Kind(window=window)
    if keys.family in _ALL_SLIDE:
        return [slides] * count
    if keys.get("use_sliding_window"):
        first = keys.get("max_window_layers")
        if not isinstance(first, int):
            keys.lack("max_window_layers")
            return [slides] * count
        return [slides if at >= first else _SEES_ALL for at in range(count)]
    return _in_turn(keys, count, slides)


def _in_turn(keys: ConfigKeys, count: int, slides: Kind) -> Sequence[Kind]:
    """Windows in all layers but every n-th."""
    turning = keys.listed("no_rope_layers")
    if turning:  # 1 = has a position, and so a window
        if len(turning) == count:
            return [slides if turns else _SEES_ALL for turns in turning]
        keys.lack("no_rope_layers")
    told = keys.first("sliding_window_pattern", "_sliding_window_pattern")
    every = keys.whole(told) if told else _FULL_EVERY.get(keys.family, 0)
    if not every:
        keys.lack("layer_types")
        return [slides] * count
    return [_SEES_ALL if (at + 1) % every == 0 else slides for at in range(count)]


def _every(keys: ConfigKeys, count: int) -> Sequence[Kind]:
    every = keys.whole("full_attention_interval") or 1
    return [_SEES_ALL if (at + 1) % every == 0 else _STATE for at in range(count)]


def _jamba(keys: ConfigKeys, count: int) -> Sequence[Kind]:
    period, offset = keys.whole("attn_layer_period") or 1, keys.optional("attn_layer_offset")
    return [_SEES_ALL if at % period == offset else _STATE for at in range(count)]


def _lfm2(keys: ConfigKeys, count: int) -> Sequence[Kind]:
    return _numbered(keys, count, "full_attn_idxs")


def _bamba(keys: ConfigKeys, count: int) -> Sequence[Kind]:
    return _numbered(keys, count, "attn_layer_indices")


def _numbered(keys: ConfigKeys, count: int, key: str) -> Sequence[Kind]:
    attending = keys.listed(key)
    if attending is None or not all(at in range(count) for at in attending):
        keys.lack(key)
        return [_SEES_ALL] * count
    return [_SEES_ALL if at in attending else _STATE for at in range(count)]


def _kimi(keys: ConfigKeys, count: int) -> Sequence[Kind]:
    key = "linear_attn_config.full_attn_layers"  # counted from 1
    attending = keys.listed(key)
    if attending is None or not all(at in range(1, count + 1) for at in attending):
        keys.lack(key)
        return [_SEES_ALL] * count
    return [_SEES_ALL if at + 1 in attending else _STATE for at in range(count)]


def _mimo(keys: ConfigKeys, count: int) -> Sequence[Kind]:
    """1 for each layer with a window, else 0."""
    turning = keys.listed("hybrid_layer_pattern")
    if turning is None or len(turning) != count or not all(turns in (0, 1) for turns in turning):
        keys.lack("hybrid_layer_pattern")
        return [_SEES_ALL] * count
    slides = Kind(window=keys.whole("sliding_window", "sliding_window_size"))
    return [slides if turns else _SEES_ALL for turns in turning]


def _nemotron(keys: ConfigKeys, count: int) -> Sequence[Kind]:
    """A letter for each layer: M keeps a state, * attends, - and E keep nothing."""
    letters = keys.get("hybrid_override_pattern")
    kinds = {"M": _STATE, "*": _SEES_ALL, "-": _EMPTY, "E": _EMPTY}
    if not isinstance(letters, str) or len(letters) != count or not set(letters) <= set(kinds):
        keys.lack("hybrid_override_pattern")
        return [_SEES_ALL] * count
    return [kinds[letter] for letter in letters]


def _must_list(keys: ConfigKeys, count: int) -> Sequence[Kind]:
    keys.lack("layer_types")
    return [_SEES_ALL] * count


_HYBRIDS = {
    "afmoe": _must_list,
    "bamba": _bamba,
    "cohere2_moe": _must_list,
    "cwm": _must_list,
    "exaone_moe": _must_list,
    "gemma4": _must_list,
    "gemma4_unified": _must_list,
    "granitemoehybrid": _must_list,
    "jamba": _jamba,
    "kimi_linear": _kimi,
    "lfm2": _lfm2,
    "lfm2_moe": _must_list,
    "mimo_v2": _mimo,
    "mimo_v2_flash": _mimo,
    "nemotron_h": _nemotron,
    "olmo_hybrid": _must_list,
    "qwen3_5": _every,
    "qwen3_5_moe": _every,
    "qwen3_next": _every,
}
"""Families whose layers differ in kind, and how their files tell where no list does."""
