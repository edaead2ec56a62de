"""What all tests share: a clean environment, one browser, and what the header says."""

import contextlib
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest
from hypothesis import settings

from twohalves.commands.test import BROWSERS

PROJECT = pathlib.Path(__file__).resolve().parents[1]

REQUIRED = os.environ.get("TWOHALVES_REQUIRE_BROWSER") == "1"
QUARTO_REQUIRED = os.environ.get("TWOHALVES_REQUIRE_QUARTO") == "1"
CHANGES_BEHAVIOR = (
    "OLLAMA_",
    "TWOHALVES_",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
)
QUIET_NETWORK = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
)
"""A browser that asks nobody on its own, so that a counted request is the page's."""

# Hypothesis's own: no deadline, for a busy machine is no fault, and everywhere the same examples;
# a developer who hunts for others says --hypothesis-profile=default.
settings.load_profile("ci")


def _browser_path():
    if importlib.util.find_spec("playwright") is None:
        return None
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def _node_path():
    """Node as it is installed, or the one that playwright brings along."""
    found = shutil.which("node")
    if found is None and (spec := importlib.util.find_spec("playwright")):
        found = shutil.which("node", path=pathlib.Path(spec.origin).parent / "driver")
    return found


def pytest_report_header():
    engine = "there" if importlib.util.find_spec("xllamacpp") else "missing"
    return [
        f"browser: {_browser_path() or 'missing'} (required: {REQUIRED})",
        f"node: {_node_path() or 'missing'} (required: {REQUIRED})",
        f"built-in engine: {engine}; quarto: {shutil.which('quarto') or 'missing'}",
    ]


def pytest_collection_modifyitems(items):
    lacks_browser = _browser_path() is None and not REQUIRED
    lacks_engine = importlib.util.find_spec("xllamacpp") is None
    lacks_quarto = shutil.which("quarto") is None and not QUARTO_REQUIRED
    for item in items:
        if lacks_browser and item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.skip(reason="no Chromium, or no playwright"))
        if lacks_quarto and item.get_closest_marker("quarto"):
            item.add_marker(pytest.mark.skip(reason="Quarto is not installed"))
        if lacks_engine and item.get_closest_marker("engine"):
            item.add_marker(pytest.mark.skip(reason="the built-in engine is not installed"))


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch):
    """No variable of the one who runs the tests changes what they see."""
    for name in list(os.environ):
        if name.upper().startswith(CHANGES_BEHAVIOR):
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True, scope="session")
def _own_temporary_folder(tmp_path_factory):
    """A run that measures on this machine meanwhile claims it in the usual one."""
    own = tmp_path_factory.getbasetemp() / "t"
    own.mkdir(exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("TMPDIR", "TEMP", "TMP"):
            patch.setenv(name, str(own))
        patch.setattr(tempfile, "tempdir", None)
        yield


@pytest.fixture(scope="module")
def chromium():
    """One headless Chromium for a file of tests; each test opens its own context.

    Not for the whole session: while Playwright runs, its event loop is the thread's, and a test
    that executes a notebook needs one of its own.
    """
    path = _browser_path()
    if path is None:
        pytest.fail("TWOHALVES_REQUIRE_BROWSER=1, and there is no Chromium or no playwright")
    from playwright.sync_api import sync_playwright

    root = ("--no-sandbox",) if hasattr(os, "geteuid") and os.geteuid() == 0 else ()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*QUIET_NETWORK, *root])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def node():
    """The path of a JavaScript engine that needs no page."""
    path = _node_path()
    if path is None and REQUIRED:
        pytest.fail("TWOHALVES_REQUIRE_BROWSER=1, and there is neither node nor playwright")
    return path or pytest.skip("neither node nor playwright is installed")


@pytest.fixture(scope="session")
def builtin_server():
    """The real built-in server in a process of its own, one for all tests.

    Do not load another window than you need and do not unload: others use it.
    """
    from twohalves.server import find

    clean = {k: v for k, v in os.environ.items() if not k.upper().startswith(CHANGES_BEHAVIOR)}
    command = [sys.executable, "-X", "utf8", "-m", "twohalves.server.builtin"]
    with subprocess.Popen(
        [*command, "--stop-at-end-of-input"],
        cwd=PROJECT,
        env=clean,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    ) as process:
        url = process.stdout.readline().removeprefix("ready ").strip()
        assert url.startswith("http://127.0.0.1:"), "the built-in server did not start"
        yield find(environ={"TWOHALVES_SERVER": url})
        process.stdin.close()
        process.wait(20)


@pytest.fixture
def opened(tmp_path):
    """Opens a book on a server with these routes; gives the book and the server."""
    from tests.servers.scripted import Scripted
    from twohalves.measure import live
    from twohalves.server import find

    with contextlib.ExitStack() as servers:

        def serve(routes):
            server = servers.enter_context(Scripted(routes))
            return live(find(environ={"TWOHALVES_SERVER": server.url}), None, tmp_path), server

        yield serve
