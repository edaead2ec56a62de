"""A calculator's widgets as a reader finds them: by what they are for."""

import re

from twohalves.formulas import constant_rates
from twohalves.show import calculator

CONSTANTS = calculator.RateSet(
    id="chapter_constants",
    label="the chapter's constants",
    source="section 31.6",
    curve=constant_rates(2025, 190, 0.015),
    shortest=90,
    longest=7427,
)
SLOW = calculator.RateSet(
    id="own", label="your run", source="run X", curve=constant_rates(100, 10), longest=1000
)
CELL = """\
from tests.notebook_widgets import CONSTANTS
from twohalves import show

show.calculator.sliders("worksheet", [CONSTANTS])"""
"""What a notebook says to show the worksheet with these constants."""


class Live:
    """One calculator, alive."""

    def __init__(self, name="worksheet", rates=(CONSTANTS, SLOW), **start):
        self.box = calculator.sliders(name, rates, start)
        self._all = list(_inside(self.box))

    def slider(self, name):
        return self._of_class(f"th-slider-{name}")

    def field(self, name):
        return self._of_class(f"th-field-{name}")

    def choice(self, name):
        return self._of_class(f"th-choice-{name}")

    def press(self, label):
        next(each for each in self._all if getattr(each, "description", "") == label).click()

    def titles(self):
        """What stands above the groups of buttons and of inputs."""
        texts = [str(getattr(each, "value", "")) for each in self._all]
        return [read(text) for text in texts if text.startswith("<h5>")]

    def row(self, name):
        """The text beside a number field."""
        found = next(
            each for each in self._all if self.field(name) in getattr(each, "children", ())
        )
        return read(found.children[-1].value)

    @property
    def picture(self):
        return self._of_class("th-picture")

    @property
    def said(self):
        return self._of_class("th-said")

    @property
    def tables(self):
        return self._of_class("th-tables")

    def cells(self, label):
        """The figures of the first row of that label."""
        row = re.search(
            rf"<tr><th[^>]*>(?:<span[^>]*></span>)?{label}</th>(.*?)</tr>", self.tables.value
        )
        return re.findall("<td>(.*?)</td>", row[1])

    def _of_class(self, name):
        (found,) = (each for each in self._all if name in getattr(each, "_dom_classes", ()))
        return found


def read(text):
    """HTML without its tags."""
    return re.sub("<.*?>", "", text)


def counted(*widgets):
    """A list that grows by one at every redraw of the widgets."""
    seen = []
    for each in widgets:
        each.observe(seen.append, names="value")
    return seen


def _inside(widget):
    yield widget
    for each in getattr(widget, "children", ()):
        yield from _inside(each)
