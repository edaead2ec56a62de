"""A page of either renderer is finished: formulas, places, figures, names, no network."""

import json
import re

import pytest
from bs4 import BeautifulSoup

from twohalves.errors import CalculatorUnusable, LinksDead, PageLeftover, PageNeedsNetwork
from twohalves.site import access, calculators, downloads, figures, labels, links, mathml, network


def page(body, head=""):
    return BeautifulSoup(
        f"<html><head>{head}</head><body><main>{body}</main></body></html>", "html.parser"
    )


# --- formulas ------------------------------------------------------------------------------


def test_formulas_become_mathml():
    """Inline and display, with the source kept for those who want it."""
    soup = page(
        r'<p><span class="math inline">\(t = n/r\)</span></p>'
        r'<span class="math display">\[\begin{aligned} a &amp;= 1 \\ b &amp;= 2 '
        r"\end{aligned}\]</span>"
    )
    mathml.convert(soup, "page.html")
    inline, display = soup.find_all("math")
    assert (inline["display"], display["display"]) == ("inline", "block")
    assert inline["alttext"] == "t = n/r"
    assert "&" not in display.get_text()
    assert [row.get_text() for row in display.find_all("mtr")] == ["a=1", "b=2"]
    mathml.refuse_leftovers(soup, "page.html")


def test_a_formula_that_is_mathml_already_is_left_alone():
    """Quarto writes MathML itself."""
    markup = '<span class="math inline"><math display="inline"><mi>n</mi></math></span>'
    soup = page(markup)
    mathml.convert(soup, "page.html")
    assert markup in str(soup)


@pytest.mark.parametrize("tex", [r"\nosuchcommand{x}", r"\frac{1}", r"x_1_2", r"\begin{array}"])
def test_a_formula_that_cannot_be_drawn_names_its_page(tex):
    """Rather than a page that shows half of it."""
    soup = page(rf'<span class="math inline">\({tex}\)</span>')
    with pytest.raises(PageLeftover, match=r"page\.html"):
        mathml.convert(soup, "page.html")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("see ?@fig-two", "unresolved"),
        ("had ?var:claims.longest tokens", "unresolved"),
        ("had {{< var claims.longest >}} tokens", "unresolved"),
        (r"so \(x\) is", "TeX"),
        (r"so \frac{1}{2} is", "TeX"),
        ("so $$x$$ is", "TeX"),
    ],
)
def test_source_text_in_a_page_is_refused(text, kind):
    """Quarto ends with success over each of these."""
    with pytest.raises(PageLeftover, match=kind):
        mathml.refuse_leftovers(page(f"<p>{text}</p>"), "page.html")
    mathml.refuse_leftovers(page(f"<p><code>{text}</code></p>"), "page.html")


# --- places of labeled quotes ----------------------------------------------------------------


def test_labeled_quotes_get_their_places():
    """Definitions to the margin, the five labels to boxes, a real quotation stays one."""
    soup = page(
        "<blockquote><p><strong>KV cache</strong> — kept keys.</p></blockquote>"
        "<blockquote><p><strong>Try it</strong> — run again.</p><p>More.</p></blockquote>"
        "<blockquote><p><strong>Takeaway:</strong> Length.</p></blockquote>"
        "<blockquote><p>Somebody <strong>said</strong> — this.</p></blockquote>"
        "<blockquote><p><strong>Loud</strong> words.</p></blockquote>"
    )
    labels.place(soup)
    soup = BeautifulSoup(str(soup), "html.parser")
    term, tried, takeaway = soup.find_all("div")
    assert term["class"] == ["th-term"]
    assert term["aria-label"] == "Definition: KV cache"
    assert tried["class"] == ["th-box", "th-box-try"]
    assert tried.p.get_text() == "Try it run again."
    assert takeaway.p.get_text() == "Takeaway Length."
    assert {box["role"] for box in (term, tried, takeaway)} == {"note"}
    assert len(soup.find_all("blockquote")) == 2
    assert "th-has-terms" in soup.main["class"]


# --- network ----------------------------------------------------------------------------------


def test_scripts_styles_and_fonts_of_other_hosts_are_taken_out():
    """And the helper that only served the script loader; links a reader may follow stay."""
    soup = page(
        '<p><a href="https://example.org/">out</a></p>',
        '<script src="https://cdn.jsdelivr.net/npm/katex.js"></script>'
        '<link rel="stylesheet" href="//fonts.googleapis.com/css2?family=X">'
        "<script>define('jquery', [], function() { return window.jQuery; })</script>"
        '<link rel="canonical" href="https://example.org/book/">'
        '<script src="site.js"></script>',
    )
    network.strip(soup)
    network.refuse(soup, "page.html")
    assert [s.get("src") for s in soup.find_all("script")] == ["site.js"]
    assert [link["rel"] for link in soup.find_all("link")] == [["canonical"]]
    assert soup.a["href"] == "https://example.org/"


