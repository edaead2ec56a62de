"""A server of one's own for an experiment: with its own slots and cache, and stopped again.

The reader's server stays as it is: nobody else asks a private one, and what it was started
with is known, which no API tells.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import shutil
import socket
from typing import Literal

import psutil

from twohalves.errors import (
    DoesNotFit,
    FlashAttentionNeeded,
    NotAgreed,
    OllamaMissing,
    SettingUnusable,
    TwoHalvesError,
    UnknownName,
)
from twohalves.formulas import KV_TYPES, is_quantized, memory_needed
from twohalves.server.answering import Server, Started
from twohalves.server.builtin.environment import MOST_SLOTS
from twohalves.server.child import Child, start_builtin
from twohalves.server.model_facts import facts
from twohalves.server.models import choose, models
from twohalves.server.wire import Patience, fetch_json

_GUARD = pathlib.Path(__file__).with_name("guard.py")
_KV_TYPES = {"builtin": tuple(KV_TYPES), "ollama": ("f16", "q8_0", "q4_0")}
"""By program. For any other Ollama 0.24 takes f16 and does not say so."""
_BOUNDS = {"slots": (1, MOST_SLOTS), "host_cache": (0, 1_000_000), "window": (4, 100_000_000)}
_QUICK = Patience(connect_s=0.5, silence_s=2.0, total_s=2.0)


def start(  # noqa: PLR0913  # each is one setting of the server
    *,
    slots: int = 1,
    kv_type: str = "f16",
    host_cache: int = 0,
    flash_attention: bool | None = None,
    model: str | pathlib.Path | None = None,
    window: int = 4096,
    program: Literal["builtin", "ollama"] = "builtin",
    agreed: bool = False,
) -> Server:
    """Start a private server; leaving it as a context manager stops it.

    Args:
        slots: requests computed at once, each with a window of its own.
        kv_type: type of the numbers in the KV cache, such as f16 or q8_0.
        host_cache: MiB of main memory for prompts that had to leave the cache.
        flash_attention: None = the engine decides.
        model: a GGUF file, None = the built-in one; for Ollama the name of one that it has.
        window: tokens of the largest window that will be asked for.
        program: the built-in server, or the reader's own `ollama`.
        agreed: True if the reader was asked and wants a second Ollama.

    Raises:
        UnknownName, SettingUnusable, FlashAttentionNeeded: no server can be laid out so.
        NotAgreed: it would start the reader's Ollama, and the reader was not asked.
        DoesNotFit, KvShapeUnknown: weights and caches would not fit into the free memory, or
            nobody can tell.
        TwoHalvesError: it cannot be started; nothing is left of it.
    """
    _check_numbers(slots=slots, host_cache=host_cache, window=window)
    _check_cache(program, kv_type, flash_attention=flash_attention)
    setup = Started(slots=slots, kv_type=kv_type, flash_attention=flash_attention,
                    host_cache_mib=host_cache)  # fmt: skip
    if program == "ollama":
        name = None if model is None else str(model)
        return _checked(_start_ollama(setup, window, agreed=agreed), name, window)
    path = None if model is None else pathlib.Path(model).resolve()
    return _checked(start_builtin(_variables(setup, window), path), None, window)


def _check_numbers(**given: int) -> None:
    for name, value in given.items():
        least, most = _BOUNDS[name]
        if not least <= value <= most:
            raise SettingUnusable(name, value, least, most)


def _check_cache(program: str, kv_type: str, *, flash_attention: bool | None) -> None:
    known = {"server program": (program, tuple(_KV_TYPES)),
             f"KV cache type of {program}": (kv_type, _KV_TYPES.get(program, ()))}  # fmt: skip
    for kind, (name, names) in known.items():
        if name not in names:
            raise UnknownName(kind, name, names)
    if flash_attention is False and is_quantized(kv_type):
        raise FlashAttentionNeeded(kv_type)


def _variables(setup: Started, window: int) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "OLLAMA_FLASH_ATTENTION"}
    flash = setup.flash_attention
    return {
        **kept,
        "OLLAMA_NUM_PARALLEL": str(setup.slots),
        "OLLAMA_KV_CACHE_TYPE": setup.kv_type,
        "OLLAMA_CONTEXT_LENGTH": str(window),
        "LLAMA_ARG_CACHE_RAM": str(setup.host_cache_mib),
        **({} if flash is None else {"OLLAMA_FLASH_ATTENTION": str(int(flash))}),
    }


def _start_ollama(setup: Started, window: int, *, agreed: bool) -> Server:
    binary = shutil.which("ollama")
    if binary is None:
        raise OllamaMissing
    if not agreed:
        raise NotAgreed(binary, setup.slots, setup.kv_type)
    if is_quantized(setup.kv_type):  # else it would take f16 and not say so
        setup = dataclasses.replace(setup, flash_attention=True)
    url = f"http://127.0.0.1:{_free_port()}"
    own = {
        "OLLAMA_HOST": url.removeprefix("http://"),
        "OLLAMA_MAX_LOADED_MODELS": "1",
        "OLLAMA_NOPRUNE": "1",  # a second server must not tidy up what the first one is pulling
    }
    child = Child([str(_GUARD), binary, "serve"], {**_variables(setup, window), **own})
    version = child.await_answer(lambda _: _version(url))
    return Server(
        url=url,
        kind="ollama",
        version=version,
        started=True,
        settings=setup,
        stopper=child.stop,
        lives=lambda: child.is_alive,
    )


def _checked(server: Server, name: str | None, window: int) -> Server:
    """The server, unless its model does not fit; it is stopped then."""
    try:
        _check_that_it_fits(server, name, window)
    except BaseException:
        server.stop()
        raise
    return server


def _check_that_it_fits(server: Server, name: str | None, window: int) -> None:
    """Ask the new server about the model, which loads nothing, and do the arithmetic."""
    shown = facts(server, choose(models(server), wanted=name).name)
    setup = server.settings
    if setup is None or shown.size is None:
        return
    needed = memory_needed(
        shown.kv_shape(),
        weights_bytes=shown.size,
        window=window,
        slots=setup.slots,
        kv_type=setup.kv_type,
        flash_attention=setup.flash_attention is not False,
    )
    needed += setup.host_cache_mib * 2**20
    free = psutil.virtual_memory().available
    if needed > free:
        raise DoesNotFit(shown.name, needed, free)


def _version(url: str) -> str:
    """What a server says of itself; "" while it does not answer."""
    try:
        return str(fetch_json(url, "/api/version", patience=_QUICK)["version"])
    except (TwoHalvesError, KeyError):
        return ""


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
