"""The environment is made once, mended when it broke, and installed into only when needed."""

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from twohalves import bootstrap
from twohalves.bootstrap import MODEL, QUARTO, READERS, Environment
from twohalves.errors import InstallFailed
from twohalves.quietly import Outcome


class Recorder:
    """Stands in for venv and pip: makes an environment without packages, remembers commands."""

    def __init__(self):
        self.commands = []
        self.codes = {}

    def __call__(self, command, words, *, env, limit_s=None, log=None):
        self.commands.append(command)
        self.env, self.limit_s = env, limit_s
        if "venv" in command:
            venv.create(command[-1], with_pip=False, symlinks=os.name != "nt")
            _put_pip(Path(command[-1]))
        failing = [code for part, code in self.codes.items() if part in " ".join(command)]
        return Outcome(code=failing[0] if failing else 0, output="as told")

    @property
    def pips(self):
        return [Path(c[c.index("-r") + 1]).name for c in self.commands if "pip" in c]

    @property
    def venvs(self):
        return sum("venv" in command for command in self.commands)


def _put_pip(folder):
    packages = next(folder.glob("lib/*/site-packages"), folder / "Lib" / "site-packages")
    (packages / "pip").mkdir()
    (packages / "pip" / "__init__.py").touch()


@pytest.fixture(params=["plain", "Žofie Übung #1 (測)"], ids=["plain", "spaces and umlauts"])
def project(request, tmp_path):
    """A project's folder with requirements, under a plain and a difficult name."""
    folder = tmp_path / request.param
    folder.mkdir()
    for wanted in (READERS, MODEL, QUARTO):
        (folder / wanted.file).write_text("something==1\n", encoding="utf-8")
    (folder / "constraints.txt").write_text("", encoding="utf-8")
    return folder


@pytest.fixture
def recorder():
    return Recorder()


def test_a_second_start_installs_nothing(project, recorder):
    """What was installed is remembered, and the next start finds it."""
    for _ in range(3):
        Environment(root=project, run=recorder).prepare()

    assert (1, [READERS.file]) == (recorder.venvs, recorder.pips)


def test_a_changed_requirements_file_is_installed_again(project, recorder):
    """One changed line, there or in the constraints, is noticed."""
    environment = Environment(root=project, run=recorder)
    environment.prepare()
    (project / READERS.file).write_text("something==2\n", encoding="utf-8")
    environment.prepare()
    (project / "constraints.txt").write_text("other==1\n", encoding="utf-8")
    environment.prepare()

    assert (1, [READERS.file] * 3) == (recorder.venvs, recorder.pips)


def test_line_ends_of_another_system_change_nothing(project, recorder):
    """A checkout with Windows line ends asks for the same packages."""
    environment = Environment(root=project, run=recorder)
    environment.prepare()
    (project / READERS.file).write_bytes(b"something==1\r\n")
    environment.prepare()

    assert [READERS.file] == recorder.pips


def test_an_interrupted_installation_is_taken_up_again(project, recorder):
    """Nothing counts as installed before pip has ended well."""
    recorder.codes = {"pip": 1}
    with pytest.raises(InstallFailed):
        Environment(root=project, run=recorder).prepare()
    recorder.codes = {}
    Environment(root=project, run=recorder).prepare()

    assert (1, [READERS.file] * 2) == (recorder.venvs, recorder.pips)


def test_an_environment_that_was_moved_is_made_anew(project, recorder, capsys):
    """A folder that was copied or renamed brings programs with the old path in them."""
    Environment(root=project, run=recorder).prepare()
    moved = project.with_name("moved")
    project.rename(moved)
    Environment(root=moved, run=recorder).prepare()

    assert (2, [READERS.file] * 2) == (recorder.venvs, recorder.pips)
    assert f"made for {project / '.venv'}" in capsys.readouterr().err


def _lose_python(environment):
    environment.python.unlink()


def _lose_configuration(environment):
    (environment.folder / "pyvenv.cfg").unlink()


def _lose_pip(environment):
    next(environment.folder.rglob("pip/__init__.py")).unlink()
    next(environment.folder.rglob("site-packages/pip")).rmdir()


def _be_of_another_python(environment):
    stamp = environment.folder / "twohalves.json"
    facts = json.loads(stamp.read_text("utf-8")) | {"python": "3.99"}
    stamp.write_text(json.dumps(facts), encoding="utf-8")


