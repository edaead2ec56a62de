"""Section 31.3: the formula against what engines said, and what a server's memory tells.

The figures of `data/reference/allocations.json` were read off logs and answers. The tests load
the smallest of the models again and compare.
"""

from __future__ import annotations

import functools
import json
from typing import Any

from IPython.display import Markdown

from twohalves.formulas import allocated_bytes, bytes_per_token, kv_shape, types_by_slope
from twohalves.formulas.kv_cache import KvShape
from twohalves.places import DATA
from twohalves.server import CacheType
from twohalves.server.builtin.allocation import read_allocation
from twohalves.show.markdown import fold, say, table
from twohalves.show.numbers import counted, fixed, percent

_MIB = 2**20


def against() -> Markdown:
    """How far the formula is from the engines' own log lines, and each of them in a fold."""
    rows, off = [], []
    compared = _kept()["allocated"]
    for each in compared:
        told = read_allocation(each["log"])
        if told is None:
            continue
        computed = allocated_bytes(_shape(each), each["window"], kv_type=each["kv_type"])
        off.append(abs(computed - told.kv_bytes) / told.kv_bytes)
        rows.append(
            [
                each["model"],
                fixed(each["window"]),
                each["kv_type"],
                fixed(computed / _MIB, 2),
                fixed(told.kv_bytes / _MIB, 2),
                percent(off[-1], 2),
            ]
        )
    found = {name: [each[name] for each in compared] for name in ("model", "window", "kv_type")}
    types = " and ".join(dict.fromkeys(found["kv_type"]))
    header = ["model", "window", "cache", "formula, MiB", "engine, MiB", "apart"]
    caption = (
        "The cache by the formula, with its cells in whole blocks, and as the engine's log gives "
        f"it, to hundredths of a MiB. Logs of {_sources()}."
    )
    return say(
        f"**It does.** {counted(len(rows), 'cache')} of {fixed(len(set(found['model'])))} models, "
        f"from {fixed(min(found['window']))} to {counted(max(found['window']), 'token')}, in "
        f"{types}: formula and log are nowhere more than {percent(max(off), 2)} apart.",
        fold("All that were compared", table(header, rows, caption).data).data,
    )


def told() -> Markdown:
    """What two models' sizes told of a real Ollama's cache, in a fold."""
    rows = []
    for each in _kept()["told"]:
        shape, slope = _shape(each), each["bytes_a_token"]
        sizes = [bytes_per_token(shape, name).growing for name in ("f16", "q8_0")]
        rows.append(
            [
                each["model"],
                each["set"],
                fixed(slope),
                *(fixed(size) for size in sizes),
                _listed(types_by_slope(shape, slope)),
            ]
        )
    header = ["model", "set to", "bytes a token told", "f16 takes", "q8_0 takes", "read as"]
    return fold(
        "What two models' sizes told of an Ollama server",
        table(header, rows, f"{_kept()['told_by']}.").data,
        "Where a row matches neither column, the server counts its own way: a byte a number "
        "without the scales of the blocks, or a kilobyte a token that it computes with.",
    )


def slope(found: CacheType) -> Markdown:
    """What a server's size over its window tells of its cache."""
    asked = ", ".join(
        f"{fixed(size / 1e6, 1)} MB at {counted(window, 'token')}" for window, size in found.sizes
    )
    said = f"{found.model} takes {asked}." if asked else f"No size of {found.model} was told."
    if found.slope is None:
        return say(
            f"{said} That does not rise steadily with the window, so nothing can be read from it: "
            "some versions tell the file's size only, or leave a part of the cache out."
        )
    said = f"{said} That is {fixed(found.slope)} bytes a token."
    which = "No cache type of one slot takes that much."
    if found.types:
        which = f"**A cache of type {_listed(found.types)}** grows so, with one slot."
    return say(" ".join(filter(None, (said, which, _slots(found)))))


def _slots(found: CacheType) -> str:
    if not found.with_slots:
        return ""
    others = [f"{kv_type} with {fixed(slots)}" for slots, kv_type in found.with_slots]
    return (
        f"Each slot has a cache of its own, so {_listed(tuple(others))} slots would look the same: "
        "OLLAMA_NUM_PARALLEL decides, and no API tells that either."
    )


def _listed(names: tuple[str, ...]) -> str:
    """Several are as good as one another.

    >>> _listed(("f16", "bf16"))
    'f16 or bf16'
    """
    return " or ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _sources() -> str:
    kept = _kept()["allocated"]
    links = dict.fromkeys(each["source"] for each in kept if each["source"].startswith("https"))
    own = next(each["engine"] for each in kept)
    pages = [f"[{link.removeprefix('https://github.com/')}]({link})" for link in links]
    return ", ".join([own, *pages])


def _shape(entry: dict[str, Any]) -> KvShape:
    return kv_shape(_kept()["metadata"][entry["metadata"]])


@functools.cache
def _kept() -> dict[str, Any]:
    path = DATA / "reference" / "allocations.json"
    kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return kept
