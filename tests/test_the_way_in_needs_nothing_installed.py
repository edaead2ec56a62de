"""The way in needs nothing installed: Python alone, and even a Python too old gets an answer."""

import ast
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from twohalves.commands.parser import ALONE

PROJECT = Path(__file__).resolve().parent.parent
PACKAGE = PROJECT / "twohalves"
OLD = ("python2.7", *(f"python3.{minor}" for minor in range(6, 11)))


def _imported_at_the_top(path):
    tree = ast.parse(path.read_text("utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _file_of(module):
    base = PROJECT.joinpath(*module.split("."))
    candidates = (base / "__init__.py", base.with_suffix(".py"))
    return next((path for path in candidates if path.is_file()), None)


def _touched(start):
    """Every file that importing ``start`` reads, and every other module that it imports."""
    files, others, waiting = set(), set(), [start]
    while waiting:
        module = waiting.pop()
        if not module.startswith("twohalves"):
            others.add(module.partition(".")[0])
            continue
        path = _file_of(module)
        if path is not None and path not in files:
            files.add(path)
            waiting.extend(_imported_at_the_top(path))
            waiting.append(module.rpartition(".")[0] or module)
    return files, others


@pytest.mark.parametrize(
    "start",
    ["twohalves.__main__", *(f"twohalves.commands.{verb}" for verb in sorted(ALONE))],
)
def test_what_runs_before_the_environment_exists_imports_the_standard_library_only(start):
    """Whatever the start touches imports nothing but the standard library."""
    files, others = _touched(start)

    assert PACKAGE / "errors.py" in files
    assert set() == others - sys.stdlib_module_names


def test_the_start_runs_where_no_package_can_be_seen():
    """With site-packages hidden and the environment ignored, help is printed."""
    program = (
        f"import sys; sys.path.insert(0, {str(PROJECT)!r}); import runpy; "
        "sys.argv = ['twohalves', '--help']; "
        "runpy.run_module('twohalves', run_name='__main__', alter_sys=True)"
    )
    answer = subprocess.run(
        [sys.executable, "-S", "-I", "-c", program], capture_output=True, text=True, check=False
    )

    assert 0 == answer.returncode, answer.stderr
    assert "python3 -m twohalves" in answer.stdout


def test_the_first_file_stays_short():
    """The first file parses, sets up and hands over; it has no room for more."""
    assert 150 > len((PACKAGE / "__main__.py").read_text("utf-8").splitlines())


def test_an_older_python_is_told_so(monkeypatch):
    """A Python before 3.11 gets one sentence with its own version and the next command."""
    monkeypatch.setattr(sys, "version_info", (3, 8, 18, "final", 0))
    with pytest.raises(SystemExit) as stopped:
        runpy.run_module("twohalves", run_name="__main__")

    first, following = str(stopped.value.code).splitlines()
    assert first.startswith("Two Halves needs Python 3.11 or newer; this is Python 3.8 (")
    assert following.startswith("Next: ")
    assert "-m twohalves site" in following


@pytest.mark.parametrize("path", ["__init__.py", "__main__.py"])
def test_an_older_python_can_read_that_far(path):
    """The two files that an older Python reads hold no syntax and no byte that is new to it."""
    source = (PACKAGE / path).read_text("utf-8")

    assert source.isascii()
    assert ast.parse(source, feature_version=(3, 4))


def _runs(program):
    run = [program, "-c", "import sys"]
    return subprocess.run(run, capture_output=True, check=False).returncode == 0


def test_a_real_older_python_says_so():
    """The same with an older interpreter, where this machine has one."""
    program = next(filter(_runs, filter(None, map(shutil.which, OLD))), None)
    if program is None:
        pytest.skip("no older Python here")
    answer = subprocess.run(
        [program, "-m", "twohalves", "site"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert 1 == answer.returncode
    assert answer.stderr.startswith("Two Halves needs Python 3.11 or newer; this is Python ")
    assert "Traceback" not in answer.stderr
