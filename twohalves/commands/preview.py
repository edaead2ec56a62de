"""``preview``: show ``_site/`` over http, where the site's search works too."""

from __future__ import annotations

from twohalves import terminal
from twohalves.commands.exits import Exit
from twohalves.commands.parser import Options
from twohalves.places import PROJECT
from twohalves.site import preview


def run(options: Options) -> Exit:
    """Serve the site on this machine until Ctrl-C."""
    preview(PROJECT / "_site", port=options.port or 0, ready=_ready)
    return Exit.DONE


def _ready(address: str) -> None:
    terminal.say(f"{address} shows the site; Ctrl-C ends it.")
