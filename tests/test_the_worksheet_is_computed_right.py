"""Every vector: what was asked for is taken, computed, and said as exact arithmetic says it."""

import json

import pytest

from tests import parity
from tests.vectors import make_kv_cache, make_latency, make_roofline, make_worksheet

MAKERS = {
    "kv_cache": make_kv_cache,
    "latency": make_latency,
    "roofline": make_roofline,
    "worksheet": make_worksheet,
}
ALL = [
    pytest.param(vector, id=f"{vector['calculator']} {number}")
    for number, vector in enumerate(parity.vectors())
]


@pytest.mark.parametrize(
    ("name", "fewest"),
    [("kv_cache", 40), ("latency", 60), ("roofline", 60), ("worksheet", 200)],
)
def test_the_vectors_are_those_of_exact_arithmetic(name, fewest):
    """The committed file is what the derivation in fractions gives."""
    kept = [each for each in parity.vectors() if each["calculator"] == name]

    assert fewest <= len(kept)
    assert kept == json.loads(json.dumps(MAKERS[name].vectors()))


@pytest.mark.parametrize("vector", ALL)
def test_it_takes_computes_and_says_what_the_vector_says(vector):
    """Values used or changed with a note; numbers to 1e-9, words exactly."""
    answer = parity.by_python(vector)

    assert list(vector["results"]) == list(answer["results"])
    assert parity.unlike(vector, answer) == []
