"""What a server tells about one model, read from its answers."""

from __future__ import annotations

import dataclasses
from typing import Any

from twohalves.formulas import KvShape, kv_shape
from twohalves.server.answering import Server
from twohalves.server.wire import fetch_json


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """What a server tells about one model; None = it does not tell."""

    name: str
    """With its tag."""
    digest: str | None
    """Hexadecimal."""
    size: int | None
    """Bytes on disk."""
    architecture: str | None
    """Prefix of its own keys."""
    family: str | None
    """As listed."""
    format: str | None
    """gguf or safetensors."""
    parameter_size: str | None
    """As told, such as 3.2B."""
    parameter_count: int | None
    """Numbers in all tensors."""
    quantization: str | None
    """As told, such as Q4_K_M."""
    context_length: int | None
    """Trained window in tokens."""
    block_count: int | None
    """Layers."""
    embedding_length: int | None
    """Width of the hidden state."""
    head_count: int | tuple[int, ...] | None
    """Query heads, of all layers or layer by layer."""
    head_count_kv: int | tuple[int, ...] | None
    """Key and value heads, of all layers or layer by layer."""
    key_length: int | None
    """Width of one key."""
    value_length: int | None
    """Width of one value."""
    sliding_window: int | None
    """Tokens that windowed layers see."""
    capabilities: tuple[str, ...]
    """As told, such as completion."""
    own_keys: dict[str, Any]
    """All metadata under the architecture's prefix, and the architecture, as told."""

    def as_facts(self) -> dict[str, Any]:
        """As a dictionary for JSON, in the order of the fields."""
        return dataclasses.asdict(self)

    def kv_shape(self) -> KvShape:
        """Which layers keep how much in the KV cache.

        Raises:
            KvShapeUnknown: the metadata does not say.
        """
        return kv_shape(self.own_keys)


def facts(server: Server, name: str) -> ModelFacts:
    """What a server tells about one model.

    Raises:
        ModelMissing: the server does not have it.
        TwoHalvesError: the server cannot be asked.
    """
    shown = fetch_json(server.url, "/api/show", {"model": name, "verbose": True})
    listed = fetch_json(server.url, "/api/tags").get("models") or []
    entry: dict[str, Any] = next((e for e in listed if is_same(str(e.get("name")), name)), {})
    return read_facts(entry, shown, name)


def read_facts(entry: dict[str, Any], shown: dict[str, Any], name: str) -> ModelFacts:
    """The same from two answers that are there already.

    Args:
        entry: the model's entry in /api/tags; empty = it is not listed.
        shown: the answer of /api/show.
        name: what the model was called when asked for.
    """
    info, details = shown.get("model_info") or {}, shown.get("details") or {}
    architecture = text_in(info, "general.architecture")
    own = f"{architecture}."
    return ModelFacts(
        name=str(entry.get("name") or name),
        digest=text_in(entry, "digest"),
        size=whole_in(entry, "size"),
        architecture=architecture,
        family=text_in(details, "family"),
        format=text_in(details, "format"),
        parameter_size=text_in(details, "parameter_size"),
        parameter_count=whole_in(info, "general.parameter_count"),
        quantization=text_in(details, "quantization_level"),
        context_length=whole_in(info, own + "context_length"),
        block_count=whole_in(info, own + "block_count"),
        embedding_length=whole_in(info, own + "embedding_length"),
        head_count=_whole_or_each(info, own + "attention.head_count"),
        head_count_kv=_whole_or_each(info, own + "attention.head_count_kv"),
        key_length=whole_in(info, own + "attention.key_length"),
        value_length=whole_in(info, own + "attention.value_length"),
        sliding_window=whole_in(info, own + "attention.sliding_window"),
        capabilities=tuple(shown.get("capabilities") or ()),
        own_keys={
            key: value
            for key, value in info.items()
            if key == "general.architecture" or key.startswith(own)
        },
    )


def text_in(record: dict[str, Any], key: str) -> str | None:
    """A field that holds text; None = it is empty, missing or something else."""
    value = record.get(key)
    return value if isinstance(value, str) and value else None


def whole_in(record: dict[str, Any], key: str) -> int | None:
    """A field that holds a whole number; None = it is missing or something else."""
    value = record.get(key)
    return value if isinstance(value, int) else None


def is_same(name: str, asked: str) -> bool:
    """Whether two names mean one model; without a tag a name means `latest`."""
    return _with_tag(name) == _with_tag(asked)


def _with_tag(name: str) -> str:
    name = name.lower()
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


def _whole_or_each(record: dict[str, Any], key: str) -> int | tuple[int, ...] | None:
    value = record.get(key)
    return tuple(value) if isinstance(value, list) else whole_in(record, key)
