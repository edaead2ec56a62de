"""Slider places: on a straight scale the value itself, else the stops of two digits."""

import itertools

import pytest

from twohalves.show.calculator import spec
from twohalves.show.calculator.scale import ends, position, stops, value_at

INPUTS = [
    pytest.param(each, id=f"{name} {each['id']}")
    for name in ("kv_cache", "latency", "roofline", "worksheet")
    for each in spec(name)["inputs"]
    if each["kind"] == "number"
]
LOG = {"scale": "log", "decimals": 0, "min": 1, "max": 1000}


def test_stops_have_two_digits():
    """1 to 99 one by one, 100 to 990 by ten, and 1,000: 99 + 90 + 1."""
    expected = (*range(1, 100), *range(100, 1000, 10), 1000)

    assert expected == stops(LOG)
    assert (0, 189) == ends(LOG)


def test_a_price_starts_at_nothing():
    """0, then cents from the first one; what has no two digits at these decimals is left out."""
    cents = {"scale": "log", "decimals": 2, "min": 0, "from": 0.01, "max": 1}

    assert (0, *(count / 100 for count in range(1, 101))) == stops(cents)


@pytest.mark.parametrize(("value", "place"), [(1, 0), (99, 98), (100, 99), (109, 99), (1000, 189)])
def test_a_value_between_two_stops_stands_at_the_lower(value, place):
    """The number field beside it shows what it is."""
    assert place == position(LOG, value)


def test_a_straight_scale_is_its_own_place():
    """Place and value are one number."""
    straight = {"scale": "linear", "min": 0, "max": 1}

    assert (0.6, 0.6, (0, 1)) == (position(straight, 0.6), value_at(straight, 0.6), ends(straight))


@pytest.mark.parametrize("described", INPUTS)
def test_every_place_gives_a_value_that_stands_there(described):
    """There and back; a slider of no more than a thousand places, in rising order."""
    if described["scale"] == "linear":
        assert (described["min"], described["max"]) == ends(described)
        return
    found = stops(described)
    assert (described["min"], described["max"]) == (found[0], found[-1])
    assert all(low < high for low, high in itertools.pairwise(found))
    assert len(found) <= 1000
    for place, value in enumerate(found):
        assert place == position(described, value)
        assert value == value_at(described, place) == round(value, described["decimals"])
