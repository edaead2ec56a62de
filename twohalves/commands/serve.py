"""``serve``: the built-in server in this process, until it is stopped."""

from __future__ import annotations

from pathlib import Path

from twohalves import terminal
from twohalves.bootstrap import BUILTIN, MODEL, Environment
from twohalves.commands.exits import Exit
from twohalves.commands.parser import Options
from twohalves.server.builtin import serve


def run(options: Options) -> Exit:
    """Serve the built-in model, or the file that was named."""
    environment = Environment()
    environment.install(BUILTIN)
    if options.model is None:
        environment.install(MODEL)
    model = None if options.model is None else Path(options.model)
    serve(options.host or "127.0.0.1", options.port or 0, model, ready=_ready)
    return Exit.DONE


def _ready(url: str) -> None:
    terminal.say(f"{url} answers; Ctrl-C ends it. To use it: TWOHALVES_SERVER={url}")
