"""What is kept of a measuring session: the row, appending, loading, validity, choosing."""

from twohalves.runs import derive, machine, predictions, reference
from twohalves.runs.append import Keeper
from twohalves.runs.choose import (
    Whose,
    belongs_to,
    fixed_run,
    listed,
    named,
    readers_run,
    unfinished,
    unreadable,
)
from twohalves.runs.conditions import Condition, condition_of, conditions
from twohalves.runs.load import Run, load
from twohalves.runs.schema import COLUMNS, SCHEMA, Timing

__all__ = [
    "COLUMNS",
    "SCHEMA",
    "Condition",
    "Keeper",
    "Run",
    "Timing",
    "Whose",
    "belongs_to",
    "condition_of",
    "conditions",
    "derive",
    "fixed_run",
    "listed",
    "load",
    "machine",
    "named",
    "predictions",
    "readers_run",
    "reference",
    "unfinished",
    "unreadable",
]
