"""Formats of the calculators: enough digits, a unit in its right number, never a false nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twohalves.show.calculator import spec, words

SIZES = st.floats(1e-12, 1e15)


@pytest.mark.parametrize(
    ("format_", "value", "text"),
    [
        ("dollars", 0, "$0"),
        ("dollars", 1242.8, "$1,243"),
        ("dollars", 400.50, "$401"),
        ("dollars", 400.49999999999994, "$401"),
        ("dollars", 99.99, "$99.99"),
        ("dollars", 99.995, "$100"),
        ("dollars", 3.755, "$3.76"),
        ("dollars", 1, "$1.00"),
        ("dollars", 0.99999, "$1.00"),
        ("dollars", 0.1, "$0.10"),
        ("dollars", 0.0005837, "$0.0005837"),
        ("dollars", 0.0000075, "$0.0000075"),
        ("dollars", -127.2, "−$127"),
        ("dollars", -0.045, "−$0.045"),
        ("dollars", 5e13, "$50,000,000,000,000"),
        ("millions", 1_068_000_000, "1,068 M"),
        ("millions", 0, "0 M"),
        ("millions", 25, "0.000025 M"),
        ("share", 0, "0.0%"),
        ("share", 0.0009, "<0.1%"),
        ("share", 0.001, "0.1%"),
        ("share", 0.9995, ">99.9%"),
        ("share", 1, "100.0%"),
        ("percent", 0.6, "60%"),
        ("percent", 0.2647, "26.47%"),
        ("percent", 0.00004, "<0.01%"),
        ("percent", 0.99996, ">99.99%"),
        ("percent", 1, "100%"),
        ("seconds", 1.8577, "1.86 s"),
        ("seconds", 0.4698, "470 ms"),
        ("seconds", 0.99949, "999 ms"),
        ("seconds", 0.9995, "1.00 s"),
        ("seconds", -0.99996, "−1.00 s"),
        ("seconds", 0, "0 ms"),
        ("seconds", 123456, "123,000 s"),
        ("amount", 1032.07, "1,032"),
        ("amount", 99.96, "100"),
        ("amount", 0.000278, "0.000278"),
        ("number", 16.79, "16.8"),
        ("number", 1, "1"),
        ("count", 2_000_000, "2,000,000"),
    ],
)
def test_a_figure_is_shown_in_its_format(format_, value, text):
    """By hand, halves and corners included."""
    assert text == words.FORMATS[format_](value)


@given(SIZES)
def test_more_than_nothing_is_shown_as_more_than_nothing(value):
    """A digit that is not 0, in every format for figures that may be small."""
    for name in ("amount", "dollars", "millions", "number", "seconds"):
        assert set("123456789") & set(words.FORMATS[name](value)), name


@given(SIZES)
def test_what_is_shown_is_what_it_is(value):
    """Read back, the text is within the half unit of its last digit: 0.5% covers three digits."""
    for name, scale in (("amount", 1), ("dollars", 1), ("number", 1), ("millions", 1e-6)):
        text = words.FORMATS[name](value).strip("$ M").replace(",", "")
        assert value * scale == pytest.approx(float(text), rel=0.00501), name


@pytest.mark.parametrize(
    ("calculator", "name", "value", "said"),
    [
        ("worksheet", "prompt_tokens", 890, "890 tokens"),
        ("worksheet", "prompt_tokens", 1, "1 token"),
        ("worksheet", "requests", 1, "1 request"),
        ("worksheet", "requests", 2_000_000, "2,000,000 requests"),
        ("worksheet", "hit_rate", 1, "100% of the prompt tokens"),
        ("worksheet", "price_output", 4, "$4.00 per million tokens"),
        ("worksheet", "machine_price", 0.5, "$0.50 an hour"),
        ("worksheet", "at_once", 3.5, "3.5 times one user's throughput"),
    ],
)
def test_an_input_is_said_with_its_unit(calculator, name, value, said):
    """In the singular where it is one; dollars stand before the figure, once."""
    [described] = [each for each in spec(calculator)["inputs"] if each["id"] == name]

    assert said == words.with_unit(described, value)
