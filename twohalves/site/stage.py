"""Staging: what the site is made of, copied apart, so that a build touches no source."""

from __future__ import annotations

import fnmatch
import json
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import ipywidgets

from twohalves.errors import NotebookUnreadable, OutputNotForPages, SiteSourceMissing
from twohalves.site import variables

_KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
_RUN_FILES = ("session.json", "timings.csv")
_WIDGET_TYPE = "application/vnd.jupyter.widget-"
_CALL = re.compile(r"(\w+)\(")
STATIC = Path(__file__).parent / "static"
"""Our script and styles."""


def stage(project: Path, staging: Path) -> list[Path]:
    """Copy pages, notebooks and the data they link to into a folder of their own.

    Every notebook gets this project's kernel, whatever it was saved with, and loses the saved
    state of widgets, which a page cannot use.

    Args:
        project: the project's folder.
        staging: an empty folder, or one that does not exist yet.

    Returns:
        The staged notebooks, in the order of their names.

    Raises:
        SiteSourceMissing: the configuration, the first page or the claims are not there.
        VariableUnknown: a page asks for a number that the claims do not hold.
        NotebookUnreadable: a notebook is not one.
    """
    staging.mkdir(parents=True, exist_ok=True)
    for name in ("_quarto.yml", "index.qmd"):
        if not (project / name).is_file():
            raise SiteSourceMissing(name)
        shutil.copyfile(project / name, staging / name)
    _copy(STATIC, staging / "twohalves" / "site" / "static")
    _copy_pages(project, staging)
    _copy_data(project, staging)
    known = variables.variables(project)
    for page in sorted(staging.rglob("*.qmd")):
        name = page.relative_to(staging).as_posix()
        variables.check(name, page.read_text(encoding="utf-8"), known)
    variables.write(staging, known)
    return [
        _copy_notebook(path, staging) for path in sorted((project / "notebooks").glob("*.ipynb"))
    ]


def _copy_pages(project: Path, staging: Path) -> None:
    """Chapters, with the pictures beside them."""
    if (project / "chapters").is_dir():
        _copy(project / "chapters", staging / "chapters")
    (staging / "notebooks").mkdir(exist_ok=True)


def _copy_data(project: Path, staging: Path) -> None:
    """The data that pages may link to; of the runs only the committed ones, and their rows."""
    source, target = project / "data", staging / "data"
    _copy(source, target, without=(".*", "runs"))
    for run in sorted(source.glob("runs/sample*")):
        for name in _RUN_FILES:
            if (run / name).is_file():
                (target / "runs" / run.name).mkdir(parents=True, exist_ok=True)
                shutil.copyfile(run / name, target / "runs" / run.name / name)


def _copy(source: Path, target: Path, without: tuple[str, ...] = (".*", "__pycache__")) -> None:
    """Copy a folder's contents without their modes: what is read-only there is writable here."""
    target.mkdir(parents=True, exist_ok=True)
    for path in source.iterdir():
        if any(fnmatch.fnmatchcase(path.name, pattern) for pattern in without):
            continue
        if path.is_dir():
            _copy(path, target / path.name, without)
        else:
            shutil.copyfile(path, target / path.name)


def refuse_live(notebooks: Iterable[Path], staging: Path) -> None:
    """Refuse stored outputs that a page cannot show: widgets of a kernel long gone, and errors.

    Raises:
        OutputNotForPages: with the notebook and the cell.
    """
    for path in notebooks:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        for number, cell in enumerate(cells, start=1):
            for out in cell.get("outputs", ()):
                if kind := _unfit(out):
                    name, source = path.relative_to(staging).as_posix(), "".join(cell["source"])
                    raise OutputNotForPages(name, number, source, kind)


def _unfit(out: dict[str, Any]) -> str:
    """What an output is that no page can show; "" = it is fit for one."""
    if out.get("output_type") == "error":
        return "an error"
    data = out.get("data", {})
    if any(kind.startswith(_WIDGET_TYPE) for kind in data):
        return "a live widget"
    printed = _CALL.match("".join(data.get("text/plain", "")))  # as HBox(children=(…
    kind = getattr(ipywidgets, printed[1], None) if printed and len(data) == 1 else None
    is_widget = isinstance(kind, type) and issubclass(kind, ipywidgets.Widget)
    return "a live widget" if is_widget else ""


def _copy_notebook(path: Path, staging: Path) -> Path:
    name = f"notebooks/{path.name}"
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise NotebookUnreadable(name, str(error)) from error
    if lack := _lack(notebook):
        raise NotebookUnreadable(name, lack)
    plain(notebook)
    target = staging / name
    target.write_text(_as_text(notebook), encoding="utf-8", newline="\n")
    return target


def _lack(notebook: object) -> str:
    """What a notebook must hold and this one does not; "" = nothing."""
    if not isinstance(notebook, dict):
        return "it is no JSON object"
    if not isinstance(notebook.get("cells"), list):
        return "it has no list under the key “cells”"
    for number, cell in enumerate(notebook["cells"], start=1):
        for key in ("cell_type", "source"):
            if not isinstance(cell, dict) or key not in cell:
                return f"cell {number} lacks the key “{key}”"
    return ""


def other_kernels(project: Path) -> dict[str, str]:
    """The kernels that notebooks were saved under, where it was not this project's, by notebook.

    Args:
        project: the project's folder, whose notebooks have been staged.
    """
    found = {}
    for path in sorted((project / "notebooks").glob("*.ipynb")):
        metadata = json.loads(path.read_text(encoding="utf-8")).get("metadata") or {}
        name = (metadata.get("kernelspec") or {}).get("name")
        if name and name != _KERNEL["name"]:
            found[path.name] = str(name)
    return found


def plain(notebook: dict[str, Any]) -> None:
    """Give a notebook this project's kernel and drop what only its last session meant.

    Other programs save less: what every cell has here is filled in.
    """
    metadata = notebook["metadata"] = notebook.get("metadata") or {}
    metadata.pop("widgets", None)
    metadata["kernelspec"] = dict(_KERNEL)
    metadata["language_info"] = {"name": "python"}
    for cell in notebook["cells"]:
        cell.setdefault("metadata", {}).pop("execution", None)
        if cell["cell_type"] == "code":
            cell.setdefault("outputs", [])
            cell.setdefault("execution_count", None)


def _as_text(notebook: dict[str, Any]) -> str:
    return json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
