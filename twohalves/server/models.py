"""Which models a server has, what they are, and which one to use."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import Any

from twohalves.errors import (
    ModelMissing,
    NoModelInstalled,
    NotBuiltIn,
    SeveralModels,
    TwoHalvesError,
)
from twohalves.formulas import KvShape, kv_shape
from twohalves.server.answering import Server
from twohalves.server.wire import fetch_json

PREFERRED = "llama3.2:3b"
"""The book's model."""

_NOT_PLAIN = frozenset({"embedding", "vision", "thinking", "image", "audio"})
_EMBEDDING_FAMILIES = frozenset({"bert", "nomic-bert"})
_EMBEDDING_NAMES = re.compile(r"embed|minilm|bge-|bge:")
_NOT_PLAIN_FAMILIES = _EMBEDDING_FAMILIES | {"clip", "mllama", "gptoss"}
_NOT_PLAIN_NAMES = re.compile(
    rf"{_EMBEDDING_NAMES.pattern}|llava|vision|moondream|-vl\b|\d+vl\b|deepseek-r1|qwq|qwen3|gpt-oss"
    r"|magistral|phi4-reasoning|phi4-mini-reasoning|[:-]cloud$|thinking"
)
"""For servers too old to tell what a model can do."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """One model that a server lists."""

    name: str
    """With its tag."""
    digest: str | None
    """Hexadecimal; None = not told."""
    size: int | None
    """Bytes on disk; None = not told."""
    family: str | None
    """Architecture; None = not told."""
    parameter_size: str | None
    """As told, such as 3.2B; None = not told."""
    quantization: str | None
    """As told, such as Q4_K_M; None = not told."""
    context_length: int | None
    """Trained window in tokens; None = not told."""
    capabilities: tuple[str, ...]
    """As told, such as completion; empty = not told."""
    remote_host: str | None
    """Where it really runs; None = here."""
    plain: bool
    """True for a local chat model without pictures, thinking or embedding."""
    built_in: bool = False
    """True if it came with our own server, which fetches no other."""

    @property
    def is_cloud(self) -> bool:
        """True if it runs on somebody else's machines."""
        return self.remote_host is not None or _has_cloud_name(self.name)

    @property
    def writes(self) -> bool:
        """True if it can answer with text, as far as is told."""
        if self.capabilities:
            return "completion" in self.capabilities
        embeds = self.family in _EMBEDDING_FAMILIES or _EMBEDDING_NAMES.search(self.name.lower())
        return not embeds


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


def models(server: Server) -> tuple[Model, ...]:
    """All models that a server lists, in its order.

    Raises:
        TwoHalvesError: the server cannot be asked.
    """
    listed = fetch_json(server.url, "/api/tags").get("models") or []
    return tuple(_model(server, entry) for entry in listed if isinstance(entry, dict))


def facts(server: Server, name: str) -> ModelFacts:
    """What a server tells about one model.

    Raises:
        ModelMissing: the server does not have it.
        TwoHalvesError: the server cannot be asked.
    """
    shown = fetch_json(server.url, "/api/show", {"model": name, "verbose": True})
    listed = fetch_json(server.url, "/api/tags").get("models") or []
    entry: dict[str, Any] = next((e for e in listed if _same(str(e.get("name")), name)), {})
    info, details = shown.get("model_info") or {}, shown.get("details") or {}
    architecture = _text(info, "general.architecture")
    own = f"{architecture}."
    return ModelFacts(
        name=str(entry.get("name") or name),
        digest=_text(entry, "digest"),
        size=_whole(entry, "size"),
        architecture=architecture,
        family=_text(details, "family"),
        format=_text(details, "format"),
        parameter_size=_text(details, "parameter_size"),
        parameter_count=_whole(info, "general.parameter_count"),
        quantization=_text(details, "quantization_level"),
        context_length=_whole(info, own + "context_length"),
        block_count=_whole(info, own + "block_count"),
        embedding_length=_whole(info, own + "embedding_length"),
        head_count=_whole_or_each(info, own + "attention.head_count"),
        head_count_kv=_whole_or_each(info, own + "attention.head_count_kv"),
        key_length=_whole(info, own + "attention.key_length"),
        value_length=_whole(info, own + "attention.value_length"),
        sliding_window=_whole(info, own + "attention.sliding_window"),
        capabilities=tuple(shown.get("capabilities") or ()),
        own_keys={
            key: value
            for key, value in info.items()
            if key == "general.architecture" or key.startswith(own)
        },
    )


