"""The tables of a calculator as rows of text: one reading of data/worksheet.json for all hosts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from twohalves.show.calculator.spec import Results, Spec
from twohalves.show.markdown import grid


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A row of a table."""

    label: str
    """What it is about."""
    mark: str
    """The half whose color it carries; empty = none."""
    cells: list[str]
    """Its figures as text."""


def lines(table: dict[str, Any], texts: dict[str, str], results: Results) -> list[Line]:
    """The rows of a table; a ranked one has the largest first figure on top.

    Equal rows keep the order of data/worksheet.json.
    """
    rows = list(table["rows"])
    if table.get("ranked"):
        rows.sort(key=lambda row: -(results[row["cells"][0]] or 0.0))
    return [
        Line(
            label=row["label"],
            mark=row.get("mark", ""),
            cells=[texts[name] if name else "" for name in row["cells"]],
        )
        for row in rows
    ]


def as_markdown(spec: Spec, texts: dict[str, str], results: Results) -> str:
    """All tables for a page without a script, each with its caption in italics below.

    Args:
        spec: of the calculator.
        texts: outputs and inputs as they are shown.
        results: outputs, for the order of ranked rows.
    """
    parts = []
    for table in spec["tables"]:
        rows = [labelled(row.label, row.cells) for row in lines(table, texts, results)]
        parts += [grid(table["head"], rows), f"*{table['caption']}.*"]
    return "\n\n".join(parts)


def labelled(label: str, figures: Iterable[str]) -> list[str]:
    """A row of Markdown; a figure may begin with "<"."""
    return [label, *(figure.replace("<", "&lt;") for figure in figures)]
