"""The published pages themselves: quiet, complete, and with sliders that compute."""

import pathlib

import pytest

from tests.calculator_page import WORKSHEET, expected, panel, press, shown, table
from twohalves.runs import named
from twohalves.runs.choose import newest_sample
from twohalves.show import crude
from twohalves.site import render, serving, stage

pytestmark = pytest.mark.browser

PROJECT = pathlib.Path(__file__).resolve().parents[2]
PAGE = "notebooks/31-01-two-halves.html"


@pytest.fixture(
    scope="module",
    params=["smalldocs", pytest.param("quarto", marks=pytest.mark.quarto)],
)
def edition(request, tmp_path_factory):
    """The stored outputs, rendered as the verb `edition` renders them, apart from _site."""
    staging = tmp_path_factory.mktemp("edition")
    stage(PROJECT, staging / "staging")
    built = render(staging / "staging", staging / "site", renderer=request.param)
    with serving(built.folder) as address:
        yield built, address


@pytest.fixture
def open_page(chromium, edition):
    """Opens a page and keeps what it asked for and complained about."""
    _, address = edition
    contexts = []

    def visit(name, **options):
        context = chromium.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.seen = {"outside": [], "complaints": []}
        page.on("request", lambda r: _outside(r.url, address, page.seen["outside"]))
        page.on("pageerror", lambda error: page.seen["complaints"].append(str(error)))
        page.on("console", lambda m: _complaint(m, page.seen["complaints"]))
        page.goto(address + name)
        return page

    yield visit
    for context in contexts:
        context.close()


def _outside(url, address, found):
    if not url.startswith((address, "data:", "blob:")):
        found.append(url)


def _complaint(message, found):
    if message.type in {"error", "warning"}:
        found.append(message.text)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390, 320])
def test_every_page_is_quiet_and_fits(edition, open_page, scheme, width):
    """No console error, no request beyond the site, no sideways scroll, on any page."""
    built, _ = edition
    for name in built.pages:
        page = open_page(name, color_scheme=scheme, viewport={"width": width, "height": 900})
        assert page.seen == {"outside": [], "complaints": []}, name
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name


def test_code_in_a_list_breaks_its_lines(open_page):
    """Quarto's own rule for code would let a narrow page scroll sideways."""
    page = open_page("chapters/troubleshooting.html", viewport={"width": 320, "height": 900})

    page.add_style_tag(content="code { white-space: pre; }")

    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_formulas_are_there_as_mathml(open_page):
    """Both constants stand in visible formulas, and no TeX is left over."""
    page = open_page(PAGE)
    formulas = page.locator("main math")

    assert formulas.count() == 2
    assert all(formulas.nth(n).is_visible() for n in range(2))
    assert "2,000" in formulas.nth(1).text_content()
    assert "\\frac" not in page.locator("main").inner_text()


def test_a_slider_moved_by_keyboard_shows_what_python_computes(open_page):
    """On the rates of the sample run, to the displayed character."""
    rates = crude.choices(named(newest_sample()))
    page = open_page(PAGE)

    press(page, "Prompt", "Home", "ArrowRight")

    assert shown(page) == expected("latency", rates, prompt_tokens=101)


def test_the_worksheet_gives_the_chapters_bill(open_page):
    """At its example in section 31.6, whatever machine the page was made on."""
    page = open_page(WORKSHEET)

    panel(page).get_by_role("button", name="The chapter's bill").click()

    bill = table(page, "A month's bill")
    assert [cells[-1] for cells in bill.values()] == [
        "$712",
        "$107",
        "$0",
        "$424",
        "$1,243",
        "$2,204",
    ]


def test_the_page_says_whose_numbers_it_shows(open_page):
    """The sample run is named, and so is the server that answered."""
    text = open_page(PAGE).locator("main").inner_text()

    assert newest_sample() in text
    assert "the built-in server" in text


def test_without_scripts_all_content_is_there(open_page):
    """Tables, figures, formulas and the calculator's own table need no JavaScript."""
    page = open_page(PAGE, java_script_enabled=False)
    main = page.locator("main")

    assert main.locator("table").count() >= 5
    assert main.locator("svg.th-figure").count() >= 3
    assert "The longest row of the first table" in main.inner_text()


def test_the_notebook_can_be_downloaded(open_page):
    """The link beside the title leads to the notebook the page was made of."""
    page = open_page(PAGE)
    link = page.locator("a[download]").first

    with page.expect_download() as download:
        link.click()
    assert download.value.suggested_filename == "31-01-two-halves.ipynb"


def test_search_finds_a_word_of_the_notebook(open_page):
    """Typing a word of section 31.1 offers its page."""
    page = open_page("index.html")
    page.locator("#quarto-search input, .sidebar-search input").first.fill("bandwidth-bound")
    page.get_by_text("31.1").last.wait_for()
