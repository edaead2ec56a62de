"""Room on the disk, and whether a row can be kept."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from twohalves.bootstrap import NEEDED_MB
from twohalves.doctor.check import Here
from twohalves.doctor.findings import Finding, Steps, Trouble, fail, ok, unix, warn
from twohalves.doctor.installed import INCOMPLETE

MB = 1_000_000
LEAST_MB = 50
"""With less, not even a run is kept safely."""
ROOM_MB = 200
"""What a site and some runs take once everything is installed."""
_PATIENCE_S = 2.0

FULL = Trouble(
    title="The disk is full",
    symptoms=(
        "OSError: [Errno 28] No space left on device",
        "There is not enough space on the disk",
        "A row could not be written",
    ),
    meaning="Everything together takes about 750 MB, a run less than one. A run that was stopped "
    "by a full disk keeps what it has and goes on when there is room.",
    steps=Steps(
        linux="`du -xh --max-depth=1 ~ | sort -h | tail` shows what is large; "
        "`python3 -m pip cache purge` frees pip's cache.",
        macos="`du -xh -d 1 ~ | sort -h | tail` shows what is large; "
        "`python3 -m pip cache purge` frees pip's cache.",
        windows="`Get-PSDrive -PSProvider FileSystem` shows the drives; "
        "`py -m pip cache purge` frees pip's cache.",
    ),
)
QUOTA_USED = Trouble(
    title="Your share of the disk is used up",
    symptoms=("OSError: [Errno 122] Disk quota exceeded", "Disk quota exceeded"),
    meaning="The disk has room, but your account may use no more of it.",
    steps=Steps(
        linux="`quota -s` shows the limit, `du -xh --max-depth=1 ~ | sort -h | tail` what is "
        "large.",
        macos="`quota -v` shows the limit; `du -xh -d 1 ~ | sort -h | tail` what is large.",
        windows="`fsutil quota query C:` shows the limit; delete what you can spare.",
    ),
)
READ_ONLY = Trouble(
    title="Nothing can be written to the project's folder",
    symptoms=(
        "PermissionError: [Errno 13] Permission denied",
        "OSError: [Errno 30] Read-only file system",
        "[WinError 5] Access is denied",
        "Nothing can be written to",
    ),
    meaning="The environment, the runs and the pages are written into the project's folder, and "
    "this one is protected or belongs to somebody else.",
    steps=unix(
        '`cp -r "{folder}" ~/two-halves && cd ~/two-halves`, and start again there.',
        windows='`Copy-Item -Recurse "{folder}" $HOME\\two-halves; cd $HOME\\two-halves`, and '
        "start again there.",
    ),
    example={"folder": "THE_FOLDER"},
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskFacts:
    """Can rows be kept?"""

    project: str
    """The project's folder."""
    folder: str
    """Where writing was refused; the project's folder where it was not."""
    is_complete: bool
    """Whether the folder data is there."""
    error: int | None
    """Number of the system's error when writing; None = it worked."""
    reason: str
    """The same in words; "" = it worked."""
    free_bytes: int | None
    """Bytes free for this account; None = not told."""
    needed_bytes: int
    """Bytes that what is still to come will take."""


def disk(here: Here) -> DiskFacts:
    """Write a little into the project's folder and data/runs, and ask for the room left."""
    tried = [folder for folder in (here.project, here.project / "data" / "runs") if folder.is_dir()]
    errors = ((folder, _write_error(folder)) for folder in tried)
    folder, error = next((pair for pair in errors if pair[1]), (here.project, None))
    try:
        free = shutil.disk_usage(folder).free
    except OSError:
        free = None
    is_installed = (here.project / ".venv").is_dir()
    return DiskFacts(
        project=str(here.project),
        folder=str(folder),
        is_complete=(here.project / "data").is_dir(),
        error=None if error is None else error.errno or 0,
        reason="" if error is None else error.strerror or str(error),
        free_bytes=free,
        needed_bytes=(ROOM_MB if is_installed else NEEDED_MB) * MB,
    )


def _write_error(folder: Path) -> OSError | None:
    """What the system says when 64 KiB are written to a folder; None = it worked."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"\0" * 65536)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        return error
    return None


def judge_disk(facts: DiskFacts) -> Finding:
    """Writing works and there is room for what is to come."""
    trouble = {errno.ENOSPC: FULL, getattr(errno, "EDQUOT", -1): QUOTA_USED}
    if not facts.is_complete:
        return fail("the folder data is not there", INCOMPLETE, missing="data")
    if facts.error is not None:
        wrong = trouble.get(facts.error, READ_ONLY)
        return fail(f"{facts.folder} takes no files: {facts.reason}", wrong, folder=facts.project)
    if facts.free_bytes is None:
        return ok("writing works; how much is free is not told")
    free, needed = facts.free_bytes // MB, facts.needed_bytes // MB
    said = f"{free:,} MB free"
    if free < LEAST_MB:
        return fail(f"{said}; rows may be lost", FULL)
    return ok(said) if free >= needed else warn(f"{said}, about {needed:,} are needed", FULL)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaFacts:
    """A limit of this account; both None = the system tells of none."""

    used_bytes: int | None
    """Bytes used."""
    limit_bytes: int | None
    """Bytes allowed."""


def quota(_: Here) -> QuotaFacts:
    """Ask the program quota, where there is one."""
    nothing = QuotaFacts(used_bytes=None, limit_bytes=None)
    program = shutil.which("quota")
    if program is None or os.name == "nt":
        return nothing
    try:
        said = subprocess.run(
            [program, "-w"], capture_output=True, timeout=_PATIENCE_S, check=False
        ).stdout.decode("utf-8", "replace")
    except (OSError, subprocess.SubprocessError):
        return nothing
    return read_quota(said) or nothing


def read_quota(said: str) -> QuotaFacts | None:
    """The tightest limit in what `quota -w` prints, in blocks of 1024 bytes; None = there is none.

    >>> read_quota("/dev/sda1 900* 1000 1200 0 0 0")
    QuotaFacts(used_bytes=921600, limit_bytes=1024000)
    """
    rows = []
    for line in said.splitlines():
        words = line.split()[1:4]
        if len(words) == 3 and all(word.rstrip("*").isdecimal() for word in words):
            used, soft, hard = (1024 * int(word.rstrip("*")) for word in words)
            if soft or hard:
                rows.append(QuotaFacts(used_bytes=used, limit_bytes=soft or hard))
    return min(rows, key=lambda row: (row.limit_bytes or 0) - (row.used_bytes or 0), default=None)


def judge_quota(facts: QuotaFacts) -> Finding:
    """Some room below the limit."""
    if facts.used_bytes is None or facts.limit_bytes is None:
        return ok("the system tells of no limit for this account")
    left = (facts.limit_bytes - facts.used_bytes) // MB
    said = f"{left:,} of {facts.limit_bytes // MB:,} MB of this account are left"
    if left < LEAST_MB:
        return fail(said, QUOTA_USED)
    return ok(said) if left >= ROOM_MB else warn(said, QUOTA_USED)
