"""What the reader guessed before measuring: kept beside the runs, and with each new run."""

from __future__ import annotations

import json
import pathlib

from twohalves.errors import CannotKeep
from twohalves.places import RUNS
from twohalves.runs.session import Session, now, replace

FILE = "predictions.json"

Predictions = dict[str, dict[str, float | str]]
"""By question: {"value": the number guessed, "at": when}."""


def kept(runs: pathlib.Path = RUNS) -> Predictions:
    """The reader's guesses so far; none where the file is missing or spoilt."""
    try:
        found = json.loads((runs / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def keep(question: str, value: float, runs: pathlib.Path = RUNS) -> None:
    """Keep a guess; a later one for the same question takes its place.

    Raises:
        CannotKeep: the folder cannot be written to.
    """
    guesses = kept(runs) | {question: {"value": value, "at": now()}}
    try:
        runs.mkdir(parents=True, exist_ok=True)
        replace(runs / FILE, json.dumps(guesses, indent=1) + "\n")
    except OSError as error:
        raise CannotKeep(str(runs), error.strerror or str(error)) from error


def of(session: Session, question: str) -> float | None:
    """The guess that a run was begun with, or None."""
    return value(session.get("predictions", {}), question)


def value(guesses: Predictions, question: str) -> float | None:
    """One guess as a number; None where there is none, or what is kept is no number."""
    guess = guesses.get(question)
    found = guess.get("value") if isinstance(guess, dict) else None
    return float(found) if isinstance(found, int | float) else None