@pytest.mark.parametrize(
    "body",
    [
        '<img src="https://example.org/a.png">',
        '<img srcset="a.png 1x, https://example.org/b.png 2x">',
        '<video poster="//example.org/a.png"></video>',
        '<iframe src="http://example.org/"></iframe>',
        '<object data="https://example.org/x"></object>',
        '<svg><image href="https://example.org/x.png"/></svg>',
        '<div style="background: url(https://example.org/x.png)"></div>',
        "<style>@import 'https://example.org/x.css';</style>",
        '<script>import("https://unpkg.com/x")</script>',
        '<script type="application/vnd.jupyter.widget-view+json">{}</script>',
    ],
)
def test_what_would_still_ask_the_network_is_refused(body):
    """With the page's name; each of these is fetched without a reader's click."""
    soup = page(body)
    network.strip(soup)
    with pytest.raises(PageNeedsNetwork, match=r"page\.html"):
        network.refuse(soup, "page.html")


def test_a_page_may_speak_of_such_hosts():
    """Words are not requests."""
    network.refuse(page("<p>It asks neither jsdelivr nor unpkg.</p>"), "page.html")


def test_a_stylesheet_that_fetches_a_font_is_refused(tmp_path):
    """The themes of some renderers do."""
    (tmp_path / "theme.css").write_text('@import url("https://fonts.x/a.css");', encoding="utf-8")
    with pytest.raises(PageNeedsNetwork, match=r"theme\.css"):
        network.refuse_styles(tmp_path)


# --- figures -----------------------------------------------------------------------------------

SVG = (
    '<?xml version="1.0"?>\n<!DOCTYPE svg>\n<svg xmlns="http://www.w3.org/2000/svg" '
    'viewBox="0 0 9 9"><title id="t">Two bars</title><defs><clipPath id="c"/></defs>'
    '<style>*{stroke-linejoin: round}</style><g clip-path="url(#c)" style="fill: #1f4e79"/>'
    '<path stroke="#000000"/><use href="#c"/></svg>'
)


def test_a_figure_written_to_a_file_stands_in_the_page_as_one_written_inline(tmp_path):
    """Quarto's way and smalldocs' way end alike, with ids of their own and the page's colors."""
    (tmp_path / "fig").mkdir()
    (tmp_path / "fig" / "a 1.svg").write_text(SVG, encoding="utf-8")
    inline = SVG[SVG.index("<svg") :]
    soup = page(
        f'<div class="cell"><img src="fig/a%201.svg" alt="x"></div><div class="cell">{inline}</div>'
    )
    figures.inline(soup, tmp_path / "page.html", tmp_path)
    first, second = soup.find_all("svg")
    assert str(first).replace("fig1-", "fig2-") == str(second)
    ids = [tag["id"] for tag in soup.select("[id]")]
    assert len(ids) == len(set(ids)) == 4
    assert 'clip-path="url(#fig1-c)"' in str(first)
    assert 'href="#fig1-c"' in str(first)
    assert "var(--th-prefill, #1F4E79)" in str(first)
    assert "currentColor" in str(first)
    assert not soup.find("style")


def test_a_picture_outside_the_site_is_not_read(tmp_path):
    """A page's address cannot pull in a file from elsewhere."""
    (tmp_path / "secret.svg").write_text("<svg><text>secret</text></svg>", encoding="utf-8")
    built = tmp_path / "site"
    built.mkdir()
    soup = page('<div class="cell"><img src="../secret.svg"></div>')
    figures.inline(soup, built / "page.html", built)
    assert not soup.find("svg")


# --- calculators ---------------------------------------------------------------------------------

SPEC = {
    "latency": {
        "inputs": [{"id": "prompt_tokens"}, {"id": "rates", "options": "rates"}],
        "title": "a </script> b",
    }
}
CURVE = {"t0_s": 0, "a_s": 0.1, "b_s": 0, "c_s": 0.2, "d_s": 0, "warm_s": 0, "free_tokens": 0}
RATES = [{"id": "own", "label": "", "source": "", "curve": CURVE, "shortest": 96, "longest": None}]


