"""Whose machine this is: a hosted notebook, a container, WSL, the account root."""

from __future__ import annotations

import contextlib
import os
import socket
from dataclasses import dataclass
from pathlib import Path

from twohalves import hosted
from twohalves.doctor.check import Here
from twohalves.doctor.findings import Finding, Trouble, everywhere, ok, setting, unix, warn
from twohalves.doctor.port import OLLAMA, answers

_PATIENCE_S = 0.7
_CONTAINER_FILES = (".dockerenv", "run/.containerenv")
_DOCKER_HOST = "host.docker.internal"

FILES_VANISH = Trouble(
    title="A hosted notebook forgets its files",
    symptoms=(
        "data/runs is empty after a reconnect",
        "Your session crashed",
        "Runtime disconnected",
    ),
    meaning="The machine is lent for a session, and what was measured goes with it. An Ollama on "
    "your own computer is not reached from there: localhost is the lent machine.",
    steps=everywhere(
        "Before you leave, run `lab.download(run)` in a cell, or fetch the folder data/runs."
    ),
)
ROOT = Trouble(
    title="You work as root",
    symptoms=("Running as root is not recommended. Use --allow-root to bypass.",),
    meaning="With sudo all files that are made belong to root, and you cannot change them "
    "afterwards. Nothing here needs it.",
    steps=unix(
        "`sudo chown -R {user} .` gives the files back; then start without sudo.",
        windows="Close the window and open one that is not “as administrator”: `wt`.",
    ),
    example={"user": "$USER"},
)
HOST_OUTSIDE = Trouble(
    title="Ollama runs outside this container, or on the Windows side of WSL",
    symptoms=(
        "curl: (7) Failed to connect to localhost port 11434: Connection refused",
        "host.docker.internal: Name or service not known",
        "dial tcp [::1]:11434: connect: connection refused",
    ),
    meaning="In a container, and in WSL 2, localhost is not the computer that you look at. There "
    "Ollama has to listen for others (OLLAMA_HOST=0.0.0.0), and here its address must be named. "
    "A name may lead to an IPv6 address while Ollama listens on IPv4 only: name the number then.",
    steps=setting("TWOHALVES_SERVER", "{url}"),
    example={"url": "http://host.docker.internal:11434"},
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedFacts:
    """A service that lends the machine; all empty = none that is known."""

    name: str
    """What it is called."""
    means: str
    """What becomes of files, and whose machine localhost is."""
    loses_files: bool
    """Whether files are gone after the session."""


def service(here: Here) -> HostedFacts:
    """Tell it by the variables that such services set."""
    found = hosted.where(here.environ)
    if found is None:
        return HostedFacts(name="", means="", loses_files=False)
    means = f"{found.files} {found.localhost}"
    return HostedFacts(name=found.name, means=means, loses_files=found.loses_files)


def judge_service(facts: HostedFacts) -> Finding:
    """A machine of one's own, or one that keeps files."""
    if not facts.name:
        return ok("no hosted notebook that is known")
    said = f"{facts.name}. {facts.means}"
    return warn(said, FILES_VANISH) if facts.loses_files else ok(said)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountFacts:
    """Who runs this."""

    is_root: bool
    """Whether it is the account that may do everything."""
    behind: str
    """Who called sudo; "" = nobody."""
    is_container: bool
    """Whether this is a container, where root is usual."""


def account(here: Here) -> AccountFacts:
    """Ask the system."""
    return AccountFacts(
        is_root=hasattr(os, "geteuid") and os.geteuid() == 0,
        behind=here.environ.get("SUDO_USER", ""),
        is_container=container(here.root, here.environ.get("container", "")) is not None,
    )


def judge_account(facts: AccountFacts) -> Finding:
    """Not with sudo."""
    if facts.is_root and facts.behind and facts.behind != "root":
        return warn(f"root, by sudo of {facts.behind}", ROOT, user=facts.behind)
    if facts.is_root:
        return ok("root" + (", in a container" if facts.is_container else ""))
    return ok("an ordinary account")


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideFacts:
    """A computer around this one."""

    kind: str | None
    """`WSL 2`, `WSL 1`, or what kind of container; None = neither."""
    url: str | None
    """Where an Ollama outside answers; None = nowhere, or nobody was asked."""
    has_own: bool
    """Whether somebody listens on Ollama's port in here."""
    is_named: bool
    """Whether a variable names the server already."""


def outside(here: Here) -> OutsideFacts:
    """Look whether this is a container or WSL, and whether an Ollama outside answers."""
    kind = wsl(here.root) or container(here.root, here.environ.get("container", ""))
    named = any(here.environ.get(name, "").strip() for name in ("TWOHALVES_SERVER", "OLLAMA_HOST"))
    has_own = kind is not None and answers("127.0.0.1", OLLAMA, _PATIENCE_S)
    url = None
    if kind is not None and not named and not has_own:
        hosts = [_DOCKER_HOST, *gateways(here.root)]
        there = (host for host in hosts if answers(host, OLLAMA, _PATIENCE_S))
        url = next((f"http://{host}:{OLLAMA}" for host in there), None)
    return OutsideFacts(kind=kind, url=url, has_own=has_own, is_named=named)


def wsl(root: Path) -> str | None:
    """Which version of WSL this is; None = none."""
    version = _text(root / "proc" / "version").lower()
    if "microsoft" not in version:
        return None
    return "WSL 2" if "wsl2" in version or "microsoft-standard" in version else "WSL 1"


def container(root: Path, variable: str) -> str | None:
    """What kind of container this is; None = none that is known."""
    if variable:
        return f"a container ({variable})"
    if any((root / name).exists() for name in _CONTAINER_FILES):
        return "a container"
    return "a container" if "/kubepods" in _text(root / "proc" / "self" / "cgroup") else None


def gateways(root: Path) -> list[str]:
    """Addresses of the computer around this one: the way out, as the kernel knows it."""
    found = []
    for line in _text(root / "proc" / "net" / "route").splitlines()[1:]:
        words = line.split()
        if len(words) > 2 and words[1] == "00000000" and len(words[2]) == 8:
            with contextlib.suppress(ValueError):
                found.append(socket.inet_ntoa(bytes.fromhex(words[2])[::-1]))
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def judge_outside(facts: OutsideFacts) -> Finding:
    """An Ollama outside that is not named yet."""
    if facts.kind is None:
        return ok("neither a container nor WSL")
    if facts.url is not None:
        return warn(f"{facts.kind}; outside of it an Ollama answers", HOST_OUTSIDE, url=facts.url)
    if facts.has_own or facts.is_named:
        return ok(facts.kind)
    return ok(f"{facts.kind}; localhost is in here, and no Ollama answers outside")
