"""The worksheet in a static page: the chapter's bill to the dollar, with and without a server."""

import csv
import io

import pytest

from tests.calculator_page import (
    WORKSHEET,
    expected,
    kept,
    panel,
    press,
    rates_of,
    said,
    shown,
    table,
    typed,
)
from tests.parity import SPECS

pytestmark = pytest.mark.browser

LABELS = ["Uncached input", "Cached input", "Cache writes", "Output", "Total", "Without the cache"]
TOKENS = ["712 M", "1,068 M", "0 M", "106 M", "", ""]
PRICES = ["$1.00", "$0.10", "$1.00", "$4.00", "", ""]
COSTS = ["$712", "$107", "$0", "$424", "$1,243", "$2,204"]
BILL = dict(zip(LABELS, map(list, zip(TOKENS, PRICES, COSTS, strict=True)), strict=True))
"""Section 31.6: 890 in, 53 out, 60% cached, two million a month at 1, 0.10 and 4 dollars."""


@pytest.fixture(params=["http", "file"])
def worksheet(request, visit, fixture_site):
    """The page over http and by double click."""
    home = fixture_site.as_uri() + "/" if request.param == "file" else None
    seen = visit(WORKSHEET, home=home)
    yield seen
    assert seen.outside == []
    assert seen.complaints == []


def test_the_chapters_bill_is_what_it_begins_with(worksheet):
    """Every line of the bill as printed."""
    assert table(worksheet.page, "A month's bill") == BILL
    assert shown(worksheet.page) == expected("worksheet", rates_of(worksheet.page))


def test_the_chapters_bill_can_be_entered_by_keyboard_alone(worksheet):
    """From another shape, with Tab and digits only, and the words say it."""
    page = worksheet.page
    page.get_by_role("button", name="Agent").press("Enter")
    assert table(page, "A month's bill") != BILL
    panel(page).get_by_label("Prompt", exact=True).focus()
    for value in ("890", "53", "0.6", "2000000"):
        page.keyboard.press("Tab")  # from the slider to its number field
        page.keyboard.press("Control+a")
        page.keyboard.type(value)
        page.keyboard.press("Tab")
    assert table(page, "A month's bill") == BILL
    assert "costs $1,243" in said(page)
    assert "$2,204" in said(page)


def test_every_preset_and_price_sheet_gives_what_python_computes(worksheet):
    """One click each; those that need rates of another page say so."""
    page = worksheet.page
    rates = rates_of(page)
    spec = SPECS["worksheet"]
    for each in [*spec["presets"], *spec["price_sheets"]]:
        panel(page).get_by_role("button", name="Reset").click()
        panel(page).get_by_role("button", name=each["label"], exact=True).click()
        assert shown(page) == expected("worksheet", rates, **each["values"]), each["label"]
        assert each["source"] in panel(page).inner_text()


def test_sliders_of_wide_ranges_move_through_two_digit_values(worksheet):
    """890 is followed by 900 and 910; a page is ten stops; the ends are the limits."""
    page = worksheet.page
    rates = rates_of(page)
    for key, tokens in (
        ("ArrowRight", 900),
        ("ArrowRight", 910),
        ("PageUp", 1100),
        ("Home", 1),
        ("End", 1_000_000),
    ):
        press(page, "Prompt", key)
        assert shown(page) == expected("worksheet", rates, prompt_tokens=tokens)
    press(page, "Hit rate", "PageUp")
    assert shown(page) == expected("worksheet", rates, prompt_tokens=tokens, hit_rate=0.65)


def test_the_csv_holds_everything_with_its_unit(worksheet):
    """Inputs, the rates that were chosen and all outputs; unrounded beside what is shown."""
    page = worksheet.page
    typed(page, "Prompt, tokens", "1000")
    with page.expect_download() as download:
        panel(page).get_by_role("button", name="Save as CSV").click()
    assert download.value.suggested_filename == "two-halves-worksheet.csv"
    text = download.value.path().read_bytes().decode("utf-8")
    assert text.count("\r\n") == text.count("\n")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert list(rows[0]) == ["kind", "id", "label", "value", "shown", "unit"]
    by_id = {(row["kind"], row["id"]): row for row in rows}
    spec = SPECS["worksheet"]
    assert by_id["input", "prompt_tokens"] == {
        "kind": "input",
        "id": "prompt_tokens",
        "label": "Prompt",
        "value": "1000",
        "shown": "1,000",
        "unit": "tokens",
    }
    assert by_id["input", "price_cached"]["unit"] == "dollars per million tokens"
    assert by_id["input", "rates"]["shown"] == "your run, fitted"
    assert float(by_id["rates", "a_s"]["value"]) == rates_of(page)[0].curve.a_s
    # 400 uncached at 1, 600 cached at 0.1, 53 out at 4 dollars a million, two million times
    assert float(by_id["output", "cost_total"]["value"]) == pytest.approx(800 + 120 + 424)
    assert by_id["output", "cost_total"]["unit"] == "dollars"
    assert [row["id"] for row in rows if row["kind"] == "output"] == [
        each["id"] for each in spec["outputs"]
    ]
    assert all(row["unit"] for row in rows if row["kind"] == "output")