def place(rates=RATES, start=None, name="latency"):
    found = BeautifulSoup("", "html.parser").new_tag("div", attrs={"data-calculator": name})
    for key, value in (("rates", rates), ("start", start or {})):
        found[f"data-{key}"] = value if isinstance(value, str) else json.dumps(value)
    return str(found)


def rates_with(**changed):
    return [RATES[0] | {"curve": CURVE | changed}]


@pytest.mark.parametrize(
    ("markup", "why"),
    [
        (place(name="cost"), "describes latency"),
        (place(rates="{oops"), "data-rates is not JSON"),
        (place(start="{oops"), "data-start is not JSON"),
        (place(rates={}), "not a list"),
        (place(rates=[]), "no rates to choose from"),
        (place(rates=[{"id": "a-b", "curve": CURVE}]), "an id of letters"),
        (place(rates=[RATES[0] | {"curve": None}]), "no curve of the rates 'own'"),
        (place(rates=[RATES[0] | {"label": None}]), "label must be text, got None"),
        (place(rates=[RATES[0] | {"source": ["x"]}]), "source must be text, got ['x']"),
        (place(rates=RATES * 2), "two sets of rates have the id 'own'"),
        (place(rates=rates_with(free_tokens="1")), "free_tokens must be a number from 0 on"),
        (place(rates=rates_with(a_s=1e300)), "a_s is 1e+300, no time that a machine takes"),
        (place(rates=rates_with(d_s=1e-300)), "d_s is 1e-300, no time that a machine takes"),
        (place(rates=[RATES[0] | {"off": 1e300}]), "off is 1e+300, no error"),
        (place(rates=rates_with(a_s=-1)), "a_s must be a number from 0 on, got -1"),
        (place(rates=rates_with(c_s=True)), "got True"),
        (place(rates=rates_with(b_s=float("nan"))), "got nan"),
        (place(rates=[RATES[0] | {"longest": "4k"}]), "longest must be"),
        (place(start={"speed": {"value": 1}}), "begins with speed, no input"),
        (place(start={"prompt_tokens": {"value": None}}), "begins with None as prompt_tokens"),
        (place(start={"prompt_tokens": 5}), "begins with None as prompt_tokens"),
        (place(start={"prompt_tokens": {"value": 5}}), "where prompt_tokens comes from"),
    ],
)
def test_a_calculator_that_cannot_work_is_refused(markup, why):
    """Named with its page, before a reader meets it."""
    with pytest.raises(CalculatorUnusable, match=re.escape(why)):
        calculators.prepare(page(markup), "page.html", SPEC)


def test_a_description_cannot_end_its_script_early():
    """Two calculators of a kind share one description."""
    soup = page(place() + place())
    calculators.prepare(soup, "page.html", SPEC)
    (script,) = BeautifulSoup(str(soup), "html.parser").find_all("script")
    assert json.loads(script.string) == SPEC["latency"]


def test_what_is_stored_above_a_calculator_folds_and_is_open():
    """So that a page without a script shows it, and nothing of the cell's code goes with it."""
    output = f"<p>A sentence.</p>\n<table></table>\n{place()}"
    soup = page(f'<div class="cell"><pre>code</pre><div class="cell-output">{output}</div></div>')
    calculators.prepare(soup, "page.html", SPEC)
    fold = soup.select_one(".cell-output > details.th-stored")
    assert fold.has_attr("open")
    assert [child.name for child in fold.find_all(recursive=False)] == ["summary", "p", "table"]
    assert fold.find_next_sibling("div")["data-calculator"] == "latency"


# --- links ---------------------------------------------------------------------------------------


def test_all_dead_links_are_named_at_once(tmp_path):
    """With the page each stands in; live ones of every form pass."""
    (tmp_path / "chapters").mkdir()
    (tmp_path / "a b.csv").write_text("", encoding="utf-8")
    (tmp_path / "index.html").write_text(
        '<a href="chapters/one.html#Übung">1</a><a href="#here" id="here">2</a>'
        '<a href="a%20b.csv">3</a><a href="https://example.org">4</a><a href="mailto:a@b.c">5</a>'
        '<a href="gone.html">6</a><a href="chapters/one.html#gone">7</a><img src="gone.png">'
        '<a href="/index.html">8</a><a href="../x">9</a><a href="chapters/one.qmd">10</a>',
        encoding="utf-8",
    )
    (tmp_path / "chapters" / "one.html").write_text(
        '<h2 id="Übung">x</h2><a href="../">up</a>', encoding="utf-8"
    )
    with pytest.raises(LinksDead) as caught:
        links.check(tmp_path, ["index.html", "chapters/one.html"])
    assert caught.value.args[0] == (
        "index.html: gone.html",
        "index.html: chapters/one.html#gone",
        "index.html: /index.html",
        "index.html: ../x",
        "index.html: chapters/one.qmd",
        "index.html: gone.png",
    )


