"""A reader's session.json brings their machine's rates into the page; nothing is sent."""

import json

import pytest

from tests.calculator_page import WORKSHEET, expected, panel, rates_of, said, shown
from twohalves.formulas import FittedLatency
from twohalves.show.calculator import RateSet

pytestmark = pytest.mark.browser

FIT = {
    "t0_s": 0.05,
    "a_s": 0.002,
    "b_s": 3e-8,
    "c_s": 0.02,
    "d_s": 1e-6,
    "shortest": 100,
    "longest": 800,
    "off": 0.042,
    "requests": 5,
}
RUN = "2026-11-29-2115-short-smollm2-135m"
PICKED = RateSet(
    id="picked",
    label="the run you picked",
    source=f"run {RUN}",
    curve=FittedLatency(**{name: FIT[name] for name in ("t0_s", "a_s", "b_s", "c_s", "d_s")}),
    shortest=100,
    longest=800,
    off=0.042,
    requests=5,
)


def pick(page, content, name="session.json"):
    """Choose a file with the button of the first calculator."""
    with page.expect_file_chooser() as chooser:
        panel(page).get_by_role("button", name="Use rates of a run of yours").click()
    payload = content if isinstance(content, bytes) else json.dumps(content).encode()
    chooser.value.set_files({"name": name, "mimeType": "application/json", "buffer": payload})


@pytest.mark.parametrize("by", ["http", "file"])
def test_the_rates_of_a_run_are_used_at_once(visit, fixture_site, by):
    """Its error and the limits of its measurement are told like those of any other."""
    seen = visit(WORKSHEET, home=fixture_site.as_uri() + "/" if by == "file" else None)
    page = seen.page
    pick(page, {"run_id": RUN, "fit": FIT, "anything": "else"})
    panel(page).get_by_text(f"Now chosen: the run you picked (run {RUN}).").wait_for()
    rates = [*rates_of(page), PICKED]
    wanted = expected("worksheet", rates, rates="picked")
    assert shown(page) == wanted
    assert wanted["notes"][0].startswith("Extrapolated: the longest measured prompt has 800")
    assert said(page).startswith("Extrapolated")
    assert "at most 4.2% off on 5 measured lengths" in panel(page).inner_text()
    assert seen.outside == []
    assert seen.complaints == []


def test_another_run_takes_the_place_of_the_first(visit):
    """The choice holds one picked run, the last."""
    page = visit(WORKSHEET).page
    before = panel(page).get_by_label("Rates").locator("option").count()
    for run in ("first", "second"):
        pick(page, {"run_id": run, "fit": FIT})
        panel(page).get_by_text(f"(run {run}).", exact=False).first.wait_for()
    assert panel(page).get_by_label("Rates").locator("option").count() == before + 1


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "This file is not JSON."),
        (b"\x89PNG\r\n", "This file is not JSON."),
        (b"null", "This file names no run."),
        ([1, 2], "This file names no run."),
        ({"name": "package", "version": "1.0"}, "This file names no run."),
        ({"run_id": "<b>x</b>", "fit": FIT}, "This file names no run."),
        ({"run_id": RUN}, "holds no fitted rates"),
        ({"run_id": RUN, "fit": None}, "holds no fitted rates"),
        ({"run_id": RUN, "fit": FIT | {"a_s": -0.002}}, "a_s must be a number from 0 on"),
        ({"run_id": RUN, "fit": FIT | {"c_s": "0.02"}}, "c_s must be a number from 0 on"),
        (json.dumps({"run_id": RUN, "fit": FIT | {"b_s": 5}}).replace(" 5,", " 1e999,"), "b_s"),
        (
            {"run_id": RUN, "fit": FIT | dict.fromkeys(["t0_s", "a_s", "b_s", "c_s", "d_s"], 0)},
            "all of them are 0",
        ),
        ({"run_id": RUN, "fit": FIT | {"longest": 99.5}}, "which prompt lengths were measured"),
        ({"run_id": RUN, "fit": FIT | {"longest": 50}}, "which prompt lengths were measured"),
        ({"run_id": RUN, "fit": FIT | {"off": -1}}, "error must be a number"),
        (b" " * 4_000_001, "too large for a session.json"),
    ],
)
def test_another_file_is_refused_with_the_reason(visit, content, why):
    """Seen and said; the calculator stays as it was."""
    seen = visit(WORKSHEET)
    page = seen.page
    before = shown(page)
    pick(page, content.encode() if isinstance(content, str) else content)
    panel(page).locator(".th-picker .th-note", has_text=why).wait_for()
    assert why in said(page)
    assert shown(page) == before
    assert seen.complaints == []


def test_a_file_that_is_gone_when_it_is_read_is_told(visit):
    """Deleted or locked between the choice and the reading."""
    page = visit(WORKSHEET).page
    gone = "() => TwoHalves.readPicked({ text: () => Promise.reject(new Error()) })"
    assert page.evaluate(gone)["note"].startswith("This file cannot be read.")


def test_the_last_file_picked_counts(visit):
    """However long an earlier one takes to be read."""
    page = visit(WORKSHEET).page
    slow = "() => new Promise((done) => { (window.done ||= []).push(done); })"
    page.evaluate(f"() => {{ Blob.prototype.text = {slow}; }}")
    for run in ("slow", "quick"):
        pick(page, {"run_id": run, "fit": FIT})
    page.wait_for_function("window.done && window.done.length === 2")
    for number, run in ((1, "quick"), (0, "slow")):
        told = json.dumps({"run_id": run, "fit": FIT})
        page.evaluate("([number, told]) => window.done[number](told)", [number, told])
    panel(page).get_by_text("(run quick).", exact=False).first.wait_for()
    page.wait_for_timeout(100)
    assert panel(page).get_by_text("(run slow).", exact=False).count() == 0


def test_the_page_says_where_the_file_lies_and_that_it_stays(visit):
    """Before it is asked for, and again when another one was chosen."""
    page = visit(WORKSHEET).page
    text = panel(page).locator(".th-picker").inner_text()
    assert "data/runs/<run>/session.json" in text
    assert "nothing is sent" in text
    pick(page, b"x")
    note = panel(page).locator(".th-picker .th-note", has_text="data/runs/<run>/session.json")
    note.wait_for()
