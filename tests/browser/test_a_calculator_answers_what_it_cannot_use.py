"""Whatever is typed, pasted or linked: a right number, or the old one and a word. Never NaN."""

import pytest
from playwright.sync_api import expect

from tests.calculator_page import (
    LATENCY,
    WORKSHEET,
    expected,
    kept,
    panel,
    rates_of,
    said,
    shown,
    typed,
)

pytestmark = pytest.mark.browser

HIT_RATE = "Hit rate, of the prompt tokens"
PRICE = "Uncached input, dollars per million tokens"


@pytest.fixture
def worksheet(visit):
    """The page; at the end nothing has failed, and no part of it is not a number."""
    seen = visit(WORKSHEET)
    yield seen.page
    text = panel(seen.page).inner_text()
    assert not any(wrong in text for wrong in ("NaN", "undefined", "Infinity", "null"))
    assert seen.complaints == []


def noted(page, label):
    """What stands beside a field."""
    field = panel(page).get_by_label(label, exact=True)
    (name, *_) = field.get_attribute("aria-describedby").split()
    return page.locator(f"#{name}").inner_text()


@pytest.mark.parametrize(
    ("label", "text", "value", "note"),
    [
        ("Prompt, tokens", "", "890", "Prompt: nothing was entered; 890 is used."),
        ("Prompt, tokens", "1e", "1", "Prompt: that is not a number; 1 is used."),
        ("Prompt, tokens", "-5", "1", "Prompt: “-5” is below the smallest value; 1 is used."),
        ("Prompt, tokens", "1e9", "1000000", "Prompt: “1e9” is above the largest value"),
        ("Prompt, tokens", "12.5", "13", "Prompt: rounded to 13."),
        ("Prompt, tokens", "2,000", "2000", "Prompt: the comma was left out"),
        ("Prompt, tokens", "1,000,000", "1000000", "Prompt: the comma was left out"),
        ("Prompt, tokens", "1,5", "2", "Prompt: read as 2."),
        (PRICE, "1.5.2", "1.52", "Uncached input: “.” has no place there and was left out."),
        (PRICE, "1,5,2", "1.52", "Uncached input: the comma is read as a point."),
        (HIT_RATE, "60", "0.6", "Hit rate: read as 60%."),
        (HIT_RATE, "0,3", "0.3", "Hit rate: the comma is read as a point."),
        (HIT_RATE, "30%", "0.3", "Hit rate: read as 30%."),
        (HIT_RATE, "200", "1", "Hit rate: “200” is above the largest value; 1 is used."),
        (PRICE, "0", "0", ""),
        (PRICE, "0.00000015", "0.00000015", "Is the unit right?"),
        (PRICE, "150000", "10000", "Is the unit right?"),
    ],
)
def test_what_is_typed_is_used_or_answered(worksheet, label, text, value, note):
    """Beside the field, and in the region that speaks."""
    page = worksheet
    field = typed(page, label, text)
    assert field.input_value() == value
    assert note in noted(page, label)
    assert note in said(page)


def test_a_letter_is_not_dropped_without_a_word(worksheet):
    """A browser would turn 0.15k into 0.15 and say nothing."""
    field = panel(worksheet).get_by_label(PRICE)
    field.fill("")
    field.press_sequentially("0.15k")
    assert noted(worksheet, PRICE) == (
        "! Uncached input: “k” is no part of a number and was left out."
    ).removeprefix("! ")
    assert field.input_value() == "0.15"


def test_a_comma_before_other_digits_is_thousands_at_most(worksheet):
    """Where the digits behind it are no longer those that were typed there, nothing is guessed."""
    field = panel(worksheet).get_by_label("Prompt, tokens")
    field.fill("")
    field.press_sequentially("12,34")
    field.press("Backspace")
    field.press_sequentially("5")
    field.blur()
    assert field.input_value() == "1235"


def test_a_note_goes_when_the_old_number_is_typed_again(worksheet):
    """A browser tells no change then."""
    typed(worksheet, PRICE, "-5")
    typed(worksheet, PRICE, "0")
    assert noted(worksheet, PRICE) == ""


def test_a_number_is_not_pasted_into_another(worksheet):
    """2.5 behind 1.5 would be 1.525."""
    page = worksheet
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("navigator.clipboard.writeText('2.5')")
    field = panel(page).get_by_label(PRICE)
    field.fill("1.5")
    field.press("Control+v")
    assert field.input_value() == "2.5"


@pytest.mark.parametrize(
    ("text", "value", "note"),
    [
        ("0.15 $/1k", "1", "Uncached input: “0.15 $/1k” is not a number; 1 is used."),
        ("0,15", "0.15", "Uncached input: read as $0.15."),
        (" 3 ", "3", ""),
        ("2.5", "2.5", ""),
    ],
)
def test_what_is_pasted_counts_as_a_whole_or_not_at_all(worksheet, text, value, note):
    """A browser would keep the digits of anything."""
    page = worksheet
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("(text) => navigator.clipboard.writeText(text)", text)
    field = panel(page).get_by_label(PRICE)
    field.press("Control+a")
    field.press("Control+v")
    field.blur()
    assert field.input_value() == value
    assert noted(page, PRICE) == note


