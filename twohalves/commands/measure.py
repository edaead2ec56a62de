"""``measure``: ask the server, time the answers, keep the rows."""

from __future__ import annotations

import os
from pathlib import Path

from twohalves import terminal
from twohalves.commands import engine
from twohalves.commands.exits import Exit
from twohalves.commands.model import pick
from twohalves.commands.parser import Options
from twohalves.errors import RunMissing
from twohalves.measure import Progress, live, measure
from twohalves.measure.notes import missing_lengths, notes
from twohalves.measure.profiles import profile
from twohalves.places import RUNS
from twohalves.runs import Run, listed, unreadable
from twohalves.server import find


def run(options: Options) -> Exit:
    """Measure one profile, going on with an interrupted run of the same plan."""
    if options.experiment is not None:
        profile(options.profile).only(options.experiment)  # a slip is told before anything starts
    runs = Path(options.out).resolve() if options.out else RUNS
    if options.resume is not None and options.resume not in listed(runs):
        raise RunMissing(options.resume, listed(runs))
    folder = None if options.resume is None else runs / options.resume
    environ = {**os.environ, **({"TWOHALVES_SERVER": options.host} if options.host else {})}
    engine.provide(environ)
    named_by = "--host" if options.host else "TWOHALVES_SERVER"
    with find(environ=environ, named_by=named_by) as server:
        wanted = options.model or environ.get("TWOHALVES_MODEL")
        book = live(server, wanted, runs, choice=pick)
        terminal.step(book.says)
        with Line() as line:
            kept = measure(
                book,
                profile_name=options.profile,
                experiment=options.experiment,
                folder=folder,
                agreed=options.private,
                report=line,
            )
    terminal.say(f"Kept: {runs / kept.id}, {len(kept.timings)} rows.")
    tell(kept)
    return Exit.FAILED if missing_lengths(kept) else Exit.DONE


def tell(run: Run) -> None:
    """Say on the terminal what a page would say of a run, and which folders hold none."""
    for note in notes(run):
        terminal.note(note)
    for error in unreadable(run.folder.parent):
        terminal.note(f"{error.what} It was left as it is.")


def bar(done: int, total: int, width: int = 20) -> str:
    """Part of the whole as filled squares.

    >>> bar(7, 20, 10)
    '███░░░░░░░'
    """
    filled = width * done // max(total, 1)
    return "█" * filled + "░" * (width - filled)


class Line:
    """Progress on one line: a bar, what is done, and about how long the rest takes."""

    def __init__(self) -> None:
        self._status: terminal.Status | None = None  # nothing is said before it begins
        self._outcome = ""
        self._quarter = 0
        self._waiting = False

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *_: object) -> None:
        if self._status:
            self._status.done(self._outcome)

    def __call__(self, progress: Progress) -> None:
        """Show how far the run is; called between two requests."""
        self._status = self._status or terminal.Status("Measuring")
        self._outcome = f"{progress.done} of {progress.total} requests"
        self._status.tick(f"{bar(progress.done, progress.total)} {progress}")
        quarter = 4 * progress.done // progress.total
        further = quarter > self._quarter and bool(progress.seconds_left)
        waits = bool(progress.waiting) and not self._waiting
        if (further or waits) and not self._status.live:
            terminal.note(str(progress))  # a log gets a line now and then
        self._quarter, self._waiting = quarter, bool(progress.waiting)
