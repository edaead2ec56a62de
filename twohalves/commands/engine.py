"""The built-in engine and its model: installed when nothing else can answer, or when asked for."""

from __future__ import annotations

import os
from collections.abc import Mapping

from twohalves.bootstrap import BUILTIN, MODEL, Environment
from twohalves.doctor import port

OLLAMA = ("127.0.0.1", port.OLLAMA)
PATIENCE_S = 2.0


def provide(environ: Mapping[str, str] | None = None) -> None:
    """Install the built-in engine and model, unless somebody else is there to answer.

    Args:
        environ: The environment variables; None = this process's.

    Raises:
        InstallFailed: There is no package for this system, or no network.
    """
    if needed(os.environ if environ is None else environ):
        install()


def install() -> None:
    """Install the built-in engine and model.

    Raises:
        InstallFailed: There is no package for this system, or no network.
    """
    environment = Environment()
    environment.install(BUILTIN)
    environment.install(MODEL)


def needed(environ: Mapping[str, str]) -> bool:
    """Whether the rules for finding a server end at the built-in one.

    A server that the reader named is never replaced, also when it does not answer: finding it
    then says what is wrong.
    """
    if named := environ.get("TWOHALVES_SERVER", "").strip():
        return named.lower() == "builtin"
    return not environ.get("OLLAMA_HOST", "").strip() and not port.answers(*OLLAMA, PATIENCE_S)
