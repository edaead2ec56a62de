"""Programs beside Python: Quarto for the pages, a browser for the tests."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from twohalves.bootstrap import Environment
from twohalves.doctor.check import Here
from twohalves.doctor.findings import Finding, Steps, Trouble, fail, ok, unix, wait, warn
from twohalves.doctor.installed import INSTALL, version_of

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_PATIENCE_S = 2.5

NO_RENDERER = Trouble(
    title="Nothing can render the pages",
    symptoms=("No program to render the pages was found", "quarto: command not found"),
    meaning="Quarto makes the pages where it is there; else smalldocs does, which comes with the "
    "packages of this book.",
    steps=INSTALL,
)
QUARTO_SILENT = Trouble(
    title="Quarto is there and does not run",
    symptoms=("quarto: not found", "deno: not found", "quarto stopped with code"),
    meaning="The program was found and did not tell its version: its files were moved apart, or it "
    "was made for another processor. smalldocs renders the same pages.",
    steps=unix(
        "`quarto check` says more; `export TWOHALVES_RENDERER=smalldocs` does without it.",
        windows='`quarto check` says more; `$env:TWOHALVES_RENDERER = "smalldocs"` does without '
        "it.",
    ),
)
NO_BROWSER = Trouble(
    title="There is no Chromium",
    symptoms=("SKIPPED: no Chromium, or no playwright", "Executable doesn't exist at"),
    meaning="Only the tests of the finished pages start a browser of their own; without one they "
    "are skipped. Reading the pages needs no certain browser.",
    steps=Steps(
        linux="`sudo apt install chromium`",
        macos="`brew install --cask chromium`",
        windows="`winget install Hibbiki.Chromium`",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RendererFacts:
    """What can make the pages."""

    quarto: str | None
    """Path of the program; None = not found."""
    quarto_version: str | None
    """As it says; None = it does not run."""
    smalldocs: str | None
    """Version of the package; None = not installed."""
    is_inside: bool
    """Whether this process runs in .venv, which should have it."""


def renderer(here: Here) -> RendererFacts:
    """Look for Quarto, on the path and in the environment, and for smalldocs."""
    beside = str(Path(sys.executable).parent)
    found = shutil.which("quarto", path=os.pathsep.join((beside, here.environ.get("PATH", ""))))
    return RendererFacts(
        quarto=found,
        quarto_version=_quarto_version(found) if found else None,
        smalldocs=version_of("smalldocs"),
        is_inside=Environment(root=here.project).inside(),
    )


def _quarto_version(program: str) -> str | None:
    try:
        answer = subprocess.run(
            [program, "--version"],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    said = answer.stdout.decode("utf-8", "replace").strip()
    return said if answer.returncode == 0 and re.match(r"\d+\.\d+", said) else None


def judge_renderer(facts: RendererFacts) -> Finding:
    """One of the two."""
    if facts.quarto_version:
        return ok(f"Quarto {facts.quarto_version}")
    if facts.quarto:
        return warn(f"{facts.quarto} does not tell its version", QUARTO_SILENT)
    if facts.smalldocs:
        return ok(f"smalldocs {facts.smalldocs}; no Quarto, which is not needed")
    if not facts.is_inside:
        return wait("smalldocs comes with the packages; no Quarto here")
    return fail("neither Quarto nor smalldocs", NO_RENDERER)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserFacts:
    """A browser that tests can start."""

    program: str | None
    """Its path; None = not found."""


def browser(here: Here) -> BrowserFacts:
    """Look for the programs that the tests look for."""
    path = here.environ.get("PATH")
    found = (shutil.which(name, path=path) for name in BROWSERS)
    return BrowserFacts(program=next(filter(None, found), None))


def judge_browser(facts: BrowserFacts) -> Finding:
    """Only the tests need one."""
    if facts.program:
        return ok(facts.program)
    return warn("not found; only the tests of the pages need it, and are skipped", NO_BROWSER)
