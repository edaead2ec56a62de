"""What is typed, pasted or carried by a link is used as it is, used with a word, or refused."""

import pytest

from twohalves.errors import SlidersUnusable
from twohalves.formulas import constant_rates
from twohalves.show.calculator import RateSet, Start, sliders, spec
from twohalves.show.calculator.accept import Accepted, accept_choice, accept_number
from twohalves.show.calculator.start import begin

TOKENS = {"label": "Prompt", "unit": "tokens", "min": 1, "max": 9000, "decimals": 0} | {
    "format": "count"
}
SHARE = {"label": "Hit rate", "unit": "of it", "min": 0, "max": 1, "decimals": 4} | {
    "format": "percent",
    "percent": True,
}
PRICE = {"label": "Output", "unit": "dollars per million tokens", "min": 0, "max": 500} | {
    "format": "dollars",
    "decimals": 4,
    "plausible": [0.01, 100],
}


@pytest.mark.parametrize(
    ("asked", "value", "note"),
    [
        ("53", 53, ""),
        (" 53\t", 53, ""),
        ("+53", 53, ""),
        ("53.", 53, ""),
        ("5.3e1", 53, ""),
        ("1,234", 1234, ""),
        (53, 53, ""),
        (53.0, 53, ""),
        (53.4, 53, "rounded to 53."),
        ("53.5", 54, "rounded to 54."),
        ("53,5", 54, "read as 54."),
        ("0.5", 1, "“0.5” is below the smallest value; 1 is used."),
        ("9000.4", 9000, "“9000.4” is above the largest value; 9,000 is used."),
        ("1e-9", 1, "“1e-9” is below the smallest value; 1 is used."),
        (None, 7, "nothing was entered; 7 is used."),
        (float("nan"), 7, "“nan” is not a number; 7 is used."),
        (True, 7, "“True” is not a number; 7 is used."),
        ("fifty-three", 7, "“fifty-three” is not a number; 7 is used."),
        ("5 3", 7, "“5 3” is not a number; 7 is used."),
        ("--5", 7, "“--5” is not a number; 7 is used."),
        ("1.000.000", 7, "“1.000.000” is not a number; 7 is used."),
        ("５３", 7, "“５３” is not a number; 7 is used."),
        ("9" * 400, 9000, f"“{'9' * 20}” is above the largest value; 9,000 is used."),
        ("x" * 400, 7, f"“{'x' * 20}” is not a number; 7 is used."),
    ],
)
def test_a_count(asked, value, note):
    """A whole number within its limits; the one before where there is none in the text."""
    told = f"Prompt: {note}" if note else ""
    assert Accepted(value, told) == accept_number(TOKENS, asked, 7)


@pytest.mark.parametrize(
    ("asked", "value", "note"),
    [
        ("0.6", 0.6, ""),
        ("0,6", 0.6, "read as 60%."),
        ("60", 0.6, "read as 60%."),
        (60, 0.6, "read as 60%."),
        ("60%", 0.6, ""),
        ("60,5 %", 0.605, ""),
        ("1", 1, ""),
        ("1.01", 0.0101, "read as 1.01%."),
        ("100.5", 1, "“100.5” is above the largest value; 1 is used."),
        ("0.00001", 0, "rounded to 0%."),
        ("-60%", 0, "“-60%” is below the smallest value; 0 is used."),
        ("%", 0.3, "“%” is not a number; 0.3 is used."),
        ("6%0", 0.3, "“6%0” is not a number; 0.3 is used."),
    ],
)
def test_a_fraction(asked, value, note):
    """Above one it is a percentage; that is said where no sign of percent says it."""
    told = f"Hit rate: {note}" if note else ""
    assert Accepted(value, told) == accept_number(SHARE, asked, 0.3)