def test_a_link_to_a_folder_names_its_page():
    """Under file:// a browser would list the folder's files."""
    soup = page("".join(f'<a href="{to}"></a>' for to in ("./", "../#x", "https://a.b/", "", "c")))
    links.name_pages(soup)
    assert [a["href"] for a in soup.find_all("a")] == [
        "./index.html",
        "../index.html#x",
        "https://a.b/",
        "",
        "c",
    ]


# --- names, roles, focus ------------------------------------------------------------


def test_what_opens_scrolls_or_leads_has_a_name_and_takes_the_focus():
    """Callout headers are buttons, long code and wide tables take focus, landmarks differ."""
    wide = "".join(f"<th>column {n}</th>" for n in range(6))
    soup = page(
        '<nav id="TOC"></nav><nav aria-label="breadcrumb" class="quarto-page-breadcrumbs"></nav>'
        '<nav aria-label="breadcrumb" class="quarto-page-breadcrumbs"></nav>'
        '<div class="callout-header" data-bs-toggle="collapse" aria-expanded="false"></div>'
        f"<pre>{'x' * 90}</pre><pre>short</pre>"
        f"<table><caption>Rates</caption><tr>{wide}</tr></table><table><tr><td>1</td></tr></table>"
    )
    access.mend(soup)
    names = [nav["aria-label"] for nav in soup.find_all("nav")]
    assert len(set(names)) == 3
    header = soup.find(class_="callout-header")
    assert (header["role"], header["tabindex"]) == ("button", "0")
    assert [pre.get("tabindex") for pre in soup.find_all("pre")] == ["0", None]
    first, second = soup.find_all(class_="th-table")
    assert (first["role"], first["tabindex"], first["aria-label"]) == (
        "region",
        "0",
        "Table 1: Rates",
    )
    assert "tabindex" not in second.attrs


def test_a_formula_that_a_narrow_page_scrolls_takes_the_focus():
    """One that stands on lines of its own; those within a line break with it."""
    soup = page('<p><math display="inline"></math></p><math display="block"></math>')
    access.mend(soup)
    assert [formula.get("tabindex") for formula in soup.find_all("math")] == [None, "0"]


def test_a_table_has_its_own_widths_and_only_named_headers():
    """Quarto gives every column of a long line the same width, and a header to none."""
    soup = page(
        '<table style="width:100%;"><colgroup><col style="width: 50%"/></colgroup>'
        "<tr><th>run</th><th></th></tr><tr><td>1</td><td>2</td></tr></table>"
    )
    access.mend(soup)
    assert str(soup.table) == (
        "<table><tr><th>run</th><td></td></tr><tr><td>1</td><td>2</td></tr></table>"
    )


def test_the_glass_behind_a_menu_is_no_button():
    """It has no name and nothing to see; the menu's own button closes it."""
    soup = page('<div id="quarto-sidebar-glass" data-bs-toggle="collapse"></div>')
    access.mend(soup)
    assert {"role", "tabindex"} & set(soup.find(id="quarto-sidebar-glass").attrs) == set()


def test_italics_after_a_table_are_its_caption():
    """The form that reads well in a notebook, too; other paragraphs stay where they are."""
    soup = page(
        "<div><table><tr><td>1</td></tr></table><p><em>Run <code>a</code>.</em></p>"
        "<p>More.</p></div>"
        "<div><table><tr><td>2</td></tr></table><p><em>Only</em> the start.</p></div>"
    )
    access.mend(soup)
    [caption] = soup.select("p.th-caption")
    assert caption.get_text() == "Run a."
    assert caption.find_next("table")["aria-labelledby"] == caption["id"]
    assert [p.get_text() for p in soup.select("p:not(.th-caption)")] == ["More.", "Only the start."]


def test_the_notebook_is_offered_once(tmp_path):
    """Beside its page, and not again where the renderer offers it."""
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "one.ipynb").write_text("{}", encoding="utf-8")
    soup = page('<header id="title-block-header"></header>')
    for _ in range(2):
        downloads.offer(soup, "notebooks/one.html", tmp_path)
    assert [a["href"] for a in soup.select("header a[download]")] == ["one.ipynb"]
    other = page("<p></p>")
    downloads.offer(other, "index.html", tmp_path)
    assert not other.find("a")
