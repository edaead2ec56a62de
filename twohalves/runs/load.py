"""Reading a run back: its facts and its rows."""

from __future__ import annotations

import csv
import io
import pathlib
from dataclasses import dataclass

from twohalves.errors import RunUnreadable
from twohalves.runs import session as session_file
from twohalves.runs.append import TIMINGS
from twohalves.runs.schema import Timing, from_cells
from twohalves.runs.session import Session


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

    def measured(self, experiment: str) -> tuple[Timing, ...]:
        """The valid rows that serve an experiment, warm-ups and controls left out."""
        return tuple(
            row
            for row in self.timings
            if row.valid and row.role == "measure" and experiment in row.experiments.split(";")
        )

    def controls(self) -> tuple[Timing, ...]:
        """The valid control rows, in the order they were measured."""
        return tuple(row for row in self.timings if row.valid and row.role == "control")


def load(folder: pathlib.Path) -> Run:
    """Read a run.

    A torn last line is passed over and said. Everything else that does not fit is an error,
    because a row that is silently left out is a row lost.

    Raises:
        RunUnreadable: a file is missing, or a line does not fit its columns.
    """
    session = session_file.read(folder)
    path = folder / TIMINGS
    try:
        text = path.read_bytes().decode("utf-8-sig")  # some programs add a mark
    except (OSError, UnicodeDecodeError) as error:
        raise RunUnreadable(folder.name, TIMINGS, str(error)) from error
    whole, _, torn = text.rpartition("\n")
    notes = ("the last line of timings.csv is cut short and was passed over",) if torn else ()
    return Run(folder=folder, session=session, timings=_rows(folder.name, whole), notes=notes)


def _rows(run_id: str, text: str) -> tuple[Timing, ...]:
    reader = csv.reader(io.StringIO(text))
    header = next(reader, None)
    if not header or "run_id" not in header:
        raise RunUnreadable(run_id, TIMINGS, "its first line does not name the columns")
    rows = []
    for number, cells in enumerate(reader, 2):
        if len(cells) != len(header):
            reason = f"line {number} has {len(cells)} cells where the header has {len(header)}"
            raise RunUnreadable(run_id, TIMINGS, reason)
        try:
            rows.append(_checked(from_cells(dict(zip(header, cells, strict=True)))))
        except ValueError as error:
            raise RunUnreadable(run_id, TIMINGS, f"line {number}: {error}") from error
    return tuple(rows)


def _checked(row: Timing) -> Timing:
    """A row that counts must have what every figure is computed from."""
    if row.valid and row.role in {"measure", "control"}:
        for name in ("prompt_eval_count", "prompt_eval_duration", "eval_count", "eval_duration"):
            if not getattr(row, name):
                msg = f"column {name} must be above 0 in a valid row, got {getattr(row, name)}"
                raise ValueError(msg)
    return row
