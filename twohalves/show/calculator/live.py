"""A calculator under a reader's hand in a notebook: ipywidgets that ask Python at every change."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import ipywidgets
from IPython.display import display

from twohalves.show.calculator.kinds import Outcome, outcome
from twohalves.show.calculator.markup import STYLE, as_html
from twohalves.show.calculator.rates import RateSet
from twohalves.show.calculator.row import row
from twohalves.show.calculator.spec import Input, Spec, Value, spec
from twohalves.show.calculator.start import Begun, choices, take
from twohalves.show.calculator.words import with_unit

_SCRIPT = Path(__file__).with_name("live.js")
_SHARED = Path(__file__).parents[2] / "site" / "static" / "scripts"
_USED = ("numbers", "words", "scale", "typing")
"""The scripts of the static page that live.js uses, in their order."""
_SIDE_BY_SIDE = ipywidgets.Layout(flex_flow="row wrap", align_items="flex-start")
_CONTROLS = ipywidgets.Layout(flex="1 1 24em", width="auto", margin="0 24px 0 0")
_OUTCOME = ipywidgets.Layout(flex="1 1 24em", width="auto")
_BUTTONS = ipywidgets.Layout(flex_flow="row wrap")
_BUTTON = ipywidgets.Layout(width="auto", margin="2px 6px 2px 0")


def live(name: str, rates: Sequence[RateSet], begun: Begun) -> ipywidgets.VBox:
    """Make a calculator's widgets.

    Args:
        name: of the calculator in data/worksheet.json.
        rates: to choose from.
        begun: what it shows first.
    """
    box = _Live(name, rates, begun).box
    display(_Script(name))
    return box


class _Live:
    """The values, and the widgets that show them."""

    def __init__(self, name: str, rates: Sequence[RateSet], begun: Begun) -> None:
        self._name, self._rates, self._begun = name, rates, begun
        self._spec = spec(name)
        self._values = dict(begun.values)
        self._showing, self._shown = False, 0
        self._picture = ipywidgets.HTML().add_class("th-picture")
        self._said = ipywidgets.HTML().add_class("th-said")
        self._tables = ipywidgets.HTML().add_class("th-tables")
        self._rows = {
            each["id"]: row(each, self._began(each), rates, self._asked)
            for each in self._spec["inputs"]
        }
        self._show({}, begun.notes)
        self.box = self._laid_out()

    def _asked(self, described: Input, asked: object) -> None:
        """A reader moved, typed or chose something."""
        if not self._showing:
            self._set({described["id"]: asked})

    def _set(self, asked: Mapping[str, object]) -> None:
        """Take what was asked for, all at once; inputs that it does not name stay."""
        notes = {}
        for described in self._spec["inputs"]:
            name = described["id"]
            if name in asked:
                taken = take(described, asked[name], self._values[name], self._rates)
                self._values[name], notes[name] = taken
        self._show(notes, [note for note in notes.values() if note])

    def _reset(self) -> None:
        self._values = dict(self._begun.values)
        self._show({}, self._begun.notes)

    def _show(self, beside: Mapping[str, str], notes: Sequence[str]) -> None:
        """Draw what follows from the values, once; then let every widget stand for its value.

        Args:
            beside: notes by the inputs that they belong to.
            notes: those to be read out, too.
        """
        found = outcome(self._name, self._values, self._rates)
        self._picture.value = found.picture
        self._shown += 1
        # a text that changes is read out, also when the words are the same
        self._said.value = f"{_paragraphs(found, notes)}<!-- {self._shown} -->"
        self._tables.value = as_html(self._spec, found.texts, found.results)
        self._showing = True  # what changes in the widgets now, nobody asked for
        try:
            for name, each in self._rows.items():
                each.show(self._values[name], self._marked(beside.get(name, "")))
        finally:
            self._showing = False

    def _marked(self, note: str) -> str:
        """A note that differs from the last one, or its text would not reach the page again."""
        return f"{_note(note)}<!-- {self._shown} -->" if note else ""

    def _began(self, described: Input) -> str:
        value, source = self._begun.values[described["id"]], self._begun.sources[described["id"]]
        return f"Starts at {self._spoken(described, value)}: {source}."

    def _spoken(self, described: Input, value: Value) -> str:
        if isinstance(value, str):
            return choices(described, self._rates).get(value, value)
        return with_unit(described, value)

    def _laid_out(self) -> ipywidgets.VBox:
        described = self._spec
        title = f'{STYLE}<h4 class="th-title">{html.escape(described["title"])}</h4>'
        controls = [ipywidgets.HTML(title), *self._buttons(), *self._groups()]
        result = ipywidgets.VBox([self._picture, self._said, self._tables], layout=_OUTCOME)
        both = [ipywidgets.VBox(controls, layout=_CONTROLS), result]
        box = ipywidgets.VBox([ipywidgets.HBox(both, layout=_SIDE_BY_SIDE)])
        return box.add_class("th-live").add_class(f"th-live-{self._name}")

    def _groups(self) -> list[ipywidgets.Widget]:
        """The rows, each group of them under its title."""
        found: list[ipywidgets.Widget] = []
        for group in self._spec["groups"]:
            found.append(_title(group["label"]))
            found += [
                self._rows[each["id"]].box
                for each in self._spec["inputs"]
                if each["group"] == group["id"]
            ]
        return found

    def _buttons(self) -> list[ipywidgets.Widget]:
        """Presets by their groups, price sheets, and the way back, each line under its title."""
        described = self._spec
        lines = [
            (group["label"], [p for p in described["presets"] if p["group"] == group["id"]])
            for group in described["preset_groups"]
        ]
        lines.append(("Price sheets", described["price_sheets"]))
        found: list[ipywidgets.Widget] = []
        for title, line in lines:
            if line:
                buttons = [self._button(each) for each in line]
                found += [_title(title), ipywidgets.HBox(buttons, layout=_BUTTONS)]
        reset = ipywidgets.Button(description="Reset", layout=_BUTTON).add_class("th-reset")
        reset.on_click(lambda _: self._reset())
        return [*found, reset]

    def _button(self, preset: dict[str, Any]) -> ipywidgets.Button:
        button = ipywidgets.Button(
            description=preset["label"], tooltip=preset["source"], layout=_BUTTON
        )
        button.on_click(lambda _: self._set(preset["values"]))
        return button


def _title(text: str) -> ipywidgets.HTML:
    return ipywidgets.HTML(f"<h5>{html.escape(text)}</h5>")


def _paragraphs(found: Outcome, notes: Sequence[str]) -> str:
    """What changed on the way, what comes out, what to know of it."""
    marked = [_note(note) for note in notes]
    sentence = f'<p class="th-sentence">{html.escape(found.sentence)}</p>'
    return "".join([*marked, sentence, *(f"<p>{html.escape(note)}</p>" for note in found.notes)])


def _note(note: str) -> str:
    return f'<p class="th-note">{html.escape(note)}</p>'


class _Script:
    """What ipywidgets leave out and only the page can add: see live.js."""

    def __init__(self, name: str) -> None:
        self._described = _for_script(name, spec(name))

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        files = [*(_SHARED / f"{each}.js" for each in _USED), _SCRIPT]
        script = "\n".join(path.read_text(encoding="utf-8") for path in files)
        data = json.dumps(self._described, ensure_ascii=False)
        return {"application/javascript": f"{script}({data});", "text/plain": ""}


def _for_script(name: str, described: Spec) -> dict[str, Any]:
    numbers = [each for each in described["inputs"] if each["kind"] == "number"]
    return {"name": name, "inputs": numbers}
