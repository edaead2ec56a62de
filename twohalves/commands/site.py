"""``site``: everything, from nothing to rendered pages on this machine's own numbers."""

from __future__ import annotations

import os

from twohalves import doctor, terminal
from twohalves.commands import engine
from twohalves.commands.edition import closing, provide_quarto
from twohalves.commands.exits import Exit
from twohalves.commands.measure import Line, tell
from twohalves.commands.model import pick
from twohalves.commands.parser import Options
from twohalves.errors import MachineNotReady
from twohalves.measure import live, measure
from twohalves.measure.book import kept_run, run_line
from twohalves.measure.replay import RECORD_VARIABLE
from twohalves.places import PROJECT
from twohalves.runs import Run, fixed_run, named
from twohalves.server import find
from twohalves.site import build


def run(_: Options) -> Exit:
    """Measure unless a run of this machine is there, execute in replay of it, render."""
    provide_quarto()
    fixed = fixed_run()
    if fixed:
        return _build(named(fixed))
    engine.provide()
    _see_doctor()
    with find() as server:
        book = live(server, os.environ.get("TWOHALVES_MODEL"), choice=pick)
        terminal.step(book.says)
        if book.facts is not None:
            terminal.step(f"This machine: {doctor.line(book.facts.context_length)}")
        shown = kept_run(book)
        if shown is None:
            with Line() as line:
                shown = measure(book, report=line)
        # A plain call of a notebook that the run does not hold yet is asked now, and kept.
        os.environ[RECORD_VARIABLE] = server.url
        try:
            return _build(shown)
        finally:
            del os.environ[RECORD_VARIABLE]


def _see_doctor() -> None:
    """Say what the doctor finds amiss, and go no further where nothing can be measured.

    Raises:
        MachineNotReady: with the names of the checks that failed.
    """
    examined = doctor.examine()
    for line in doctor.lines(doctor.troubled(examined)):
        terminal.note(line)
    failed = doctor.blocking(examined)
    if failed:
        raise MachineNotReady(failed)


def _build(shown: Run) -> Exit:
    tell(shown)
    rendered = build(PROJECT, run_id=shown.id, say=terminal.step)
    terminal.say(
        f"The numbers come from the run {shown.id}: {run_line(shown.session)}. {closing(rendered)}"
    )
    return Exit.DONE
