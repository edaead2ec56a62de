"""Figures: inline in the page, so that its colors reach into them; each with ids of its own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from bs4 import BeautifulSoup

if TYPE_CHECKING:
    from bs4.element import Tag

_PROLOG = re.compile(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->", re.DOTALL)
# The book's colors, as figures carry them, and the names under which a page may change them.
_COLORS = {
    "#1f4e79": "var(--th-prefill, #1F4E79)",
    "#b3453e": "var(--th-decode, #B3453E)",
    "#000000": "currentColor",
}
_COLOR = re.compile("|".join(_COLORS), re.IGNORECASE)
_POINTS = re.compile(r"(url\(\s*['\"]?#)([^'\")]+)")
_LISTS = ("aria-labelledby", "aria-describedby")


def inline(soup: BeautifulSoup, path: Path, built: Path) -> None:
    """Put SVG pictures of notebook outputs into the page, and make every figure fit it.

    Quarto writes such a picture to a file beside the page, smalldocs writes it into the page:
    after this both are the same.

    Args:
        soup: the page.
        path: the page's file.
        built: the site; only files inside it are read.
    """
    for image in soup.select("main img[src]"):
        file = _local(str(image["src"]), path, built)
        if file is None or not image.find_parent(class_="cell"):
            continue
        svg = BeautifulSoup(_PROLOG.sub("", file.read_text(encoding="utf-8")), "html.parser").svg
        if svg is not None:
            _keep_text(image, svg, soup)
            image.replace_with(svg)
    for number, svg in enumerate(soup.select("main .cell svg"), 1):
        _own_ids(svg, f"fig{number}-")
        _follow_page(svg)


def _local(source: str, path: Path, built: Path) -> Path | None:
    if not source.lower().endswith(".svg") or ":" in source.split("/", maxsplit=1)[0]:
        return None
    file = (path.parent / unquote(source)).resolve()
    return file if file.is_file() and file.is_relative_to(built.resolve()) else None


def _keep_text(image: Tag, svg: Tag, soup: BeautifulSoup) -> None:
    """A picture's alternative text becomes the figure's title, if it has none of its own."""
    text = str(image.get("alt") or "").strip()
    if text and not svg.find("title"):
        title = soup.new_tag("title")
        title.string = text
        svg.insert(0, title)
        svg["role"] = "img"


def _own_ids(svg: Tag, prefix: str) -> None:
    """Figures made by one program name their parts alike; in one page ids must differ."""
    names = {str(tag["id"]) for tag in svg.select("[id]")}
    if svg.has_attr("id"):
        names.add(str(svg["id"]))
    for tag in [svg, *svg.select("*")]:
        for key, value in list(tag.attrs.items()):
            text = value if isinstance(value, str) else " ".join(value)
            if key == "id":
                tag[key] = prefix + text
            elif key in _LISTS:
                tag[key] = " ".join(prefix + w if w in names else w for w in text.split())
            elif key.endswith("href") and text.startswith("#") and text[1:] in names:
                tag[key] = f"#{prefix}{text[1:]}"
            elif "url(" in text:
                tag[key] = _POINTS.sub(rf"\g<1>{prefix}\g<2>", text)


def _follow_page(svg: Tag) -> None:
    """Let the page's light and dark colors reach the figure, and let it shrink."""
    for tag in [svg, *svg.select("*")]:
        for key in ("fill", "stroke", "style"):
            if tag.has_attr(key):
                tag[key] = _COLOR.sub(lambda m: _COLORS[m[0].lower()], str(tag[key]))
    for style in svg.find_all("style"):
        style.decompose()  # a style inside a figure would reach the whole page
    svg["class"] = " ".join([*(svg.get("class") or []), "th-figure"])
