"""Ask a running server for the one thing that no API tells: how it keeps its cache.

Its size at several windows tells the bytes a token, and so the type. For that the model has to
be loaded anew, so the reader is asked first, and afterwards it is loaded as it was.
"""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from twohalves.errors import KvShapeUnknown, ReloadNotAgreed, TwoHalvesError
from twohalves.formulas import KvShape, bytes_a_token, types_by_slope
from twohalves.server.answering import Server
from twohalves.server.model_facts import ModelFacts, is_same, text_in, whole_in
from twohalves.server.wire import Patience, fetch_json

_PLAIN, _WITH_WINDOWS = (2048, 3072, 4096), (4096, 6144, 8192)
"""Tokens. A layer with a window stops growing at it, and a batch later: then longer ones."""
_STEP = 256
_SLOW = Patience(connect_s=3.0, silence_s=600.0, total_s=900.0)
_FOREVER_S = 10 * 365 * 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheType:
    """What a server's size over its window tells."""

    model: str
    """With its tag."""
    sizes: tuple[tuple[int, int], ...]
    """(window in tokens, bytes), as the server told them."""
    slope: float | None
    """Bytes a token; None = the sizes do not lie on a line that rises."""
    types: tuple[str, ...]
    """The cache types that fit, for a server with one slot; empty = none does."""
    with_slots: tuple[tuple[int, str], ...]
    """(slots, type) that would look the same."""


def cache_type(server: Server, model: ModelFacts, *, agreed: bool = False) -> CacheType:
    """Load a model with three windows, and read the type of its cache from its sizes.

    Args:
        server: who is asked; nobody else should be using it.
        model: what it told about the model.
        agreed: True if the reader was asked and wants the model loaded anew.

    Raises:
        KvShapeUnknown: the metadata do not say what a token takes, or no layer's cache grows.
        ReloadNotAgreed: the reader was not asked.
        TwoHalvesError: the server cannot be asked.
    """
    shape = model.kv_shape()
    if all(layer.window for layer in shape.layers):  # nothing grows, so nothing can be read
        raise KvShapeUnknown(model.name, ("a layer without a window",))
    windows = probed(shape, model.context_length)
    if not agreed:
        raise ReloadNotAgreed(model.name, windows)
    with _as_it_was(server, model.name):
        told = dict(_sizes(server, model.name, windows))
    return read_sizes(model.name, shape, tuple(sorted(told.items())))


def read_sizes(model: str, shape: KvShape, sizes: tuple[tuple[int, int], ...]) -> CacheType:
    """What sizes tell that are there already.

    Args:
        model: its name.
        shape: what a token takes in it.
        sizes: (window in tokens, bytes), windows ascending.
    """
    slope = bytes_a_token(sizes)
    several = () if slope is None else (
        (slots, kv_type) for slots in (2, 3, 4) for kv_type in types_by_slope(shape, slope, slots)
    )  # fmt: skip
    return CacheType(
        model=model,
        sizes=sizes,
        slope=slope,
        types=() if slope is None else types_by_slope(shape, slope),
        with_slots=tuple(several),
    )


def probed(shape: KvShape, trained: int | None) -> tuple[int, int, int]:
    """Three windows that tell most: no longer than needed, and none beyond the trained one.

    Args:
        shape: the model.
        trained: the longest window that it was made for, tokens; None = not told.
    """
    first, middle, last = _WITH_WINDOWS if any(x.window for x in shape.layers) else _PLAIN
    longest = max((layer.window or 0 for layer in shape.layers), default=0)
    beyond = -(-max(0, longest + 1024 - first) // _STEP) * _STEP
    first, middle, last = first + beyond, middle + beyond, last + beyond
    if trained is None or trained >= last:
        return first, middle, last
    quarter = max(1, trained // 4 // _STEP * _STEP)
    return quarter, 2 * quarter, 4 * quarter


def _sizes(server: Server, name: str, windows: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """The window that the server really gave, and the bytes that it tells for it."""
    for window in windows:
        _load(server, name, {"options": {"num_ctx": window}})
        entry = _loaded(server, name)
        size = whole_in(entry, "size")
        if size is not None:
            yield whole_in(entry, "context_length") or window, size


@contextlib.contextmanager
def _as_it_was(server: Server, name: str) -> Iterator[None]:
    """Afterwards the model is loaded with the window that it had, or not loaded."""
    before = _loaded(server, name)
    try:
        yield
    finally:
        with contextlib.suppress(TwoHalvesError):  # what happened inside is what matters
            _load(server, name, _state(before))


def _state(entry: dict[str, Any]) -> dict[str, Any]:
    """What to ask for, to have a model loaded as an entry of /api/ps says."""
    if not entry:
        return {"keep_alive": 0}
    window = whole_in(entry, "context_length")
    wanted: dict[str, Any] = {} if window is None else {"options": {"num_ctx": window}}
    expires = text_in(entry, "expires_at")
    with contextlib.suppress(ValueError):
        ends = datetime.datetime.fromisoformat(expires or "")
        left = (ends - datetime.datetime.now(ends.tzinfo)).total_seconds()
        wanted["keep_alive"] = -1 if left > _FOREVER_S else f"{max(1, round(left))}s"
    return wanted


def _load(server: Server, name: str, more: dict[str, Any]) -> None:
    body = {"model": name, "stream": False, **more}
    fetch_json(server.url, "/api/generate", body, _SLOW)


def _loaded(server: Server, name: str) -> dict[str, Any]:
    """The model's entry in /api/ps; empty = it is not loaded."""
    listed = fetch_json(server.url, "/api/ps").get("models") or []
    return next((e for e in listed if is_same(str(e.get("name")), name)), {})
