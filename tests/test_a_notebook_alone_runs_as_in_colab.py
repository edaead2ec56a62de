"""One notebook alone, in a kernel furnished as Google Colab's: it fetches, installs and runs.

This installs packages from the package index, so it is run only where TWOHALVES_TEST_HOSTED=1
says that it may, as the continuous integration does.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import nbformat
import pytest
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

from twohalves import firstcell
from twohalves.runs.choose import newest_sample

pytestmark = pytest.mark.skipif(
    os.environ.get("TWOHALVES_TEST_HOSTED") != "1",
    reason="installs from the package index; TWOHALVES_TEST_HOSTED=1 allows it",
)

PROJECT = pathlib.Path(__file__).resolve().parents[1]
NOTEBOOK = PROJECT / "notebooks" / "31-01-two-halves.ipynb"
FURNITURE = (
    # Versions that Google Colab had: most are older than ours, and ollama is missing.
    "httpx==0.28.1",
    "ipykernel==6.17.1",
    "ipython==7.34.0",
    "ipywidgets==7.7.1",
    "matplotlib==3.10.0",
    "numpy==2.0.2",
    "pandas==2.2.2",
    "psutil==5.9.5",
    "setuptools",
)


class Host:
    """A machine that lends its kernel."""

    def __init__(self, folder):
        self.content = folder / "content"
        self.content.mkdir()
        subprocess.run([sys.executable, "-m", "venv", folder / "v"], check=True)
        self.python = folder / "v" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        self.pip("install", "--quiet", "--prefer-binary", *FURNITURE)
        self.address = _repository(folder / "two halves.git").as_uri()

    def pip(self, *arguments):
        command = [self.python, "-m", "pip", *arguments, "--disable-pip-version-check"]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8")
        return done.stdout

    def installed(self):
        listed = json.loads(self.pip("list", "--format=json"))
        return {(each["name"].lower(), each["version"]) for each in listed}

    def run(self, cells, **variables):
        """Open the notebook alone and run its first code cells; None = all."""
        shutil.copy(NOTEBOOK, self.content)
        firstcell.write(self.address, self.content)
        book = nbformat.read(self.content / NOTEBOOK.name, as_version=4)
        book.cells = [cell for cell in book.cells if cell.cell_type == "code"][:cells]
        manager = AsyncKernelManager(kernel_name="x", kernel_spec_manager=_Lent(self.python))
        place = {"metadata": {"path": str(self.content)}}
        client = NotebookClient(book, km=manager, timeout=600, resources=place)
        client.execute(
            cleanup_kc=True,
            env={
                **{name: text for name, text in os.environ.items() if name != "PYTHONPATH"},
                "COLAB_RELEASE_TAG": "release-colab",
                **variables,
            },
        )
        return book.cells


class _Lent(KernelSpecManager):
    """Every kernel is the host's."""

    def __init__(self, python):
        super().__init__()
        self.argv = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]

    def get_kernel_spec(self, kernel_name):
        return KernelSpec(argv=self.argv, display_name=kernel_name, language="python")


def _repository(folder):
    for name in ("twohalves", "data"):
        unwanted = shutil.ignore_patterns("__pycache__", "20*")
        shutil.copytree(PROJECT / name, folder / name, ignore=unwanted)
    for path in PROJECT.glob("requirements*.txt"):
        shutil.copy(path, folder)
    git = [shutil.which("git"), "-c", "user.name=T", "-c", "user.email=t@x.org", "-C", folder]
    for command in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "-m", "all"]):
        subprocess.run([*git, *command], check=True)
    return folder


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    """One host for the file."""
    return Host(tmp_path_factory.mktemp("colab"))


def _said(cell):
    return "".join(
        out.get("text") or out.data.get("text/markdown", "") for out in cell.outputs if out
    )


def test_in_replay_every_cell_runs_with_the_hosts_own_tables(host):
    """Only the client is new there, with what it brings; nothing of the host's was changed."""
    before = host.installed()
    cells = host.run(None, TWOHALVES_RUN=newest_sample())
    after = host.installed()

    assert "Installing what this notebook needs: done" in _said(cells[0])
    assert "Replayed from the run" in _said(cells[1])
    assert before <= after
    assert "ollama" in {name for name, _ in after - before}
    assert not {"pandas", "numpy", "jupyterlab"} & {name for name, _ in after - before}


def test_live_the_built_in_server_answers(host):
    """The engine and its model are installed, and the first call is answered."""
    cells = host.run(3, TWOHALVES_SERVER="builtin")

    assert "Cloning" not in _said(cells[0])
    assert "Installing the built-in model (93 MB): done" in _said(cells[0])
    assert "The built-in server" in _said(cells[1])
    assert _said(cells[2]).strip()


def test_a_second_start_has_all_it_needs(host):
    """Nothing is fetched, installed or said."""
    assert "" == _said(host.run(1, TWOHALVES_SERVER="builtin")[0])
