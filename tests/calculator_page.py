"""What a calculator in a static page shows, and what Python says it should."""

import re

from tests.parity import SPECS, rate_sets
from twohalves.show import calculator
from twohalves.show.calculator import start, tables

WORKSHEET = "notebooks/31-06-cost-worksheet.html"
LATENCY = "notebooks/31-01-two-halves.html"

READ = """
(panel) => {
  const cells = (row) => [...row.children].map((cell) => cell.textContent);
  return {
    tables: [...panel.querySelectorAll("[data-table]")].map(
      (table) => [...table.tBodies[0].rows].map(cells)),
    sentence: panel.querySelector(".th-sentence").textContent,
    notes: [...panel.querySelectorAll(".th-notes li")].map((note) => note.textContent),
    picture: panel.querySelector(".th-picture title").textContent,
  };
}
"""


def panel(page, number=0):
    """A calculator of the page."""
    return page.locator(".th-panel").nth(number)


def shown(page, number=0):
    """Everything that it has computed, as the page holds it."""
    return panel(page, number).evaluate(READ)


def rates_of(page, number=0):
    """The rates that the place brought along."""
    place = page.locator(".th-calculator").nth(number)
    return rate_sets(place.evaluate("(place) => JSON.parse(place.dataset.rates)"))


def expected(name, sets, /, **asked):
    """The same from Python, for the values that differ from the defaults."""
    values = start.begin(SPECS[name], {}, sets).values | asked
    found = calculator.outcome(name, values, sets)
    lines = [tables.lines(table, found.texts, found.results) for table in SPECS[name]["tables"]]
    return {
        "tables": [[[line.label, *line.cells] for line in rows] for rows in lines],
        "sentence": found.sentence,
        "notes": found.notes,
        "picture": found.sentence,
    }


def table(page, caption):
    """A table of the first calculator: its figures by the labels of its rows."""
    index = [each["caption"] for each in SPECS["worksheet"]["tables"]].index(caption)
    return {label: cells for label, *cells in shown(page)["tables"][index]}


def said(page, number=0):
    """What the one region that speaks has said, once it has spoken."""
    live = panel(page, number).get_by_role("status")
    live.filter(has_text=re.compile(".")).wait_for()
    return live.inner_text()


def kept(page):
    """What the address keeps."""
    return page.evaluate("location.hash")


def press(page, label, *keys):
    """Press keys on a control of the first calculator."""
    control = panel(page).get_by_label(label, exact=True)
    control.focus()
    for key in keys:
        page.keyboard.press(key)
    return control


def typed(page, label, text):
    """Type into an emptied number field, key by key, and leave it."""
    field = panel(page).get_by_label(label, exact=True)
    field.fill("")
    field.press_sequentially(text)
    field.blur()
    return field