def test_half_a_number_waits(worksheet):
    """While 890 is typed, 8 and 89 are numbers; 60 of a fraction is asked about at the end only."""
    page = worksheet
    rates = rates_of(page)
    field = panel(page).get_by_label(HIT_RATE)
    field.fill("60")
    assert shown(page) == expected("worksheet", rates)
    assert noted(page, HIT_RATE) == ""
    field.fill("0.7")
    assert shown(page) == expected("worksheet", rates, hit_rate=0.7)


def test_a_note_goes_when_its_field_is_right_again(worksheet):
    """No old reproach beside a right number."""
    typed(worksheet, "Prompt, tokens", "-5")
    typed(worksheet, "Prompt, tokens", "900")
    assert noted(worksheet, "Prompt, tokens") == ""
    panel(worksheet).get_by_label("Prompt, tokens").press("x")
    panel(worksheet).get_by_label("Prompt, tokens").blur()
    typed(worksheet, "Prompt, tokens", "800")
    assert noted(worksheet, "Prompt, tokens") == ""


@pytest.mark.parametrize(
    ("hash_", "values"),
    [
        ("#worksheet-prompt_tokens-1000-hit_rate-0_25", {"prompt_tokens": 1000, "hit_rate": 0.25}),
        ("#worksheet-price_cached-0.05-rates-_chapter_constants", {"price_cached": 0.05}),
        ("#worksheet-price_uncached-1e-7", {"price_uncached": 1e-7}),
    ],
)
def test_a_link_opens_with_its_numbers(visit, hash_, values):
    """A point may be written as such; numbers may have exponents."""
    page = visit(WORKSHEET + hash_).page
    rates = rates_of(page)
    if "rates" in hash_:
        values = values | {"rates": "chapter_constants"}
    assert shown(page) == expected("worksheet", rates, **values)
    expect(panel(page)).to_be_in_viewport()


def test_every_value_comes_back_from_its_link(visit, served):
    """What is set in one page is set in another; other scripts can look the address up."""
    page = visit(WORKSHEET).page
    for label, text in (
        ("Prompt, tokens", "123456"),
        (HIT_RATE, "0.3333"),
        (PRICE, "0.00000015"),
        ("Served at once, times one user's throughput", "2.75"),
    ):
        typed(page, label, text)
    panel(page).get_by_label("Rates").select_option("chapter_constants")
    hash_ = kept(page)
    page.evaluate("(hash) => document.querySelector(hash)", hash_)
    again = visit(WORKSHEET + hash_).page
    assert shown(again) == shown(page)
    assert kept(again) == hash_


def test_an_old_link_of_the_small_calculator_still_works(visit):
    """All values written out, in the form that was used before."""
    page = visit(LATENCY + "#latency-prompt_tokens-890-output_tokens-53").page
    wanted = expected("latency", rates_of(page), prompt_tokens=890, output_tokens=53)
    assert shown(page) == wanted


@pytest.mark.parametrize(
    ("hash_", "values", "note"),
    [
        ("prompt_tokens-NaN-output_tokens-53", {"output_tokens": 53}, "“NaN” is not a number"),
        ("prompt_tokens--5-output_tokens-53", {"prompt_tokens": 100, "output_tokens": 53}, "“-5”"),
        ("prompt_tokens-1e9-output_tokens-", {"prompt_tokens": 32000}, "nothing was entered"),
        ("prompt_tokens-%3Cb%3Ex%3C/b%3E", {}, "“<b>x</b>” is not a number"),
        ("speed-9-output_tokens-53", {"output_tokens": 53}, "“speed”, which is no input here"),
        ("rates-_somebody", {}, "“somebody” is not among the choices"),
        ("constructor-1-__proto__-2", {}, "“constructor”"),
        ("%E0%A4%A", {}, ""),
    ],
)
def test_a_broken_link_is_mended_and_said(visit, hash_, values, note):
    """Never markup from the address, always a usable calculator."""
    seen = visit(f"{LATENCY}#latency-{hash_}")
    page = seen.page
    assert shown(page) == expected("latency", rates_of(page), **values)
    if note:
        assert note in panel(page).inner_text()
        assert note in said(page)
    assert panel(page).locator("b").count() == 0
    assert seen.complaints == []


def test_a_link_to_a_heading_is_left_alone(visit):
    """The calculator begins as it does, and the address stays."""
    page = visit(LATENCY + "#two-rates").page
    assert shown(page) == expected("latency", rates_of(page))
    panel(page).get_by_role("button", name="Reset").click()
    assert kept(page) == "#two-rates"
