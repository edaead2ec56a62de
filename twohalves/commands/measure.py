"""``measure``: ask the server, time the answers, keep the rows."""

from __future__ import annotations

import os
from pathlib import Path

from twohalves import terminal
from twohalves.commands import engine
from twohalves.commands.exits import Exit
from twohalves.commands.model import pick
from twohalves.commands.parser import Options
from twohalves.errors import RunMissing, UnknownName
from twohalves.measure import Progress, live, measure
from twohalves.measure.profiles import EXPERIMENT
from twohalves.places import RUNS
from twohalves.runs import listed
from twohalves.server import find, models


def run(options: Options) -> Exit:
    """Measure one profile, going on with an interrupted run of the same plan."""
    if options.experiment not in (None, EXPERIMENT):
        kind = "experiment"
        raise UnknownName(kind, options.experiment, (EXPERIMENT,))
    runs = Path(options.out).resolve() if options.out else RUNS
    if options.resume is not None and options.resume not in listed(runs):
        raise RunMissing(options.resume, listed(runs))
    folder = None if options.resume is None else runs / options.resume
    environ = {**os.environ, **({"TWOHALVES_SERVER": options.host} if options.host else {})}
    engine.provide(environ)
    with find(environ=environ) as server:
        wanted = options.model or environ.get("TWOHALVES_MODEL")
        book = live(server, pick(models(server), wanted).name, runs)
        terminal.step(book.says)
        with Line() as line:
            kept = measure(book, profile_name=options.profile, folder=folder, report=line)
    terminal.say(f"Kept: {runs / kept.id}, {len(kept.timings)} rows.")
    return Exit.DONE


class Line:
    """Progress on one line: what is done, what is left, and about how long it takes."""

    def __init__(self) -> None:
        self._status = terminal.Status("Measuring")
        self._outcome = "stopped"

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *_: object) -> None:
        self._status.done(self._outcome)

    def __call__(self, progress: Progress) -> None:
        """Show how far the run is; called between two requests."""
        left = (
            "" if progress.seconds_left is None else f", about {progress.seconds_left:.0f} s left"
        )
        self._outcome = f"{progress.done} of {progress.total} requests"
        self._status.tick(f"· {self._outcome}{left}")
        if progress.said:
            self._status.interject(progress.said)
