"""The doctor: what this machine brings, what is missing, and the next command on each system.

What lives here: checks by area, each with facts gathered apart from their judgment; one table of
them; the report, and the page of troubles that is made from the same table. Only `asking` needs
packages; all else keeps to the standard library, because a reader meets the doctor before
anything is installed. What does not live here: mending. The doctor changes nothing.
"""

from __future__ import annotations

from twohalves.doctor.check import Check, Here
from twohalves.doctor.examination import DEADLINE_S, Examined, examine
from twohalves.doctor.findings import Finding, Status, Steps, Trouble, this_system
from twohalves.doctor.report import as_json, blocking, closing, failed, lines, troubled
from twohalves.doctor.summary import line
from twohalves.doctor.table import CHECKS

__all__ = [
    "CHECKS",
    "DEADLINE_S",
    "Check",
    "Examined",
    "Finding",
    "Here",
    "Status",
    "Steps",
    "Trouble",
    "as_json",
    "blocking",
    "closing",
    "examine",
    "failed",
    "line",
    "lines",
    "this_system",
    "troubled",
]
