"""``edition``: render the stored outputs, without a model; ``--run`` promotes a run first."""

from __future__ import annotations

import shutil

from twohalves import terminal
from twohalves.bootstrap import QUARTO, Environment
from twohalves.commands.exits import Exit
from twohalves.commands.parser import Options
from twohalves.places import PROJECT
from twohalves.runs import named
from twohalves.site import Rendered, build


def run(options: Options) -> Exit:
    """Render the site; with a run, execute the notebooks in replay of it and store the outputs."""
    if options.run is not None:
        named(options.run)  # refuses a name that is not there before anything is installed
    provide_quarto()
    store = options.run is not None
    rendered = build(PROJECT, run_id=options.run, store=store, say=terminal.step)
    terminal.say(closing(rendered))
    return Exit.DONE


def provide_quarto() -> None:
    """Install Quarto if it is missing and can be had; it is tried once, for a minute at most."""
    environment = Environment()
    there = shutil.which("quarto", path=environment.variables()["PATH"]) is not None
    if not there and not environment.offer(QUARTO):
        terminal.note("Quarto is not to be had here; smalldocs renders the same pages.")


def closing(rendered: Rendered) -> str:
    """Where the site is and how to open it, in two lines."""
    return (
        f"{len(rendered.pages)} pages, rendered by {rendered.renderer} {rendered.version}. "
        f"Open {rendered.folder / 'index.html'} in a browser, or give "
        "`python3 -m twohalves preview`: only so the site's search works."
    )
