"""data/worksheet.json is edited by hand: nothing in it points nowhere or contradicts itself."""

import json
import re
from datetime import date

import pytest

from twohalves.formulas import constant_rates
from twohalves.places import DATA
from twohalves.show.calculator import RateSet, outcome, spec
from twohalves.show.calculator.kinds import KINDS
from twohalves.show.calculator.start import begin, choices, take
from twohalves.show.calculator.words import FORMATS

FILE = json.loads((DATA / "worksheet.json").read_text(encoding="utf-8"))
CALCULATORS = FILE["calculators"]
RATES = [
    RateSet(
        id="chapter_constants",
        label="the chapter's constants",
        source="section 31.6",
        curve=constant_rates(2025, 190, 0.015),
    )
]
SHEETS = [
    pytest.param(name, each, id=f"{name}: {each['label']}")
    for name, described in CALCULATORS.items()
    for each in (*described["presets"], *described["price_sheets"])
]


@pytest.fixture(params=CALCULATORS)
def name(request):
    """Each calculator in turn."""
    return request.param


def ids(rows):
    return [row["id"] for row in rows]


def set_to(name, values):
    """The values after a preset, and all notes on the way."""
    described = spec(name)
    begun = begin(described, {}, RATES)
    taken, notes = dict(begun.values), list(begun.notes)
    for each in described["inputs"]:
        if each["id"] in values:
            before = taken[each["id"]]
            taken[each["id"]], note = take(each, values[each["id"]], before, RATES)
            notes += [note] if note else []
    return taken, notes


def test_every_calculator_is_computed_somewhere():
    """The file describes those that there is arithmetic for, and no others."""
    assert set(KINDS) == set(CALCULATORS)


def test_every_name_is_used_once(name):
    """Inputs, outputs, tables and presets can be told apart, in links and in the CSV."""
    described = CALCULATORS[name]
    numbers = ids(described["inputs"]) + ids(described["outputs"])

    assert len(numbers) == len(set(numbers))
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", each) for each in numbers)
    for rows in (described["tables"], described["groups"]):
        assert len(ids(rows)) == len(set(ids(rows)))
    labels = [each["label"] for each in (*described["presets"], *described["price_sheets"])]
    assert len(labels) == len(set(labels))


def test_every_cell_refers_to_something(name):
    """Tables and the table of presets show outputs and inputs that exist; a row fills its head."""
    described = CALCULATORS[name]
    known = {*ids(described["inputs"]), *ids(described["outputs"]), ""}
    for table in described["tables"]:
        for row in table["rows"]:
            assert set(row["cells"]) <= known, row["label"]
            assert len(table["head"]) == 1 + len(row["cells"]), row["label"]
            assert row.get("mark", "decode") in {"prefill", "decode"}
    assert set(described["compared"]) <= set(ids(described["outputs"]))
    assert {each["group"] for each in described["inputs"]} == set(ids(described["groups"]))


def test_every_output_can_be_shown(name):
    """Its format is known, and where there may be no figure the file says what stands there."""
    described = CALCULATORS[name]
    found = outcome(name, begin(spec(name), {}, RATES).values, RATES).results

    assert set(ids(described["outputs"])) == set(found)
    for each in described["outputs"]:
        assert each["format"] in FORMATS
        assert each["label"]
        assert found[each["id"]] is not None or each["none"]


def test_every_input_tells_what_it_is_and_where_its_default_is_from(name):
    """Label, help and source; a unit beside every number, in the singular too for a count."""
    for each in CALCULATORS[name]["inputs"]:
        assert each["label"]
        assert each["help"].endswith(".")
        assert each["source"]
        if each["kind"] == "number":
            assert each["unit"]
            assert each["format"] in FORMATS
            assert (each["format"] == "count") == ("unit_one" in each)
            assert each["unit"].startswith("dollars ") == (each["format"] == "dollars")


def test_every_number_has_a_scale_that_can_be_drawn(name):
    """Limits, decimals and steps that fit each other, and a plausible band within the limits."""
    for each in CALCULATORS[name]["inputs"]:
        if each["kind"] != "number":
            continue
        assert each["min"] <= each["default"] <= each["max"]
        assert each["scale"] in {"linear", "log"}
        if each["scale"] == "linear":
            assert each["step"] == round(each["step"], each["decimals"]) > 0
        else:
            assert (each["min"] or each["from"]) > 0
        low, high = each.get("plausible", (each["min"], each["max"]))
        assert each["min"] <= low <= each["default"] <= high <= each["max"]