def choose(models: Sequence[Model], *, wanted: str | None) -> Model:
    """The model to use.

    The one that is wanted, whatever it is; else the book's; else the only plain local chat
    model. A model that runs elsewhere, sees, thinks or embeds is never picked silently.

    Args:
        models: what the server has.
        wanted: TWOHALVES_MODEL or an option; None or "" = the reader does not mind. A name
            without a tag means `latest`.

    Raises:
        ModelMissing: the wanted one is not there.
        SeveralModels: the reader must choose; its `names` are the choices.
        NoModelInstalled: there is no plain one.
    """
    asked = (wanted or "").strip()
    if asked:
        found = [model for model in models if _same(model.name, asked)]
        if not found:
            raise _missing(asked, models)
        return found[0]
    plain = [model for model in models if model.plain]
    preferred = [model for model in plain if model.name == PREFERRED]
    if preferred or len(plain) == 1:
        return (preferred or plain)[0]
    if plain:
        raise SeveralModels(tuple(model.name for model in plain))
    raise _none_plain(models)


def _missing(asked: str, models: Sequence[Model]) -> ModelMissing:
    names = tuple(model.name for model in models)
    if any(model.built_in for model in models):
        return NotBuiltIn(asked, names)
    return ModelMissing(asked, names, _usable(models))


def _none_plain(models: Sequence[Model]) -> NoModelInstalled:
    return NoModelInstalled(
        _usable(models),
        tuple(model.name for model in models if model.is_cloud),
        tuple(model.name for model in models if not model.is_cloud and not model.writes),
    )


def _usable(models: Sequence[Model]) -> tuple[str, ...]:
    """Those worth naming to a reader who needs one: they are here, and they write."""
    return tuple(model.name for model in models if model.writes and not model.is_cloud)


def _model(server: Server, entry: dict[str, Any]) -> Model:
    details = entry.get("details") or {}
    name = str(entry.get("name") or entry.get("model") or "")
    remote_host = entry.get("remote_host") or None
    shown = {} if remote_host else _shown(server, name)
    capabilities = tuple(shown.get("capabilities") or entry.get("capabilities") or ())
    info = shown.get("model_info") or {}
    remote_host = remote_host or shown.get("remote_host") or None
    return Model(
        name=name,
        digest=_text(entry, "digest"),
        size=_whole(entry, "size"),
        family=_text(details, "family"),
        parameter_size=_text(details, "parameter_size"),
        quantization=_text(details, "quantization_level"),
        context_length=_whole(info, f"{info.get('general.architecture')}.context_length"),
        capabilities=capabilities,
        remote_host=remote_host,
        plain=remote_host is None and _is_plain(name, details, capabilities),
        built_in=server.kind == "builtin",
    )


def _shown(server: Server, name: str) -> dict[str, Any]:
    """What /api/show tells; nothing if the server lists a model that it cannot show."""
    try:
        return fetch_json(server.url, "/api/show", {"model": name})
    except TwoHalvesError:
        return {}


def _is_plain(name: str, details: dict[str, Any], capabilities: tuple[str, ...]) -> bool:
    if _has_cloud_name(name):
        return False
    if capabilities:
        return "completion" in capabilities and not _NOT_PLAIN & set(capabilities)
    families = {details.get("family"), *(details.get("families") or ())}
    return not families & _NOT_PLAIN_FAMILIES and not _NOT_PLAIN_NAMES.search(name.lower())


def _has_cloud_name(name: str) -> bool:
    return name.lower().endswith(("-cloud", ":cloud"))


def _text(record: dict[str, Any], key: str) -> str | None:
    value = record.get(key)
    return value if isinstance(value, str) and value else None


def _whole(record: dict[str, Any], key: str) -> int | None:
    value = record.get(key)
    return value if isinstance(value, int) else None


def _whole_or_each(record: dict[str, Any], key: str) -> int | tuple[int, ...] | None:
    value = record.get(key)
    return tuple(value) if isinstance(value, list) else _whole(record, key)


def _same(name: str, asked: str) -> bool:
    return _with_tag(name) == _with_tag(asked)


def _with_tag(name: str) -> str:
    name = name.lower()
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"
