"""Keeping rows while they are measured: append, flush, never lose one.

The response as received goes to `raw.jsonl` first, then the row to `timings.csv`; both are on
disk before the next request is sent. Killing the process at any point costs at most the
request in flight. A write that fails is taken back, so that a full disk leaves no torn line.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import pathlib
from collections.abc import Callable, Iterator
from typing import Any

from twohalves.errors import CannotAppend, CannotKeep
from twohalves.runs.schema import COLUMNS, Timing, to_cells
from twohalves.runs.table import TIMINGS, header, whole_row
from twohalves.runs.witness import RAW


class Keeper:
    """Appends rows to one run's folder."""

    def __init__(self, folder: pathlib.Path) -> None:
        """Open a run's folder for appending; it must exist.

        Raises:
            RunUnreadable: `timings.csv` is not the table that it was.
            CannotAppend: it has other columns than these rows.
            CannotKeep: the folder cannot be written to.
        """
        self._folder = folder
        self._guard(self._mend)

    def keep(self, row: Timing, record: dict[str, Any]) -> None:
        """Put one row and the last record of its response on disk.

        Raises:
            CannotKeep: the disk is full or read-only; earlier rows are safe.
        """
        raw = {"seq": row.seq, "attempt": row.attempt, "record": record}
        self._guard(self._append_both, json.dumps(raw, ensure_ascii=False) + "\n", row)

    def _append_both(self, raw: str, row: Timing) -> None:
        with _taken_back_on_failure(self._folder / RAW):
            _append(self._folder / RAW, raw)
            _append(self._folder / TIMINGS, _csv_line(to_cells(row)))

    def _mend(self) -> None:
        """Make both files end in a whole line, below a header of our columns."""
        timings = self._folder / TIMINGS
        set_torn_line_aside(self._folder / RAW)
        content = timings.read_bytes() if timings.exists() else b""
        ours = _csv_line(list(COLUMNS))
        if not ours.encode("utf-8").startswith(content):  # else it is torn, or has no row yet
            names = header(self._folder.name, content)
            if names != list(COLUMNS):
                raise CannotAppend(self._folder.name, TIMINGS)
            last = content.rpartition(b"\n")[2].decode("utf-8", errors="replace")
            if last and whole_row(names, last):
                _append(timings, "\n")  # an editor left the last line end out
        set_torn_line_aside(timings)
        if not timings.exists() or timings.stat().st_size == 0:
            _append(timings, ours)

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
    """Write one line and flush it to disk: there whole, or not at all.

    A disk that fills up takes part of a line first and refuses only what follows.
    """
    left = line.encode("utf-8")
    with _taken_back_on_failure(path), path.open("ab", buffering=0) as file:
        while left:
            left = left[file.write(left) :]
        os.fsync(file.fileno())


@contextlib.contextmanager
def _taken_back_on_failure(path: pathlib.Path) -> Iterator[None]:
    size = path.stat().st_size if path.exists() else 0
    try:
        yield
    except OSError:
        with contextlib.suppress(OSError):  # the first error is the one to tell
            os.truncate(path, size)
        raise