@pytest.mark.parametrize(
    "damage", [_lose_python, _lose_configuration, _lose_pip, _be_of_another_python]
)
def test_a_broken_environment_is_made_anew_and_that_is_said(project, recorder, damage, capsys):
    """A Python that does not run, or not here, is replaced, not complained about."""
    environment = Environment(root=project, run=recorder)
    environment.prepare()
    damage(environment)
    environment.prepare()

    assert (2, [READERS.file] * 2) == (recorder.venvs, recorder.pips)
    assert "* The environment .venv is made anew: i" in capsys.readouterr().err


def test_a_torn_stamp_means_installing_again(project, recorder):
    """A stamp that cannot be read is worth as much as none."""
    environment = Environment(root=project, run=recorder)
    environment.prepare()
    (environment.folder / "twohalves.json").write_text('{"installed": {"req', encoding="utf-8")
    environment.prepare()

    assert (1, [READERS.file] * 2) == (recorder.venvs, recorder.pips)


def test_what_is_refused_is_not_asked_for_again(project, recorder):
    """Quarto is tried once, with a time limit, and again only when its version changed."""
    environment = Environment(root=project, run=recorder)
    environment.prepare()
    recorder.codes = {"quarto": 1}

    assert (False, False) == (environment.offer(QUARTO), environment.offer(QUARTO))
    assert [READERS.file, QUARTO.file] == recorder.pips
    assert 60 == recorder.limit_s

    (project / QUARTO.file).write_text("something==2\n", encoding="utf-8")
    recorder.codes = {}
    assert (True, True) == (environment.offer(QUARTO), environment.offer(QUARTO))
    assert [READERS.file, QUARTO.file, QUARTO.file] == recorder.pips


def test_the_model_comes_without_what_it_declares(project, recorder):
    """Its declared dependencies would be compiled and never used."""
    environment = Environment(root=project, run=recorder)
    environment.prepare()
    environment.install(MODEL)

    assert "--no-deps" in recorder.commands[-1]


def test_the_library_is_found_from_everywhere(project, recorder, tmp_path):
    """A kernel of the environment imports twohalves from this folder, whatever its own is."""
    environment = Environment(root=project, run=recorder)
    environment.prepare()
    (project / "twohalves").mkdir()
    (project / "twohalves" / "__init__.py").write_text("WHERE = __file__", encoding="utf-8")
    program = "import twohalves; print(ascii(twohalves.WHERE))"
    answer = subprocess.run(
        [environment.python, "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )

    assert ascii(str(project / "twohalves" / "__init__.py")) == answer.stdout.strip()


def test_variables_that_mislead_python_do_not_get_in(project, monkeypatch):
    """No path of another Python, and UTF-8 whatever the locale says; a proxy stays for pip."""
    for name in bootstrap.UNWANTED:
        monkeypatch.setenv(name, "/elsewhere")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")
    monkeypatch.setenv("PIP_USER", "1")
    variables = Environment(root=project).variables()

    assert set() == set(bootstrap.UNWANTED) & set(variables)
    assert ("1", "0") == (variables["PYTHONUTF8"], variables["PIP_USER"])
    assert "http://proxy:3128" == variables["HTTPS_PROXY"]
    assert variables["PATH"].startswith(str(project / ".venv"))


@pytest.mark.skipif(os.name == "nt", reason="Windows waits for a new process instead")
def test_the_same_command_starts_again_inside(project, recorder, monkeypatch):
    """The process is replaced by the environment's own Python with the same arguments."""
    started = []
    monkeypatch.setattr(bootstrap.os, "execve", lambda *given: started.append(given) or 1 / 0)
    environment = Environment(root=project, run=recorder)
    with pytest.raises(ZeroDivisionError):
        environment.restart(["measure", "--model", "a b"])

    python = str(environment.python)
    assert [python, "-m", "twohalves", "measure", "--model", "a b"] == started[0][1]
    assert python == started[0][0]


def test_this_process_knows_where_it_runs(project, recorder, monkeypatch):
    """Inside is what sys.prefix says, not what a variable claims."""
    environment = Environment(root=project, run=recorder)
    monkeypatch.setenv("VIRTUAL_ENV", str(environment.folder))
    environment.prepare()
    assert not environment.inside()
    monkeypatch.setattr(sys, "prefix", str(environment.folder))
    assert environment.inside()
