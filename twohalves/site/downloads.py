"""Each notebook page offers the notebook itself."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from bs4.element import Tag

if TYPE_CHECKING:
    from bs4 import BeautifulSoup


def copy(built: Path, staging: Path) -> None:
    """Put the notebooks beside their pages."""
    target = built / "notebooks"
    for path in sorted((staging / "notebooks").glob("*.ipynb")):
        target.mkdir(exist_ok=True)
        shutil.copyfile(path, target / path.name)


def offer(soup: BeautifulSoup, page: str, built: Path) -> None:
    """Add a download link under the title, unless the renderer made one."""
    notebook = (built / page).with_suffix(".ipynb")
    main = soup.find("main")
    if not notebook.is_file() or not isinstance(main, Tag):
        return
    if any(str(a["href"]).endswith(notebook.name) for a in main.select("a[href][download]")):
        return
    link = soup.new_tag("a", attrs={"href": notebook.name, "download": notebook.name})
    link.string = "Download this page as a notebook"
    line = soup.new_tag("p", attrs={"class": "th-download"})
    line.append(link)
    title = main.find("header", id="title-block-header")
    if isinstance(title, Tag):
        title.append(line)
    else:
        main.insert(0, line)
