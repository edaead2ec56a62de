"""A model that is not installed here, sized from a file about it."""

from __future__ import annotations

import dataclasses
import json
import pathlib
from collections.abc import Mapping
from typing import Any

from twohalves.errors import ShapeFileUnusable, WeightsUnreadable
from twohalves.formulas import KvShape, config_shape, kv_shape
from twohalves.formulas.config_keys import text_part
from twohalves.server.gguf_header import LFS_POINTER, MAGIC, read_header

_LONGEST = 8 * 1024**2
"""Bytes; a config.json of more is something else."""
_LONGEST_KEYS = (
    "max_position_embeddings", "n_positions", "max_seq_len", "max_context_length",
    "model_max_length",
)  # fmt: skip
"""What families call the tokens that a model was made for, the usual name first."""


def shape(path: str | pathlib.Path) -> KvShape:
    """What each token costs in a model, read from its GGUF file or its config.json.

    What the file is decides its content, not its name. Of a GGUF file the head is read, not the
    weights.

    Args:
        path: the file, or a folder that holds a config.json.

    Raises:
        ShapeFileUnusable: there is no such file, or it is neither of the two, or it is damaged.
        KvShapeUnknown: the file does not say enough; it names the keys.
    """
    path = pathlib.Path(path).expanduser()
    if path.is_dir():
        path /= "config.json"
    try:
        with path.open("rb") as file:
            beginning = file.read(len(LFS_POINTER))
            if beginning.startswith(MAGIC) or beginning == LFS_POINTER:
                header = read_header(path)
                return _made_for(kv_shape(header.metadata), header.own("context_length"))
            config = _parsed(beginning + file.read(_LONGEST), path)
            return _made_for(config_shape(config), _longest(config))
    except OSError as error:
        raise ShapeFileUnusable(str(path), error.strerror or str(error)) from error
    except WeightsUnreadable as error:
        raise ShapeFileUnusable(str(path), error.what) from error


def _made_for(shape: KvShape, tokens: object) -> KvShape:
    if isinstance(tokens, int) and tokens > 0:
        return dataclasses.replace(shape, trained=tokens)
    return shape


def _longest(config: Mapping[str, Any]) -> object:
    """Of a model that also sees or hears, the part that writes tells it."""
    _, own = text_part(config)
    return next((own[key] for key in _LONGEST_KEYS if own.get(key) is not None), None)


def _parsed(content: bytes, path: pathlib.Path) -> dict[str, Any]:
    """The table in a config.json."""
    if len(content) > _LONGEST:
        raise ShapeFileUnusable(str(path), "it is too large for a config.json, and no GGUF file")
    try:
        parsed = json.loads(content)  # in UTF-8, or in UTF-16 as a Windows shell saves it
    except (ValueError, RecursionError) as error:
        raise ShapeFileUnusable(str(path), f"it is no GGUF file, and as JSON: {error}") from error
    if not isinstance(parsed, dict):
        raise ShapeFileUnusable(str(path), "it is JSON, but no table of keys and values")
    return parsed
