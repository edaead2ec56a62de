"""Numbers stay in the address through headings, held keys and other people's pages."""

import dataclasses
import json
import re

import pytest
from playwright.sync_api import expect

from tests.calculator_page import LATENCY, WORKSHEET, expected, kept, panel, rates_of, said, shown

pytestmark = pytest.mark.browser

CURVE = "0_05-0_002-0_00000003-0_02-0_000001-0-1-100-800-0_042-5"
SENT = f"#worksheet-prompt_tokens-900-rates-_own-curve-{CURVE}"
"""A link from a page of somebody else's run: seconds, then what was measured."""

MOVED = """(times) => {
  let writes = 0;
  const replace = history.replaceState.bind(history);
  history.replaceState = (...given) => { writes += 1; replace(...given); };
  const slider = document.querySelector("#th-worksheet-prompt_tokens-range");
  for (let place = 1; place <= times; place += 1) {
    slider.value = place;
    slider.dispatchEvent(new Event("input"));
  }
  return writes;
}"""


def with_rates(given):
    """The set that such a link brings."""
    own = rates_of(given)[0]
    numbers = (0.05, 0.002, 3e-8, 0.02, 1e-6, 0, 1)
    names = [field.name for field in dataclasses.fields(own.curve)]
    curve = dataclasses.replace(own.curve, **dict(zip(names, numbers, strict=True)))
    return dataclasses.replace(
        own,
        id="linked",
        label="the link's rates",
        source="numbers from the address, of no run that this page knows",
        curve=curve,
        shortest=100,
        longest=800,
        off=0.042,
        requests=5,
    )


def test_a_senders_rates_come_with_the_link(visit):
    """The page of whoever opens it holds another run, or none; they are told whose these are."""
    seen = visit(WORKSHEET + SENT)
    page = seen.page
    sets = [*rates_of(page), with_rates(page)]
    assert shown(page) == expected("worksheet", sets, prompt_tokens=900, rates="linked")
    assert "the link's rates (numbers from the address" in panel(page).inner_text()
    again = visit(WORKSHEET + kept(page)).page
    assert shown(again) == shown(page)
    assert kept(again) == kept(page)
    assert seen.complaints == []


def test_a_picked_run_comes_back_from_its_link(visit):
    """With its own name where it was picked, as the link's elsewhere; the same figures."""
    page = visit(WORKSHEET).page
    names = ("t0_s", "a_s", "b_s", "c_s", "d_s")
    fit = dict(zip(names, (0.05, 0.002, 3e-8, 0.02, 1e-6), strict=True))
    session = {"run_id": "mine", "fit": fit | {"shortest": 100, "longest": 800, "requests": 5}}
    with page.expect_file_chooser() as chooser:
        panel(page).get_by_role("button", name="Use rates of a run of yours").click()
    content = json.dumps(session).encode()
    chooser.value.set_files({"name": "session.json", "mimeType": "", "buffer": content})
    panel(page).get_by_text("(run mine).").first.wait_for()
    hash_ = kept(page)
    page.evaluate("(hash) => document.querySelector(hash)", hash_)
    elsewhere = visit(WORKSHEET + hash_).page
    assert shown(elsewhere)["tables"] == shown(page)["tables"]
    page.evaluate("location.hash = '#elsewhere'")
    page.go_back()
    assert panel(page).get_by_label("Rates").input_value() == "picked"


def test_rates_that_the_page_has_keep_their_name(visit):
    """Whatever id they had where the link was made."""
    page = visit(WORKSHEET).page
    panel(page).get_by_label("Output, tokens").fill("60")
    hash_ = kept(page)
    renamed = visit(WORKSHEET + re.sub("rates-_[a-z]+", "rates-_picked", hash_)).page
    assert shown(renamed) == shown(page)
    assert kept(renamed) == hash_


