"""What Markdown that a page shows says, and the cells of its table, as text."""

import json
import re

_RULE = re.compile(r"\|(\s*:?-+:?\s*\|)+")
"""The line between the head of a table and its rows."""


def text_of(markdown):
    """As it is read."""
    return read(markdown.data)


def read(text):
    """Amounts of dollars without what keeps them from being formulas."""
    return text.replace("<span>\\$</span>", "$")


def rows_of(markdown):
    """All rows below the heads, those of folded tables last."""
    lines = [line for line in text_of(markdown).splitlines() if line.startswith("|")]
    rules = {at for at, line in enumerate(lines) if _RULE.fullmatch(line)}
    rows = [line for at, line in enumerate(lines) if not {at, at + 1} & rules]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in rows]


def cells_of(markdown, row):
    """Those of one row, from 0."""
    return rows_of(markdown)[row]


def outputs_of(notebook):
    """What a stored notebook shows, all outputs in one text, as it is read."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return read("\n".join(text for cell in cells for text in _shown(cell)))


def page_of(notebook):
    """Prose and outputs of a stored notebook, in their order, in one text, as it is read."""
    texts = []
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "markdown":
            texts.append("".join(cell["source"]))
        texts += _shown(cell)
    return read("\n".join(texts))


def _shown(cell):
    return [
        "".join(output.get("text") or output["data"].get("text/markdown", ""))
        for output in cell.get("outputs", [])
    ]
