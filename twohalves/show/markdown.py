"""Markdown for a cell's output: sentences and tables that read well everywhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from IPython.display import Markdown

_AMOUNT = re.compile(r"\\\$|(?<!\$)\$(?=\d)")
"""A sign that is escaped, or one in front of a number."""


def say(*paragraphs: str) -> Markdown:
    """Paragraphs of prose."""
    return Markdown(priced("\n\n".join(paragraphs)))


def table(header: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> Markdown:
    """A Markdown table, its first column left-aligned text, the others numbers.

    Args:
        header: column heads.
        rows: cells as text, formatted by `twohalves.show.numbers`.
        caption: what the table shows and where its numbers come from; it follows in italics,
            which the site turns into a caption.
    """
    return Markdown(priced(f"{grid(header, rows)}\n\n*{caption}*\n"))


def grid(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The lines of such a table, without a caption."""
    lines = [_line(header), _line(["---", *["---:"] * (len(header) - 1)])]
    return "\n".join([*lines, *map(_line, rows)])


def fold(summary: str, *paragraphs: str) -> Markdown:
    """Prose that opens on a click."""
    inside = "\n\n".join(paragraphs)
    return Markdown(priced(f"<details><summary>{summary}</summary>\n\n{inside}\n\n</details>"))


def priced(text: str) -> str:
    r"""Markdown whose dollars stay dollars.

    JupyterLab takes what stands between two dollar signs for a formula, before Markdown is read
    and once more in what became of it; a sign that is escaped, in an element of its own, is one.

    >>> priced("$5 or $$x$$")
    '<span>\\$</span>5 or $$x$$'
    """
    return _AMOUNT.sub(r"<span>\\$</span>", text)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
