"""`raw.jsonl` as the witness of `timings.csv`: the same answers, as they came, in their order.

A row that was deleted, changed, added or moved in a spreadsheet is still readable; only the
records as received tell. Where a run has no `raw.jsonl` nothing can be said.
"""

from __future__ import annotations

import json
import pathlib
from collections.abc import Sequence
from typing import Any

from twohalves.errors import RunUnreadable
from twohalves.runs.schema import COUNTERS, Timing
from twohalves.runs.table import TIMINGS, Line

RAW = "raw.jsonl"

_NAMED = 5  # requests that a note lists

Key = tuple[int, int]
"""Request and attempt."""


def records(folder: pathlib.Path) -> dict[Key, dict[str, Any]]:
    """The last record of each answer, in the order they came; a line that is cut is passed over."""
    path = folder / RAW
    found: dict[Key, dict[str, Any]] = {}
    if not path.exists():
        return found
    for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
        try:
            kept = json.loads(line)
            found[(int(kept["seq"]), int(kept["attempt"]))] = dict(kept["record"])
        except (ValueError, TypeError, KeyError):
            continue
    return found


def testify(folder: pathlib.Path, lines: Sequence[Line]) -> tuple[tuple[Timing, ...], list[str]]:
    """The rows in the order they were measured, and what became of the file since.

    Raises:
        RunUnreadable: a counter differs from what the server sent.
    """
    seen = records(folder)
    for line in lines:
        _compare(folder.name, line, seen.get(_key(line.row), {}))
    there = [_key(line.row) for line in lines]
    rows = tuple(line.row for line in lines)
    if not seen:
        return rows, []
    notes = _missing(seen, there)
    place = {key: number for number, key in enumerate(seen)}
    known = [place[key] for key in there if key in place]
    if known == sorted(known):
        return rows, notes
    notes.append(
        "The rows of timings.csv stood in another order than they were measured in; here they "
        "are taken as measured."
    )
    last = len(place)
    return tuple(sorted(rows, key=lambda row: place.get(_key(row), last))), notes


def _compare(run_id: str, line: Line, record: dict[str, Any]) -> None:
    for name in COUNTERS if record.get("done") is True else ():
        kept, sent = getattr(line.row, name), record.get(name)
        if name in record and kept != sent:
            reason = f"line {line.number}: {name} is {kept}, and the server sent {sent} ({RAW})"
            raise RunUnreadable(run_id, TIMINGS, reason)


def _missing(seen: dict[Key, dict[str, Any]], there: list[Key]) -> list[str]:
    notes = []
    gone, added = [key for key in seen if key not in there], [k for k in there if k not in seen]
    if gone:
        notes.append(
            f"timings.csv lacks {_listed(gone)}, which raw.jsonl holds: measuring was stopped "
            "between the two, or the row was deleted."
        )
    if added:
        notes.append(f"timings.csv has {_listed(added)}, of which raw.jsonl knows nothing.")
    return notes


def _listed(keys: list[Key]) -> str:
    numbers = [str(seq) for seq in sorted({seq for seq, _ in keys})]
    requests = ", ".join(numbers[:_NAMED]) + (" …" if len(numbers) > _NAMED else "")
    return f"{len(keys)} {'answer' if len(keys) == 1 else 'answers'} (request {requests})"


def _key(row: Timing) -> Key:
    return row.seq, row.attempt
