"""One input in a notebook: a slider and a number field with unit and help, or a list of choices.

A slider runs over places, not values: 1, 2, … 99, 100, 110, …, or equal steps. A value between
two places shows at the lower one and stays what it is.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import ipywidgets

from twohalves.show.calculator.rates import RateSet
from twohalves.show.calculator.scale import ends, position, value_at
from twohalves.show.calculator.spec import Input, Value
from twohalves.show.calculator.start import choices

_WIDE = ipywidgets.Layout(width="100%", margin="0")
_FIELD = ipywidgets.Layout(width="9em", margin="2px 8px 2px 0")
_BESIDE = ipywidgets.Layout(flex="1 1 12em", width="auto", margin="2px 0")
_WRAPPING = ipywidgets.Layout(flex_flow="row wrap", margin="2px 0 8px 0", align_items="flex-start")
_LABEL = {"description_width": "9.5em"}
Asked = Callable[[Input, object], None]
"""Called with an input and what its reader asked for."""


class Row(Protocol):
    """The widgets of one input."""

    box: ipywidgets.HBox
    """All of them."""

    def show(self, value: Value, note: str) -> None:
        """Let every widget stand for a value, with a note as HTML beside them."""


def row(described: Input, began: str, rates: Sequence[RateSet], asked: Asked) -> Row:
    """Make the widgets of one input.

    Args:
        described: the input.
        began: what it began with and where that comes from, a sentence.
        rates: to choose from.
        asked: called when the reader moved, typed or chose something.
    """
    if described["kind"] == "choice":
        return _Choice(described, began, choices(described, rates), asked)
    return _Number(described, began, asked)


class _Number:
    """A slider and a number field that hold one value."""

    def __init__(self, described: Input, began: str, asked: Asked) -> None:
        self._described = described
        label, name = described["label"], described["id"]
        self._slider = ipywidgets.IntSlider(
            min=0,
            max=_place(described, described["max"]),
            description=label,
            readout=False,
            style=_LABEL,
            layout=_WIDE,
        ).add_class(f"th-slider-{name}")
        self._field = ipywidgets.FloatText(
            step=described.get("step"), tooltip=f"{label}, {described['unit']}", layout=_FIELD
        ).add_class(f"th-field-{name}")
        self._slider.observe(lambda change: asked(described, self._at(change)), names="value")
        self._field.observe(lambda change: asked(described, change["new"]), names="value")
        self._words = _Words(described, began)
        children = [self._slider, self._field, self._words.box]
        self.box = ipywidgets.HBox(children, layout=_WRAPPING)

    def show(self, value: Value, note: str) -> None:
        self._field.value = value
        self._slider.value = _place(self._described, float(value))
        self._words.add(note)

    def _at(self, change: dict[str, Any]) -> float:
        """The value of the place to which the slider moved."""
        described, place = self._described, change["new"]
        if described["scale"] == "log":
            return value_at(described, place)
        first, _ = ends(described)
        value: float = round(first + place * described["step"], described["decimals"])
        return value


class _Choice:
    """A list of which one is chosen."""

    def __init__(self, described: Input, began: str, known: dict[str, str], asked: Asked) -> None:
        self._list = ipywidgets.Dropdown(
            options=[(label, name) for name, label in known.items()],
            description=described["label"],
            style=_LABEL,
            layout=_WIDE,
        ).add_class(f"th-choice-{described['id']}")
        self._list.observe(lambda change: asked(described, change["new"]), names="value")
        self._words = _Words(described, began)
        self.box = ipywidgets.HBox([self._list, self._words.box], layout=_WRAPPING)

    def show(self, value: Value, note: str) -> None:
        self._list.value = value
        self._words.add(note)


def _place(described: Input, value: float) -> int:
    """Where the slider stands: the number of the place at or below a value."""
    if described["scale"] == "log":
        return int(position(described, value))
    first, _ = ends(described)
    steps: float = (value - first) / described["step"]
    return math.floor(round(steps, 6))


class _Words:
    """Unit, help behind it, and the note on what was asked for."""

    def __init__(self, described: Input, began: str) -> None:
        unit, told = described.get("unit", "help"), f"{described['help']} {began}"
        self._fixed = (
            f"<details><summary>{html.escape(unit)}</summary>{html.escape(told)}</details>"
        )
        self.box = ipywidgets.HTML(layout=_BESIDE)
        self.add("")

    def add(self, note: str) -> None:
        self.box.value = f"{self._fixed}{note}"
