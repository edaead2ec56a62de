"""``lab``: JupyterLab on the notebooks, with this environment's kernel."""

from __future__ import annotations

import os
import subprocess
import sys

from twohalves import terminal
from twohalves.bootstrap import Environment
from twohalves.commands.engine import provide
from twohalves.commands.exits import Exit
from twohalves.commands.parser import Options
from twohalves.places import PROJECT

FIRST = "notebooks/31-01-two-halves.ipynb"
QUIET = (
    # Nothing here asks the network for anything: no news, no look for a newer version.
    "--LabApp.news_url=None",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
)


def run(_: Options) -> Exit:
    """Start JupyterLab on the project's folder and wait until it ends."""
    provide()
    terminal.step("Starting JupyterLab; its address follows, Ctrl-C ends it.")
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={PROJECT}", *QUIET]
    command += [f"--LabApp.default_url=/lab/tree/{FIRST}"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:  # a container; else it refuses to start
        command.append("--allow-root")
    with subprocess.Popen(command, env=Environment().variables()) as process:
        while True:
            try:
                return Exit.DONE if process.wait() == 0 else Exit.FAILED
            except KeyboardInterrupt:  # JupyterLab got it too, and asks whether to end
                continue
