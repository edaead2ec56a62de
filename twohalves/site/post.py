"""The finish: what is done to every rendered page, so that both renderers give the same book.

The order matters: what is taken out first (scripts from a CDN) cannot fail later, and links are
looked at last, when every page and file is in its place.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from bs4 import BeautifulSoup

from twohalves.site import (
    access,
    calculators,
    downloads,
    figures,
    labels,
    links,
    mathml,
    network,
    scripts,
)
from twohalves.site.stage import STATIC

_COPIED = ("favicon.svg", "twohalves.css")
_SCRIPT = "twohalves.js"


def finish(built: Path, staging: Path) -> list[str]:
    """Finish every page of a rendered site, in place.

    Args:
        built: the folder that holds the rendered index.html.
        staging: the staged project the pages were rendered from.

    Returns:
        The pages, relative to the site, in order.

    Raises:
        TwoHalvesError: a page would ask the network, shows source text, links to nothing, or
            holds a calculator that cannot be made.
    """
    (built / "assets").mkdir(exist_ok=True)
    for name in _COPIED:
        shutil.copy2(STATIC / name, built / "assets" / name)
    (built / "assets" / _SCRIPT).write_text(scripts.text(), encoding="utf-8")
    downloads.copy(built, staging)
    worksheet = calculators.read(staging)
    pages = sorted(path for path in built.rglob("*.html") if "site_libs" not in path.parts)
    names = [path.relative_to(built).as_posix() for path in pages]
    for path, name in zip(pages, names, strict=True):
        soup = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        network.strip(soup)
        figures.inline(soup, path, built)
        mathml.convert(soup, name)
        labels.place(soup)
        calculators.prepare(soup, name, worksheet)
        downloads.offer(soup, name, built)
        access.mend(soup)
        links.name_pages(soup)
        _link_assets(soup, name)
        network.refuse(soup, name)
        mathml.refuse_leftovers(soup, name)
        path.write_text(soup.decode(formatter="minimal"), encoding="utf-8")
    network.refuse_styles(built)
    links.check(built, names)
    return names


def _link_assets(soup: BeautifulSoup, page: str) -> None:
    """Our styles after all others, so that they win; our script when the page stands."""
    up = "../" * page.count("/")
    head = soup.head
    if head is None:
        return
    icon, style, script = (f"{up}assets/{name}" for name in (*_COPIED, _SCRIPT))
    head.append(soup.new_tag("link", attrs={"rel": "icon", "href": icon}))
    head.append(soup.new_tag("link", attrs={"rel": "stylesheet", "href": style}))
    head.append(soup.new_tag("script", attrs={"src": script, "defer": ""}))
