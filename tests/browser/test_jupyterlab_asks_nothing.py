"""JupyterLab as ``lab`` opens it asks the reader nothing and fetches no news."""

import pytest

from tests.servers import jupyterlab
from twohalves.commands.lab import QUIET, set_defaults

pytestmark = pytest.mark.browser


@pytest.fixture
def address(tmp_path):
    """JupyterLab on an empty folder, with what ``lab`` sets and nothing of the reader's own."""
    set_defaults(tmp_path / "settings")
    with jupyterlab.running(
        tmp_path, *QUIET, f"--LabApp.app_settings_dir={tmp_path / 'settings'}"
    ) as lab:
        yield f"{lab}/lab?reset"


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
