"""The text of `timings.csv`: its header, its lines, and what does not fit, by line number.

Whoever opens the file in a spreadsheet and saves it may change separators, columns or values.
What can still be read without doubt is read; everything else is refused and named.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

from twohalves.errors import RunUnreadable
from twohalves.runs.schema import COLUMNS, SCHEMA, Timing, columns, from_cells

TIMINGS = "timings.csv"
_SEPARATORS = {";": "semicolons", "\t": "tabulators"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One row and where it stands."""

    number: int
    """Line of the file, from 1; the header is line 1."""
    row: Timing
    """What it says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """All rows of one file."""

    lines: tuple[Line, ...]
    """In the order of the file."""
    notes: tuple[str, ...]
    """What was passed over, a sentence each."""


def parse(run_id: str, content: bytes, schema: int = SCHEMA) -> Table:
    """Read the whole file; what an earlier version of the schema lacks is empty.

    A torn last line is passed over and said, as are columns of a later version. Everything else
    that does not fit is an error, because a row that is silently left out is a row lost.

    Raises:
        RunUnreadable: not text, no header, a column missing, or a line that does not fit.
    """
    text = _text(run_id, content)
    names = _header(run_id, text, columns(schema))
    whole, _, last = text.rpartition("\n")
    lines, notes = _lines(run_id, names, whole), []
    if last and (row := whole_row(names, last)):
        lines.append(Line(number=text.count("\n") + 1, row=row))
    elif last:
        notes.append("The last line of timings.csv is cut short and was passed over.")
    unknown = [name for name in names if name not in COLUMNS]
    if unknown:
        notes.append(
            f"Columns of timings.csv that this version does not know were passed over: "
            f"{', '.join(unknown)}."
        )
    _refuse_repeats(run_id, lines)
    return Table(lines=tuple(lines), notes=tuple(notes))


def header(run_id: str, content: bytes) -> list[str]:
    """The cells of the first line, for whoever wants to append.

    Raises:
        RunUnreadable: it names no columns, or not all of ours.
    """
    return _header(run_id, _text(run_id, content), COLUMNS)


def whole_row(names: list[str], line: str) -> Timing | None:
    """The row of a last line that lacks only its line end; None where more is missing."""
    try:
        return _row(names, next(csv.reader([line.rstrip("\r")]), []))
    except (ValueError, csv.Error):
        return None


def _text(run_id: str, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")  # some programs put a mark in front
    except UnicodeDecodeError as error:
        if 0 <= content.rfind(b"\n") < error.start:  # a last line that is torn within a letter
            return content.decode("utf-8-sig", errors="replace")
        reason = f"it is not UTF-8 text from byte {error.start} on"
        raise RunUnreadable(run_id, TIMINGS, reason) from error


def _header(run_id: str, text: str, needed: tuple[str, ...]) -> list[str]:
    first = (text.splitlines() or [""])[0]
    names = [name.strip('"') for name in first.split(",")]  # no name of ours holds a comma
    while names and not names[-1]:  # columns that a spreadsheet left empty
        names.pop()
    if "run_id" not in names:
        found = [word for mark, word in _SEPARATORS.items() if f"run_id{mark}" in first]
        reason = "its first line does not name the columns"
        if found:
            reason = f"line 1: {found[0]} stand where commas should, as a spreadsheet may save it"
        raise RunUnreadable(run_id, TIMINGS, reason)
    twice = sorted({name for name in names if names.count(name) > 1})
    missing = [name for name in needed if name not in names]
    if twice or missing:
        reason = f"names {', '.join(twice)} twice" if twice else f"lacks {', '.join(missing)}"
        raise RunUnreadable(run_id, TIMINGS, f"line 1 {reason}")
    if "\n" not in text:
        raise RunUnreadable(run_id, TIMINGS, "line 1 has no line feed at its end")
    return names


def _lines(run_id: str, names: list[str], text: str) -> list[Line]:
    reader = csv.reader(io.StringIO(text, newline=""))
    next(reader)
    lines, number = [], reader.line_num + 1
    try:
        for cells in reader:
            if any(cells):
                lines.append(Line(number=number, row=_row(names, cells)))
            number = reader.line_num + 1
    except (ValueError, csv.Error) as error:
        raise RunUnreadable(run_id, TIMINGS, f"line {number}: {error}") from error
    return lines


def _row(names: list[str], cells: list[str]) -> Timing:
    while len(cells) > len(names) and not cells[-1]:
        cells = cells[:-1]
    if len(cells) != len(names):
        msg = f"it has {len(cells)} cells where the header has {len(names)}"
        raise ValueError(msg)
    return _checked(from_cells(dict(zip(names, cells, strict=True))))


def _refuse_repeats(run_id: str, lines: list[Line]) -> None:
    first: dict[tuple[int, int, int], int] = {}
    for line in lines:
        row = line.row
        earlier = first.setdefault((row.seq, row.attempt, row.stream_id), line.number)
        if earlier != line.number:
            reason = (
                f"line {line.number} holds request {row.seq}, attempt {row.attempt}, as line "
                f"{earlier} does"
            )
            raise RunUnreadable(run_id, TIMINGS, reason)


def _checked(row: Timing) -> Timing:
    """A row that counts must have what every figure is computed from."""
    if row.valid and row.role in {"measure", "control"}:
        for name in _needed(row):
            if not getattr(row, name):
                msg = f"column {name} must be above 0 in a valid row, got {getattr(row, name)}"
                raise ValueError(msg)
    return row


def _needed(row: Timing) -> list[str]:
    names = ["prompt_eval_duration", "eval_count"]
    if row.variant == "cold":  # of a prompt that is all cached, an old server leaves the 0 out
        names.append("prompt_eval_count")
    if row.experiments != "traffic":  # there one token is an answer, and takes no step
        names.append("eval_duration")
    return names
