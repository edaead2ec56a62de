"""Tables and paragraphs for a terminal, wide or narrow."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

NOTHING = "–"
"""Stands in a cell that has no value."""
_GAP = "  "
_NUMBER = re.compile(rf"[-−+]?\d[\d,.]*(%|×| m?s)?|{NOTHING}")


def table(header: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """Aligned columns where they fit, else one paragraph a row that names its cells.

    Args:
        header: column heads.
        rows: cells as text, formatted by `twohalves.show.numbers`.
        width: characters of the terminal.
    """
    grid = [list(header), *[list(row) for row in rows]]
    widths = [max(map(len, column)) for column in zip(*grid, strict=True)]
    if sum(widths) + len(_GAP) * (len(widths) - 1) > width:
        return [line for row in rows for line in _record(header, row, width)]
    numeric = [
        all(_NUMBER.fullmatch(row[at]) for row in rows) and at > 0 for at in range(len(header))
    ]
    return [
        _GAP.join(
            cell.rjust(size) if right else cell.ljust(size)
            for cell, size, right in zip(cells, widths, numeric, strict=True)
        ).rstrip()
        for cells in grid
    ]


def paragraph(text: str, width: int, indent: str = "") -> list[str]:
    """Prose in lines; a word longer than the line stays whole, so that it can be copied."""
    return textwrap.wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _record(header: Sequence[str], row: Sequence[str], width: int) -> list[str]:
    cells = [
        f"{head} {cell}".strip() for head, cell in zip(header[1:], row[1:], strict=True) if cell
    ]
    return [f"{header[0]} {row[0]}".strip(), *paragraph(" · ".join(cells), width, "  ")]
