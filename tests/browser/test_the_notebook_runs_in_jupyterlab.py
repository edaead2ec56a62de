"""31-01 as a reader meets it: opened in JupyterLab, run from top to bottom, a slider moved."""

import pathlib
import shutil

import pytest

from tests.servers import jupyterlab, modelled
from tests.servers.jupyterlab import MINUTES
from twohalves.commands.lab import QUIET
from twohalves.measure import live, measure
from twohalves.server import find
from twohalves.show import calculator, crude

pytestmark = pytest.mark.browser

PROJECT = pathlib.Path(__file__).resolve().parents[2]
NOTEBOOK = "notebooks/31-01-two-halves.ipynb"


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
    """JupyterLab on that copy; yields its address."""
    folder, _ = own_run
    jupyterlab.draw_every_cell(folder)
    variables = {"PYTHONPATH": str(folder), "TWOHALVES_SERVER": scripted.url}
    with jupyterlab.running(folder, *QUIET, variables=variables) as address:
        yield address


@pytest.fixture
def page(chromium, lab):
    """The notebook open in the browser, all its cells run."""
    context = chromium.new_context(viewport={"width": 1300, "height": 1000})
    page = context.new_page()
    jupyterlab.run_all(page, lab, NOTEBOOK)
    yield page
    context.close()


def test_the_slider_moves_the_prediction_on_the_readers_rates(page, own_run):
    """Run all, move the prompt slider by keyboard, read what Python computes for that value."""
    rates = crude.choices(own_run[1])
    sentence = page.locator(".th-live-latency .th-sentence")
    sentence.wait_for(timeout=2 * MINUTES)
    assert sentence.inner_text() == _said(4247, 32, rates)

    handle = page.locator(".th-slider-prompt_tokens .noUi-handle")
    handle.focus()
    for key, prompt in (("ArrowRight", 4248), ("Home", 100)):
        page.keyboard.press(key)
        page.locator(f".th-sentence:has-text('{prompt:,} tokens in')").wait_for()
        assert sentence.inner_text() == _said(prompt, 32, rates)

    field = page.locator(".th-field-output_tokens input")
    field.fill("53")
    field.press("Tab")
    page.locator(".th-sentence:has-text('53 tokens out')").wait_for()
    assert sentence.inner_text() == _said(100, 53, rates)


def test_every_cell_ran_on_the_readers_own_run(page, own_run):
    """No cell failed, and the page says which run and which server it shows."""
    page.locator(".th-live-latency .th-sentence").wait_for(timeout=2 * MINUTES)
    page.wait_for_timeout(1500)
    seen = page.locator(".jp-Notebook").inner_text()

    assert "Traceback" not in seen
    assert not page.locator(".jp-RenderedText[data-mime-type*=error]").count()
    assert own_run[1].id in seen


def _said(prompt, output, rates):
    values = {"prompt_tokens": prompt, "output_tokens": output, "rates": "own"}
    return calculator.outcome("latency", values, rates).sentence
