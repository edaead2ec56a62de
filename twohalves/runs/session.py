"""The facts of a run that do not change from row to row: `session.json`."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import pathlib
from typing import Any

from twohalves.errors import CannotKeep, RunUnreadable
from twohalves.runs.schema import SCHEMA

Session = dict[str, Any]
"""Facts by name; see `twohalves.measure.begin` for who writes which."""

FILE = "session.json"

_REQUIRED: dict[str, tuple[type, tuple[str, ...]]] = {
    "experiments": (list, ()),
    "load_average": (dict, ("before",)),
    "machine": (dict, ("id", "logical_cores")),
    "model": (dict, ("name", "digest")),
    "options": (dict, ("num_ctx",)),
    "plan": (list, ("seq", "role", "prompt_tokens", "num_predict", "block")),
    "profile": (str, ()),
    "server": (dict, ("kind", "version")),
    "skipped_lengths": (list, ()),
    "started_at": (str, ()),
    "status": (str, ()),
}
"""Facts that every run has from its first moment, and what they name: each entry, in a list."""


def write(folder: pathlib.Path, session: Session) -> None:
    """Write session.json whole or not at all.

    Raises:
        CannotKeep: the folder cannot be written to; what stood there is left.
    """
    text = json.dumps(session, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    replace(folder / FILE, text)


def replace(path: pathlib.Path, text: str) -> None:
    """Put a text file in place in one step, so that no reader ever sees half of it.

    Raises:
        CannotKeep: the folder cannot be written to; what stood there is left.
    """
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        with fresh.open("w", encoding="utf-8", newline="\n") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        fresh.replace(path)
    except OSError as error:
        raise CannotKeep(str(path.parent), error.strerror or str(error)) from error
    finally:
        with contextlib.suppress(OSError):  # the first error is the one to tell
            fresh.unlink(missing_ok=True)


def now() -> str:
    """The wall clock, for people to read: ISO 8601 with offset."""
    return datetime.datetime.now().astimezone().isoformat(timespec="seconds")


def read(folder: pathlib.Path) -> Session:
    """The facts of a run.

    Raises:
        RunUnreadable: missing, not JSON, or written by a newer version of this project.
    """
    path = folder / FILE
    try:
        session = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RunUnreadable(folder.name, FILE, str(error)) from error
    if not isinstance(session, dict) or not isinstance(session.get("schema"), int):
        raise RunUnreadable(folder.name, FILE, "it does not name its schema version")
    if session["schema"] > SCHEMA:
        reason = f"schema {session['schema']} is newer than {SCHEMA}, which this version reads"
        raise RunUnreadable(folder.name, FILE, reason)
    if missing := _missing(session):
        raise RunUnreadable(folder.name, FILE, f"it lacks {', '.join(missing)}")
    return session


def _missing(session: Session) -> list[str]:
    lacks = set()
    for fact, (kind, names) in _REQUIRED.items():
        value = session.get(fact)
        if not isinstance(value, kind):
            lacks.add(fact)
            continue
        for each in value if isinstance(value, list) else [value]:
            there = each if isinstance(each, dict) else {}
            lacks |= {f"{fact}.{name}" for name in names if name not in there}
    return sorted(lacks)
