"""``address``: the project's address, from its one home into the notebooks' first cell."""

from __future__ import annotations

from twohalves import firstcell, terminal
from twohalves.commands.exits import Exit
from twohalves.commands.parser import Options


def run(_: Options) -> Exit:
    """Write the first cell of every notebook with the address that pyproject.toml holds."""
    address = firstcell.address()
    for path in firstcell.write(address):
        terminal.step(f"Written: the first cell of notebooks/{path.name}")
    terminal.say(
        f"A notebook that is opened alone fetches the project from {address}."
        if address
        else "No address is configured: a notebook that is opened alone says that it needs the "
        "whole project."
    )
    return Exit.DONE