@pytest.mark.parametrize(
    ("asked", "value", "note"),
    [
        ("0", 0, ""),
        ("0.15", 0.15, ""),
        ("0,15", 0.15, "read as $0.15."),
        ("0,150", 0.15, "read as $0.15."),
        ("0.009", 0.009, "$0.009 per million tokens is unusual. Is the unit right?"),
        ("100.01", 100.01, "$100 per million tokens is unusual. Is the unit right?"),
        ("0.00015", 0.0002, "rounded to $0.0002. Is the unit right?"),
        ("0.00000015", 0, "rounded to $0. Is the unit right?"),
        ("15000", 500, "“15000” is above the largest value; 500 is used. Is the unit right?"),
        ("-15", 0, "“-15” is below the smallest value; 0 is used."),
        ("$3", 2, "“$3” is not a number; 2 is used."),
    ],
)
def test_a_price(asked, value, note):
    """One that is nobody's is used and questioned: the unit was probably another."""
    told = f"Output: {note}" if note else ""
    assert Accepted(value, told) == accept_number(PRICE, asked, 2)


@pytest.mark.parametrize("asked", ["-0", "-0.0", -0.0, "-0%"])
def test_zero_has_no_sign(asked):
    """A page that showed −0% would puzzle."""
    assert "0.0" == str(float(accept_number(SHARE, asked, 0.3).value))


def test_a_choice_is_one_that_exists():
    """Else the one before is kept, and what was asked for is quoted."""
    described = {"label": "Rates"}
    known = {"own": "your run", "chapter": "the chapter's"}

    assert Accepted("own") == accept_choice(described, " own ", known, "chapter")
    refused = accept_choice(described, "your run", known, "chapter")
    assert Accepted("chapter", "Rates: “your run” is not among the choices.") == refused
    nothing = accept_choice(described, None, known, "chapter")
    assert Accepted("chapter", "Rates: nothing was chosen.") == nothing


def _rates(name):
    return RateSet(id=name, label=name, source="a test", curve=constant_rates(2000, 190))


def test_a_calculator_begins_with_its_defaults_and_the_first_rates():
    """Each with the source that data/worksheet.json gives."""
    described = spec("worksheet")
    begun = begin(described, {}, [_rates("own"), _rates("chapter")])

    assert (890, 53, 0.6, "own") == tuple(
        begun.values[name] for name in ("prompt_tokens", "output_tokens", "hit_rate", "rates")
    )
    assert begun.sources == {each["id"]: each["source"] for each in described["inputs"]}
    assert begun.notes == []


def test_what_was_measured_takes_the_place_of_a_default():
    """With its own source; what cannot be used is said, and strangers are passed over."""
    start = {
        "prompt_tokens": Start(1233, "counted by your model"),
        "hit_rate": Start(1.4, "measured"),
        "rates": Start("chapter", "chosen"),
        "of_another_edition": Start(1, "an old link"),
    }
    begun = begin(spec("worksheet"), start, [_rates("own"), _rates("chapter")])

    assert (1233, "counted by your model") == (
        begun.values["prompt_tokens"],
        begun.sources["prompt_tokens"],
    )
    assert begun.values["rates"] == "chapter"
    assert begun.notes == ["Hit rate: read as 1.4%."]
    assert "of_another_edition" not in begun.values


@pytest.mark.parametrize("replay", [True, False])
@pytest.mark.parametrize(
    ("rates", "start", "why"),
    [
        ([], {}, "it has no rates to compute with"),
        (["own"] * 2, {}, "two have the same id: own, own"),
        ([{"id": "own"}], {}, "{'id': 'own'} is no RateSet"),
        (["own"], {"prompt_tokens": 443}, "prompt_tokens begins with 443, which is no Start"),
    ],
)
def test_a_cell_that_gives_a_calculator_too_little_is_told_what_it_needs(rates, start, why, replay):
    """At once, with what to give instead."""
    curve = constant_rates(2000, 190)
    known = [
        RateSet(id=each, label=each, source="", curve=curve) if each == "own" else each
        for each in rates
    ]
    with pytest.raises(SlidersUnusable) as refused:
        sliders("worksheet", known, start, replay=replay)
    assert why in refused.value.what
    assert "an id of its own" in refused.value.next_step
