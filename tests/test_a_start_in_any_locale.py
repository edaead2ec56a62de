"""The way in works in a folder with umlauts where the locale knows ASCII only."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from twohalves import quietly, terminal

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such locale")

PROJECT = pathlib.Path(__file__).resolve().parents[1]
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
UTF8 = {"LC_ALL": "C.UTF-8", "PYTHONUTF8": "1", "PYTHONIOENCODING": "utf-8"}
SHOWS = """\
import sys
from twohalves import terminal
from twohalves.commands.exits import Exit
from twohalves.places import PROJECT

def run(options):
    terminal.say(f"{PROJECT.name} {sys.getfilesystemencoding()} {options.port}")
    return Exit.DONE
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A copy of the project that needs no package and whose ``preview`` says where it is."""
    folder = tmp_path_factory.mktemp("way") / "Žofie Übung"
    shutil.copytree(
        PROJECT / "twohalves", folder / "twohalves", ignore=shutil.ignore_patterns("__pycache__")
    )
    (folder / "twohalves" / "commands" / "preview.py").write_text(SHOWS, encoding="utf-8")
    for name in ("requirements.txt", "constraints.txt"):
        (folder / name).touch()
    return folder


def _start(folder, variables, *words, python=sys.executable):
    return subprocess.run(
        [python, "-m", "twohalves", *words],
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_the_environment_is_made_once_for_all_locales(folder):
    """From nothing, again, in UTF-8, and by the environment's own Python: never made anew."""
    made = [_start(folder, variables, "preview") for variables in (ASCII, ASCII, UTF8, ASCII)]
    made.append(_start(folder, ASCII, "preview", python=folder / ".venv" / "bin" / "python"))

    assert [0] * 5 == [each.returncode for each in made]
    said = [each.stdout.strip() for each in made]
    assert ["Zofie Ubung utf-8 None", "Žofie Übung utf-8 None"] == [said[0], said[2]]
    assert {said[0]} == {said[1], said[3], said[4]}
    assert "Making the environment" in made[0].stderr
    assert [""] * 4 == [each.stderr for each in made[1:]]
    log = (folder / ".venv" / "install.log").read_text("utf-8")
    assert str(folder) in log
    stamp = json.loads((folder / ".venv" / "twohalves.json").read_text("utf-8"))
    assert str(folder / ".venv") == stamp["folder"]


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["mesüre"], "ERROR There is no verb 'mesure'. "),
        (["preview", "--pört"], "ERROR There is no option of preview '--port'. "),
        (["preview", "Žofie"], "ERROR `preview` takes no further words, and 'Zofie' follows it."),
        (["measure", "--profile", "schön"], "invalid choice: 'schon'"),
        (["preview", "--port", "ü"], "u is not a port"),
    ],
)
def test_a_slip_with_umlauts_is_shown_readably(folder, words, shown):
    """As letters, not as numbers of bytes."""
    answer = _start(folder, ASCII, *words)

    assert 2 == answer.returncode
    assert shown in answer.stderr
    assert "udc" not in answer.stderr


def test_a_console_of_utf8_shows_names_that_ascii_read(tmp_path):
    """What the locale could not read is readable in UTF-8, too."""
    program = "from twohalves import terminal as t; t.prepare(); t.say('\\udcc3\\udc9cbung')"
    answer = subprocess.run(
        [sys.executable, "-c", program],
        cwd=PROJECT,
        env={**os.environ, **UTF8},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )

    assert "Ubung" == answer.stdout.strip()
    assert "Übung" == terminal.legible("\udcc3\udc9cbung")
    assert "Übung ≤ \ufffd" == terminal.legible("Übung ≤ \udcc3")


def test_the_log_takes_every_name(tmp_path):
    """A program whose name the locale cannot read is logged by its bytes."""
    log = tmp_path / "log"
    quietly.run(["/no/\udcc3\udc9cbung"], "Trying", env=os.environ, log=log)

    assert 2 == log.read_text("utf-8").count("/no/Übung")
