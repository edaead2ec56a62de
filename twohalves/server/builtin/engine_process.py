"""The engine's own process: llama.cpp with one model loaded, behind its own loopback port.

It is run by its path, and imports nothing of this package: that would cost half a second at
each loading. What to load comes as one line of JSON on standard input, the port's key among
it, for other users of a machine can read a command line. One line of JSON goes back. The end
of standard input ends the process, however whoever started it went.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

_FLASH_ATTENTION = {None: -1, False: 0, True: 1}


def main() -> None:
    """Load, answer on the engine's port until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this
    answers = os.dup(1)
    os.dup2(2, 1)  # whatever the engine prints belongs into the log
    try:
        _serve(answers)
    finally:
        # at once: with a model loaded the engine does not survive an ordinary exit
        os._exit(0)


def _serve(answers: int) -> None:
    wanted = json.loads(sys.stdin.buffer.readline())
    try:
        loaded, said = _load(wanted)
    except ImportError as error:
        loaded, said = None, {"missing": str(error)}
    except RuntimeError as error:
        loaded, said = None, {"refused": str(error)}
    os.write(answers, json.dumps(said).encode("ascii") + b"\n")
    os.close(answers)
    if loaded is not None:
        sys.stdin.buffer.read()


def _load(wanted: dict[str, Any]) -> tuple[object, dict[str, str]]:
    import xllamacpp  # noqa: PLC0415  # whether it is there is part of the answer

    params = xllamacpp.CommonParams()
    params.model.path = wanted["model"]
    params.n_parallel = wanted["slots"]
    # the window of each slot, and one place more: a prompt may fill the whole window asked for
    params.n_ctx = (wanted["num_ctx"] + 1) * wanted["slots"]
    params.n_batch = params.n_ubatch = wanted["num_batch"]
    if wanted["num_thread"]:
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = wanted["num_thread"]
    kinds = type(params.cache_type_k)
    params.cache_type_k = kinds["GGML_TYPE_" + wanted["kv_type"].upper()]
    params.cache_type_v = kinds["GGML_TYPE_" + (wanted.get("v_type") or wanted["kv_type"]).upper()]
    params.flash_attn_type = xllamacpp.llama_flash_attn_type(
        _FLASH_ATTENTION[wanted["flash_attention"]]
    )
    params.cache_ram_mib = wanted["host_cache_mib"]
    params.ctx_shift = True
    params.prefill_assistant = False  # a conversation that ends with an answer is no unfinished one
    params.fit_params = False  # never change what was asked for
    params.api_keys = [wanted["key"]]
    params.cors_origins = ""
    params.cors_credentials = False
    params.endpoint_slots = False
    params.ui = False
    params.verbosity = wanted.get("verbosity", 0)
    loaded = xllamacpp.Server(params)
    return loaded, {"address": loaded.listening_address}


if __name__ == "__main__":
    main()
