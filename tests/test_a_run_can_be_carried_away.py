"""A run can be carried away from a machine that forgets its files, and is a run again elsewhere."""

import base64
import importlib
import io
import pathlib
import re
import shutil
import subprocess
import sys
import types
import zipfile

import pytest

from tests.servers import modelled
from twohalves import lab
from twohalves.errors import CannotKeep
from twohalves.lab import keeping, measuring
from twohalves.measure import live, open_book
from twohalves.places import RUNS
from twohalves.runs import load
from twohalves.runs.choose import newest_sample
from twohalves.runs.pack import pack
from twohalves.server import find

SAMPLE = newest_sample()
FILES = ("calls.jsonl", "raw.jsonl", "session.json", "timings.csv")


@pytest.fixture
def shown(monkeypatch):
    """What a cell displays, in order."""
    things = []
    for module in (keeping, measuring):
        monkeypatch.setattr(module, "display", lambda thing, **_: things.append(thing))
    return things


@pytest.fixture
def place(tmp_path, monkeypatch):
    """The folder that the notebook runs in, with letters of its own."""
    folder = tmp_path / "Žofie Übung #1 (測)"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_what_was_packed_is_a_run_again(place, shown):
    """Unpacked by Python's own command: the same files, the same rows."""
    run = load(RUNS / SAMPLE)
    lab.download(run)

    command = [sys.executable, "-m", "zipfile", "-e", f"{SAMPLE}.zip", "data/runs"]
    subprocess.run(command, cwd=place, check=True)
    again = load(place / "data" / "runs" / SAMPLE)
    assert run.session == again.session
    assert run.timings == again.timings
    for path in run.folder.iterdir():
        assert path.read_bytes() == (again.folder / path.name).read_bytes()


def test_the_same_run_makes_the_same_bytes(tmp_path):
    """Neither the time nor who wrote the files, nor a mark left there, matters."""
    copy = tmp_path / SAMPLE
    shutil.copytree(RUNS / SAMPLE, copy, copy_function=shutil.copy)
    for path in copy.iterdir():
        path.chmod(0o600)
    (copy / ".lock").touch()
    (copy / "writer.lock").touch()

    assert pack(RUNS / SAMPLE) == pack(copy)
    with zipfile.ZipFile(io.BytesIO(pack(copy))) as packed:
        assert [f"{SAMPLE}/{name}" for name in FILES] == packed.namelist()


def test_the_link_holds_the_file(place, shown):
    """It works in any front end, and where none draws HTML the text names the file."""
    lab.download(load(RUNS / SAMPLE))
    [link] = shown

    held = re.search(r'href="data:application/zip;base64,([^"]+)"', link["text/html"])[1]
    assert (place / f"{SAMPLE}.zip").read_bytes() == base64.b64decode(held)
    assert f'download="{SAMPLE}.zip"' in link["text/html"]
    assert f"{SAMPLE}.zip" in link["text/plain"]


def test_in_colab_the_browser_is_given_the_file(place, shown, monkeypatch):
    """By Colab's own call."""
    given = []
    colab, files = types.ModuleType("google.colab"), types.ModuleType("google.colab.files")
    files.download = given.append
    monkeypatch.setitem(sys.modules, "google", types.ModuleType("google"))
    monkeypatch.setitem(sys.modules, "google.colab", colab)
    monkeypatch.setitem(sys.modules, "google.colab.files", files)
    assert importlib.import_module("google.colab.files") is files

    lab.download(load(RUNS / SAMPLE))
    assert [place.resolve() / f"{SAMPLE}.zip"] == [pathlib.Path(each).resolve() for each in given]


def test_a_folder_that_takes_no_file_is_named(place, shown):
    """Where the zip's place is taken by something else."""
    (place / f"{SAMPLE}.zip").mkdir()
    with pytest.raises(CannotKeep, match="測"):
        lab.download(load(RUNS / SAMPLE))


@pytest.mark.parametrize(
    ("variables", "offered"),
    [({"COLAB_RELEASE_TAG": "release"}, 1), ({"CODESPACES": "true"}, 0), ({}, 0)],
    ids=["forgets", "keeps", "own"],
)
def test_after_a_measurement_it_is_offered_where_files_are_forgotten(
    place, shown, monkeypatch, variables, offered
):
    """Once, when the run was measured; asking for the same run again offers nothing."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with modelled.scripted.Scripted(modelled.Modelled().routes()) as server:
        book = live(find(environ={"TWOHALVES_SERVER": server.url}), None, place / "runs")
        run = lab.measured(book)
        assert offered == len(list(place.glob("*.zip")))
        assert offered == sum("text/html" in t for t in shown if isinstance(t, dict))
        shown.clear()
        assert run.id == lab.measured(book).id
        assert not [thing for thing in shown if isinstance(thing, dict)]


def test_in_replay_nothing_is_offered(place, shown, monkeypatch):
    """The stored outputs are the same on every machine."""
    monkeypatch.setenv("KAGGLE_KERNEL_RUN_TYPE", "Interactive")
    lab.measured(open_book({"TWOHALVES_RUN": SAMPLE}))

    assert not [thing for thing in shown if isinstance(thing, dict)]
    assert not list(pathlib.Path.cwd().iterdir())
