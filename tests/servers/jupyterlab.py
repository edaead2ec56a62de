"""JupyterLab on a folder, with nothing of the reader's own, and what one does in it first."""

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.request

import nbformat

MINUTES = 60_000
"""Milliseconds."""


@contextlib.contextmanager
def running(folder, *options, variables=None):
    """Start JupyterLab; yields its address.

    Args:
        folder: the one it shows. Its settings and its log go there, too.
        options: more words for its command line.
        variables: of the environment, over this process's own without what is ours.
    """
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", f"--ServerApp.port={port}"]
    command += ["--IdentityProvider.token=", f"--ServerApp.root_dir={folder}", "--allow-root"]
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith(("TWOHALVES_", "OLLAMA_"))},
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_DATA_DIR": str(folder / "share"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        **(variables or {}),
    }
    log = folder / "lab.log"
    with log.open("wb") as said:
        lab = subprocess.Popen(
            [*command, *options], cwd=folder, env=environment, stdout=said, stderr=said
        )
    try:
        _wait_for(f"http://127.0.0.1:{port}/api/status", log)
        yield f"http://127.0.0.1:{port}"
    finally:
        lab.terminate()
        lab.wait(30)


def _wait_for(address, log):
    for _ in range(120):
        try:
            return urllib.request.urlopen(address, timeout=5).close()  # noqa: S310 — our own
        except OSError:
            time.sleep(0.5)
    raise AssertionError(log.read_text(encoding="utf-8")[-2000:])


def draw_every_cell(folder):
    """JupyterLab leaves out cells that are out of sight, unless it is told not to."""
    settings = folder / "config/lab/user-settings/@jupyterlab/notebook-extension"
    settings.mkdir(parents=True)
    file = settings / "tracker.jupyterlab-settings"
    file.write_text('{"windowingMode": "none"}', encoding="utf-8")


def write_notebook(path, *cells):
    """A small notebook of code cells."""
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(each) for each in cells])
    made.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(made, path)


def run_all(page, address, notebook):
    """Open a notebook and run all its cells."""
    page.goto(f"{address}/lab/tree/{notebook}?reset")
    page.locator(".jp-Notebook .jp-Cell").first.wait_for(timeout=2 * MINUTES)
    # before its kernel is there, JupyterLab would ask which one to run with
    page.locator('#jp-main-statusbar :text("| Idle")').first.wait_for(timeout=2 * MINUTES)
    page.locator('.lm-MenuBar-item:has-text("Run")').click()
    page.locator('.lm-Menu-item[data-command="runmenu:run-all"]').click()
