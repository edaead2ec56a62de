"""The one model that is served, as /api/tags, /api/show and /api/ps describe it."""

from __future__ import annotations

import hashlib
import json
import pathlib
import re
from dataclasses import dataclass
from typing import Any

from twohalves.errors import KvShapeUnknown
from twohalves.formulas import cache_bytes, kv_shape
from twohalves.server.answering import Started
from twohalves.server.builtin.replies import timestamp
from twohalves.server.gguf_header import Header, read_header

_HIDDEN = frozenset({"tokenizer.chat_template", "general.name"})
"""Keys that Ollama does not repeat in model_info."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedModel:
    """A model file and what is known about it."""

    path: pathlib.Path
    """The GGUF file."""
    name: str
    """As clients ask for it, with its tag."""
    header: Header
    """What the file says about itself."""
    digest: str
    """SHA-256 of the file, hexadecimal."""
    size: int
    """Bytes of the file."""
    modified_at: str
    """Time of the file's last change."""

    @property
    def trained_ctx(self) -> int | None:
        """Longest window the model was trained for, in tokens; None = the file does not say."""
        return self.header.own("context_length")

    @property
    def template(self) -> str | None:
        """The file's own chat template, in Jinja; None = it has none."""
        text = self.header.metadata.get("tokenizer.chat_template")
        return text if isinstance(text, str) else None

    @property
    def first_token(self) -> str:
        """The text of the token that the engine puts in front of every prompt; often empty."""
        known = self.header.metadata
        number = known.get("tokenizer.ggml.bos_token_id")
        tokens = known.get("tokenizer.ggml.tokens")
        by_kind = known.get("tokenizer.ggml.model") == "llama"  # what the engine assumes
        is_put = known.get("tokenizer.ggml.add_bos_token", by_kind)
        if not is_put or not isinstance(number, int) or not isinstance(tokens, list):
            return ""
        return str(tokens[number]) if number < len(tokens) else ""

    @property
    def full_name(self) -> str:
        """Its name as Ollama's refusals write it, with the registry that a bare name implies."""
        return f"registry.ollama.ai/library/{self.name}"

    def answers_to(self, name: str) -> bool:
        """True if a client's name means this model; a name without tag means `latest`."""
        asked = name.lower() if ":" in name.rpartition("/")[2] else f"{name.lower()}:latest"
        return asked == self.name

    def tag(self) -> dict[str, Any]:
        """Its entry in /api/tags."""
        return {
            "name": self.name,
            "model": self.name,
            "modified_at": self.modified_at,
            "size": self.size,
            "digest": self.digest,
            "details": self._details(),
        }

    def loaded(self, num_ctx: int, setup: Started, expires_at: str) -> dict[str, Any]:
        """Its entry in /api/ps while loaded.

        Args:
            num_ctx: window in tokens.
            setup: how the engine is laid out.
            expires_at: when it will be unloaded.
        """
        return {
            "name": self.name,
            "model": self.name,
            "size": self._bytes_loaded(num_ctx, setup),
            "digest": self.digest,
            "details": self._details(),
            "expires_at": expires_at,
            "size_vram": 0,
            "context_length": num_ctx,
        }

    def show(self, *, verbose: bool) -> dict[str, Any]:
        """The answer of /api/show.

        Args:
            verbose: with the arrays; else they are null, as in Ollama.
        """
        template = self.template or "{{ .Prompt }}"
        return {
            "modelfile": f"FROM {self.name}\nTEMPLATE {json.dumps(template, ensure_ascii=False)}\n",
            "template": template,
            "details": self._details(),
            "model_info": self._model_info(verbose=verbose),
            "tensors": [
                {"name": tensor.name, "type": tensor.type, "shape": list(tensor.shape)}
                for tensor in self.header.tensors
            ],
            "capabilities": ["completion"],
            "modified_at": self.modified_at,
        }

    def _model_info(self, *, verbose: bool) -> dict[str, Any]:
        info = {**self.header.metadata, "general.parameter_count": self.header.parameter_count}
        return {
            key: None if isinstance(value, list) and not verbose else value
            for key, value in sorted(info.items())
            if key not in _HIDDEN
        }

    def _details(self) -> dict[str, Any]:
        family = self.header.architecture
        return {
            "parent_model": "",
            "format": "gguf",
            "family": family,
            "families": [family],
            "parameter_size": _short(self.header.parameter_count),
            "quantization_level": self.header.quantization,
        }

    def _bytes_loaded(self, num_ctx: int, setup: Started) -> int:
        """Weights and a full cache of each slot; the file's size if keys are missing."""
        try:
            shape = kv_shape(self.header.metadata)
        except KvShapeUnknown:
            return self.size
        cache = cache_bytes(shape, num_ctx, slots=setup.slots, kv_type=setup.kv_type)
        state = setup.slots * (shape.state_bytes or 0)
        return self.size - self.header.data_offset + cache + state


def read_model(path: pathlib.Path) -> ServedModel:
    """Read all that is told about a model file.

    Raises:
        WeightsUnreadable: not a readable GGUF file.
    """
    header = read_header(path)
    status = path.stat()
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return ServedModel(
        path=path,
        name=_name(path, header),
        header=header,
        digest=digest,
        size=status.st_size,
        modified_at=timestamp(status.st_mtime_ns),
    )


def _name(path: pathlib.Path, header: Header) -> str:
    """Base name and size from the file's metadata, else the file's own name."""
    base = header.metadata.get("general.basename")
    size = header.metadata.get("general.size_label")
    text = f"{base}:{size}" if base and size else f"{path.stem}:latest"
    name = re.sub(r"[^a-z0-9._:-]+", "-", text.lower()).strip("-")
    return f"model{name}" if name.startswith(":") else name


def _short(count: int) -> str:
    for size, letter in ((1e9, "B"), (1e6, "M"), (1e3, "K")):
        if count >= size:
            return f"{count / size:.{1 if letter == 'B' else 2}f}{letter}"
    return str(count)
