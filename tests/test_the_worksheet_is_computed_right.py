"""Every vector: what was asked for is taken, computed, and said as exact arithmetic says it."""

import json
from pathlib import Path

import pytest

from tests.vectors import make_kv_cache, make_latency, make_roofline, make_worksheet
from twohalves.formulas import FittedLatency
from twohalves.show.calculator import RateSet, outcome, spec
from twohalves.show.calculator.start import begin, take

FOLDER = Path(__file__).parent / "vectors"
MAKERS = {
    "kv_cache": make_kv_cache,
    "latency": make_latency,
    "roofline": make_roofline,
    "worksheet": make_worksheet,
}
VECTORS = {
    name: json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8")) for name in MAKERS
}
ALL = [
    pytest.param(vector, id=f"{name} {number}")
    for name, vectors in VECTORS.items()
    for number, vector in enumerate(vectors)
]


def rates_of(vector):
    """The sets of rates that a vector carries as JSON."""
    return [
        RateSet(**{**facts, "curve": FittedLatency(**facts["curve"])}) for facts in vector["rates"]
    ]


def taken(vector):
    """The values after what was asked for, and the notes on it."""
    described, rates = spec(vector["calculator"]), rates_of(vector)
    values, notes = begin(described, {}, rates).values, []
    for each in described["inputs"]:
        name = each["id"]
        if name in vector["asked"]:
            values[name], note = take(each, vector["asked"][name], values[name], rates)
            notes += [note] if note else []
    return values, notes


@pytest.mark.parametrize(
    ("name", "fewest"),
    [("kv_cache", 40), ("latency", 60), ("roofline", 60), ("worksheet", 200)],
)
def test_the_vectors_are_those_of_exact_arithmetic(name, fewest):
    """The committed file is what the derivation in fractions gives."""
    assert fewest <= len(VECTORS[name])
    assert VECTORS[name] == json.loads(json.dumps(MAKERS[name].vectors()))


@pytest.mark.parametrize("vector", ALL)
def test_what_was_asked_for_is_taken(vector):
    """The values are used as they are, or changed with a note."""
    assert (vector["values"], vector["taken_notes"]) == taken(vector)


@pytest.mark.parametrize("vector", ALL)
def test_it_computes_and_says_what_the_vector_says(vector):
    """Numbers to 1e-9, words exactly."""
    found = outcome(vector["calculator"], vector["values"], rates_of(vector))

    assert list(vector["results"]) == list(found.results)
    for name, expected in vector["results"].items():
        result = found.results[name]
        assert (expected is None) == (result is None), name
        assert expected is None or expected == pytest.approx(result, rel=1e-9, abs=0), name
    assert vector["shown"] == found.texts
    assert vector["sentence"] == found.sentence
    assert vector["notes"] == found.notes
