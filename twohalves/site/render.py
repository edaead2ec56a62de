"""Rendering: Quarto where it is there, else smalldocs, then the finish that makes them alike."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from twohalves.errors import RendererComplained, RendererFailed, RendererMissing
from twohalves.site.post import finish

_SECONDS = 600
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
# What smalldocs says about keys that only Quarto has a use for; nothing is lost by them.
_EXPECTED = re.compile(r"is ignored|unknown key|compiles no Sass")
# What Quarto only warns about, although something is then missing from the page.
_HOLE = re.compile(
    r"resolve|not found|missing|could not(?! load translations)|cannot|unable|unclosed"
    r"|found in the document",
    re.IGNORECASE,
)
# What smalldocs only warns about, although the page is then wrong.
_WRONG = re.compile(r"not found|is not known|outside the project|not built")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A site that stands."""

    folder: Path
    """Where it is: the folder that holds index.html."""
    renderer: Literal["quarto", "smalldocs"]
    """Which program made the pages."""
    version: str
    """Its version, as it names it."""
    pages: tuple[str, ...]
    """The pages, relative to the folder, in order."""
    warnings: tuple[str, ...]
    """What the renderer said that is worth a look; empty is the rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Renderer:
    """A program that makes pages."""

    name: Literal["quarto", "smalldocs"]
    """Which one."""
    version: str
    """Its version, as it names it."""
    command: tuple[str, ...]
    """How it is started on the current folder."""


def find_renderer(wanted: str | None = None) -> Renderer:
    """The renderer to use.

    Args:
        wanted: ``quarto`` or ``smalldocs``; None takes ``TWOHALVES_RENDERER``, and without
            that the first that answers.

    Raises:
        RendererMissing: none of those allowed answers.
    """
    wanted = wanted or os.environ.get("TWOHALVES_RENDERER") or "quarto, smalldocs"
    finders = {"quarto": _quarto, "smalldocs": _smalldocs}
    for name, find in finders.items():
        found = find() if name in wanted else None
        if found:
            return found
    raise RendererMissing(wanted)


def _quarto() -> Renderer | None:
    beside = str(Path(sys.executable).parent)  # .venv may hold it without being on the path
    program = shutil.which("quarto", path=beside) or shutil.which("quarto")
    if not program:
        return None
    try:
        answer = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    said = answer.stdout.strip()
    if answer.returncode != 0 or not re.match(r"\d+\.\d+", said):
        return None
    return Renderer(name="quarto", version=said, command=(program, "render"))


def _smalldocs() -> Renderer | None:
    try:
        number = version("smalldocs")
    except PackageNotFoundError:
        return None
    command = (sys.executable, "-m", "smalldocs.cli", "render", ".")
    return Renderer(name="smalldocs", version=number, command=command)


def render(staging: Path, out: Path, *, renderer: str | None = None) -> Rendered:
    """Render a staged project and put the finished site in its place.

    The site that stood there before stays until the new one is complete.

    Args:
        staging: what :func:`twohalves.site.stage` made.
        out: where the site goes, usually ``_site`` in the project's folder.
        renderer: as for :func:`find_renderer`.

    Raises:
        TwoHalvesError: the renderer failed or complained, or a page is not fit to be read.
    """
    chosen = find_renderer(renderer)
    said = _start(chosen, staging)
    warnings = _judge(chosen, said)
    built = staging / "_site"
    if not (built / "index.html").is_file():
        raise RendererFailed(chosen.name, 0, said)
    pages = finish(built, staging)
    _put(built, out)
    return Rendered(
        folder=out,
        renderer=chosen.name,
        version=chosen.version,
        pages=tuple(pages),
        warnings=warnings,
    )


def _start(renderer: Renderer, staging: Path) -> str:
    """Run the program and return everything it said."""
    environment = {
        **os.environ,
        "QUARTO_PYTHON": sys.executable,
        "NO_COLOR": "1",
        "PYTHONUTF8": "1",
        "PYTHONIOENCODING": "utf-8",
    }
    try:
        done = subprocess.run(
            renderer.command,
            cwd=staging,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        said = error.stdout.decode("utf-8", "replace") if isinstance(error.stdout, bytes) else ""
        raise RendererFailed(renderer.name, None, said) from error
    except OSError as error:
        raise RendererFailed(renderer.name, error.errno, str(error)) from error
    said = _ANSI.sub("", done.stdout)
    if done.returncode != 0:
        raise RendererFailed(renderer.name, done.returncode, said)
    return said


def _judge(renderer: Renderer, said: str) -> tuple[str, ...]:
    """What is worth a look; refuse what leaves a page wrong although the program exits with 0."""
    if renderer.name == "quarto":
        lines = [line.strip() for line in said.splitlines() if "WARN" in line]
        # What it could not find or resolve leaves a hole in a page; other remarks are passed on.
        wrong = tuple(line for line in lines if _HOLE.search(line))
        warnings = tuple(line for line in lines if line not in wrong)
    else:
        lines = [line for line in said.splitlines() if line.startswith("warning: ")]
        wrong = tuple(line for line in lines if _WRONG.search(line))
        # A broken link is reported with its page once the finish has looked at every page.
        warnings = tuple(
            line.removeprefix("warning: ")
            for line in lines
            if not _EXPECTED.search(line) and "broken link" not in line
        )
    if wrong:
        raise RendererComplained(renderer.name, wrong)
    return warnings


def _put(built: Path, out: Path) -> None:
    """Replace the site in one step: both names lie in the same folder."""
    fresh, old = out.with_name(f".{out.name}.new"), out.with_name(f".{out.name}.old")
    for leftover in (fresh, old):
        shutil.rmtree(leftover, ignore_errors=True)
    shutil.copytree(built, fresh)
    if out.exists():
        out.replace(old)
    try:
        fresh.replace(out)
    except OSError:
        if old.exists():
            old.replace(out)
        raise
    shutil.rmtree(old, ignore_errors=True)
