"""A model's KV shape, read from the metadata of its GGUF file.

`/api/show` gives it as `model_info`, lists only if asked with `verbose`. Keys and defaults are
llama.cpp's (`src/models/*.cpp`, `src/llama-hparams.cpp`). What is not understood is refused: a
wrong size that looks right is worse than none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from twohalves.errors import KvShapeUnknown
from twohalves.formulas.kept_state import layer_state_bytes
from twohalves.formulas.kv_cache import KvLayer, KvShape
from twohalves.formulas.shape_notes import INDEXER, Latent, States, noted_shape, written_out

_FULL_EVERY = {
    "afmoe": 4, "cohere2": 4, "exaone4": 4, "gemma2": 2, "gemma3": 6, "gemma3n": 5, "gpt-oss": 2,
    "gptoss": 2, "llama4": 4, "olmo2": 4,
}  # fmt: skip
"""Of how many layers the last one has no window, where the file does not say."""
_WINDOW = {"gemma2": 4096, "llama4": 8192}
"""Tokens of the window, where the file does not say."""
_WINDOW_UNUSED = frozenset({"phi3"})
_ATTENDS_EVERYWHERE = frozenset({"falcon-h1"})
_ATTENDS_NOWHERE = frozenset({"mamba", "mamba2"})
_STATE = ("ssm.", "wkv.", "kda.", "shortconv.")
"""Beginnings of keys that tell of layers with a state instead of keys and values."""
_OTHER_KINDS = ("cross_attention", "compress", "relative_buckets", "token_shift")
"""Parts of keys that tell of a cache of another kind."""
_MOST = 1_000_000
"""A count above this is damage."""
_KV_HEADS, _WINDOWED = "attention.head_count_kv", "attention.sliding_window_pattern"


def kv_shape(model_info: Mapping[str, Any]) -> KvShape:
    """Which layers keep how much, from a model's metadata.

    Args:
        model_info: keys such as `llama.block_count` with their values, as in the file.

    Raises:
        KvShapeUnknown: keys are missing, null, or tell of something that is not understood; it
            names them.
    """
    keys = _Keys(model_info)
    count = keys.whole("block_count")
    if keys.architecture in _ATTENDS_NOWHERE:
        return _of_states_only(keys, count)
    query = keys.each("attention.head_count", count)
    latent = keys.optional("attention.key_length_mla") > 0
    own = count - keys.optional("nextn_predict_layers") - _shared(keys, count)
    layers = _layers(keys, query, latent=latent)[: max(own, 0)]
    if not any(layers):  # what attends nowhere has no cache to size
        keys.lack(_KV_HEADS)
    keys.refuse()
    kept = tuple(layer for layer in layers if layer)
    everywhere = keys.architecture in _ATTENDS_EVERYWHERE
    shape = noted_shape(
        kept,
        query_heads=max(query),
        states=_states(keys, own if everywhere else own - len(kept)),
        latent=_latent(keys, max(query)) if latent else None,
        further=_notes(keys),
        read=keys.read,
    )
    rank = 0 if latent else keys.told("attention.kv_lora_rank")
    return written_out(shape, rank, keys.told("rope.dimension_count")) if rank else shape


def _layers(keys: _Keys, query: Sequence[int], *, latent: bool) -> Sequence[KvLayer | None]:
    """What each layer keeps; None = no keys and values."""
    count = len(query)
    heads = keys.each(_KV_HEADS, count) if keys.has(_KV_HEADS) else query
    attends, windows = _attends(keys, count), _windows(keys, count)
    widths = [_widths(keys, query, windowed=each, latent=latent) for each in (False, True)]
    return [
        KvLayer(heads=heads[at], key_width=key, value_width=value, window=windows[at])
        if heads[at] and attends[at]
        else None
        for at in range(count)
        for key, value in [widths[windows[at] is not None]]
    ]


def _of_states_only(keys: _Keys, count: int) -> KvShape:
    """A model without attention: nothing grows."""
    keys.refuse()
    states = _states(keys, count)
    return noted_shape((), query_heads=0, states=states, read=keys.read)


class _Keys:
    """A model's own keys: which were read, and which are missing."""

    def __init__(self, info: Mapping[str, Any]) -> None:
        self.architecture = str(info.get("general.architecture") or "")
        prefix = f"{self.architecture}."
        self._own = {
            key.removeprefix(prefix): value for key, value in info.items() if key.startswith(prefix)
        }
        self.read: list[str] = []
        self.missing = set() if self.architecture else {"general.architecture"}
        for key in self._own:
            if any(part in key for part in _OTHER_KINDS):
                self.lack(key)

    def has(self, key: str) -> bool:
        return key in self._own

    def tells_of(self, beginnings: tuple[str, ...]) -> bool:
        return any(key.startswith(beginnings) for key in self._own)

    def name(self, key: str) -> str:
        return f"{self.architecture}.{key}".removeprefix(".")

    def lack(self, key: str) -> None:
        null = " (null: lists are told with verbose only)" if key in self._own else ""
        self.missing.add(self.name(key) + (null if self._own.get(key, 0) is None else ""))

    def refuse(self) -> None:
        if self.missing:
            raise KvShapeUnknown(self.architecture or "the model", tuple(sorted(self.missing)))

    def value(self, key: str) -> object:
        """The value of a key that must be there."""
        value = self._own.get(key)
        if value is None:
            self.lack(key)
        self.read.append(self.name(key))
        return value

    def whole(self, key: str) -> int:
        """A count above zero, and believable."""
        value = self.value(key)
        if isinstance(value, int) and 0 < value <= _MOST:
            return value
        if value is not None:
            self.lack(key)
        return 0

    def optional(self, key: str) -> int:
        """A count that may be absent, or 0."""
        return 0 if self._own.get(key, 0) == 0 else self.whole(key)

    def told(self, key: str) -> int:
        """A count that nothing depends on but a note; 0 = it is not told, or not believable."""
        value = self._own.get(key)
        if not isinstance(value, int) or not 0 < value <= _MOST:
            return 0
        self.read.append(self.name(key))
        return value

    def each(self, key: str, count: int) -> Sequence[int]:
        """A count for each layer, listed (then it may be 0) or the same for all."""
        if not isinstance(self._own.get(key), Sequence):
            return [self.whole(key)] * count
        self.value(key)
        listed: Sequence[object] = self._own[key]
        numbers = [value for value in listed if isinstance(value, int) and value >= 0]
        if len(numbers) < max(count, len(listed)):
            self.lack(key)
            return [0] * count
        return numbers[:count]

    def width(self, key: str, query: Sequence[int], *, windowed: bool) -> int:
        """Numbers in a head's key or value; without a key of its own, the hidden state's share."""
        if windowed and self.has(f"{key}_swa"):
            return self.whole(f"{key}_swa")
        if self.has(key):
            return self.whole(key)
        hidden, heads = self.optional("embedding_length"), max(query, default=0)
        if not hidden or not heads or hidden % heads:
            self.lack(key)
            return 0
        return hidden // heads


