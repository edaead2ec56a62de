"""No page asks the network for anything: what would is taken out, what stays is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from twohalves.errors import PageNeedsNetwork

if TYPE_CHECKING:
    from bs4 import BeautifulSoup
    from bs4.element import Tag

_OUTSIDE = re.compile(r"^\s*(https?:)?//", re.IGNORECASE)
_HOSTS = ("jsdelivr", "unpkg", "cdnjs", "fonts.googleapis", "fonts.gstatic", "requirejs")
_WIDGET = "jupyter.widget"
# Links that are addresses, not loads.
_HARMLESS_RELS = {"canonical", "license", "author", "me", "next", "prev", "alternate", "help"}
_LOADS = ("src", "srcset", "poster", "data", "background", "data-src", "xlink:href")
_IN_STYLE = re.compile(
    r"""(?:@import\s+(?:url\()?|url\()\s*["']?\s*((?:https?:)?//[^"')\s]+)""", re.IGNORECASE
)


def strip(soup: BeautifulSoup) -> None:
    """Take out scripts, styles and fonts of other hosts, and what only served them."""
    for tag in soup.find_all(["script", "link"]):
        if any(_OUTSIDE.match(address) for address in _loaded(tag)):
            tag.decompose()
        elif tag.name == "script" and "define('jquery'" in tag.get_text():
            tag.decompose()  # a helper of the script loader that is gone


def refuse(soup: BeautifulSoup, page: str) -> None:
    """Refuse a page that would still load something from another host.

    Raises:
        PageNeedsNetwork: with the page and the address, or the kind of content.
    """
    for tag in soup.select("*"):
        for address in _loaded(tag):
            if any(_OUTSIDE.match(part) for part in address.split(",")):
                raise PageNeedsNetwork(page, address.strip())
    for tag in soup.find_all(["script", "style"]):
        if _WIDGET in str(tag.get("type", "")):
            raise PageNeedsNetwork(page, "the saved state of a widget")
        found = next((host for host in _HOSTS if host in tag.get_text()), None)
        loaded = _IN_STYLE.search(tag.get_text()) if tag.name == "style" else None
        if found or loaded:
            raise PageNeedsNetwork(page, loaded[1] if loaded else str(found))
    for tag in soup.find_all(style=_IN_STYLE):
        raise PageNeedsNetwork(page, str(tag["style"]))


def refuse_styles(built: Path) -> None:
    """Refuse a stylesheet of the site that loads something from another host.

    Raises:
        PageNeedsNetwork: with the stylesheet and the address.
    """
    for path in sorted(built.rglob("*.css")):
        found = _IN_STYLE.search(path.read_text(encoding="utf-8", errors="replace"))
        if found:
            raise PageNeedsNetwork(path.relative_to(built).as_posix(), found[1])


def _loaded(tag: Tag) -> Iterator[str]:
    """The addresses that a browser fetches for this tag without being asked."""
    loading_link = tag.name == "link" and not _HARMLESS_RELS & _relations(tag)
    if loading_link or tag.name in {"image", "use"}:
        yield str(tag.get("href", ""))
    for name in _LOADS:
        if tag.has_attr(name) and not (name == "data" and tag.name != "object"):
            yield str(tag[name])


def _relations(tag: Tag) -> set[str]:
    value = tag.get("rel") or ""
    words = value if isinstance(value, str) else " ".join(value)
    return set(words.lower().split())
