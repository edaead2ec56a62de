"""A calculator in a stored notebook: right tables, and the place that the site brings to life.

No widget is made: a saved widget would freeze, and make the page ask a CDN for its parts.
"""

from __future__ import annotations

import html
import json
from collections.abc import Sequence

from IPython.display import Markdown

from twohalves.show.calculator.kinds import outcome
from twohalves.show.calculator.rates import RateSet
from twohalves.show.calculator.spec import spec
from twohalves.show.calculator.start import Begun, take
from twohalves.show.calculator.tables import as_markdown, labelled
from twohalves.show.markdown import grid, priced


def stored(name: str, rates: Sequence[RateSet], begun: Begun) -> Markdown:
    """The tables for the values that it begins with, its presets, and the place."""
    described = spec(name)
    found = outcome(name, begun.values, rates)
    told = [
        found.sentence,
        as_markdown(described, found.texts, found.results),
        *(html.escape(note, quote=False) for note in found.notes),
        _presets(name, rates, begun),
    ]
    return Markdown("\n\n".join([*map(priced, told), _place(name, rates, begun)]) + "\n")


def _presets(name: str, rates: Sequence[RateSet], begun: Begun) -> str:
    """What each preset gives: the few outputs that a reader compares."""
    described = spec(name)
    compared = described["compared"]
    labels = [{o["id"]: o["label"] for o in described["outputs"]}[each] for each in compared]
    rows = []
    for preset in described["presets"]:
        values = dict(begun.values)
        for each in described["inputs"]:
            if each["id"] in preset["values"]:
                asked, before = preset["values"][each["id"]], values[each["id"]]
                values[each["id"]], _ = take(each, asked, before, rates)
        found = outcome(name, values, rates)
        rows.append(labelled(preset["label"], [found.texts[each] for each in compared]))
    return grid(["Preset", *labels], rows)


def _place(name: str, rates: Sequence[RateSet], begun: Begun) -> str:
    start = {
        each: {"value": value, "source": begun.sources[each]}
        for each, value in begun.values.items()
    }
    data = {"rates": [each.facts() for each in rates], "start": start}
    told = "".join(
        f' data-{key}="{html.escape(json.dumps(value, ensure_ascii=False), quote=True)}"'
        for key, value in data.items()
    )
    return f'<div class="th-calculator" data-calculator="{name}"{told}></div>'
