"""A small site in a folder with a hard name, and pages that are watched while they are read."""

import shutil
from pathlib import Path

import pytest

from twohalves.site import build, serving

TESTS = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def fixture_site(tmp_path_factory):
    """The fixture project, built with smalldocs; the path is made to trip careless links."""
    folder = tmp_path_factory.mktemp("browser") / "Žofie Übung #1"
    shutil.copytree(TESTS / "fixtures" / "site", folder)
    shutil.copy(TESTS.parent / "_quarto.yml", folder)
    shutil.copy(TESTS.parent / "data" / "worksheet.json", folder / "data")
    return build(folder, renderer="smalldocs").folder


@pytest.fixture(scope="session")
def served(fixture_site):
    """The address of the fixture site over http."""
    with serving(fixture_site) as address:
        yield address


class Watched:
    """A page, everything it asked for and everything it complained about."""

    def __init__(self, page, home):
        self.page = page
        self.outside = []
        self.complaints = []
        page.on("request", lambda request: self._seen(request.url, home))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self._said)

    def _seen(self, url, home):
        if not url.startswith((home, "data:", "blob:", "about:")):
            self.outside.append(url)

    def _said(self, message):
        if message.type in {"error", "warning"}:
            self.complaints.append(message.text)


@pytest.fixture
def visit(chromium, served):
    """Open a page of the fixture site in a context of its own; closed afterwards."""
    contexts = []

    def open_page(name, *, home=None, **options):
        context = chromium.new_context(**options)
        contexts.append(context)
        watched = Watched(context.new_page(), home or served)
        watched.page.goto((home or served) + name)
        return watched

    yield open_page
    for context in contexts:
        context.close()
