"""The tables of a calculator as HTML, for a widget that is given a new text at every change."""

from __future__ import annotations

import html

from twohalves.show import svg
from twohalves.show.calculator.spec import Results, Spec
from twohalves.show.calculator.tables import lines

_MARKS = {"prefill": svg.PREFILL, "decode": svg.DECODE}
STYLE = """<style>
.th-live { --th-ink: currentColor; }
.th-live h4, .th-live h5 { margin: .6em 0 .2em; font-weight: 600; line-height: 1.3; }
.th-live p { margin: .4em 0; }
.th-live .widget-html-content { line-height: 1.35; white-space: normal; }
.th-live .widget-label { text-align: left; justify-content: flex-start; }
.th-live summary { padding: .3em 0; cursor: pointer; }
.th-live .th-note { font-weight: 600; border-left: 4px solid #cc5a50; padding-left: .6em; }
.th-live svg.th-figure { max-width: 100%; height: auto; }
.th-live table { border-collapse: collapse; margin: .6em 0; font-size: inherit; }
.th-live caption { text-align: left; font-weight: 600; padding: .2em 0; white-space: nowrap; }
.th-live :is(th, td) { padding: .15em .8em .15em 0; text-align: right; white-space: nowrap; }
.th-live :is(th, td):first-child { text-align: left; white-space: normal; }
.th-live tbody th { font-weight: inherit; }
.th-live thead th { border-bottom: 1px solid currentColor; }
.th-live .th-swatch { display: inline-block; width: .8em; height: .8em; margin-right: .4em; }
</style>"""
"""Letters have the color of the page around them; the rest is legible on white and on black."""


def as_html(spec: Spec, texts: dict[str, str], results: Results) -> str:
    """All tables, each under its caption.

    Args:
        spec: of the calculator.
        texts: outputs and inputs as they are shown.
        results: outputs, for the order of ranked rows.
    """
    parts = []
    for table in spec["tables"]:
        head = "".join(f'<th scope="col">{html.escape(each)}</th>' for each in table["head"])
        rows = ""
        for line in lines(table, texts, results):
            cells = "".join(f"<td>{html.escape(cell)}</td>" for cell in line.cells)
            label = f"{_swatch(line.mark)}{html.escape(line.label)}"
            rows += f'<tr><th scope="row">{label}</th>{cells}</tr>'
        parts.append(
            f'<table class="th-results"><caption>{html.escape(table["caption"])}</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        )
    return "".join(parts)


def _swatch(mark: str) -> str:
    """The color of a half; the label beside it says the same."""
    return f'<span class="th-swatch" style="background:{_MARKS[mark]}"></span>' if mark else ""
