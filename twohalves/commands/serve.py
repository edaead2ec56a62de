"""``serve``: the built-in server in this process, until it is stopped."""

from __future__ import annotations

from pathlib import Path

from twohalves.bootstrap import BUILTIN, MODEL, Environment
from twohalves.commands.exits import Exit
from twohalves.commands.parser import Options


def run(options: Options) -> Exit:
    """Serve the built-in model, or the file that was named."""
    environment = Environment()
    environment.install(BUILTIN)
    if options.model is None:
        environment.install(MODEL)
    # Only now is the engine certainly there.
    from twohalves.server.builtin import serve  # noqa: PLC0415

    model = None if options.model is None else Path(options.model)
    serve(options.host or "127.0.0.1", options.port or 0, model)
    return Exit.DONE
