"""Keeping rows while they are measured: append, flush, never lose one.

The response as received goes to `raw.jsonl` first, then the row to `timings.csv`; both are on
disk before the next request is sent. Killing the process at any point costs at most the
request in flight.
"""

from __future__ import annotations

import csv
import io
import json
import os
import pathlib
from collections.abc import Callable
from typing import Any

from twohalves.errors import CannotKeep
from twohalves.runs.schema import COLUMNS, Timing, to_cells

TIMINGS = "timings.csv"
RAW = "raw.jsonl"


class Keeper:
    """Appends rows to one run's folder."""

    def __init__(self, folder: pathlib.Path) -> None:
        """Open a run's folder for appending; it must exist.

        Raises:
            CannotKeep: the folder cannot be written to.
        """
        self._folder = folder
        for name in (TIMINGS, RAW):
            self._guard(set_torn_line_aside, folder / name)
        timings = folder / TIMINGS
        if not timings.exists() or timings.stat().st_size == 0:
            self._guard(_append, timings, _csv_line(list(COLUMNS)))

    def keep(self, row: Timing, record: dict[str, Any]) -> None:
        """Put one row and the last record of its response on disk.

        Raises:
            CannotKeep: the disk is full or read-only; earlier rows are safe.
        """
        raw = {"seq": row.seq, "attempt": row.attempt, "record": record}
        line = json.dumps(raw, ensure_ascii=False) + "\n"
        self._guard(_append, self._folder / RAW, line)
        self._guard(_append, self._folder / TIMINGS, _csv_line(to_cells(row)))

    def _guard(self, act: Callable[..., None], *arguments: object) -> None:
        try:
            act(*arguments)
        except OSError as error:
            raise CannotKeep(str(self._folder), error.strerror or str(error)) from error


def set_torn_line_aside(path: pathlib.Path) -> None:
    """Move an unfinished last line into `NAME.torn`, so that appending starts on a new line.

    A torn line is what a kill in the middle of a write leaves: text without its line end.
    """
    if not path.exists():
        return
    content = path.read_bytes()
    rest = content.rpartition(b"\n")[2]
    if not rest:
        return
    with path.with_name(path.name + ".torn").open("ab") as out:
        out.write(rest + b"\n")
    with path.open("r+b") as file:
        file.truncate(len(content) - len(rest))


def _csv_line(cells: list[str]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(cells)
    return out.getvalue()


def _append(path: pathlib.Path, line: str) -> None:
    """One write call and one flush to disk, so that a line is there whole or torn, not lost."""
    with path.open("ab", buffering=0) as file:
        file.write(line.encode("utf-8"))
        os.fsync(file.fileno())
