"""What a container allows: processors and memory, as control groups tell it (Linux only)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_NO_LIMIT = 2**60
"""Version 1 says a number near 2**63 where it means none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The tightest limits above this process; None = none, or not told."""

    cpus: float | None
    """Processors' worth of time."""
    memory_bytes: int | None
    """Bytes allowed."""
    memory_used_bytes: int | None
    """Bytes in use of those, without copies of files that are given up when room is needed."""


def limits(root: Path) -> Limits:
    """Read the control groups of this process.

    Args:
        root: the folder that holds /proc and /sys.
    """
    groups = _groups(root)
    cpus = [value for group in groups if (value := _cpus(group)) is not None]
    memory = [pair for group in groups if (pair := _memory(group)) is not None]
    tightest = min(memory, key=lambda pair: pair[0] - pair[1], default=(None, None))
    return Limits(
        cpus=min(cpus, default=None),
        memory_bytes=tightest[0],
        memory_used_bytes=tightest[1],
    )


def _groups(root: Path) -> list[Path]:
    """Folders of the groups that this process is in, with those above them."""
    found = []
    for line in _read(root / "proc" / "self" / "cgroup").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, place = rest.partition(":")
        for name in controllers.split(","):
            folder = root / "sys" / "fs" / "cgroup" / name
            below = folder / place.lstrip("/")
            found += [below, *(up for up in below.parents if up.is_relative_to(folder))]
    return found


def _cpus(group: Path) -> float | None:
    words = _read(group / "cpu.max").split()
    if not words:
        names = ("cpu.cfs_quota_us", "cpu.cfs_period_us")
        words = [_read(group / name).strip() for name in names]
    if len(words) == 2 and all(word.isdecimal() for word in words) and int(words[1]):
        return int(words[0]) / int(words[1])
    return None


def _memory(group: Path) -> tuple[int, int] | None:
    """Bytes allowed and bytes used, as `docker stats` counts them."""
    files = (
        ("memory.max", "memory.current", "inactive_file"),
        ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    )
    for limit, usage, copies in files:
        allowed, used = (_read(group / name).strip() for name in (limit, usage))
        if allowed.isdecimal() and used.isdecimal() and int(allowed) < _NO_LIMIT:
            told = re.search(rf"^{copies} (\d+)$", _read(group / "memory.stat"), re.MULTILINE)
            return int(allowed), max(0, int(used) - int(told[1] if told else 0))
    return None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
