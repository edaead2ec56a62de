"""An installation that cannot be finished ends in one clear text with what to do."""

import errno
import importlib.util
import os
import shutil
import sys
import tempfile

import pytest

from twohalves import quietly
from twohalves.bootstrap import READERS, Environment
from twohalves.errors import DiskFull, FolderNotWritable, InstallFailed, PythonWithoutVenv
from twohalves.quietly import Outcome

PYTHON = sys.executable


@pytest.fixture
def project(tmp_path):
    (tmp_path / READERS.file).write_text("something==1\n", encoding="utf-8")
    (tmp_path / "constraints.txt").write_text("", encoding="utf-8")
    (tmp_path / ".venv").mkdir()
    return tmp_path


def _ending(code, output):
    return lambda *_, **__: Outcome(code=code, output=output)


@pytest.mark.parametrize(
    ("output", "error", "advice"),
    [
        (
            "Failed to establish a new connection: [Errno -3] Temporary failure in name resolution",
            InstallFailed,
            "HTTPS_PROXY",
        ),
        ("ProxyError('Cannot connect to proxy.')", InstallFailed, "HTTPS_PROXY"),
        ("ERROR: No matching distribution found for xllamacpp", InstallFailed, "Ollama"),
        ("OSError: [Errno 28] No space left on device", DiskFull, "Free some space"),
        ("OSError: [Errno 30] Read-only file system: '/x'", FolderNotWritable, "writable"),
        ("error: something new", InstallFailed, "clean --venv"),
        ("", InstallFailed, "clean --venv"),
    ],
    ids=["no network", "proxy", "no wheel", "full disk", "read-only", "unknown", "silent"],
)
def test_each_cause_has_its_own_advice(project, output, error, advice):
    """What pip says last decides what the reader is told to do next."""
    with pytest.raises(error) as raised:
        Environment(root=project, run=_ending(1, output)).install(READERS)
    assert advice in raised.value.next_step


def test_the_last_lines_are_shown_without_noise(project):
    """Pip's own last lines stand in the message; warnings that mean nothing do not."""
    noise = "WARNING: Location 'file:///x' is ignored: it is neither a file nor a directory."
    output = "\n".join([*(f"line {n}" for n in range(40)), noise, "", "ERROR: the reason"])
    with pytest.raises(InstallFailed) as raised:
        Environment(root=project, run=_ending(1, output)).install(READERS)

    lines = raised.value.what.splitlines()[1:-1]
    assert [f"  line {n}" for n in range(29, 40)] + ["  ERROR: the reason"] == lines


@pytest.mark.parametrize("missing", ["venv", "ensurepip"])
def test_a_python_without_venv_is_named(project, missing, monkeypatch):
    """Debian's Python comes without it; the package to install is named with its version."""
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == missing else real(name)
    )
    with pytest.raises(PythonWithoutVenv) as raised:
        Environment(root=project, run=_ending(0, "")).prepare()

    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert f"module {missing}" in raised.value.what
    assert f"sudo apt install python{version}-venv" in raised.value.next_step


def test_a_full_disk_is_seen_before_anything_is_downloaded(project, monkeypatch):
    """The room is looked at first, and both figures are told."""
    usage = shutil.disk_usage(project)._replace(free=123_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    run = pytest.fail
    with pytest.raises(DiskFull) as raised:
        Environment(root=project, run=run).prepare()
    assert "123 MB free" in raised.value.what


def test_a_read_only_folder_is_seen_before_anything_is_downloaded(project, monkeypatch):
    """A folder that takes no file is named, with the system's own reason."""

    def refuse(**_):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    with pytest.raises(FolderNotWritable) as raised:
        Environment(root=project, run=pytest.fail).prepare()
    assert f"{project}: {os.strerror(errno.EROFS)}" in raised.value.what


def test_a_program_that_takes_too_long_is_stopped_and_that_is_said():
    """A time limit ends it; what it printed until then is kept."""
    program = "import time; print('began', flush=True); time.sleep(600)"
    outcome = quietly.run([PYTHON, "-c", program], "Waiting", env=os.environ, limit_s=2)

    assert (None, "began") == (outcome.code, outcome.output.strip())
    assert "its time was up" in outcome.explained()[0]


def test_a_program_that_is_not_there_counts_as_failed():
    """A missing program is an outcome like any other, not a traceback."""
    outcome = quietly.run(["/no/such/program"], "Trying", env=os.environ)
    assert 127 == outcome.code
    assert "/no/such/program" in outcome.output


def test_what_was_printed_is_kept_in_the_log(tmp_path):
    """The whole text is there for whoever wants more than the last lines."""
    log = tmp_path / "install.log"
    for word in ("first", "second"):
        quietly.run([PYTHON, "-c", f"print('{word}')"], "Saying", env=os.environ, log=log)

    kept = log.read_text("utf-8").splitlines()
    assert ["first", "second"] == [line for line in kept if line in {"first", "second"}]
