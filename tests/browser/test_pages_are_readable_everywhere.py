"""Every page reads well: on wide and narrow screens, in light and dark, opened by double click."""

import pytest

pytestmark = pytest.mark.browser

PAGES = ("index.html", "chapters/opening.html", "notebooks/31-01-two-halves.html")
NOTEBOOK = PAGES[-1]

CONTRAST = """
() => {
  const parse = (c) => (c.match(/[\\d.]+/g) || []).map(Number);
  const over = (a, b) => { const k = a[3] === undefined ? 1 : a[3];
    return [0, 1, 2].map((i) => a[i] * k + b[i] * (1 - k)); };
  const light = (c) => { const [r, g, b] = c.map((v) => { v /= 255;
    return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const back = (el) => { const chain = [];
    for (let e = el; e; e = e.parentElement)
      chain.unshift(parse(getComputedStyle(e).backgroundColor));
    return chain.reduce((below, c) => over(c, below), [255, 255, 255]); };
  const poor = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const el = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || !el.checkVisibility({ opacityProperty: true })) continue;
    if (el.closest("script, style, svg, noscript")) continue;
    const b = back(el), style = getComputedStyle(el);
    let opacity = 1;
    for (let e = el; e; e = e.parentElement) opacity *= Number(getComputedStyle(e).opacity);
    const ink = parse(style.color);
    const f = over([ink[0], ink[1], ink[2], (ink[3] === undefined ? 1 : ink[3]) * opacity], b);
    const [x, y] = [light(f), light(b)].sort((p, q) => q - p);
    const ratio = (x + 0.05) / (y + 0.05);
    const where = `${el.className || el.tagName}: ${el.textContent.trim().slice(0, 30)}`;
    if (ratio < 4.5) poor.push(`${ratio.toFixed(2)} ${where}`);
  }
  return poor;
}
"""


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_asked_of_the_network_and_nothing_fails(visit, name, scheme):
    """No request leaves the site, the console stays empty, in both color schemes."""
    seen = visit(name, color_scheme=scheme)
    seen.page.wait_for_load_state("networkidle")
    assert seen.outside == []
    assert seen.complaints == []


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_its_ground(visit, name, scheme):
    """A contrast of at least 4.5 to 1 for all visible text; dark is dark."""
    page = visit(name, color_scheme=scheme).page
    assert page.evaluate(CONTRAST) == []
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") == (scheme == "light")


@pytest.mark.parametrize("name", PAGES)
def test_what_is_dark_on_the_screen_is_light_on_paper(visit, name):
    """No pale text on white, no black sheet."""
    page = visit(name, color_scheme="dark").page
    page.emulate_media(media="print")
    assert page.evaluate(CONTRAST) == []
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) == "rgb(255, 255, 255)"


def test_the_toggle_turns_the_page_dark_and_stays(visit):
    """Chosen once, kept on the next page."""
    page = visit("index.html", color_scheme="light").page
    page.get_by_role("button", name="Dark or light").first.click()
    page.goto(page.url.replace("index.html", NOTEBOOK))
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 29)"


@pytest.mark.parametrize("width", [320, 390, 768, 1100, 1440])
@pytest.mark.parametrize("name", PAGES)
def test_no_page_scrolls_sideways(visit, name, width):
    """What is wide scrolls in a box of its own."""
    page = visit(name, viewport={"width": width, "height": 800}).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_lines_are_neither_long_nor_short(visit):
    """Text keeps a measure of about seventy characters on a wide screen."""
    page = visit(NOTEBOOK, viewport={"width": 1600, "height": 900}).page
    paragraph = page.locator("main p", has_text="A sentence beside the definition")
    characters = paragraph.evaluate(
        "(p) => p.getBoundingClientRect().width / (parseFloat(getComputedStyle(p).fontSize) / 2)"
    )
    assert 60 <= characters <= 90


def test_a_definition_stands_beside_its_text_where_there_is_room(visit):
    """In the margin of a wide page, in the text of a narrow one."""
    for width, beside in ((1500, True), (700, False)):
        page = visit(NOTEBOOK, viewport={"width": width, "height": 900}).page
        term = page.locator(".th-term").first.bounding_box()
        text = page.locator("main p", has_text="A sentence beside").bounding_box()
        assert (term["x"] >= text["x"] + text["width"]) == beside


