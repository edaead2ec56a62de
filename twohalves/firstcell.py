"""The first cell of every notebook: the same everywhere, with the project's address in it.

It is the only code that a notebook needs before it has the project, so the address must stand in
it literally. Its one home is ``[project.urls]`` of ``pyproject.toml``; from there it is written
into the notebooks. Standard library only.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

from twohalves.errors import AddressUnusable
from twohalves.places import NOTEBOOKS, PROJECT

CONFIG = PROJECT / "pyproject.toml"
"""Where the address is configured."""
CELL_ID = "kernel"
"""The cell's id, by which it is found again."""
_FETCHABLE = re.compile(r"(https?|ssh|file)://[^\s\"'\\]+")

_HIDDEN = {"jupyter": {"source_hidden": True}}
"""Folded away in JupyterLab: nothing in it is for a reader, and it runs all the same."""

_ALONE = """\
#| echo: false
import sys

sys.path.append("..")  # the project, when this notebook lies in its folder notebooks
try:
    from twohalves import kernel
except ImportError:
    raise ImportError("Get the whole project, and open this notebook in it.") from None
kernel.prepare()"""
_FETCHING = """\
#| echo: false
import subprocess
import sys

BOOK = ADDRESS
sys.path += ["..", "two-halves"]  # the project: around this notebook, or fetched beside it
try:
    from twohalves import kernel
except ImportError:  # this notebook was opened alone, as on a hosted machine
    if subprocess.call(["git", "clone", "--depth=1", BOOK, "two-halves"]):
        raise ImportError(f"{BOOK} was not fetched. On Kaggle switch on Internet.") from None
    sys.path_importer_cache.clear()  # Python had found no such folder
    from twohalves import kernel
kernel.prepare()"""


def address(config: Path = CONFIG) -> str:
    """Where the project can be fetched from with git; "" = nowhere yet.

    Raises:
        AddressUnusable: What is configured is no address.
    """
    project = tomllib.loads(config.read_text(encoding="utf-8")).get("project", {})
    found = str(project.get("urls", {}).get("Repository", "")).strip()
    if found and not _FETCHABLE.fullmatch(found):
        raise AddressUnusable(found, config.name)
    return found


def source(fetch_from: str) -> str:
    """The cell's code for a project that lies at this address; "" = it lies nowhere yet."""
    return _FETCHING.replace("ADDRESS", json.dumps(fetch_from)) if fetch_from else _ALONE


def write(fetch_from: str, folder: Path = NOTEBOOKS) -> tuple[Path, ...]:
    """Write the cell into all notebooks, before the first code cell where there is none yet.

    Args:
        fetch_from: The project's address; "" = none.
        folder: Where the notebooks are.

    Returns:
        The notebooks that were changed.
    """
    changed = []
    for path in sorted(folder.glob("*.ipynb")):
        text = path.read_text(encoding="utf-8")
        notebook = json.loads(text)
        _put(notebook["cells"], source(fetch_from))
        fresh = json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
        if json.loads(text) != notebook:
            beside = path.with_name(f".{path.name}.part")
            beside.write_text(fresh, encoding="utf-8", newline="\n")
            beside.replace(path)
            changed.append(path)
    return tuple(changed)


def _put(cells: list[dict[str, Any]], code: str) -> None:
    lines = code.splitlines(keepends=True)
    for cell in cells:
        if cell.get("id") == CELL_ID:
            cell["source"], cell["metadata"] = lines, _HIDDEN
            return
    at = next((n for n, cell in enumerate(cells) if cell["cell_type"] == "code"), len(cells))
    made = {"cell_type": "code", "execution_count": None, "id": CELL_ID, "source": lines}
    cells.insert(at, {**made, "metadata": _HIDDEN, "outputs": []})
