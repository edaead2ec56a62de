"""The row: one timed request, as `timings.csv` keeps it.

Server counters stand under Ollama's own names and as they came: nanoseconds, never
normalized, None where the server did not say. Client clocks are monotonic nanoseconds since
the measuring process of the row began its session. Seconds and rates are derived on loading
(`twohalves.runs.derive`).

History of the schema:
  1  first version
  2  setup, streamed, server_done_at, loop_chunks
"""

from __future__ import annotations

import dataclasses
import re
import types
import typing
from dataclasses import dataclass

SCHEMA = 2
"""Version written to session.json. A new column goes to the end and raises it by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """One timed request. Field order is column order."""

    run_id: str
    """The run it belongs to."""
    seq: int
    """Number of the planned request it answers; attempts at one request share it."""
    block: int | None = None
    """Randomized complete block, from 1; None outside blocks."""
    experiments: str = ""
    """Experiments this row serves, separated by semicolons."""
    condition: str = ""
    """The point of the experiment: the prompt length asked for, in tokens."""
    variant: str = "cold"
    """What the prompt shares with earlier ones: cold shares nothing."""
    pair: str = ""
    """Rows to be compared within a block carry the same name."""
    attempt: int = 1
    """1 for the first try, more when an invalid answer was asked again with new text."""
    role: str = "measure"
    """measure, control, warmup or audit."""
    model: str = ""
    """Model name as sent."""
    endpoint: str = "/api/generate"
    """Path of the request."""
    slots: int | None = None
    """Slots of the server; None unless this program started it."""
    concurrency: int = 1
    """Requests in flight together."""
    stream_id: int = 0
    """Which of them this one is, from 0."""
    num_ctx: int | None = None
    """Context window asked for, tokens."""
    num_predict: int | None = None
    """Answer length asked for, tokens."""
    nonce_hash: str = ""
    """First 16 hex digits of the SHA-256 of the entry number."""
    prompt_hash: str = ""
    """First 16 hex digits of the SHA-256 of the prompt, UTF-8."""
    prompt_eval_count: int | None = None
    """Prompt tokens as the server counts them."""
    prompt_eval_cached_count: int | None = None
    """Prompt tokens served from cache; None when the server does not report it."""
    prompt_eval_duration: int | None = None
    """Nanoseconds of prefill."""
    eval_count: int | None = None
    """Answer tokens, the first one included."""
    eval_duration: int | None = None
    """Nanoseconds of decode."""
    load_duration: int | None = None
    """Nanoseconds until the model was ready."""
    total_duration: int | None = None
    """Nanoseconds from arrival to the end, by the server's clock."""
    done_reason: str = ""
    """Why the answer ended: length, stop ..."""
    sent_ns: int | None = None
    """Client clock just before sending."""
    first_any_ns: int | None = None
    """Client clock at the first byte of the answer's body."""
    first_text_ns: int | None = None
    """Client clock at the first record that carries text."""
    last_text_ns: int | None = None
    """Client clock at the last record that carries text."""
    done_ns: int | None = None
    """Client clock at the end of the answer."""
    server_first_at: str = ""
    """The server's time stamp on the first record with text."""
    server_last_at: str = ""
    """The server's time stamp on the last record with text."""
    n_chunks: int | None = None
    """Records that carried text."""
    started_at: str = ""
    """Wall clock at sending, ISO 8601 with offset."""
    valid: bool = True
    """False when a flag rules the row out."""
    flags: str = ""
    """What was noticed, separated by semicolons."""
    setup: str = ""
    """Which private server answered, a name in `setups` of session.json; empty = the run's own."""
    streamed: bool = True
    """False when the answer was asked for in one piece."""
    server_done_at: str = ""
    """The server's time stamp on the last record."""
    loop_chunks: int | None = None
    """Chunks at the end of the answer that only repeat those before: small models go in circles."""


COLUMNS: tuple[str, ...] = tuple(field.name for field in dataclasses.fields(Timing))
_ADDED = {"setup": 2, "streamed": 2, "server_done_at": 2, "loop_chunks": 2}
COUNTERS = (
    "prompt_eval_count",
    "prompt_eval_cached_count",
    "prompt_eval_duration",
    "eval_count",
    "eval_duration",
    "load_duration",
    "total_duration",
)
"""What the server says of its work, under Ollama's names."""


def columns(schema: int) -> tuple[str, ...]:
    """The columns that a table of this version of the schema has."""
    return tuple(name for name in COLUMNS if _ADDED.get(name, 1) <= schema)


def to_cells(timing: Timing) -> list[str]:
    """The row as CSV cells, empty where unknown."""
    return [_cell(getattr(timing, name)) for name in COLUMNS]


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def from_cells(cells: dict[str, str]) -> Timing:
    """A row from named cells; a column this version does not know is left out.

    Raises:
        ValueError: a cell that does not fit its column, named with its value.
    """
    known = {name: _value(name, cells[name]) for name in COLUMNS if name in cells}
    return Timing(**known)  # type: ignore[arg-type]  # _value returns the field's own type


def _value(name: str, cell: str) -> object:
    wanted, optional = _TYPES[name]
    if optional and cell == "":
        return None
    if wanted is bool:
        said = cell.lower()  # a spreadsheet writes TRUE
        if said not in {"true", "false"}:
            msg = f"column {name} must be true or false, got {cell!r}"
            raise ValueError(msg)
        return said == "true"
    if wanted is str:
        return cell
    if not _WHOLE.fullmatch(cell):
        msg = f"column {name} must be a whole number, got {cell!r}"
        raise ValueError(msg)
    return int(cell)


def _column_types() -> dict[str, tuple[type, bool]]:
    """For each column its type, and whether it may be empty."""
    found: dict[str, tuple[type, bool]] = {}
    for name, hint in typing.get_type_hints(Timing).items():
        optional = isinstance(hint, types.UnionType)
        found[name] = (typing.get_args(hint)[0] if optional else hint, optional)
    return found


_TYPES = _column_types()
_WHOLE = re.compile(r"-?[0-9]{1,19}")
"""Python alone would also take 1_000 and digits of other scripts."""
