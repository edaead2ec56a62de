"""A calculator in a notebook: the right figures after every change, drawn once."""

import pytest

from tests.notebook_widgets import Live, counted, read
from twohalves.show.calculator import Start

ONCE = 1


def _bill(live):
    lines = ("Uncached input", "Cached input", "Output", "Total", "Without the cache")
    return [live.cells(line)[-1] for line in lines]


def test_the_worked_example_stands_there_at_the_start():
    """712, 1,068 and 106 million tokens at 1.00, 0.10 and 4.00; all input uncached 1,780."""
    live = Live()

    assert ["$712", "$107", "$424", "$1,243", "$2,204"] == _bill(live)
    assert "890 tokens in and 53 tokens out" in read(live.said.value)


def test_the_worked_example_is_reached_by_hand():
    """From other figures, by typing its four numbers."""
    live = Live(prompt_tokens=Start(4000, "here"), output_tokens=Start(200, "here"))
    for name, value in (
        ("prompt_tokens", 890),
        ("output_tokens", 53),
        ("hit_rate", 0.6),
        ("requests", 2_000_000),
    ):
        live.field(name).value = value

    assert ["$712", "$107", "$424", "$1,243", "$2,204"] == _bill(live)


def test_a_slider_moves_its_field_and_one_picture():
    """One place up from 890 tokens are 900: 444 ms at 2,025 a second, 53 at 190 are 279 ms."""
    live = Live()
    redrawn = counted(live.picture)

    live.slider("prompt_tokens").value += 1

    assert 900 == live.field("prompt_tokens").value
    assert ONCE == len(redrawn)
    assert "no cache: 723 ms" in live.picture.value


def test_a_field_moves_its_slider_and_one_picture():
    """4,247 stands between the places 4,200 and 4,300: shown at the lower one, kept as it is."""
    live = Live()
    live.field("prompt_tokens").value = 4200
    place = live.slider("prompt_tokens").value
    redrawn = counted(live.picture)

    live.field("prompt_tokens").value = 4247

    assert 4247 == live.field("prompt_tokens").value
    assert place == live.slider("prompt_tokens").value
    assert ONCE == len(redrawn)
    assert "4,247 tokens in" in read(live.said.value)


@pytest.mark.parametrize("preset", ["Chat", "Half the prompt"])
def test_a_preset_changes_four_inputs_and_one_picture(preset):
    """All that it names, at once; the picture, the words and the tables are given once."""
    live = Live()
    widgets = (live.picture, live.said, live.tables)
    redrawn = [counted(each) for each in widgets]
    live.press("Agent")
    assert [ONCE] * 3 == list(map(len, redrawn))

    live.press(preset)

    assert [2 * ONCE] * 3 == list(map(len, redrawn))


def test_a_preset_leaves_what_it_does_not_name():
    """A kind of request keeps the reader's prices and rates."""
    live = Live()
    live.field("price_output").value = 8
    live.choice("rates").value = "own"

    live.press("Chat")

    assert 1500 == live.field("prompt_tokens").value
    assert 70 == live.slider("hit_rate").value
    assert 8 == live.field("price_output").value
    assert "your run" in live.said.value


def test_buttons_stand_under_the_names_of_their_groups():
    """As data/worksheet.json has them: none is lost, and each line says what it is about."""
    groups = ["Shapes of requests", "One lever each", "Price sheets"]

    assert groups == Live().titles()[: len(groups)]


def test_prices_are_set_as_a_sheet():
    """Every token not found is written at 1.25: 712 million for $890."""
    live = Live()

    live.press("With a charge for writes")

    assert ["712 M", "$1.25", "$890"] == live.cells("Cache writes")
    assert 1.25 == live.field("price_written").value


def test_other_rates_give_other_seconds():
    """890 tokens at 100 a second and 53 at 10: 8.9 s and 5.3 s without a cache."""
    live = Live()
    redrawn = counted(live.picture)

    live.choice("rates").value = "own"

    assert ONCE == len(redrawn)
    assert "8.90 s" == live.cells(r"Time to first token \(prefill\)")[0]
    assert ["5.30 s", "5.30 s"] == live.cells("Decode")


def test_reset_goes_back_to_the_start():
    """To what it began with, not to the defaults; and nothing more is said of what was typed."""
    live = Live(prompt_tokens=Start(1234, "counted in this notebook"))
    before = (live.picture.value, live.tables.value, read(live.said.value))
    live.press("Agent")
    live.field("hit_rate").value = 60

    live.press("Reset")

    assert 1234 == live.field("prompt_tokens").value
    assert before == (live.picture.value, live.tables.value, read(live.said.value))
    assert "counted in this notebook" in live.row("prompt_tokens")
    assert "read as" not in live.row("hit_rate")


def test_a_start_between_two_places_is_not_moved_by_the_slider():
    """A measured hit rate of 0.5999 is no place of the slider: the figure stays, also on reset."""
    live = Live(hit_rate=Start(0.5999, "measured"))

    assert 0.5999 == live.field("hit_rate").value
    assert 59 == live.slider("hit_rate").value
    live.press("Reset")
    assert 0.5999 == live.field("hit_rate").value


def test_the_smallest_slider_place_is_the_smallest_value():
    """Both ends of every slider stand for both ends of the input."""
    live = Live("latency")
    slider, field = live.slider("prompt_tokens"), live.field("prompt_tokens")

    slider.value = slider.min
    assert 100 == field.value
    slider.value = slider.max
    assert 32000 == field.value