def test_the_defaults_are_taken_as_they_are(name):
    """None is rounded, clamped or questioned."""
    values = {
        each["id"]: each["default"] for each in spec(name)["inputs"] if each["kind"] == "number"
    }
    taken, notes = set_to(name, values)

    assert notes == []
    assert values == {each: taken[each] for each in values}


@pytest.mark.parametrize(("name", "sheet"), SHEETS)
def test_a_preset_can_be_set_exactly(name, sheet):
    """It sets inputs that exist, within their limits and on their decimals, without a note."""
    taken, notes = set_to(name, sheet["values"])

    assert sheet["source"]
    assert set(sheet["values"]) <= set(taken)
    assert notes == []
    assert sheet["values"] == {each: taken[each] for each in sheet["values"]}


def test_presets_are_shapes_or_levers(name):
    """A price sheet sets prices and nothing else; a preset sets none."""
    described = CALCULATORS[name]
    prices = {each["id"] for each in described["inputs"] if each["group"] == "prices"}
    for each in described["presets"]:
        assert each["group"] in {"shape", "lever"}
        assert not set(each["values"]) & prices
    for each in described["price_sheets"]:
        assert set(each["values"]) == prices


def test_a_real_price_says_whose_it_is_and_when_it_was(name):
    """An illustrative one says that it is nobody's."""
    for each in CALCULATORS[name]["price_sheets"]:
        assert each["kind"] in {"illustrative", "real"}
        if each["kind"] == "real":
            assert each["source"].startswith("https://")
            assert date.fromisoformat(each["date"]) <= date.today()  # noqa: DTZ011 — a day is enough
        else:
            assert re.search(r"illustrative|chosen here", each["source"])


def test_options_of_a_choice_can_be_chosen(name):
    """The rates that a notebook brings, or a list with the default in it."""
    for each in CALCULATORS[name]["inputs"]:
        if each["kind"] == "choice":
            known = choices(each, RATES)
            assert known
            assert each["default"] in known or each["options"] == "rates"
            assert all(known.values())


def preset(label):
    [found] = [p for p in CALCULATORS["worksheet"]["presets"] if p["label"] == label]
    values, _ = set_to("worksheet", found["values"])
    return outcome("worksheet", values, RATES).texts


def test_the_chapters_bill_is_the_chapters():
    """$712 + $107 + $424 = $1,243, and $2,204 without the cache."""
    texts = preset("The chapter's bill")

    lines = [f"cost_{line}" for line in ("uncached", "cached", "output", "total")]
    assert ["$712", "$107", "$424", "$1,243"] == [texts[line] for line in lines]
    assert texts["nocache_cost_total"] == "$2,204"
    assert ["712 M", "1,068 M", "106 M"] == [
        texts[f"{line}_tokens"] for line in ("uncached", "cached", "answer")
    ]


def test_the_chapters_widget_is_the_chapters():
    """1.86 s, 43% of it prefill, 1.17 s saved by skipping 2,400 tokens, 1,032 machine-hours."""
    texts = preset("The chapter's widget")

    assert ["1.86 s", "43.3%", "1.17 s", "2,400", "1,032"] == [
        texts[each]
        for each in ("total_s", "prefill_share", "saved_s", "skipped_tokens", "machine_hours")
    ]


def test_each_lever_is_applied_to_the_bill_without_a_cache():
    """$2,204: half the prompt $1,314, a hit rate of 60% $1,243, an answer of 37 tokens $2,076."""
    totals = {
        label: preset(label)["cost_total"]
        for label in (
            "Bill without a cache",
            "Half the prompt",
            "A hit rate of 60%",
            "An answer 30% shorter",
        )
    }

    assert ["$2,204", "$1,314", "$1,243", "$2,076"] == list(totals.values())


def test_what_the_worksheet_does_not_model_stands_beside_the_price():
    """A provider's tiers: one flat price holds, and the field says so."""
    described = {each["id"]: each for each in CALCULATORS["worksheet"]["inputs"]}

    assert "One flat price" in described["price_uncached"]["help"]