def test_the_csv_holds_no_formula(worksheet):
    """Whatever a set of rates is called, a spreadsheet shows it as words."""
    written = worksheet.page.evaluate("""() => {
      const T = TwoHalves, place = document.querySelector(".th-calculator").dataset;
      const spec = JSON.parse(document.getElementById("th-spec-worksheet").textContent);
      const rates = [{ ...JSON.parse(place.rates)[0], label: "=1+1", source: "@x" }];
      const { values } = T.begin(spec, {}, rates);
      return T.asCsv(spec, values, rates, T.outcome("worksheet", spec, values, rates));
    }""")
    rows = list(csv.DictReader(io.StringIO(written, newline="")))
    (named,) = [row for row in rows if row["id"] == "source"]
    assert (named["label"], named["value"]) == ("'=1+1", "'@x")
    assert not [cell for row in rows for cell in row.values() if cell[:1] in "=+@" and cell]


def test_without_javascript_the_right_tables_stand_there(visit):
    """The chapter's bill and every preset, readable without any control."""
    page = visit(WORKSHEET, java_script_enabled=False).page
    text = page.locator("main").inner_text()
    for cell in ("$712", "$107", "$424", "$1,243", "$2,204", "Answer from documents"):
        assert cell in text
    assert page.locator(".th-calculator :is(input, button, select)").count() == 0


def test_on_paper_the_results_stand_and_the_controls_do_not(visit):
    """A reader's own figures print, with the values they were computed from."""
    page = visit(WORKSHEET).page
    typed(page, "Prompt, tokens", "1000")
    page.emulate_media(media="print")
    box = panel(page)
    assert box.locator(".th-results").first.is_visible()
    assert box.locator(".th-picture svg").is_visible()
    assert box.get_by_label("Prompt, tokens").is_visible()
    assert box.locator(".th-source").first.inner_text() == "Set by you."
    assert box.locator(".th-source").nth(1).inner_text().startswith("From: ")
    for control in ("input[type=range]", "button", ".th-told"):
        assert not any(each.is_visible() for each in box.locator(control).all())


@pytest.mark.parametrize("width", [1200, 718, 400])
def test_on_paper_nothing_stands_upon_something_else(visit, width):
    """718 pixels are A4 with its margins."""
    page = visit(WORKSHEET, viewport={"width": width, "height": 1000}).page
    page.emulate_media(media="print")
    parts = panel(page).locator(".th-source, .th-unit, .th-input label, .th-headline, .th-outcome")
    boxes = [each.bounding_box() for each in parts.all() if each.is_visible()]
    assert len(boxes) > 20
    for place, one in enumerate(boxes):
        for other in boxes[:place]:
            across = min(one["x"] + one["width"], other["x"] + other["width"]) - max(
                one["x"], other["x"]
            )
            down = min(one["y"] + one["height"], other["y"] + other["height"]) - max(
                one["y"], other["y"]
            )
            assert min(across, down) < 1, (one, other)


def test_two_calculators_of_a_page_do_not_disturb_each_other(visit):
    """Each keeps its own numbers, and its own part of the address."""
    page = visit(WORKSHEET).page
    first, second = panel(page, 0), panel(page, 1)
    first.get_by_label("Output, tokens").fill("60")
    second.get_by_label("Output, tokens").fill("70")
    of_first, _, of_second = kept(page).partition("-latency-")
    assert of_first.startswith("#worksheet-prompt_tokens-890-output_tokens-60-hit_rate-0_6-")
    assert of_second.startswith("prompt_tokens-4247-output_tokens-70-")
    first.get_by_role("button", name="Reset").click()
    assert kept(page) == f"#latency-{of_second}"
    assert shown(page, 1) == expected("latency", rates_of(page, 1), output_tokens=70)
    second.get_by_role("button", name="Reset").click()
    assert kept(page) == ""
