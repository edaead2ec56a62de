"""What the calculators answer, asked of Python and of the site's script in node or a browser."""

import json
import math
import subprocess
from pathlib import Path

from twohalves.formulas import FittedLatency
from twohalves.places import DATA
from twohalves.show import calculator
from twohalves.show.calculator import start, tables
from twohalves.site import scripts

VECTORS = Path(__file__).parent / "vectors"
SPECS = json.loads((DATA / "worksheet.json").read_text(encoding="utf-8"))["calculators"]

CALLED = "(asked) => asked.map(([name, given]) => globalThis.TwoHalves[name](...given))"
"""JavaScript: functions of the script by name, each with its arguments."""

ANSWERED = """
({ specs, questions }) => questions.map(({ calculator, rates, asked }) => {
  const T = globalThis.TwoHalves, spec = specs[calculator];
  const { values } = T.begin(spec, {}, rates), taken_notes = [];
  for (const input of spec.inputs.filter((each) => each.id in asked)) {
    const taken = T.take(input, asked[input.id], values[input.id], rates);
    values[input.id] = taken.value;
    if (taken.note) taken_notes.push(taken.note);
  }
  const { results, texts, ...told } = T.outcome(calculator, spec, values, rates);
  const lines = spec.tables.map((table) => T.lines(table, texts, results));
  return { values, taken_notes, results, shown: texts, lines, ...told };
})
"""
"""JavaScript: what a page would do with each question, and everything that it would show."""

_NODE = """
const { script, program, given } = JSON.parse(require("fs").readFileSync(0, "utf8"));
(0, eval)(script);
console.log(JSON.stringify((0, eval)(program)(given)));
"""


def vectors():
    """All committed questions with their exact answers."""
    found = []
    for path in sorted(VECTORS.glob("*.json")):
        found += json.loads(path.read_text(encoding="utf-8"))
    return found


def by_node(node, program, given):
    """Run a program on the script that the pages carry; `node` is the path of the binary."""
    asked = json.dumps({"script": scripts.text(), "program": program, "given": given})
    command = [node, "-e", _NODE]
    done = subprocess.run(
        command, input=asked, capture_output=True, encoding="utf-8", check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def by_python(question):
    """The same as ANSWERED, of one question."""
    spec, rates = SPECS[question["calculator"]], rate_sets(question["rates"])
    values, taken_notes = start.begin(spec, {}, rates).values, []
    for described in spec["inputs"]:
        name = described["id"]
        if name in question["asked"]:
            asked = question["asked"][name]
            values[name], note = start.take(described, asked, values[name], rates)
            taken_notes += [note] if note else []
    found = calculator.outcome(question["calculator"], values, rates)
    lines = [tables.lines(table, found.texts, found.results) for table in spec["tables"]]
    return {
        "values": values,
        "taken_notes": taken_notes,
        "results": found.results,
        "shown": found.texts,
        "sentence": found.sentence,
        "notes": found.notes,
        "picture": found.picture,
        "lines": [
            [{"label": each.label, "mark": each.mark, "cells": each.cells} for each in rows]
            for rows in lines
        ],
    }


def rate_sets(facts):
    """As Python has them."""
    return [
        calculator.RateSet(**{**each, "curve": FittedLatency(**each["curve"])}) for each in facts
    ]


def unlike(vector, answer):
    """Where an answer is not the vector's: numbers to 1e-9, words exactly; empty when equal."""
    found = []
    for part in ("values", "results"):
        for name, expected in vector[part].items():
            if not _alike(expected, answer[part].get(name, "missing")):
                found.append((name, expected, answer[part].get(name, "missing")))
    words = ("taken_notes", "shown", "sentence", "notes")
    return found + [
        (each, vector[each], answer[each]) for each in words if vector[each] != answer[each]
    ]


def _alike(expected, number):
    if isinstance(expected, str) or expected is None or isinstance(number, str) or number is None:
        return expected == number
    return math.isclose(expected, number, rel_tol=1e-9)
