"""What both renderers leave undone for readers who use a keyboard or a screen reader."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bs4.element import Tag

if TYPE_CHECKING:
    from bs4 import BeautifulSoup

# Lines longer than this scroll on a narrow screen: the box must then take the keyboard's focus.
_LONG_LINE = 40
_WIDE_COLUMNS = 5
_NAVIGATION = (
    ("#quarto-sidebar", "Pages of the book"),
    ("#TOC", "On this page"),
    (".page-navigation", "Previous and next page"),
    (".quarto-title-breadcrumbs", "Where this page is"),
    (".quarto-page-breadcrumbs", "Where this page is, short"),
    (".quarto-secondary-nav", "Small screen"),
)


def mend(soup: BeautifulSoup) -> None:
    """Mend names, roles and focus of a page."""
    _name_navigation(soup)
    _toggles(soup)
    for pre in soup.select("main pre"):
        if any(len(line) > _LONG_LINE for line in pre.get_text().splitlines()):
            pre["tabindex"] = "0"
    for formula in soup.select("main math[display=block]"):
        formula["tabindex"] = "0"
    tables = [t for t in soup.select("main table") if not t.find_parent("table")]
    for number, table in enumerate(tables, 1):
        _box_table(soup, table, number)


def _name_navigation(soup: BeautifulSoup) -> None:
    """Two landmarks of a kind need different names."""
    seen: dict[str, int] = {}
    for nav in soup.find_all("nav"):
        name = str(nav.get("aria-label") or "")
        for selector, given in _NAVIGATION:
            if nav in soup.select(selector):
                name = given
                break
        name = name or "Navigation"
        seen[name] = seen.get(name, 0) + 1
        nav["aria-label"] = name if seen[name] == 1 else f"{name} {seen[name]}"


def _toggles(soup: BeautifulSoup) -> None:
    """What opens and closes something is a button, also for the keyboard."""
    # Quarto's glass over the page closes the menu, too, but only for a pointer.
    for tag in soup.select("[data-bs-toggle=collapse]:not(button, #quarto-sidebar-glass)"):
        tag["role"] = "button"
        if not tag.get("href"):
            tag["tabindex"] = "0"
    for tag in soup.select("a.quarto-color-scheme-toggle"):
        tag["role"] = "button"
        tag["aria-label"] = "Dark or light"
    for tag in soup.select("button.code-copy-button"):
        tag["aria-label"] = "Copy the code"


def _box_table(soup: BeautifulSoup, table: Tag, number: int) -> None:
    """A table scrolls in a box of its own, never the page; a wide one takes the focus."""
    box = table.parent
    if not (isinstance(box, Tag) and "sd-table" in (box.get("class") or [])):
        box = table.wrap(soup.new_tag("div"))
    box["class"] = "th-table"
    _own_widths(table)
    _name_columns(table)
    name = _caption_outside(soup, table, box, f"th-caption-{number}")
    rows = table.find_all("tr")
    columns = max((len(row.find_all(["td", "th"])) for row in rows), default=0)
    longest = max((len(row.get_text(" ", strip=True)) for row in rows), default=0)
    if columns >= _WIDE_COLUMNS or longest > _LONG_LINE:
        box["tabindex"] = "0"
        box["role"] = "region"
        box["aria-label"] = f"Table {number}" + (f": {name}" if name else "")


def _own_widths(table: Tag) -> None:
    """Let columns be as wide as what they hold: Quarto gives all the same where a line is long."""
    for columns in table.find_all("colgroup", recursive=False):
        columns.decompose()
    if "width" in str(table.get("style") or ""):
        del table["style"]


def _name_columns(table: Tag) -> None:
    """A column without a name has no header, only an empty cell above it."""
    for cell in table.find_all("th"):
        if not cell.get_text(strip=True):
            cell.name = "td"


def _caption_outside(soup: BeautifulSoup, table: Tag, box: Tag, name: str) -> str:
    """Put a caption before the box, so that it breaks its lines where the page does.

    A caption is the renderer's own, or a paragraph in italics right after the table: the form
    that reads well in a notebook, too.
    """
    caption = table.find("caption")
    italics = _italics_after(box)
    if isinstance(caption, Tag):
        found = caption
    elif italics is not None:
        found = italics
    else:
        return ""
    paragraph = soup.new_tag("p", attrs={"class": "th-caption", "id": name})
    paragraph.extend(list(found.contents))
    (found.parent if found is italics and found.parent else found).decompose()
    table["aria-labelledby"] = name
    box.insert_before(paragraph)
    return paragraph.get_text(" ", strip=True)


def _italics_after(box: Tag) -> Tag | None:
    """The italics after a table, if they are a paragraph of their own."""
    after = box.find_next_sibling()
    if not isinstance(after, Tag) or after.name != "p":
        return None
    whole = [child for child in after.children if isinstance(child, Tag) or str(child).strip()]
    only = whole[0] if len(whole) == 1 else None
    return only if isinstance(only, Tag) and only.name == "em" else None
