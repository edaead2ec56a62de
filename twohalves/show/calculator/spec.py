"""What data/worksheet.json says of a calculator: inputs, outputs, tables, presets, price sheets."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from twohalves.errors import UnknownName
from twohalves.places import DATA

Spec = dict[str, Any]
"""A calculator as data/worksheet.json describes it."""
Input = dict[str, Any]
"""One of its inputs, likewise."""
Value = float | str
"""Of an input: a number, or the id of a choice."""
Values = dict[str, Value]
"""By the ids of the inputs."""
Results = dict[str, float | None]
"""By the ids of the outputs; None where a quotient does not exist."""


@cache
def spec(name: str) -> Spec:
    """The description of a calculator.

    Raises:
        UnknownName: data/worksheet.json describes no such calculator.
    """
    path = DATA / "worksheet.json"
    calculators: dict[str, Spec] = json.loads(path.read_text(encoding="utf-8"))["calculators"]
    if name not in calculators:
        kind = "calculator"
        raise UnknownName(kind, name, tuple(calculators))
    return calculators[name]
