"""By keyboard, by ear, by finger, in the dark, enlarged, on a narrow screen, without motion."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.calculator_page import LATENCY, WORKSHEET, panel, press, typed

pytestmark = pytest.mark.browser

PAGES = (WORKSHEET, LATENCY)


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_axe_finds_nothing(visit, name, scheme, width):
    """Neither at first nor with notes and a fold open."""
    page = visit(name, color_scheme=scheme, viewport={"width": width, "height": 900}).page
    typed(page, "Prompt, tokens", "-5")
    page.get_by_text("What it begins with").first.click()
    found = Axe().run(page).response["violations"]
    assert [(each["id"], each["nodes"][0]["html"]) for each in found] == []


@pytest.mark.parametrize("name", PAGES)
def test_every_control_is_reached_by_tab_in_the_order_of_the_page(visit, name):
    """None is left out, none holds the focus, and where it is can be seen."""
    page = visit(name).page
    controls = panel(page).locator("button, select, input:not([type=file])")
    count = controls.count()
    controls.first.focus()
    for number in range(count):
        here = controls.nth(number).evaluate("(each) => each === document.activeElement")
        assert here, f"control {number} of {count}"
        page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


@pytest.mark.parametrize("name", PAGES)
def test_every_control_has_a_name_with_its_unit(visit, name):
    """Fields say the unit in their names, sliders in their values."""
    page = visit(name).page
    for field in panel(page).locator("input[type=number]").all():
        label, unit = field.get_attribute("aria-label").split(", ", 1)
        row = field.locator("xpath=..")
        assert row.get_by_label(label, exact=True).get_attribute("aria-valuetext")
        assert row.locator(".th-unit").inner_text() == unit


def test_values_are_announced_with_units(visit):
    """As somebody would say them."""
    page = visit(WORKSHEET).page
    for label, text in (
        ("Prompt", "900 tokens"),
        ("Hit rate", "61% of the prompt tokens"),
        ("Uncached input", "$1.10 per million tokens"),
        ("Machine", "$2.10 an hour"),
    ):
        slider = press(page, label, "ArrowRight")
        assert slider.get_attribute("aria-valuetext") == text


@pytest.mark.parametrize("name", PAGES)
def test_one_polite_region_speaks_in_each(visit, name):
    """Not every cell that changes; silent until something does."""
    page = visit(name).page
    page.wait_for_timeout(600)
    for place in page.locator(".th-panel").all():
        live = place.locator("[aria-live], [role=status], [role=alert], [role=log]")
        assert live.count() == 1
        assert live.get_attribute("aria-live") == "polite"
        assert live.inner_text() == ""


@pytest.mark.parametrize("width", [1440, 390, 320])
def test_every_control_is_large_enough_for_a_finger(visit, width):
    """44 pixels at least in both directions."""
    page = visit(WORKSHEET, viewport={"width": width, "height": 800}).page
    for control in panel(page).locator("button, select, input:not([type=file])").all():
        box = control.bounding_box()
        assert min(box["height"], box["width"]) >= 44


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(("width", "zoom"), [(320, 1), (1280, 2), (640, 2)])
def test_nothing_runs_out_of_a_narrow_or_enlarged_page(visit, name, width, zoom):
    """Nor with the largest figures there are; what is too wide scrolls in its own box."""
    narrow = {"width": width // zoom, "height": 800 // zoom}
    page = visit(name, viewport=narrow, device_scale_factor=zoom).page
    for slider in panel(page).locator("input[type=range]").all():
        slider.press("End")
    fits = "document.documentElement.scrollWidth <= innerWidth"
    assert page.evaluate(fits)
    for box in panel(page).locator(".th-results").all():
        wide = box.evaluate("(box) => box.scrollWidth > box.clientWidth")
        assert (box.get_attribute("tabindex") == "0") == wide


def test_whatever_scrolls_can_be_scrolled_by_keyboard(visit):
    """Stored tables and code, however wide they turn out to be; lengths in signs only guess it."""
    page = visit(WORKSHEET, viewport={"width": 320, "height": 800}).page
    page.get_by_text("What it begins with").first.click()
    page.wait_for_timeout(100)
    for box in page.locator("main :is(.th-table, pre)").all():
        if box.evaluate("(box) => box.scrollWidth > box.clientWidth"):
            assert box.get_attribute("tabindex") == "0"


@pytest.mark.parametrize("width", [320, 1280])
def test_the_largest_whole_number_is_seen_whole(visit, width):
    """Ten billion requests a month."""
    page = visit(WORKSHEET, viewport={"width": width, "height": 800}).page
    field = typed(page, "Requests a month, requests", "10000000000")
    assert field.evaluate("(field) => field.scrollWidth <= field.clientWidth")


def test_a_finger_that_scrolls_the_page_moves_no_slider(visit):
    """It comes down somewhere on a track; a drag along it counts."""
    page = visit(WORKSHEET, viewport={"width": 390, "height": 800}, has_touch=True).page
    slider = panel(page).get_by_label("Prompt", exact=True)
    slider.scroll_into_view_if_needed()
    before = panel(page).inner_text()
    finger = page.context.new_cdp_session(page)

    def swipe(right, down):
        box = slider.bounding_box()
        x, y = box["x"] + box["width"] * 0.2, box["y"] + box["height"] / 2
        for step in range(12):
            point = {"x": x + right * step, "y": y + down * step}
            given = {"type": "touchMove" if step else "touchStart", "touchPoints": [point]}
            finger.send("Input.dispatchTouchEvent", given)
        finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    swipe(0, -12)
    assert panel(page).inner_text() == before
    swipe(8, 0)
    assert panel(page).inner_text() != before


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_halves_are_seen_in_the_readers_own_colors(visit, scheme):
    """Where a system draws with few colors, marks and bars take theirs."""
    page = visit(WORKSHEET, forced_colors="active", color_scheme=scheme).page
    ground, *marks = page.evaluate(
        """() => [document.body, ...document.querySelectorAll(".th-mark-prefill, .th-mark-decode")]
          .map((each) => getComputedStyle(each).backgroundColor)"""
    )
    bars = page.evaluate(
        """() => [...document.querySelectorAll(".th-picture rect")]
          .map((each) => getComputedStyle(each).fill)"""
    )
    assert len(set(marks)) == 2
    assert set(bars) == set(marks)
    assert ground not in marks


def test_nothing_moves_for_those_who_ask_for_stillness(visit):
    """No transition and no animation anywhere in the calculators."""
    page = visit(WORKSHEET, reduced_motion="reduce").page
    moving = page.evaluate(
        """() => [...document.querySelectorAll(".th-panel, .th-panel *")].filter((each) => {
          const style = getComputedStyle(each);
          return style.transitionDuration !== "0s" || style.animationName !== "none";
        }).length"""
    )
    assert moving == 0


def test_color_is_never_the_only_sign(visit):
    """The halves differ in shape and name, the preset in force has a mark, notes begin with one."""
    page = visit(WORKSHEET).page
    broad, narrow = (
        panel(page).locator(f".th-mark-{half}").first.bounding_box()["height"]
        for half in ("prefill", "decode")
    )
    assert broad > narrow
    mark = """(each) => getComputedStyle(each, "::before").content"""
    assert "✓" in panel(page).locator("[aria-current]").first.evaluate(mark)
    typed(page, "Prompt, tokens", "-5")
    assert "!" in panel(page).locator(".th-note:not(:empty)").first.evaluate(mark)


@pytest.mark.parametrize("width", [390, 320])
def test_the_figures_stay_in_sight_on_a_phone(visit, width):
    """While the sliders above them are moved; and they cover no control that has the focus."""
    page = visit(WORKSHEET, viewport={"width": width, "height": 800}).page
    panel(page).get_by_label("Prompt", exact=True).focus()
    for _ in range(22):
        page.keyboard.press("Tab")
        field = page.locator(":focus")
        field.scroll_into_view_if_needed()
        headline = panel(page).locator(".th-headline").bounding_box()
        assert 600 < headline["y"] < 800 - headline["height"] + 1
        assert field.bounding_box()["y"] + field.bounding_box()["height"] <= headline["y"]
