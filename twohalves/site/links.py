"""Every link inside the site leads somewhere, to the anchor it names."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from urllib.parse import unquote

from bs4 import BeautifulSoup

from twohalves.errors import LinksDead

_ELSEWHERE = re.compile(r"^([a-zA-Z][a-zA-Z0-9+.-]*:|//)")
_CARRIERS = (("a", "href"), ("img", "src"), ("link", "href"), ("script", "src"), ("source", "src"))


def name_pages(soup: BeautifulSoup) -> None:
    """Let a link to a folder name its page: opened by double click, a folder is a list of files."""
    for tag in soup.select("a[href]"):
        path, mark, anchor = str(tag["href"]).partition("#")
        if path.endswith("/") and not path.startswith("/") and not _ELSEWHERE.match(path):
            tag["href"] = f"{path}index.html{mark}{anchor}"


def check(built: Path, pages: list[str]) -> None:
    """Look at every link of every page.

    Args:
        built: the site.
        pages: its pages, relative to it.

    Raises:
        LinksDead: all dead links at once, each with its page.
    """
    anchors: dict[str, set[str]] = {}
    wanted: list[tuple[str, str]] = []
    for page in pages:
        soup = BeautifulSoup((built / page).read_text(encoding="utf-8"), "html.parser")
        anchors[page] = {str(t["id"]) for t in soup.select("[id]")}
        anchors[page] |= {str(t["name"]) for t in soup.select("a[name]")}
        for tag, key in _CARRIERS:
            wanted += [(page, str(t[key])) for t in soup.select(f"{tag}[{key}]")]
    dead = [f"{page}: {link}" for page, link in wanted if not _alive(page, link, built, anchors)]
    if dead:
        raise LinksDead(tuple(dict.fromkeys(dead)))


def _alive(page: str, link: str, built: Path, anchors: dict[str, set[str]]) -> bool:
    if not link or _ELSEWHERE.match(link):
        return True
    path, _, anchor = link.partition("#")
    path = unquote(path.partition("?")[0])
    if path.startswith("/"):
        return False  # the site also lives in a folder, and under file://
    target = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
    if target.startswith(".."):
        return False
    if (built / target).is_dir():
        target = posixpath.normpath(posixpath.join(target, "index.html"))
    if not (built / target).is_file():
        return False
    anchor = unquote(anchor)
    return not anchor or target not in anchors or anchor in anchors[target]
