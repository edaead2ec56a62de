"""What the engine says that it set aside: its own log lines, of one loading.

The formula is ours, the allocation is llama.cpp's; here the two can meet.
"""

from __future__ import annotations

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import IO, cast

from twohalves.errors import (
    AllocationUntold,
    EngineBroke,
    EngineMissing,
    FlashAttentionNeeded,
    WeightsUnreadable,
    WindowUnusable,
)
from twohalves.formulas import is_quantized
from twohalves.server.answering import Started
from twohalves.server.builtin.engine import PROGRAM, EngineSettings

_TELLS_SIZES = 4
"""llama.cpp's level of lines that inform."""
_LONGEST_S = 600
_LOG_LAG_S = 0.1
"""The engine writes its log beside its work; what it wrote while it loaded is there by then."""
_MIB = 2**20
_BUFFERS = {
    "kv": (re.compile(r" KV buffer size = +([\d.]+) MiB"),
           re.compile(r"llama_kv_cache\w*: +size = +([\d.]+) MiB"),
           re.compile(r"KV self size += +([\d.]+) MiB")),
    "state": (re.compile(r" RS buffer size = +([\d.]+) MiB"),
              re.compile(r"llama_memory_recurrent: +size = +([\d.]+) MiB")),
}  # fmt: skip
"""The forms of a line, the first that occurs counts: others repeat it."""
_CELLS = re.compile(r"llama_kv_cache\w*: +size = .*?\( *(\d+) cells")


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocation:
    """What one engine said, rounded by it to hundredths of a MiB."""

    kv_bytes: float
    """Of all caches of keys and values, on all devices."""
    cells: tuple[int, ...]
    """Tokens that each cache has room for; empty = not told."""
    state_bytes: float
    """Of the states of recurrent layers; 0 = it named none."""
    lines: int
    """Lines that kv_bytes is the sum of: each is off by up to half a hundredth of a MiB."""


def read_allocation(lines: Iterable[str]) -> Allocation | None:
    """Read an engine's log; None = it tells of no cache.

    A model whose layers are of two kinds has two caches, each with a line of its own.

    >>> read_allocation(["llama_kv_cache:  CPU KV buffer size =  2560.00 MiB",
    ...                  "llama_kv_cache:  CPU KV buffer size =   174.00 MiB"]).kv_bytes / 2**20
    2734.0
    """
    text = "\n".join(lines)
    kv, state = (_first(text, forms) for forms in _BUFFERS.values())
    if not kv:
        return None
    return Allocation(
        kv_bytes=sum(kv) * _MIB,
        cells=tuple(int(count) for count in _CELLS.findall(text)),
        state_bytes=sum(state) * _MIB,
        lines=len(kv),
    )


def allocation(
    path: pathlib.Path,
    window: int,
    *,
    kv_type: str = "f16",
    v_type: str | None = None,
    slots: int = 1,
    flash_attention: bool | None = None,
) -> Allocation:
    """Load a model, read what was set aside, unload it: a second for a small one.

    Args:
        path: a GGUF file.
        window: tokens in each slot, from 1.
        kv_type: how keys are kept.
        v_type: how values are kept; None = as keys.
        slots: requests served at once.
        flash_attention: None = the engine decides.

    Raises:
        WindowUnusable: fewer than one token, or fewer than one slot.
        FlashAttentionNeeded: values of fewer bits without it; the engine refuses that.
        WeightsUnreadable: the engine refused the file, or this way of keeping a cache.
        EngineMissing: the engine is not installed here.
        EngineBroke: it ended while it loaded, or loaded for more than ten minutes.
        AllocationUntold: it said nothing of a cache.
    """
    _check(window, slots, v_type or kv_type, flash_attention=flash_attention)
    setup = Started(slots=slots, kv_type=kv_type, flash_attention=flash_attention, host_cache_mib=0)
    # the engine's process adds a place for the answer, which nobody needs here
    settings = asdict(EngineSettings(num_ctx=window - 1, num_batch=512, num_thread=1, setup=setup))
    wanted = {"model": str(path), "key": "", "verbosity": _TELLS_SIZES, "v_type": v_type}
    found = read_allocation(_log({**wanted, **settings.pop("setup"), **settings}))
    if found is None:
        raise AllocationUntold(str(path))
    return found


def _check(window: int, slots: int, v_type: str, *, flash_attention: bool | None) -> None:
    if min(window, slots) < 1:
        raise WindowUnusable(window, slots)
    if flash_attention is False and is_quantized(v_type):
        raise FlashAttentionNeeded(v_type)


def _log(wanted: dict[str, object]) -> list[str]:
    """What the engine prints while it loads."""
    said, log = _run(wanted)
    if "missing" in said:
        raise EngineMissing(said["missing"])
    if "refused" in said:
        raise WeightsUnreadable(str(wanted["model"]), "engine", said["refused"])
    return log


def _run(wanted: dict[str, object]) -> tuple[dict[str, str], list[str]]:
    """Load in a process of its own; its answer and its log."""
    with (
        tempfile.TemporaryFile() as log,
        subprocess.Popen(
            [sys.executable, "-P", "-X", "utf8", str(PROGRAM)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
        ) as process,
    ):
        pipe_in, pipe_out = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
        watch = threading.Timer(_LONGEST_S, process.kill)
        watch.start()
        try:
            pipe_in.write(json.dumps(wanted).encode("ascii") + b"\n")
            pipe_in.flush()
            said = json.loads(pipe_out.readline())
            time.sleep(_LOG_LAG_S)
        except (OSError, ValueError) as error:
            detail = f"it ended while it loaded, with exit code {process.wait()}"
            raise EngineBroke(detail) from error
        finally:
            watch.cancel()
            process.kill()
        log.seek(0)
        return said, log.read().decode("utf-8", errors="replace").splitlines()


def _first(text: str, forms: tuple[re.Pattern[str], ...]) -> list[float]:
    found = (form.findall(text) for form in forms)
    return [float(size) for size in next(filter(None, found), [])]
