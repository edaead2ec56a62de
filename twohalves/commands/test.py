"""``test``: install what the tests need, run the notebooks under nbval, then pytest.

Never calls sudo or a system's package manager: what is missing is skipped, and said.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from twohalves import terminal
from twohalves.bootstrap import TESTS, Environment
from twohalves.commands import engine
from twohalves.commands.exits import Exit
from twohalves.commands.parser import Options
from twohalves.doctor.programs import BROWSERS
from twohalves.errors import InstallFailed
from twohalves.places import NOTEBOOKS, PROJECT
from twohalves.runs.choose import VARIABLE, newest_sample


def run(options: Options) -> Exit:
    """Run the tests; with arguments for pytest only what they select, without the notebooks."""
    environment = Environment()
    environment.install(TESTS)
    skipped = list(_not_here(environment))
    codes = []
    if options.pytest:
        skipped.append("the notebooks under nbval: arguments for pytest were given")
    elif (sample := newest_sample()) and (notebooks := sorted(NOTEBOOKS.glob("*.ipynb"))):
        codes.append(_nbval(notebooks, {**environment.variables(), VARIABLE: sample}))
    else:
        skipped.append(
            "the notebooks under nbval: there is no notebook, or no run data/runs/sample*"
        )
    codes.append(_pytest(options.pytest, environment.variables()))
    for what in skipped:
        terminal.note(f"Skipped: {what}.")
    return Exit.DONE if not any(codes) else Exit.FAILED


def _not_here(environment: Environment) -> Iterator[str]:
    """What some tests need and this machine does not have, in words."""
    try:
        engine.install()
    except InstallFailed as error:
        yield f"tests of the built-in server, for it cannot be installed here ({error.subject})"
    if shutil.which("quarto", path=environment.variables()["PATH"]) is None:
        yield "rendering with Quarto, for it is not installed; smalldocs renders"
    if not any(map(shutil.which, BROWSERS)):
        yield (
            "tests in a browser, for there is no Chromium "
            "(on Debian or Ubuntu: sudo apt install chromium)"
        )


def _nbval(notebooks: list[Path], variables: Mapping[str, str]) -> int:
    """Execute every notebook in replay of the committed run and compare the outputs."""
    terminal.step("The notebooks, executed in replay and compared with their stored outputs:")
    command = [sys.executable, "-m", "pytest", "--nbval", "--nbval-current-env", "-q"]
    command += ["-p", "no:cacheprovider", "-W", "default", *map(str, notebooks)]
    return _run(command, variables)


def _pytest(arguments: list[str], variables: Mapping[str, str]) -> int:
    terminal.step("The tests:")
    return _run([sys.executable, "-m", "pytest", *arguments], variables)


def _run(command: list[str], variables: Mapping[str, str]) -> int:
    return subprocess.run(command, cwd=PROJECT, env=variables, check=False).returncode
