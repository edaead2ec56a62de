"""Reading a run back: its facts and its rows."""

from __future__ import annotations

import pathlib
from dataclasses import dataclass

from twohalves.errors import RunUnreadable
from twohalves.runs import session as session_file
from twohalves.runs.schema import Timing
from twohalves.runs.session import Session
from twohalves.runs.table import TIMINGS, parse
from twohalves.runs.witness import testify


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One measuring session as kept on disk."""

    folder: pathlib.Path
    """Where it is kept."""
    session: Session
    """Facts that hold for all rows."""
    timings: tuple[Timing, ...]
    """All rows in the order they were measured, warm-ups and invalid ones among them."""
    notes: tuple[str, ...] = ()
    """What had to be passed over while reading, in words."""

    @property
    def id(self) -> str:
        """Name of the run: that of its folder."""
        return self.folder.name

    def measured(self, experiment: str, variant: str | None = None) -> tuple[Timing, ...]:
        """The valid rows that serve an experiment, warm-ups, controls and audits left out.

        Requests that belong together are asked again together, so that of all of them the newest
        attempt counts, or none.

        Args:
            experiment: which of its rows.
            variant: what their prompts share with earlier ones; None = whatever.
        """
        newest = {row.pair or row.seq: row.attempt for row in self.timings}
        return tuple(
            row
            for row in self.timings
            if row.attempt == newest[row.pair or row.seq]
            and row.valid
            and row.role == "measure"
            and experiment in row.experiments.split(";")
            and variant in {None, row.variant}
        )

    def controls(self) -> tuple[Timing, ...]:
        """The valid control rows, in the order they were measured."""
        return tuple(row for row in self.timings if row.valid and row.role == "control")


def load(folder: pathlib.Path) -> Run:
    """Read a run.

    What was passed over is said in its notes: see `twohalves.runs.table` for the text and
    `twohalves.runs.witness` for what the records as received say against it.

    Raises:
        RunUnreadable: a file is missing, a line does not fit its columns, or a counter is not
            what the server sent.
    """
    session = session_file.read(folder)
    try:
        content = (folder / TIMINGS).read_bytes()
    except FileNotFoundError as error:
        if session["status"] != "unfinished":
            raise RunUnreadable(folder.name, TIMINGS, error.strerror or str(error)) from error
        none = "It was stopped before its first request was answered."
        return Run(folder=folder, session=session, timings=(), notes=(none,))
    except OSError as error:
        raise RunUnreadable(folder.name, TIMINGS, error.strerror or str(error)) from error
    table = parse(folder.name, content, session["schema"])
    rows, notes = testify(folder, table.lines)
    return Run(folder=folder, session=session, timings=rows, notes=(*table.notes, *notes))
