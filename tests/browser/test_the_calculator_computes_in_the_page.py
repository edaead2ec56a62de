"""The small calculator in a static page is alive, by keyboard, and shows what Python computes."""

import pytest

from tests.calculator_page import (
    LATENCY,
    expected,
    kept,
    panel,
    press,
    rates_of,
    said,
    shown,
    typed,
)

pytestmark = pytest.mark.browser


@pytest.fixture
def latency(visit):
    """The page, and what Python says of values other than the defaults."""
    seen = visit(LATENCY)
    rates = rates_of(seen.page)
    return seen, lambda **asked: expected("latency", rates, **asked)


def test_the_keyboard_moves_it_to_what_python_computes(latency):
    """Arrows, pages, Home and End on both sliders; the number field and the words follow."""
    seen, python = latency
    page = seen.page
    assert shown(page) == python()
    for key, value in (
        ("ArrowRight", 4248),
        ("PageUp", 4348),
        ("PageDown", 4248),
        ("End", 32000),
        ("Home", 100),
    ):
        prompt = press(page, "Prompt", key)
        assert shown(page) == python(prompt_tokens=value)
        assert prompt.get_attribute("aria-valuetext") == f"{value:,} tokens"
        assert page.get_by_label("Prompt, tokens").input_value() == str(value)
    output = press(page, "Output", "Home")
    assert output.get_attribute("aria-valuetext") == "1 token"
    assert said(page) == python(prompt_tokens=100, output_tokens=1)["sentence"]
    assert seen.complaints == []
    assert seen.outside == []


def test_the_arrow_keys_move_a_number_field_like_its_slider(latency):
    """By one step of the slider, within its ends."""
    page, python = latency[0].page, latency[1]
    press(page, "Output, tokens", "ArrowUp", "ArrowUp", "ArrowDown")
    assert shown(page) == python(output_tokens=33)
    typed(page, "Output, tokens", "1")
    press(page, "Output, tokens", "ArrowDown")
    assert shown(page) == python(output_tokens=1)


def test_a_choice_changes_whose_rates_are_used(latency):
    """By keyboard; the new rates are said with the new sentence."""
    page, python = latency[0].page, latency[1]
    press(page, "Rates", "ArrowDown")
    wanted = python(rates="chapter")
    assert shown(page) == wanted
    assert said(page) == f"{wanted['notes'][-1]} {wanted['sentence']}"


def test_where_it_leaves_what_was_measured_it_says_so(latency):
    """In the page, and once in the region that speaks."""
    page, python = latency[0].page, latency[1]
    typed(page, "Prompt, tokens", "4248")
    assert shown(page) == python(prompt_tokens=4248)
    warning = "Extrapolated: the longest measured prompt has 4,247 tokens."
    assert panel(page).locator(".th-notes li").first.inner_text() == warning
    assert said(page).startswith(warning)


def test_it_follows_within_the_frame_of_the_key(latency):
    """When the event is over, picture, tables and sentence are new; nothing waits for a timer."""
    page, python = latency[0].page, latency[1]
    sentence = page.evaluate(
        """() => {
          const field = document.querySelector("#th-latency-output_tokens");
          field.value = "53";
          field.dispatchEvent(new Event("input"));
          return document.querySelector(".th-sentence").textContent;
        }"""
    )
    assert sentence == python(output_tokens=53)["sentence"]


def test_a_preset_sets_and_reset_forgets(latency):
    """The preset in force is marked for eye and ear; its source is told."""
    page, python = latency[0].page, latency[1]
    button = page.get_by_role("button", name="A summary of a short article")
    button.click()
    assert shown(page) == python(prompt_tokens=890, output_tokens=53)
    assert button.get_attribute("aria-current") == "true"
    assert "cited from chapter 14" in panel(page).inner_text()
    panel(page).get_by_role("button", name="Reset").click()
    assert shown(page) == python()
    assert button.get_attribute("aria-current") is None


def test_it_is_alive_by_double_click(visit, fixture_site):
    """Under file:// no module and no request is needed."""
    seen = visit(LATENCY, home=fixture_site.as_uri() + "/")
    press(seen.page, "Prompt", "ArrowLeft")
    wanted = expected("latency", rates_of(seen.page), prompt_tokens=4246)
    assert shown(seen.page) == wanted
    assert kept(seen.page).startswith("#latency-prompt_tokens-4246-output_tokens-32-rates-_")
    assert seen.complaints == []
    assert seen.outside == []


def test_without_javascript_the_tables_remain(visit):
    """The sentence, the figures and the presets; nothing broken stands in the sliders' place."""
    page = visit(LATENCY, java_script_enabled=False).page
    assert page.get_by_role("cell", name="97.5%").first.is_visible()
    assert page.get_by_role("cell", name="A short question, a long answer").is_visible()
    assert page.locator(".th-calculator input").count() == 0
    assert page.get_by_text("With JavaScript, sliders stand here").is_visible()


def test_with_javascript_nothing_is_said_twice(visit):
    """What is stored folds away below the calculator and can be opened."""
    page = visit(LATENCY).page
    stored = page.get_by_role("cell", name="A short question, a long answer")
    assert not stored.is_visible()
    page.get_by_text("What it begins with").press("Enter")
    assert stored.is_visible()