def _widths(keys: _Keys, query: Sequence[int], *, windowed: bool, latent: bool) -> tuple[int, int]:
    """Numbers in a head's key and in its value; latent values are part of the key."""
    key = keys.width("attention.key_length", query, windowed=windowed)
    return key, 0 if latent else keys.width("attention.value_length", query, windowed=windowed)


def _windows(keys: _Keys, count: int) -> Sequence[int | None]:
    """The window of each layer; None = it sees all tokens."""
    family = keys.architecture
    window = _WINDOW.get(family, 0)
    for key in ("attention.chunk_size", "attention.sliding_window"):
        if keys.has(key):
            window = keys.optional(key)
    if not window or family in _WINDOW_UNUSED:
        return [None] * count
    period = _FULL_EVERY.get(family)
    listed = keys.value(_WINDOWED) if keys.has(_WINDOWED) else period
    if isinstance(listed, Sequence) and len(listed) >= count:
        return [window if slides else None for slides in listed[:count]]
    if period is None or not isinstance(listed, int) or listed < 1:
        keys.lack(_WINDOWED)
        return [None] * count
    return [window if at % listed < listed - 1 else None for at in range(count)]


def _attends(keys: _Keys, count: int) -> Sequence[bool]:
    """Whether each layer attends; False = it keeps a state of constant size."""
    if every := keys.optional("full_attention_interval"):
        return [(at + 1) % every == 0 for at in range(count)]
    mixed = keys.tells_of(_STATE) and keys.architecture not in _ATTENDS_EVERYWHERE
    if mixed and len(set(keys.each(_KV_HEADS, count))) < 2:
        keys.lack("full_attention_interval")
    return [True] * count


def _shared(keys: _Keys, count: int) -> int:
    """Layers at the end that read the cache of an earlier one."""
    if keys.architecture == "gemma3n" and not keys.has("attention.shared_kv_layers"):
        return max(0, count - 20)
    return keys.optional("attention.shared_kv_layers")


def _states(keys: _Keys, layers: int) -> States:
    """Layers with a state, and the bytes of one where the keys tell them."""
    if not layers or keys.architecture.startswith("nemotron_h"):  # some of those keep nothing
        return States(layers=layers)
    if kernel := keys.told("shortconv.l_cache"):
        size = keys.told("embedding_length")
        each = layer_state_bytes(inner=size, state=0, kernel=kernel) if size else None
        return States(layers=layers, bytes_each=each)
    inner, state, kernel, groups = (
        keys.told(f"ssm.{name}")
        for name in ("inner_size", "state_size", "conv_kernel", "group_count")
    )
    if width := keys.told("kda.head_dim"):
        groups = keys.told("attention.head_count")
        inner, state = groups * width, width
    if not (inner and state and kernel):
        return States(layers=layers)
    each = layer_state_bytes(inner=inner, state=state, kernel=kernel, groups=groups)
    return States(layers=layers, bytes_each=each)


def _latent(keys: _Keys, heads: int) -> Latent:
    return Latent(
        rank=keys.told("attention.kv_lora_rank"),
        heads=heads,
        key_width=keys.told("attention.key_length_mla"),
        value_width=keys.told("attention.value_length_mla"),
    )


def _notes(keys: _Keys) -> tuple[str, ...]:
    """What was assumed of this family, and what is left out."""
    if keys.tells_of(("attention.indexer",)):
        return (INDEXER,)
    if keys.architecture in _WINDOW_UNUSED and keys.has("attention.sliding_window"):
        return ("The engine does not use this model's window: all layers keep every token.",)
    return ()
