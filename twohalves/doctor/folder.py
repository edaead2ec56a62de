"""The folder that the project lies in."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path, PurePath

from twohalves.doctor.check import Here
from twohalves.doctor.findings import Finding, Steps, Trouble, ok, unix, warn

LONGEST_ON_WINDOWS = 120
"""Letters of the project's path; the longest path below it takes 140 of the 260 allowed."""
_CLOUDS = {
    "onedrive": "OneDrive",
    "dropbox": "Dropbox",
    "google drive": "Google Drive",
    "googledrive": "Google Drive",
    "icloud": "iCloud",
    "mobile documents": "iCloud",
    "cloudstorage": "a cloud drive",
    "nextcloud": "Nextcloud",
}
_NETWORK = ("nfs", "cifs", "smb", "fuse.sshfs", "9p", "drvfs", "afs", "lustre", "gpfs", "beegfs")

TOO_LONG = Trouble(
    title="The path of the folder is too long",
    symptoms=(
        "[WinError 206] The filename or extension is too long",
        "this system does not have Windows Long Path support enabled",
    ),
    meaning="Windows allows 260 letters in a path unless long paths are switched on, and the "
    "packages bring deep folders.",
    steps=unix(
        "`pwd | wc -c` counts; only Windows has this limit.",
        windows='`Move-Item "{folder}" C:\\two-halves; cd C:\\two-halves`, and start again there.',
    ),
    example={"folder": "THE_FOLDER"},
)
SYNCED = Trouble(
    title="The folder is synchronized, or lies on the network",
    symptoms=(
        "PermissionError: [WinError 32] The process cannot access the file",
        "OSError: [Errno 116] Stale file handle",
        "conflicted copy",
    ),
    meaning="A synchronizing program copies thousands of small files, holds them open, and its "
    "work disturbs the timings; a network folder is slow, and locks files late.",
    steps=Steps(
        linux='`cp -r "{folder}" /tmp/two-halves && cd /tmp/two-halves`, and give the same command '
        "again there; take data/runs home afterwards.",
        macos='`cp -r "{folder}" ~/two-halves && cd ~/two-halves`, and start again there.',
        windows='`Copy-Item -Recurse "{folder}" C:\\two-halves; cd C:\\two-halves`, and start '
        "again there.",
    ),
    example={"folder": "THE_FOLDER"},
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PathFacts:
    """Where the project lies."""

    path: str
    """The folder."""
    synced: str | None
    """What synchronizes it; None = nothing that is known."""
    network: str | None
    """Kind of its network file system; None = it is local, or not told."""
    limit: int | None
    """Letters that its path may have; None = no limit matters."""


def path(here: Here) -> PathFacts:
    """Look at the folder's name and at the disk below it."""
    return PathFacts(
        path=str(here.project),
        synced=synced_by(here.project),
        network=network_kind(str(here.project), _mounts(here.root)),
        limit=LONGEST_ON_WINDOWS if here.system == "windows" and not _long_paths() else None,
    )


def synced_by(folder: PurePath) -> str | None:
    """Which program synchronizes a folder, told from the names above it; None = none known."""
    for part in folder.parts:
        for start, name in _CLOUDS.items():
            if part.lower().startswith(start):
                return name
    return None


def network_kind(folder: str, mounts: str) -> str | None:
    """Kind of the network file system that a folder lies on; None = it is local, or not told.

    Args:
        folder: its path.
        mounts: what /proc/mounts says; "" = nothing.
    """
    if folder.startswith(("\\\\", "//")):
        return "smb"
    rows = [line.split() for line in mounts.splitlines()]
    above = [row for row in rows if len(row) > 2 and _is_below(folder, row[1])]
    kind = max(above, key=lambda row: len(row[1]))[2] if above else ""
    return kind if kind.startswith(_NETWORK) else None


def _is_below(folder: str, mount: str) -> bool:
    return f"{folder}/".startswith(mount.replace("\\040", " ").rstrip("/") + "/")


def _mounts(root: Path) -> str:
    try:
        return (root / "proc" / "mounts").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _long_paths() -> bool:
    """Whether Windows allows paths of more than 260 letters."""
    if sys.platform == "win32":
        import winreg  # noqa: PLC0415 — there is one on Windows only

        place = r"SYSTEM\CurrentControlSet\Control\FileSystem"
        try:
            with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, place) as key:
                return bool(winreg.QueryValueEx(key, "LongPathsEnabled")[0])
        except OSError:
            return False
    return True


def judge_path(facts: PathFacts) -> Finding:
    """Local, and short enough; spaces and umlauts are fine."""
    if facts.limit is not None and len(facts.path) > facts.limit:
        said = f"{len(facts.path)} letters, at most {facts.limit} are safe: {facts.path}"
        return warn(said, TOO_LONG, folder=facts.path)
    if facts.synced:
        return warn(f"{facts.path} is synchronized by {facts.synced}", SYNCED, folder=facts.path)
    if facts.network:
        said = f"{facts.path} lies on the network ({facts.network})"
        return warn(said, SYNCED, folder=facts.path)
    return ok(f"{facts.path}, {len(facts.path)} letters")
