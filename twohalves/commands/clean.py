"""``clean``: remove what can be made again; never a run. Standard library only."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from twohalves import terminal
from twohalves.commands.exits import Exit
from twohalves.commands.parser import Options
from twohalves.errors import FolderNotWritable
from twohalves.places import PROJECT

MADE_AGAIN = (
    "_site",
    ".staging",
    ".quarto",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".hypothesis",
    ".import_linter_cache",
)
"""Folders in the project's folder."""
ANYWHERE = ("__pycache__", ".ipynb_checkpoints")
"""Folders below the source folders."""
SOURCES = ("twohalves", "tests", "notebooks", "chapters")


def run(options: Options) -> Exit:
    """Remove the site, what was staged, and caches; with ``--venv`` also ``.venv``."""
    removed = [path for path in _candidates(PROJECT) if _remove(path)]
    if options.venv:
        removed += _remove_environment(PROJECT / ".venv")
    names = (
        ", ".join(str(path.relative_to(PROJECT)) for path in removed) or "nothing, all was clean"
    )
    terminal.say(f"Removed: {names}. Runs in data/runs are never removed.")
    return Exit.DONE


def _candidates(root: Path) -> list[Path]:
    below = [
        path
        for source in SOURCES
        for name in ANYWHERE
        for path in sorted((root / source).rglob(name))
    ]
    return [root / name for name in MADE_AGAIN] + below


def _remove(path: Path) -> bool:
    if path.is_symlink() or not path.is_dir():
        return False
    try:
        shutil.rmtree(path)
    except OSError as error:
        raise FolderNotWritable(str(path), error.strerror or str(error)) from error
    return True


def _remove_environment(folder: Path) -> list[Path]:
    if os.name == "nt" and folder.exists() and folder.samefile(sys.prefix):
        reason = "its own Python runs this command"
        raise FolderNotWritable(str(folder), reason)
    return [folder] if _remove(folder) else []
