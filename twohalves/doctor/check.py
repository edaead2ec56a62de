"""A check: how its facts are gathered, how they are judged, and what can come of it.

Gathering touches the machine and judges nothing; judging is pure. So each check can be tried
with made-up facts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from twohalves.doctor.findings import Finding, Trouble, this_system
from twohalves.places import PROJECT


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    """Where a check looks; a test puts its own folders and variables here."""

    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    """Environment variables."""
    project: Path = PROJECT
    """The project's folder."""
    root: Path = Path("/")
    """Above /proc and /sys."""
    system: str = field(default_factory=this_system)
    """`linux`, `macos` or `windows`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One line of the doctor."""

    name: str
    """A word or two, the same in every report."""
    about: str
    """What is looked at and why, for the page: a sentence."""
    probe: Callable[[Here], Any]
    """Gathers the facts; checks with the same probe share one call."""
    judge: Callable[[Any], Finding]
    """What the facts mean; pure."""
    troubles: tuple[Trouble, ...]
    """Everything that it may find wrong."""
    serves: Literal["measuring", "pages", "tests"] = "measuring"
    """What cannot be done without it."""
    packages: tuple[str, ...] = ()
    """Modules that its probe imports and that may not be installed yet."""
    follows: str | None = None
    """The check that its probe builds upon: with that one silent it only waits; None = none."""
    silence: Trouble | None = None
    """What it means if the probe does not come back; None = nothing special."""
