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
from twohalves.server.answering import Server
from twohalves.server.model_facts import is_same, text_in, whole_in
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


def models(server: Server) -> tuple[Model, ...]:
    """All models that a server lists, in its order.

    Raises:
        TwoHalvesError: the server cannot be asked.
    """
    listed = fetch_json(server.url, "/api/tags").get("models") or []
    return tuple(_model(server, entry) for entry in listed if isinstance(entry, dict))


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
        found = [model for model in models if is_same(model.name, asked)]
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
        digest=text_in(entry, "digest"),
        size=whole_in(entry, "size"),
        family=text_in(details, "family"),
        parameter_size=text_in(details, "parameter_size"),
        quantization=text_in(details, "quantization_level"),
        context_length=whole_in(info, f"{info.get('general.architecture')}.context_length"),
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
