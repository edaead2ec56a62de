"""What Markdown that a page shows says, and the cells of its table, as text."""


def text_of(markdown):
    """As it is read."""
    return read(markdown.data)


def read(text):
    """Amounts of dollars without what keeps them from being formulas."""
    return text.replace("<span>\\$</span>", "$")


def rows_of(markdown):
    """All rows below the head."""
    lines = [line for line in text_of(markdown).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def cells_of(markdown, row):
    """Those of one row, from 0."""
    return rows_of(markdown)[row]
