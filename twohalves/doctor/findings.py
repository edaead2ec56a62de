"""What a check finds: a status, one line with a figure, and what to do next on each system."""

from __future__ import annotations

import enum
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field


class Status(enum.StrEnum):
    """How a check ended."""

    OK = "ok"
    """Nothing to do."""
    WARN = "warn"
    """It works, and something will be slower, odd or missing."""
    FAIL = "fail"
    """What this is needed for cannot work."""
    WAIT = "wait"
    """It could not be looked at yet: something before it is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """The next step on each system: a sentence, commands in backticks, blanks in braces."""

    linux: str
    """For a shell."""
    macos: str
    """For a shell."""
    windows: str
    """For PowerShell."""

    def on(self, system: str) -> str:
        """The step for one system; any that is not named here is taken for a Linux."""
        return {"macos": self.macos, "windows": self.windows}.get(system, self.linux)


def unix(text: str, *, windows: str) -> Steps:
    """The same step in a shell of Linux and macOS, another one in PowerShell."""
    return Steps(linux=text, macos=text, windows=windows)


def everywhere(text: str) -> Steps:
    """The same step on all systems; on Windows Python is called by its launcher."""
    return unix(text, windows=text.replace("`python3 -m", "`py -m"))


def setting(name: str, value: str, then: str = "and give the same command again") -> Steps:
    """Set an environment variable, then go on."""
    shell = f"`export {name}={value}` {then}."
    return unix(shell, windows=f'`$env:{name} = "{value}"` {then}.')


def unset(names: str, then: str = " and give the same command again") -> Steps:
    """Take environment variables away, then go on."""
    return unix(
        f"`unset {names}`{then}.", windows=f"`Remove-Item Env:{names.split(maxsplit=1)[0]}`{then}."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """One thing that goes wrong: how it looks, what it means, what to do."""

    title: str
    """A heading, in a reader's words."""
    symptoms: tuple[str, ...]
    """Messages as people see them, to be searched for."""
    meaning: str
    """A sentence or a few."""
    steps: Steps
    """What to do next."""
    example: Mapping[str, str] = field(default_factory=dict)
    """What stands in the blanks of the steps where no machine is at hand."""

    def next_step(self, system: str, values: Mapping[str, str] | None = None) -> str:
        """The step for a system, with this machine's values in its blanks."""
        return self.steps.on(system).format_map({**self.example, **(values or {})})


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one check found."""

    status: Status
    """How it ended."""
    says: str
    """One line with the figure that matters."""
    trouble: Trouble | None = None
    """What is wrong; None = nothing is."""
    values: Mapping[str, str] = field(default_factory=dict)
    """For the blanks of the trouble's steps."""

    def next_step(self, system: str) -> str | None:
        """What to do; None = nothing."""
        return None if self.trouble is None else self.trouble.next_step(system, self.values)


def ok(says: str) -> Finding:
    """All is well."""
    return Finding(status=Status.OK, says=says)


def warn(says: str, trouble: Trouble, **values: str) -> Finding:
    """It works, but."""
    return Finding(status=Status.WARN, says=says, trouble=trouble, values=values)


def fail(says: str, trouble: Trouble, **values: str) -> Finding:
    """It does not work."""
    return Finding(status=Status.FAIL, says=says, trouble=trouble, values=values)


def wait(says: str) -> Finding:
    """Something before it is missing."""
    return Finding(status=Status.WAIT, says=says)


def this_system() -> str:
    """Which of the three systems this is: `linux`, `macos` or `windows`."""
    return {"darwin": "macos", "win32": "windows", "cygwin": "windows"}.get(sys.platform, "linux")
