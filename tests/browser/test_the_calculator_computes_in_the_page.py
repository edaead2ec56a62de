"""The calculator in a static page is alive, by keyboard, and shows what Python computes."""

import json
from pathlib import Path

import pytest

from twohalves.show import calculator

pytestmark = pytest.mark.browser

NOTEBOOK = "notebooks/31-01-two-halves.html"
RATES = calculator.Rates(prefill_tok_s=180.2, decode_tok_s=52.1)
VECTORS = json.loads(
    (Path(__file__).parents[1] / "vectors" / "latency.json").read_text(encoding="utf-8")
)


def expected(prompt, output):
    return calculator.texts(calculator.predict(prompt, output, RATES))


def shown(page):
    cells = page.locator(".th-results td").all()
    return {cell.get_attribute("data-output"): cell.inner_text() for cell in cells}


def test_the_keyboard_moves_it_to_what_python_computes(visit):
    """Arrows, pages, Home and End on both sliders; the number field and the words follow."""
    seen = visit(NOTEBOOK)
    page = seen.page
    prompt, output = (
        page.get_by_label("Prompt", exact=True),
        page.get_by_label("Output", exact=True),
    )
    assert shown(page) == expected(4247, 32)
    prompt.focus()
    for key, value in (
        ("ArrowRight", 4248),
        ("PageUp", 4348),
        ("PageDown", 4248),
        ("End", 32000),
        ("Home", 100),
    ):
        page.keyboard.press(key)
        assert shown(page) == expected(value, 32)
        assert prompt.get_attribute("aria-valuetext") == f"{value:,} tokens"
        assert page.get_by_label("Prompt, tokens").input_value() == str(value)
    output.focus()
    page.keyboard.press("Home")
    assert shown(page) == expected(100, 1)
    assert output.get_attribute("aria-valuetext") == "1 token"
    said = calculator.sentence(100, 1, expected(100, 1))
    page.get_by_role("status").get_by_text(said).wait_for()
    assert seen.complaints == []
    assert seen.outside == []


def test_a_typed_number_counts_and_a_wrong_one_is_answered(visit):
    """Half a number waits; what cannot be used is replaced, and the reader is told."""
    page = visit(NOTEBOOK).page
    field = page.get_by_label("Prompt, tokens")
    field.fill("890")
    assert shown(page) == expected(890, 32)
    field.fill("8")
    assert shown(page) == expected(890, 32)
    field.blur()
    assert shown(page) == expected(100, 32)
    status = page.get_by_role("status")
    status.get_by_text("Prompt: 8 is below the smallest value; 100 is used.").wait_for()
    field.fill("")
    field.blur()
    status.get_by_text("Prompt: nothing was entered; 100 is used.").wait_for()
    assert field.input_value() == "100"
    assert "NaN" not in page.locator(".th-calculator").inner_text()


def test_one_polite_region_speaks(visit):
    """Not every cell that changes."""
    page = visit(NOTEBOOK).page
    live = page.locator(".th-calculator [aria-live], .th-calculator [role=status]")
    assert live.count() == 1
    assert live.get_attribute("aria-live") == "polite"


def test_the_address_keeps_the_numbers_and_reset_forgets_them(visit, served):
    """A link to one's own numbers opens with them; Reset clears the address."""
    page = visit(NOTEBOOK).page
    page.get_by_role("button", name="A summary of a short article").click()
    assert page.url.endswith("#latency-prompt_tokens-890-output_tokens-53")
    again = visit(page.url.removeprefix(served)).page
    assert shown(again) == expected(890, 53)
    again.get_by_role("button", name="Reset").click()
    assert shown(again) == expected(4247, 32)
    assert again.url == served + NOTEBOOK


@pytest.mark.parametrize(
    ("hash_", "numbers", "note"),
    [
        ("#latency-prompt_tokens-NaN-output_tokens-53", (4247, 53), "“NaN” is not a number"),
        ("#latency-prompt_tokens--5-output_tokens-53", (100, 53), "-5 is below"),
        ("#latency-prompt_tokens-1e9-output_tokens-", (4247, 32), "nothing was entered"),
        ("#latency-prompt_tokens-99999999", (32000, 32), "99,999,999 is above"),
        ("#latency-%E0%A4%A", (4247, 32), ""),
        ("#latency-prompt_tokens-<b>x</b>", (4247, 32), "“<b>x</b>” is not a number"),
    ],
)
def test_a_broken_address_is_mended_and_said(visit, hash_, numbers, note):
    """Never NaN, never markup from the address, always a usable calculator."""
    seen = visit(NOTEBOOK + hash_)
    assert shown(seen.page) == expected(*numbers)
    seen.page.locator(".th-live", has_text=note).wait_for()
    assert seen.page.locator(".th-live b").count() == 0
    assert seen.complaints == []


def test_the_pages_script_says_what_every_vector_says(visit):
    """The twin in this browser's engine, on the vectors that Python is held to."""
    page = visit(NOTEBOOK).page
    source = (Path(calculator.__file__).parents[1] / "site" / "static" / "twohalves.js").read_text(
        encoding="utf-8"
    )
    answers = page.evaluate(
        """([source, vectors, spec]) => {
          const module = { exports: {} };
          new Function("module", "document", source)(module, undefined);
          const twin = module.exports;
          return vectors.map(({ inputs, rates }) => {
            const texts = twin.shown(spec, twin.latency(inputs, rates));
            return [texts, twin.latencySentence(spec, inputs, texts)];
          });
        }""",
        [source, VECTORS, calculator.spec()],
    )
    assert answers == [[v["shown"], v["sentence"]] for v in VECTORS]


def test_it_is_alive_by_double_click(visit, fixture_site):
    """Under file:// no module and no request is needed."""
    seen = visit(NOTEBOOK, home=fixture_site.as_uri() + "/")
    seen.page.get_by_label("Prompt", exact=True).focus()
    seen.page.keyboard.press("ArrowLeft")
    assert shown(seen.page) == expected(4246, 32)
    assert seen.page.url.endswith("#latency-prompt_tokens-4246-output_tokens-32")
    assert seen.complaints == []


def test_without_javascript_the_table_remains(visit):
    """And nothing broken stands in the place of the sliders."""
    page = visit(NOTEBOOK, java_script_enabled=False).page
    assert page.get_by_role("cell", name="24.18 s").is_visible()
    assert page.locator(".th-calculator input").count() == 0
    assert page.get_by_text("With JavaScript, sliders stand here").is_visible()


def test_every_control_is_large_enough_for_a_finger(visit):
    """44 pixels at least, on a narrow screen, with a visible focus."""
    page = visit(NOTEBOOK, viewport={"width": 390, "height": 800}).page
    for control in page.locator(".th-calculator :is(input, button)").all():
        assert control.bounding_box()["height"] >= 44
    page.get_by_label("Prompt, tokens").focus()
    page.keyboard.press("Tab")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
