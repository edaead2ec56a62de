"""The worksheet as a reader uses it in JupyterLab: by keyboard, by number, by button."""

import contextlib
import pathlib
import re

import pytest

from tests.notebook_widgets import CELL
from tests.servers import jupyterlab
from tests.servers.jupyterlab import MINUTES
from twohalves.commands.lab import QUIET
from twohalves.show.calculator.spec import spec
from twohalves.show.calculator.words import with_unit

pytestmark = pytest.mark.browser

PROJECT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """JupyterLab on a folder with one small notebook; yields its address."""
    folder = tmp_path_factory.mktemp("lab") / "Žofie Übung"
    folder.mkdir()
    jupyterlab.write_notebook(folder / "worksheet.ipynb", CELL)
    variables = {"PYTHONPATH": str(PROJECT)}
    with jupyterlab.running(folder, *QUIET, variables=variables) as address:
        yield address


@pytest.fixture(scope="module")
def page(chromium, lab):
    """The notebook open, its worksheet alive and named."""
    context = chromium.new_context(viewport={"width": 1400, "height": 1300})
    page = context.new_page()
    jupyterlab.run_all(page, lab, "worksheet.ipynb")
    page.locator(".th-live [role=status] .th-sentence").wait_for(timeout=2 * MINUTES)
    yield page
    context.close()


@pytest.fixture(autouse=True)
def _from_the_start(page):
    with _redrawn(page):
        page.locator(".th-reset").click()


@contextlib.contextmanager
def _redrawn(page):
    """Until Python has answered what is done meanwhile: it never says the same text twice."""
    said = page.locator(".th-said .widget-html-content")
    before = said.inner_html()
    yield
    page.wait_for_function(
        "before => document.querySelector('.th-said .widget-html-content').innerHTML !== before",
        arg=before,
    )


def _holds(page, name, value):
    """Wait until a number field shows a value."""
    page.wait_for_function(
        "([name, value]) => document.querySelector(`.th-field-${name} input`).value === value",
        arg=[name, value],
    )


def _wait_for(page, words):
    page.locator(".th-said", has_text=words).wait_for()


def _field(page, name):
    return page.locator(f".th-field-{name} input")


def _enter(page, name, text, *, pasted=False):
    field = _field(page, name)
    field.focus()
    page.keyboard.press("ControlOrMeta+a")
    if pasted:
        page.keyboard.insert_text(text)
    else:
        page.keyboard.type(text)
    page.keyboard.press("Tab")
    return field


def _cells(page, label):
    row = page.locator(
        ".th-tables tr", has=page.locator("th", has_text=re.compile(f"^{label}"))
    ).first
    return row.locator("td").all_inner_texts()


def test_the_worked_example_is_read_from_the_page(page):
    """890 in, 53 out, 60% cached, two million requests, the three prices: the printed bill."""
    lines = ("Uncached input", "Cached input", "Output", "Total", "Without the cache")

    assert ["$712", "$107", "$424", "$1,243", "$2,204"] == [
        _cells(page, line)[-1] for line in lines
    ]
    assert ["440 ms", "191 ms"] == _cells(page, "Time to first token")
    assert "no cache: 718 ms" in page.locator(".th-picture svg").text_content()


def test_a_slider_is_moved_by_keyboard_and_says_its_value(page):
    """One place up from 890 are 900 tokens; the handle has a name and tells values, not places."""
    handle = page.locator(".th-slider-prompt_tokens [role=slider]")
    assert ("Prompt, tokens", "890 tokens") == (
        handle.get_attribute("aria-label"),
        handle.get_attribute("aria-valuetext"),
    )

    handle.focus()
    page.keyboard.press("ArrowRight")

    _wait_for(page, "900 tokens in")
    assert "900 tokens" == handle.get_attribute("aria-valuetext")
    _holds(page, "prompt_tokens", "900")
    page.keyboard.press("End")
    _wait_for(page, "1,000,000 tokens in")
    assert "1,000,000 tokens" == handle.get_attribute("aria-valuetext")


