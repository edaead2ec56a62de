"""From a key press on a slider of the worksheet to the changed picture, in JupyterLab.

Timed inside the page: from the key event at the slider's handle to the change of the picture's
nodes; then the frame that shows it may still be up to a sixtieth of a second away. Beside it,
what Python needs for one change without any page.

    python -m tests.benchmarks.key_to_picture --presses 40
"""

import argparse
import contextlib
import io
import os
import pathlib
import shutil
import statistics
import sys
import tempfile
import time

from tests.notebook_widgets import CELL, Live
from tests.servers import jupyterlab
from tests.servers.jupyterlab import MINUTES
from twohalves.commands.lab import QUIET
from twohalves.commands.test import BROWSERS

PROJECT = pathlib.Path(__file__).resolve().parents[2]
REST_MS = 150
"""Between two presses, so that each finds a quiet kernel."""
CLOCK = """() => {
  const picture = document.querySelector(".th-picture .widget-html-content");
  const handle = document.querySelector(".th-slider-prompt_tokens [role=slider]");
  window.took = [];
  let pressed = null;
  handle.addEventListener("keydown", () => { pressed = performance.now(); }, true);
  new MutationObserver(() => {
    if (pressed !== null) window.took.push(performance.now() - pressed);
    pressed = null;
  }).observe(picture, { childList: true, subtree: true });
  handle.focus();
}"""


def main():
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--presses", type=int, default=40)
    presses = parser.parse_args().presses
    with browser() as chromium:
        took = in_the_page(chromium, presses)
    sys.stdout.write("\n".join([*told(took), f"Python alone: {in_python(presses):.2f} ms"]) + "\n")


@contextlib.contextmanager
def browser():
    """Headless Chromium."""
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=root)
        yield chromium
        chromium.close()


def in_the_page(chromium, presses):
    """Milliseconds of each press."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = pathlib.Path(name)
        jupyterlab.write_notebook(folder / "worksheet.ipynb", CELL)
        variables = {"PYTHONPATH": str(PROJECT)}
        with jupyterlab.running(folder, *QUIET, variables=variables) as address:
            page = chromium.new_page(viewport={"width": 1400, "height": 1300})
            jupyterlab.run_all(page, address, "worksheet.ipynb")
            page.locator(".th-live [role=status] .th-sentence").wait_for(timeout=2 * MINUTES)
            return _pressed(page, presses)


def _pressed(page, presses):
    page.evaluate(CLOCK)
    for number in range(presses):
        page.keyboard.press("ArrowLeft" if number % 4 == 3 else "ArrowRight")
        page.wait_for_function("count => window.took.length === count", arg=number + 1)
        page.wait_for_timeout(REST_MS)
    took = page.evaluate("window.took")
    page.close()
    return took


def told(took):
    """The lines to print."""
    high = statistics.quantiles(took, n=20, method="inclusive")[-1]
    return [
        f"{len(took)} key presses, from the key event to the changed picture:",
        f"median {statistics.median(took):.1f} ms",
        f"p95 {high:.1f} ms",
    ]


def in_python(changes):
    """Median milliseconds of one change of the slider, everything computed and said anew."""
    with contextlib.redirect_stdout(io.StringIO()):  # without a notebook, its script is printed
        slider = Live().slider("prompt_tokens")
    took = []
    for _ in range(changes):
        began = time.perf_counter()
        slider.value += 1
        took.append(1000 * (time.perf_counter() - began))
    return statistics.median(took)


if __name__ == "__main__":
    main()
