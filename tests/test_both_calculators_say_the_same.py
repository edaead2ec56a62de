"""The live calculator and the static one compute and show the same, to the character."""

import importlib.util
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from twohalves.show import calculator
from twohalves.site import calculators

TESTS = Path(__file__).parent
PROJECT = TESTS.parent
SCRIPT = PROJECT / "twohalves" / "site" / "static" / "twohalves.js"
VECTORS = json.loads((TESTS / "vectors" / "latency.json").read_text(encoding="utf-8"))
SPEC = calculator.spec()

COMPARE = """
const calculator = require(process.argv[1]);
const spec = JSON.parse(process.argv[2]);
let text = "";
process.stdin.on("data", (part) => { text += part; }).on("end", () => {
  console.log(JSON.stringify(JSON.parse(text).map(({ inputs, rates }) => {
    const results = calculator.latency(inputs, rates);
    const shown = calculator.shown(spec, results);
    return { results, shown, sentence: calculator.latencySentence(spec, inputs, shown) };
  })));
});
"""


def node(program, *arguments, given=""):
    """Run a few lines of JavaScript on the script's pure functions."""
    found = shutil.which("node")
    if found is None:
        pytest.skip("no node here; the browser tests compare the same vectors")
    command = [found, "-e", program, str(SCRIPT), *arguments]
    done = subprocess.run(
        command, input=given, capture_output=True, encoding="utf-8", check=True, timeout=60
    )
    return json.loads(done.stdout)


def test_the_vectors_are_those_of_exact_arithmetic():
    """The committed file is what the derivation in fractions gives."""
    path = TESTS / "vectors" / "make_latency.py"
    loaded = importlib.util.spec_from_file_location("make_latency", path)
    make = importlib.util.module_from_spec(loaded)
    loaded.loader.exec_module(make)
    assert len(VECTORS) >= 60
    assert make.vectors() == VECTORS


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: "-".join(map(str, v["inputs"].values())))
def test_python_computes_and_says_what_the_vector_says(vector):
    """Numbers to 1e-12, words exactly."""
    rates = calculator.Rates(**vector["rates"])
    latency = calculator.predict(*vector["inputs"].values(), rates)
    for name, expected in vector["results"].items():
        assert getattr(latency, name) == pytest.approx(expected, rel=1e-12)
    shown = calculator.texts(latency)
    assert shown == vector["shown"]
    assert calculator.sentence(*vector["inputs"].values(), shown) == vector["sentence"]


def test_the_script_computes_and_says_what_the_vectors_say():
    """The same vectors, through the script that the pages carry."""
    answers = node(COMPARE, json.dumps(SPEC), given=json.dumps(VECTORS))
    for vector, answer in zip(VECTORS, answers, strict=True):
        assert answer["shown"] == vector["shown"]
        assert answer["sentence"] == vector["sentence"]
        for name, expected in vector["results"].items():
            assert answer["results"][name] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("asked", "value", "note"),
    [
        ("4247", 4247, ""),
        ("99", 100, "Prompt: 99 is below the smallest value; 100 is used."),
        ("-5", 100, "Prompt: -5 is below the smallest value; 100 is used."),
        ("1000000", 32000, "Prompt: 1,000,000 is above the largest value; 32,000 is used."),
        ("", 500, "Prompt: nothing was entered; 500 is used."),
        ("NaN", 500, "Prompt: “NaN” is not a number; 500 is used."),
        ("1e999", 500, "Prompt: “1e999” is not a number; 500 is used."),
        ("512.5", 513, "Prompt: rounded to 513."),
    ],
)
def test_what_cannot_be_used_is_replaced_and_said(asked, value, note):
    """Never NaN: a number within the limits, and a sentence when it is not the one asked for."""
    program = """
    const [input, asked] = [JSON.parse(process.argv[2]), process.argv[3]];
    console.log(JSON.stringify(require(process.argv[1]).accept(input, asked, 500)));
    """
    given = node(program, json.dumps(SPEC["inputs"][0]), asked)
    assert given == {"value": value, "note": note}


def test_an_address_keeps_the_numbers():
    """What is written into the address is read from it again, and nothing else is."""
    program = """
    const { readHash, writeHash } = require(process.argv[1]);
    const spec = JSON.parse(process.argv[2]);
    const hash = writeHash("latency", spec, { prompt_tokens: 890, output_tokens: 53 });
    console.log(JSON.stringify([hash, readHash("latency", spec, hash),
      readHash("latency", spec, "#two-rates"), readHash("latency", spec, "#latency-%E0%A4%A")]));
    """
    hash_, back, other, broken = node(program, json.dumps(SPEC))
    assert hash_ == "#latency-prompt_tokens-890-output_tokens-53"
    assert back == {"prompt_tokens": "890", "output_tokens": "53"}
    assert other == broken == {}


def test_the_presets_are_the_chapters_and_can_be_set_exactly():
    """Every preset lies on a step within the limits; the first is the table's longest row."""
    limits = {i["id"]: i for i in SPEC["inputs"]}
    for preset in SPEC["presets"]:
        for name, value in preset["values"].items():
            assert limits[name]["min"] <= value <= limits[name]["max"]
            assert (value - limits[name]["min"]) % limits[name]["step"] == 0
    assert SPEC["presets"][0]["values"] == {"prompt_tokens": 4247, "output_tokens": 32}
    assert SPEC["presets"][1]["values"] == {"prompt_tokens": 890, "output_tokens": 53}


def test_a_stored_notebook_holds_a_table_and_the_place_for_the_sliders():
    """In replay no widget is made; the place survives as a page prepares it."""
    rates = calculator.Rates(prefill_tok_s=180.2, decode_tok_s=52.1, source="“Žofie’s” <run>")
    text = calculator.latency_sliders(rates, replay=True).data
    table, place = text.split("\n\n")[0], BeautifulSoup(text, "html.parser").div
    assert "| 4,247 | 32 | 23.6 s | 614 ms | 24.2 s | 97.5% |" in table
    assert json.loads(place["data-rates"])["source"] == "“Žofie’s” <run>"
    soup = BeautifulSoup(text, "html.parser")
    calculators.prepare(soup, "page.html", {"latency": SPEC})
    assert json.loads(soup.find("script", id="th-spec-latency").string) == SPEC


def test_moving_the_live_slider_moves_the_field_and_the_sentence():
    """The two are linked both ways, and the picture follows either."""
    rates = calculator.Rates(prefill_tok_s=2000, decode_tok_s=190)
    box = calculator.latency_sliders(rates)
    rows = {name: row.children for row in box.children for name in _names(row)}
    slider, field = rows["th-prompt"][:2]
    slider.value = 890
    assert field.value == 890
    rows["th-output"][1].value = 53
    outcome = box.children[-1].value
    assert "890 tokens in and 53 tokens out take 724 ms" in outcome
    field.value = 99_999
    assert slider.value == 32_000


def _names(row):
    return [name for child in getattr(row, "children", ()) for name in child._dom_classes]