def test_every_place_is_said_as_python_says_its_value(page):
    """What the page's script says of a place: the number field's value, with Python's words."""
    inputs = {each["id"]: each for each in spec("worksheet")["inputs"]}
    for name, keys in {
        "price_cached": ("Home", "ArrowRight", "ArrowRight", "PageUp"),
        "hit_rate": ("ArrowLeft", "PageUp", "End"),
        "at_once": ("ArrowRight", "PageUp"),
    }.items():
        handle = page.locator(f".th-slider-{name} [role=slider]")
        for key in keys:
            before = _field(page, name).input_value()
            handle.press(key)
            page.wait_for_function(
                "([name, before]) => "
                "document.querySelector(`.th-field-${name} input`).value !== before",
                arg=[name, before],
            )
            value = float(_field(page, name).input_value())
            assert with_unit(inputs[name], value) == handle.get_attribute("aria-valuetext")


def test_a_number_is_typed_and_the_picture_follows(page):
    """4,000 tokens at 2,025 a second, none from cache, and 53 at 190: 1.98 s and 0.28 s."""
    _enter(page, "hit_rate", "0")
    _enter(page, "prompt_tokens", "4000")

    _wait_for(page, "4,000 tokens in")
    assert "with cache: 2.25 s" in page.locator(".th-picture svg").text_content()


def test_a_preset_and_a_price_sheet_are_buttons(page):
    """Six thousand tokens with 30% from cache; then what is not cached is charged as written."""
    page.get_by_role("button", name="Answer from documents").press("Enter")
    _wait_for(page, "6,000 tokens in and 300 tokens out")
    _holds(page, "hit_rate", "0.3")

    page.get_by_role("button", name="With a charge for writes").click()
    _wait_for(page, "$13,260")  # 8.4 G at 1.25, 3.6 G at 0.10, 0.6 G at 4
    assert ["8,400 M", "$1.25", "$10,500"] == _cells(page, "Cache writes")


@pytest.mark.parametrize("pasted", [False, True], ids=["typed", "pasted"])
def test_a_comma_is_a_decimal_point(page, pasted):
    """0,7 would silently become 07."""
    _enter(page, "hit_rate", "0,7", pasted=pasted)

    _wait_for(page, "skips 623 tokens")
    _holds(page, "hit_rate", "0.7")


def test_a_comma_typed_into_a_whole_number_is_left_out(page):
    """As a point, 1,234 tokens would be one."""
    _enter(page, "prompt_tokens", "1,234")

    _wait_for(page, "1,234 tokens in")


def test_thousands_may_be_pasted(page):
    """1,234 tokens are one thousand and some."""
    _enter(page, "prompt_tokens", "1,234", pasted=True)

    _wait_for(page, "1,234 tokens in")


def test_what_is_out_of_range_is_said(page):
    """Beside the field and in the live region; the field shows what is used."""
    _enter(page, "price_uncached", "150000")

    _wait_for(page, "“150000” is above the largest value; 10,000 is used.")
    _holds(page, "price_uncached", "10000")
    page.locator(".th-live .th-note:has-text('above the largest')").nth(1).wait_for()


def test_a_percentage_is_understood_and_said(page):
    """60 is taken for 0.6."""
    _enter(page, "hit_rate", "60")

    _wait_for(page, "Hit rate: read as 60%.")
    _holds(page, "hit_rate", "0.6")


@pytest.mark.parametrize("text", ["0.15 $/1k", "0.5.5", "1e"])
def test_a_pasted_text_that_is_no_number_is_refused(page, text):
    """Its digits alone would be another number."""
    _enter(page, "price_uncached", text, pasted=True)

    _wait_for(page, f"“{text}” is not a number")
    _holds(page, "price_uncached", "1")


def test_an_empty_field_gets_its_value_back(page):
    """And it is said; the next figure ends the matter."""
    _enter(page, "output_tokens", "")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Delete")
    page.keyboard.press("Tab")

    _wait_for(page, "nothing was entered")
    _holds(page, "output_tokens", "53")
    _enter(page, "output_tokens", "54")
    _wait_for(page, "54 tokens out")
    page.wait_for_function("() => !document.querySelector('.th-live .th-note')")