@pytest.mark.parametrize(
    ("curve", "why"),
    [
        ("", "they are not complete"),
        ("0_05-0_002", "they are not complete"),
        (CURVE.replace("0_05", "NaN"), "t0_s must be a number from 0 on"),
        (CURVE.replace("0_05", "Infinity"), "t0_s must be a number from 0 on"),
        (CURVE.replace("0_02", "9999999"), "c_s is no time that a machine takes"),
        ("0-0-0-0-0-0-1-100-800-0_042-5", "all of them are 0"),
        (CURVE.replace("800", "99_5"), "their measured lengths must be whole numbers"),
        (CURVE.replace("0_042", "9999999"), "their error is larger than any"),
    ],
)
def test_rates_that_no_machine_has_are_refused(visit, curve, why):
    """The rest of the link counts; the reason is seen and said."""
    seen = visit(WORKSHEET + SENT.replace(CURVE, curve))
    page = seen.page
    assert shown(page) == expected("worksheet", rates_of(page), prompt_tokens=900)
    assert f"The rates in the address cannot be used: {why}" in panel(page).inner_text()
    assert why in said(page)
    assert seen.complaints == []


@pytest.mark.parametrize("end", [".", ")", "),", "?"])
def test_the_sentence_around_a_link_is_no_part_of_it(visit, end):
    """Mail programs take the stop along."""
    page = visit(LATENCY + "#latency-prompt_tokens-900-output_tokens-53" + end).page
    wanted = expected("latency", rates_of(page), prompt_tokens=900, output_tokens=53)
    assert shown(page) == wanted


def test_numbers_of_a_calculator_that_is_not_here_do_not_reach_another(visit):
    """Both have a prompt."""
    page = visit(LATENCY + "#latency-output_tokens-53-worksheet-prompt_tokens-900").page
    assert shown(page) == expected("latency", rates_of(page), output_tokens=53)
    assert "“worksheet”, which is no input here" in panel(page).inner_text()


def test_an_endless_link_is_answered_in_one_sentence(visit):
    """Ten thousand names are counted, not read out."""
    names = "-".join(f"x{number}-1" for number in range(10_000))
    page = visit(f"{LATENCY}#latency-{names}").page
    told = "The address sets “x0”, “x1”, “x2” and 9997 more, which are no inputs here"
    assert told in said(page)
    assert len(said(page)) < 400


def test_a_key_that_is_held_does_not_lose_the_last_number(visit):
    """Browsers refuse an address that changes hundreds of times."""
    page = visit(WORKSHEET).page
    assert page.evaluate(MOVED, 300) < 100
    value = page.locator("#th-worksheet-prompt_tokens").input_value()
    page.wait_for_function(
        "(value) => location.hash.includes(`-prompt_tokens-${value}-`)", arg=value
    )


def test_who_leaves_at_once_and_comes_back_finds_the_last_number(visit, served):
    """What waits for its turn is written before the page goes."""
    page = visit(WORKSHEET).page
    page.evaluate(MOVED, 300)
    value = page.locator("#th-worksheet-prompt_tokens").input_value()
    page.goto(served + "index.html")
    page.go_back()
    assert page.locator("#th-worksheet-prompt_tokens").input_value() == value


@pytest.mark.parametrize("by", ["http", "file"])
def test_a_heading_is_reached_and_the_numbers_stay(visit, fixture_site, by):
    """After a click on its link, a reload there, and the way back; without a step for each move."""
    home = fixture_site.as_uri() + "/" if by == "file" else None
    seen = visit(WORKSHEET, home=home, reduced_motion="reduce")  # no scroll is under way
    page = seen.page
    steps = page.evaluate("history.length")
    for value in ("60", "70"):
        panel(page).get_by_label("Output, tokens").fill(value)
    before, hash_ = shown(page), kept(page)
    assert page.evaluate("history.length") == steps
    heading = page.locator("main :is(h1, h2)[id], main section[id]").last.get_attribute("id")
    page.evaluate("(id) => { location.hash = id; }", heading)
    expect(page.locator(f"#{heading}")).to_be_in_viewport()
    page.wait_for_function("history.state && history.state.twoHalves")
    page.reload()
    assert (shown(page), kept(page)) == (before, f"#{heading}")
    panel(page).get_by_role("button", name="Reset").click()
    assert kept(page) == f"#{heading}"
    page.go_back()
    page.wait_for_function("(hash) => location.hash === hash", arg=hash_)
    assert shown(page) == before
    assert seen.complaints == []
