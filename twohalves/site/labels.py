"""Labeled quotes get their place: ``> **KV cache** — …`` in the margin, ``> **Try it** …`` a box.

In a notebook these are plain quotes that read well anywhere; only the site gives them a place.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bs4.element import NavigableString, Tag

if TYPE_CHECKING:
    from bs4 import BeautifulSoup

_BOXES = {
    "note": "note",
    "try it": "try",
    "takeaway": "takeaway",
    "prediction": "prediction",
    "caution": "caution",
    "who answers": "source",
    "rows": "source",
}
_DASH = re.compile(r"^\s*(?:—|–|--)\s*")
_COLON = re.compile(r"^\s*[:.]\s*")


def place(soup: BeautifulSoup) -> None:
    """Give every labeled quote its class; definitions go to the margin of a wide page."""
    for quote in soup.find_all("blockquote"):
        first = next((child for child in quote.children if isinstance(child, Tag)), None)
        label = _label(first)
        if label is None:
            continue
        name = label.get_text(" ", strip=True)
        kind = _BOXES.get(name.rstrip(":.").lower())
        if kind:
            _box(quote, label, kind)
        elif _DASH.match(_after(label)):
            _definition(quote, name)
    main = soup.find("main")
    if isinstance(main, Tag) and main.find(class_="th-term"):
        main["class"] = " ".join([*(main.get("class") or []), "th-has-terms"])


def _label(paragraph: Tag | None) -> Tag | None:
    """The bold words a paragraph opens with, if it does."""
    if paragraph is None or paragraph.name != "p":
        return None
    for child in paragraph.children:
        if isinstance(child, NavigableString) and not child.strip():
            continue
        return child if isinstance(child, Tag) and child.name == "strong" else None
    return None


def _after(label: Tag) -> str:
    following = label.next_sibling
    return str(following) if isinstance(following, NavigableString) else ""


def _box(quote: Tag, label: Tag, kind: str) -> None:
    quote.name = "div"
    quote["class"] = f"th-box th-box-{kind}"
    quote["role"] = "note"
    label["class"] = "th-label"
    label.string = label.get_text(" ", strip=True).rstrip(":.")
    following = label.next_sibling
    if isinstance(following, NavigableString):
        text = _COLON.sub("", _DASH.sub("", str(following)))
        following.replace_with(NavigableString(" " + text.lstrip()))


def _definition(quote: Tag, term: str) -> None:
    quote.name = "div"
    quote["class"] = "th-term"
    quote["role"] = "note"
    quote["aria-label"] = f"Definition: {term}"
