"""A calculator in a notebook says what it cannot use, uses what is next to it, and never breaks."""

import json
import math
import random
import re

import pytest

from tests.notebook_widgets import CONSTANTS, SLOW, Live, read
from twohalves.show import calculator
from twohalves.show.calculator import live as alive

WILD = (math.nan, math.inf, -math.inf, -0.0, 0, -1, 1e-300, 0.5, 1, 60, 100, 101, 1e9, 1e16, 1e308)


def test_a_percentage_is_taken_for_a_fraction_and_said():
    """60 becomes 0.6; the words stand beside the field and are read out."""
    live = Live()
    live.field("hit_rate").value = 0

    live.field("hit_rate").value = 60

    assert 0.6 == live.field("hit_rate").value
    assert 60 == live.slider("hit_rate").value
    assert "Hit rate: read as 60%." in read(live.said.value)
    assert live.row("hit_rate").endswith("Hit rate: read as 60%.")


def test_what_is_out_of_range_is_limited_and_said():
    """A price of 150,000 dollars and a prompt of no tokens."""
    live = Live()

    live.field("price_uncached").value = 150_000
    assert 10_000 == live.field("price_uncached").value
    assert "“150000” is above the largest value; 10,000 is used." in read(live.said.value)

    live.field("prompt_tokens").value = 0
    assert 1 == live.field("prompt_tokens").value
    assert "“0” is below the smallest value; 1 is used." in read(live.said.value)
    assert "150000" not in live.row("price_uncached")


def test_a_note_is_read_out_each_time():
    """The same slip twice gives a text that differs, or no screen reader would speak again."""
    live = Live()
    live.field("hit_rate").value = 60
    first = live.said.value

    live.field("hit_rate").value = 60

    assert first != live.said.value
    assert read(first) == read(live.said.value)


def test_a_preset_that_needs_other_rates_says_so():
    """The chapter's widget asks for the chapter's constants; there are only the reader's."""
    live = Live(rates=(SLOW,))

    live.press("The chapter's widget")

    assert 4000 == live.field("prompt_tokens").value
    assert "is not among the choices" in read(live.said.value)


@pytest.mark.parametrize("name", ["kv_cache", "latency", "roofline", "worksheet"])
def test_nothing_wild_breaks_it(name):
    """Every odd number in every field, in random order: a picture stands, and no figure is odd."""
    live = Live(name)
    numbers = [each for each in calculator.spec(name)["inputs"] if each["kind"] == "number"]
    chance = random.Random(7)  # noqa: S311 — an order, no secret
    todo = [(each, value) for each in numbers for value in WILD]
    chance.shuffle(todo)

    for each, value in todo:
        live.field(each["id"]).value = value
        assert each["min"] <= live.field(each["id"]).value <= each["max"]
        shown = read(live.picture.value + live.tables.value).lower()
        assert not re.search(r"\b(nan|inf|infinity)\b", shown)


@pytest.mark.parametrize("name", ["kv_cache", "latency", "roofline", "worksheet"])
def test_every_place_of_every_slider_is_a_value(name):
    """The ends and some places between: moved there, the slider stays there."""
    live = Live(name)
    for each in calculator.spec(name)["inputs"]:
        if each["kind"] == "number":
            slider = live.slider(each["id"])
            for place in range(slider.min, slider.max + 1, max(1, slider.max // 9)):
                slider.value = place
                assert place == slider.value
                assert each["min"] <= live.field(each["id"]).value <= each["max"]


def test_the_page_learns_the_names(monkeypatch):
    """A script that a notebook may run, with every number's name and unit; in replay no script."""
    shown = []
    monkeypatch.setattr(alive, "display", shown.append)

    calculator.sliders("latency", [CONSTANTS])
    calculator.sliders("latency", [CONSTANTS], replay=True)

    (script,) = (each._repr_mimebundle_()["application/javascript"] for each in shown)
    _, data = script.rsplit("})\n(", 1)
    told = json.loads(data.removesuffix(");"))["inputs"]
    assert [("Prompt", "tokens"), ("Output", "tokens")] == [(i["label"], i["unit"]) for i in told]
