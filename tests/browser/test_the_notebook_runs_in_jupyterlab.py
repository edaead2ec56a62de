"""31-01 as a reader meets it: opened in JupyterLab, run from top to bottom, a slider moved."""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

from tests.servers import modelled
from twohalves.measure import live, measure
from twohalves.server import find
from twohalves.show import calculator, crude

pytestmark = pytest.mark.browser

PROJECT = pathlib.Path(__file__).resolve().parents[2]
NOTEBOOK = "notebooks/31-01-two-halves.ipynb"
MINUTES = 60_000
"""Milliseconds."""


@pytest.fixture(scope="module")
def scripted():
    """A server of known rates: what the slider must show can be worked out."""
    with modelled.scripted.Scripted(modelled.Modelled().routes()) as server:
        yield server


@pytest.fixture(scope="module")
def own_run(tmp_path_factory, scripted):
    """A copy of the project in which this machine has measured that server already."""
    folder = tmp_path_factory.mktemp("lab") / "Žofie Übung"
    for name in ("twohalves", "notebooks", "data"):
        unwanted = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints", "20*", "sample*")
        shutil.copytree(PROJECT / name, folder / name, ignore=unwanted)
    for path in PROJECT.glob("requirements*.txt"):  # the first cell looks what the kernel lacks
        shutil.copy(path, folder)
    book = live(find(environ={"TWOHALVES_SERVER": scripted.url}), None, folder / "data" / "runs")
    return folder, measure(book, profile_name="quick")


@pytest.fixture(scope="module")
def lab(own_run, scripted):
    """JupyterLab on that copy; yields the notebook's address."""
    folder, _ = own_run
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", f"--ServerApp.port={port}"]
    command += ["--IdentityProvider.token=", f"--ServerApp.root_dir={folder}"]
    command += ["--LabApp.news_url=None", "--allow-root"]
    variables = {
        **{k: v for k, v in os.environ.items() if not k.startswith(("TWOHALVES_", "OLLAMA_"))},
        "PYTHONPATH": str(folder),
        "TWOHALVES_SERVER": scripted.url,
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_DATA_DIR": str(folder / "share"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
    }
    _draw_every_cell(folder / "config")
    log = (folder / "lab.log").open("w", encoding="utf-8")
    with log, subprocess.Popen(command, cwd=folder, env=variables, stdout=log, stderr=log) as lab:
        _wait_for(f"http://127.0.0.1:{port}/api/status", folder / "lab.log")
        yield f"http://127.0.0.1:{port}/lab/tree/{NOTEBOOK}?reset"
        lab.terminate()


def _draw_every_cell(config):
    """JupyterLab leaves out cells that are out of sight, unless it is told not to."""
    settings = config / "lab" / "user-settings" / "@jupyterlab" / "notebook-extension"
    settings.mkdir(parents=True)
    file = settings / "tracker.jupyterlab-settings"
    file.write_text('{"windowingMode": "none"}', encoding="utf-8")


def _wait_for(address, log):
    for _ in range(120):
        try:
            with urllib.request.urlopen(address, timeout=5) as answer:  # noqa: S310 — our own
                return json.load(answer)
        except OSError:
            time.sleep(0.5)
    pytest.fail(log.read_text(encoding="utf-8")[-2000:])


@pytest.fixture
def page(chromium, lab):
    """The notebook open in the browser, all its cells run."""
    context = chromium.new_context(viewport={"width": 1300, "height": 1000})
    page = context.new_page()
    page.goto(lab)
    page.locator(".jp-Notebook .jp-Cell").first.wait_for(timeout=2 * MINUTES)
    # before its kernel is there, JupyterLab would ask which one to run with
    page.locator('#jp-main-statusbar :text("| Idle")').first.wait_for(timeout=2 * MINUTES)
    page.locator('.lm-MenuBar-item:has-text("Run")').click()
    page.locator('.lm-Menu-item[data-command="runmenu:run-all"]').click()
    yield page
    context.close()


def test_the_slider_moves_the_prediction_on_the_readers_rates(page, own_run):
    """Run all, move the prompt slider by keyboard, read what Python computes for that value."""
    rates = crude.own_rates(own_run[1])
    sentence = page.locator(".th-outcome .th-sentence")
    sentence.wait_for(timeout=2 * MINUTES)
    assert sentence.inner_text() == _said(4247, 32, rates)

    handle = page.locator(".th-prompt .noUi-handle")
    handle.focus()
    for key, prompt in (("ArrowRight", 4248), ("Home", 100)):
        page.keyboard.press(key)
        page.locator(f".th-sentence:has-text('{prompt:,} tokens in')").wait_for()
        assert sentence.inner_text() == _said(prompt, 32, rates)

    field = page.locator(".th-output-number input")
    field.fill("53")
    field.press("Tab")
    page.locator(".th-sentence:has-text('53 tokens out')").wait_for()
    assert sentence.inner_text() == _said(100, 53, rates)
    assert handle.get_attribute("aria-label") == "Prompt, tokens"


def test_every_cell_ran_on_the_readers_own_run(page, own_run):
    """No cell failed, and the page says which run and which server it shows."""
    page.locator(".th-outcome .th-sentence").wait_for(timeout=2 * MINUTES)
    page.wait_for_timeout(1500)
    seen = page.locator(".jp-Notebook").inner_text()

    assert "Traceback" not in seen
    assert not page.locator(".jp-RenderedText[data-mime-type*=error]").count()
    assert own_run[1].id in seen


def _said(prompt, output, rates):
    shown = calculator.texts(calculator.predict(prompt, output, rates))
    return calculator.sentence(prompt, output, shown)
