"""``site``: everything, from nothing to rendered pages on this machine's own numbers."""

from __future__ import annotations

import os

from twohalves import terminal
from twohalves.commands import engine
from twohalves.commands.edition import closing, provide_quarto
from twohalves.commands.exits import Exit
from twohalves.commands.measure import Line
from twohalves.commands.model import pick
from twohalves.commands.parser import Options
from twohalves.measure import live, prefill_decode
from twohalves.measure.book import run_line
from twohalves.places import PROJECT
from twohalves.runs import Run, fixed_run, named
from twohalves.server import find, models
from twohalves.site import build


def run(_: Options) -> Exit:
    """Measure unless a run of this machine is there, execute in replay of it, render."""
    fixed = fixed_run()
    shown = named(fixed) if fixed else _readers_own()
    provide_quarto()
    rendered = build(PROJECT, run_id=shown.id, say=terminal.step)
    terminal.say(
        f"The numbers come from the run {shown.id}: {run_line(shown.session)}. {closing(rendered)}"
    )
    return Exit.DONE


def _readers_own() -> Run:
    """The newest run of this machine, this server and this model; measured now if none is."""
    engine.provide()
    with find() as server:
        wanted = os.environ.get("TWOHALVES_MODEL")
        book = live(server, pick(models(server), wanted).name)
        terminal.step(book.says)
        with Line() as line:
            return prefill_decode(book, report=line)
