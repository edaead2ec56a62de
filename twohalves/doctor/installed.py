"""Python, the environment .venv, and the packages in it."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from twohalves import hosted
from twohalves.bootstrap import Environment
from twohalves.doctor.check import Here
from twohalves.doctor.findings import (
    Finding,
    Steps,
    Trouble,
    everywhere,
    fail,
    ok,
    unix,
    warn,
)

NEWEST_REFUSED = (3, 10)
HOSTED = "requirements-hosted.txt"
_PATIENCE_S = 2.5
_PIN = re.compile(r"([\w.-]+)[=>]=([\w.+!-]+)")

_PIP = "-m pip install -r requirements.txt -c constraints.txt`"
INSTALL = unix(
    f"`.venv/bin/python {_PIP}",
    windows=rf"`.venv\Scripts\python {_PIP}",
)
"""Into the environment what belongs there, given in the project's folder."""

TOO_OLD = Trouble(
    title="Python is too old, or made for 32 bits",
    symptoms=(
        "Two Halves needs Python 3.11 or newer",
        "SyntaxError: future feature annotations is not defined",
        "ERROR: No matching distribution found for pandas",
    ),
    meaning="The packages exist for Python 3.11 or newer on 64 bits only.",
    steps=Steps(
        linux="`sudo apt install python3.11 python3.11-venv` (Fedora: `sudo dnf install "
        "python3.11`), then `python3.11 -m twohalves site`.",
        macos="`brew install python@3.13`, then `python3.13 -m twohalves site`.",
        windows="`winget install Python.Python.3.13`, then `py -3.13 -m twohalves site`.",
    ),
)
NO_VENV_MODULE = Trouble(
    title="This Python cannot make an environment",
    symptoms=(
        "ensurepip is not available",
        "No module named venv",
        "The virtual environment was not created successfully",
    ),
    meaning="Debian and Ubuntu ship the module venv as a package of its own.",
    steps=Steps(
        linux="`sudo apt install python3-venv`, then `python3 -m twohalves site`.",
        macos="`brew install python@3.13`, then `python3.13 -m twohalves site`.",
        windows="`winget install Python.Python.3.13`, then `py -3.13 -m twohalves site`.",
    ),
)
BROKEN_VENV = Trouble(
    title="The environment .venv is broken",
    symptoms=(
        "bad interpreter: No such file or directory",
        "No Python at",
        "No module named pip",
        "Fatal Python error: init_fs_encoding",
        "did not find executable at",
    ),
    meaning="The project's folder was moved or copied, or the Python that .venv was made with is "
    "gone or was replaced. Nothing in .venv is yours: it is made anew from the requirements.",
    steps=everywhere(
        "`python3 -m twohalves clean --venv`, then `python3 -m twohalves site`: it is made anew."
    ),
)
NOT_SET_UP = Trouble(
    title="Nothing is installed yet",
    symptoms=(
        "ModuleNotFoundError: No module named 'twohalves'",
        "ModuleNotFoundError: No module named 'ollama'",
        "No module named jupyterlab",
        "No such kernel named python3",
    ),
    meaning="The packages are installed into the folder .venv by the first verb that needs them. "
    "A notebook that was opened with another Python does not see them.",
    steps=everywhere(
        "`python3 -m twohalves lab` installs them and opens the notebooks; "
        "`python3 -m twohalves site` measures and makes the pages."
    ),
)
PACKAGES_DIFFER = Trouble(
    title="Packages are missing, or have other versions than were tested",
    symptoms=(
        "ImportError: cannot import name",
        "AttributeError: module has no attribute",
        "outputs differ from the stored ones",
    ),
    meaning="The stored outputs were made with exactly the versions in requirements.txt. Something "
    "installed into this environment by hand has changed them.",
    steps=INSTALL,
)
INCOMPLETE = Trouble(
    title="Files of the project are missing",
    symptoms=(
        "is missing, so there is no site to build",
        "No such file or directory: 'data/claims.csv'",
    ),
    meaning="The copy of the project is incomplete: it was unpacked in part, or something in it "
    "was deleted.",
    steps=everywhere("`git checkout -- {missing}`, or unpack the project again."),
    example={"missing": "data"},
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonFacts:
    """The interpreter."""

    version: tuple[int, int, int]
    """Major, minor, micro."""
    bits: int
    """Width of a pointer."""
    implementation: str
    """Such as CPython."""


def python(_: Here) -> PythonFacts:
    """Look at the interpreter that runs this."""
    return PythonFacts(
        version=sys.version_info[:3],
        bits=64 if sys.maxsize > 2**32 else 32,
        implementation=platform.python_implementation(),
    )


def judge_python(facts: PythonFacts) -> Finding:
    """3.11 or newer, on 64 bits."""
    said = "{}.{}.{}".format(*facts.version)
    said = f"{facts.implementation} {said}, {facts.bits} bits"
    if facts.version[:2] <= NEWEST_REFUSED:
        return fail(f"{said}; 3.11 or newer is needed", TOO_OLD)
    return ok(said) if facts.bits == 64 else fail(f"{said}; 64 are needed", TOO_OLD)


@dataclass(frozen=True, slots=True, kw_only=True)
class VenvFacts:
    """The folder .venv."""

    broken: str | None
    """Why it cannot be used; "" = there is none; None = it can."""
    is_inside: bool
    """Whether this process runs in it."""
    lacks: str | None
    """Module of the standard library that is needed to make one; None = all are there."""
    has_packages: bool
    """Whether this Python has the packages by itself, so that no environment is needed."""


def venv(here: Here) -> VenvFacts:
    """Look at .venv without changing it."""
    environment = Environment(root=here.project)
    lacks = [name for name in ("venv", "ensurepip") if importlib.util.find_spec(name) is None]
    return VenvFacts(
        broken=environment.broken(patience_s=_PATIENCE_S),
        is_inside=environment.inside(),
        lacks=lacks[0] if lacks else None,
        has_packages=None not in _found(pins(here.project / HOSTED)).values(),
    )


def judge_venv(facts: VenvFacts) -> Finding:
    """There and usable, or still to be made."""
    if facts.broken:
        return fail(f".venv cannot be used: {facts.broken}", BROKEN_VENV)
    if facts.broken is None:
        return ok(".venv is in use" if facts.is_inside else ".venv is ready")
    if facts.has_packages:
        return ok("no .venv; this Python has the packages itself")
    if facts.lacks:
        return fail(f"no .venv yet, and this Python lacks the module {facts.lacks}", NO_VENV_MODULE)
    return ok("no .venv yet: the first verb that needs one makes it")


@dataclass(frozen=True, slots=True, kw_only=True)
class PackagesFacts:
    """What requirements.txt asks for, and what this interpreter has."""

    wanted: dict[str, str]
    """Versions by name; empty = there is no such file."""
    found: dict[str, str | None]
    """Versions by name; None = not installed."""
    is_inside: bool
    """Whether this process runs in .venv."""
    is_exact: bool
    """Whether the versions matter: on a hosted machine they are the host's."""


def packages(here: Here) -> PackagesFacts:
    """Compare the packages of this interpreter with the list."""
    is_exact = hosted.where(here.environ) is None
    wanted = pins(here.project / ("requirements.txt" if is_exact else HOSTED))
    return PackagesFacts(
        wanted=wanted,
        found=_found(wanted),
        is_inside=Environment(root=here.project).inside(),
        is_exact=is_exact,
    )


def pins(file: Path) -> dict[str, str]:
    """The versions in a file of requirements by name; empty = there is no such file."""
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    found = (_PIN.match(line) for line in text.splitlines())
    return {pin[1]: pin[2] for pin in found if pin}


def _found(names: Iterable[str]) -> dict[str, str | None]:
    return {name: version_of(name) for name in names}


def version_of(name: str) -> str | None:
    """The version of an installed package; None = it is not installed."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def judge_packages(facts: PackagesFacts) -> Finding:
    """Exactly the versions that were tested."""
    if not facts.wanted:
        return fail("requirements.txt is not there", INCOMPLETE, missing="requirements.txt")
    missing = [name for name, version in facts.found.items() if version is None]
    other = [
        f"{name} {version} (tested: {facts.wanted[name]})"
        for name, version in facts.found.items()
        if facts.is_exact and version not in {None, facts.wanted[name]}
    ]
    total = len(facts.wanted)
    if missing and not facts.is_inside:
        return warn(f"{len(missing)} of {total} are not installed in this Python", NOT_SET_UP)
    if missing:
        said = f"{len(missing)} of {total} are missing: {', '.join(missing)}"
        return fail(said, PACKAGES_DIFFER)
    if other:
        said = f"{len(other)} of {total} differ: {', '.join(other)}"
        return warn(said, PACKAGES_DIFFER if facts.is_inside else NOT_SET_UP)
    tested = " in the versions that were tested" if facts.is_exact else ", as the host has them"
    return ok(f"all {total}{tested}")
