"""``lab``: JupyterLab on the notebooks, with this environment's kernel."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path

from twohalves import terminal
from twohalves.bootstrap import Environment
from twohalves.commands import engine
from twohalves.commands.exits import Exit
from twohalves.commands.parser import Options
from twohalves.errors import InstallFailed
from twohalves.places import PROJECT

FIRST = "notebooks/31-01-two-halves.ipynb"
QUIET = (
    # Nothing here asks the network for anything: no news, no look for a newer version.
    "--LabApp.news_url=None",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
)

SETTINGS = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false"}}
"""Defaults of JupyterLab, changed: without this it asks whether to fetch news."""


def run(_: Options) -> Exit:
    """Let JupyterLab take over from this process."""
    try:
        engine.provide()
    except InstallFailed as error:  # the notebooks can be read all the same
        terminal.fail(str(error))
    with contextlib.suppress(OSError):  # one question more is no reason to stop
        set_defaults(Path(sys.prefix, "share", "jupyter", "lab", "settings"))
    terminal.step("Starting JupyterLab; its address follows, Ctrl-C ends it.")
    command = ["-m", "jupyterlab", f"--ServerApp.root_dir={PROJECT}", *QUIET]
    command.append(f"--LabApp.default_url=/lab/tree/{FIRST}")
    if hasattr(os, "geteuid") and os.geteuid() == 0:  # a container; else it refuses to start
        command.append("--allow-root")
    return Exit.DONE if Environment().become(command) == 0 else Exit.FAILED


def set_defaults(folder: Path) -> None:
    """Put our defaults among those of JupyterLab; what a reader set for themselves goes first.

    Args:
        folder: JupyterLab's folder of settings for all its users.
    """
    file = folder / "overrides.d" / "twohalves.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(SETTINGS), encoding="utf-8")
