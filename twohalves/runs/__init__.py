"""What is kept of a measuring session: the row, appending, loading, validity, choosing."""

from twohalves.runs import (
    derive,
    fitting,
    hardware,
    machine,
    predictions,
    published,
    reference,
    reuse,
)
from twohalves.runs.append import Keeper
from twohalves.runs.choose import (
    SAMPLE,
    Whose,
    at_hand,
    belongs_to,
    fixed_run,
    latest_number,
    listed,
    named,
    readers_run,
    unfinished,
    unreadable,
)
from twohalves.runs.claim import Claim, claim_folder, claim_server
from twohalves.runs.conditions import Condition, condition_of, conditions
from twohalves.runs.load import Run, load
from twohalves.runs.schema import COLUMNS, COUNTERS, SCHEMA, Timing

__all__ = [
    "COLUMNS",
    "COUNTERS",
    "SAMPLE",
    "SCHEMA",
    "Claim",
    "Condition",
    "Keeper",
    "Run",
    "Timing",
    "Whose",
    "at_hand",
    "belongs_to",
    "claim_folder",
    "claim_server",
    "condition_of",
    "conditions",
    "derive",
    "fitting",
    "fixed_run",
    "hardware",
    "latest_number",
    "listed",
    "load",
    "machine",
    "named",
    "predictions",
    "published",
    "readers_run",
    "reference",
    "reuse",
    "unfinished",
    "unreadable",
]
