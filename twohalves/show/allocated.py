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
from twohalves.show.markdown import say, table
from twohalves.show.numbers import counted, fixed, percent

_MIB = 2**20


def against() -> Markdown:
    """The formula beside the engine's own log lines, model by model."""
    rows = []
    for each in _kept()["allocated"]:
        told = read_allocation(each["log"])
        if told is None:
            continue
        computed = allocated_bytes(_shape(each), each["window"], kv_type=each["kv_type"])
        rows.append(
            [
                each["model"],
                fixed(each["window"]),
                each["kv_type"],
                fixed(computed / _MIB, 2),
                fixed(told.kv_bytes / _MIB, 2),
                percent(abs(computed - told.kv_bytes) / told.kv_bytes, 2),
            ]
        )
    header = ["model", "window", "cache", "formula, MiB", "engine, MiB", "apart"]
    caption = (
        "The cache by the formula, with its cells in whole blocks, and as the engine's log gives "
        f"it, to hundredths of a MiB. Logs of {_sources()}."
    )
    return table(header, rows, caption)


def told() -> Markdown:
    """What two models' sizes told of a real Ollama's cache."""
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
    return table(header, rows, f"{_kept()['told_by']}.")


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