# What Quarto 1.10 puts around a page, and the rules of its own that ours must overcome.
QUARTO = """<html><head><style>
  .page-columns > * { grid-column: body-content-start / body-content-end }
  body.floating .page-columns { display: grid; grid-template-columns:
    [screen-start] 1.5em [screen-start-inset] 5fr [page-start] 150px [body-start] 1.5em
    [body-content-start] minmax(500px, calc(800px - 3em)) [body-content-end] 1.5em
    [body-end] 150px [page-end] 5fr [screen-end-inset] 1.5em [screen-end] }
  @media (max-width: 767.98px) { body.floating .page-columns { grid-template-columns:
    [screen-start] 1.5em [page-start body-start body-content-start] minmax(0, 1fr)
    [body-content-end body-end page-end screen-end-inset] 1.5em [screen-end] } }
  .sidebar { grid-row: 1 } .content { grid-row: 1 }
  .sidebar-navigation { grid-column: page-start / body-start !important }
  .margin-sidebar { grid-column: body-end / page-end !important }
  code { white-space: pre }
</style><link rel="stylesheet" href="assets/twohalves.css"></head>
<body class="nav-sidebar floating quarto-light" style="margin: 0">
<div id="quarto-content" class="page-columns">
<nav id="quarto-sidebar" class="sidebar sidebar-navigation">Pages</nav>
<div id="quarto-margin-sidebar" class="sidebar margin-sidebar">Headings</div>
<main class="content th-has-terms"><section><div class="th-term">A definition</div>
<p>A sentence beside the definition, one long enough to need more than a line or two of this
page, so that its box is as wide as the column of text and not only as its words.</p>
<div class="cell-output cell-output-stdout"><pre><code>{}</code></pre></div>
</section></main></div></body></html>""".replace("{}", "a long line " * 40)


@pytest.mark.parametrize(("width", "beside"), [(1500, True), (700, False), (390, False)])
def test_the_frame_of_quarto_gives_the_same_columns(visit, width, beside):
    """Definitions in the margin where there is room; no edge counted twice where there is none."""
    page = visit("index.html", viewport={"width": width, "height": 900}).page
    page.set_content(QUARTO, wait_until="networkidle")
    term, text = (page.locator(css).bounding_box() for css in (".th-term", "main p"))
    toc = page.locator("#quarto-margin-sidebar").bounding_box()
    assert (term["x"] >= text["x"] + text["width"]) == beside
    if beside:
        assert term["x"] + term["width"] <= toc["x"]
    else:
        assert text["x"] <= 30
    printed = page.locator("pre").evaluate("(pre) => pre.scrollWidth <= pre.clientWidth")
    assert printed, "what a cell printed breaks its lines"


def test_formulas_are_drawn(visit):
    """As MathML with a size, and no TeX left to see."""
    page = visit("index.html").page
    boxes = [formula.bounding_box() for formula in page.locator("math").all()]
    assert len(boxes) == 2
    assert min(box["height"] for box in boxes) > 8
    assert "\\" not in page.locator("main").inner_text()


def test_figures_follow_the_page_into_the_dark(visit):
    """One picture, two schemes: its colors are the page's."""
    fills = []
    for scheme in ("light", "dark"):
        page = visit(NOTEBOOK, color_scheme=scheme).page
        svg = page.locator("svg.th-figure").first
        fills.append(svg.locator("rect").first.evaluate("(r) => getComputedStyle(r).fill"))
        assert svg.bounding_box()["height"] > 20
    assert fills == ["rgb(31, 78, 121)", "rgb(110, 168, 220)"]


def test_a_fold_opens_by_keyboard(visit):
    """A callout's header is a button like any other."""
    page = visit("index.html").page
    header = page.get_by_role("button", name="A fold")
    header.focus()
    page.keyboard.press("Enter")
    page.get_by_text("Some text in it.").wait_for(state="visible")


def test_search_finds_a_word_over_http(visit):
    """The index is part of the site."""
    page = visit("index.html").page
    page.get_by_label("Search").fill("slow, reading")
    page.locator(".search-result", has_text="One request, two halves").first.wait_for()


def test_what_search_finds_is_not_cut_off(visit):
    """The list is wider than the sidebar and lies above the page."""
    page = visit("index.html").page
    page.get_by_label("Search").fill("slow, reading")
    page.locator(".search-result").first.wait_for()
    covered = """element => {
      const box = element.getBoundingClientRect();
      const at = (x, y) => element.contains(document.elementFromPoint(x, y));
      const row = [...Array(9).keys()].map(n => box.left + 3 + n * (box.width - 6) / 8);
      return row.every(x => at(x, box.top + 5) && at(x, box.bottom - 5));
    }"""

    assert page.locator(".smalldocs-search-results").first.evaluate(covered)


@pytest.mark.parametrize("name", PAGES)
def test_opened_by_double_click_a_page_is_whole(visit, fixture_site, name):
    """Under file://, from a folder with a space, a # and umlauts: search says what it needs."""
    home = fixture_site.as_uri() + "/"
    seen = visit(name, home=home)
    seen.page.wait_for_load_state("networkidle")
    seen.page.get_by_text("python3 -m twohalves preview").wait_for()
    assert seen.page.get_by_label("Search").count() == 0
    assert seen.outside == []
    assert seen.complaints == []


def test_the_notebook_can_be_taken_along(visit, fixture_site):
    """The download is the staged notebook, byte for byte."""
    page = visit(NOTEBOOK).page
    with page.expect_download() as download:
        page.get_by_role("link", name="Download this page as a notebook").click()
    expected = (fixture_site / "notebooks" / "31-01-two-halves.ipynb").read_bytes()
    assert download.value.path().read_bytes() == expected
