"""The cells of a Markdown table that a page shows, as text."""


def rows_of(markdown):
    """All rows below the head."""
    lines = [line for line in markdown.data.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def cells_of(markdown, row):
    """Those of one row, from 0."""
    return rows_of(markdown)[row]
