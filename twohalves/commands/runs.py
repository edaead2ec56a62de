"""``runs``: the runs that are kept: list them, show one, compare two."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from twohalves import terminal
from twohalves.commands.exits import Exit
from twohalves.commands.parser import Options
from twohalves.errors import RunMissing, RunUnreadable, SameRunTwice
from twohalves.places import RUNS
from twohalves.runs import Run, listed, load, named
from twohalves.show.beside import beside
from twohalves.show.comparing import compared
from twohalves.show.shelf import shelf, whole

REFERENCE = "reference"
"""The name that stands for the chapter's own run."""
_WIDE = 1000  # what is piped on is cut by nobody


def run(options: Options) -> Exit:
    """List, show or compare, as asked; the folder of the runs is only read."""
    folder = Path(options.out).resolve() if options.out else RUNS
    does = {"list": _list, "show": _show, "compare": _compare}
    return does[options.form](folder, options.ids)


def _list(folder: Path, _: list[str]) -> Exit:
    runs, broken = [], []
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        try:
            if any((path / name).exists() for name in ("session.json", "timings.csv")):
                runs.append(load(path))
        except RunUnreadable as error:
            broken.append(error)
    for line in shelf(runs, _width()) if runs else ["No run is kept yet."]:
        terminal.say(line)
    for why in broken:
        terminal.note(f"{why.what} It was left as it is.")
    return Exit.DONE


def _show(folder: Path, ids: list[str]) -> Exit:
    for line in whole(named(ids[0], folder), _width()):
        terminal.say(line)
    return Exit.DONE


def _compare(folder: Path, ids: list[str]) -> Exit:
    first, second = ids
    if first == second:
        raise SameRunTwice(first)
    if REFERENCE in ids:
        lines = beside(_named(second if first == REFERENCE else first, folder), _width())
    else:
        lines = compared(_named(first, folder), _named(second, folder), _width())
    for line in lines:
        terminal.say(line)
    return Exit.DONE


def _named(run_id: str, folder: Path) -> Run:
    """A run by its name; among the names that exist is the reference's."""
    known = listed(folder)
    if run_id not in known:
        raise RunMissing(run_id, (*known, REFERENCE))
    return named(run_id, folder)


def _width() -> int:
    """Characters of a line: the terminal's, or that of COLUMNS, or as many as it takes."""
    fallback = 80 if sys.stdout.isatty() else _WIDE
    return shutil.get_terminal_size((fallback, 24)).columns
