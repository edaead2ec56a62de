"""JupyterLab as ``lab`` opens it asks the reader nothing and fetches no news."""

import os
import pathlib
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

from twohalves.commands.lab import QUIET, set_defaults

pytestmark = pytest.mark.browser


@pytest.fixture
def address(tmp_path):
    """JupyterLab on an empty folder, with what ``lab`` sets and nothing of the reader's own."""
    set_defaults(tmp_path / "settings")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", f"--ServerApp.port={port}"]
    command += ["--IdentityProvider.token=", f"--ServerApp.root_dir={tmp_path}", "--allow-root"]
    command += [*QUIET, f"--LabApp.app_settings_dir={tmp_path / 'settings'}"]
    own = {name: str(tmp_path / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR")}
    with (tmp_path / "log").open("wb") as log:
        lab = subprocess.Popen(command, env={**os.environ, **own}, stdout=log, stderr=log)
    try:
        _wait_for(f"http://127.0.0.1:{port}/api/status", tmp_path / "log")
        yield f"http://127.0.0.1:{port}/lab?reset"
    finally:
        lab.terminate()
        lab.wait(30)


def _wait_for(address: str, log: pathlib.Path) -> None:
    for _ in range(120):
        try:
            urllib.request.urlopen(address, timeout=5).close()  # noqa: S310 — our own
        except OSError:
            time.sleep(0.5)
        else:
            return
    pytest.fail(log.read_text(encoding="utf-8")[-2000:])


def test_no_question_stands_over_the_notebook(chromium, address):
    """Once it has settled there is no notification, and no news were asked for."""
    context = chromium.new_context()
    page = context.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)
    page.locator(".jp-Launcher").first.wait_for(timeout=120_000)
    page.locator("#jp-main-statusbar").wait_for()
    page.wait_for_timeout(3000)

    assert "official Jupyter news" not in page.locator("body").inner_text()
    assert 0 == page.locator(".Toastify__toast").count()
    assert [] == [url for url in asked if "/lab/api/news" in url]
    context.close()
