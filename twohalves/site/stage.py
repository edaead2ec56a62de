"""Staging: what the site is made of, copied apart, so that a build touches no source."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from twohalves.errors import NotebookUnreadable, SiteSourceMissing
from twohalves.site import variables

_KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
_RUN_FILES = ("session.json", "timings.csv")
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
        shutil.copy2(project / name, staging / name)
    shutil.copytree(STATIC, staging / "twohalves" / "site" / "static", dirs_exist_ok=True)
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
        ignore = shutil.ignore_patterns(".*", "__pycache__")
        shutil.copytree(
            project / "chapters", staging / "chapters", ignore=ignore, dirs_exist_ok=True
        )
    (staging / "notebooks").mkdir(exist_ok=True)


def _copy_data(project: Path, staging: Path) -> None:
    """The data that pages may link to; of the runs only the committed ones, and their rows."""
    source, target = project / "data", staging / "data"
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("runs", ".*"), dirs_exist_ok=True)
    for run in sorted(source.glob("runs/sample*")):
        for name in _RUN_FILES:
            if (run / name).is_file():
                (target / "runs" / run.name).mkdir(parents=True, exist_ok=True)
                shutil.copy2(run / name, target / "runs" / run.name / name)


def _copy_notebook(path: Path, staging: Path) -> Path:
    name = f"notebooks/{path.name}"
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        cells = notebook["cells"]
    except (UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError) as error:
        raise NotebookUnreadable(name, str(error) or type(error).__name__) from error
    if not isinstance(cells, list):
        raise NotebookUnreadable(name, "its cells are not a list")
    plain(notebook)
    target = staging / name
    target.write_text(_as_text(notebook), encoding="utf-8", newline="\n")
    return target


def plain(notebook: dict[str, Any]) -> None:
    """Give a notebook this project's kernel and drop what only its last session meant."""
    metadata = notebook.setdefault("metadata", {})
    metadata.pop("widgets", None)
    metadata["kernelspec"] = dict(_KERNEL)
    metadata["language_info"] = {"name": "python"}
    for cell in notebook["cells"]:
        cell.get("metadata", {}).pop("execution", None)


def _as_text(notebook: dict[str, Any]) -> str:
    return json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
