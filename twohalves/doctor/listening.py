"""Who listens on a port of this machine, and what answers there.

Linux tells the owner of every listening socket in /proc/net/tcp, also of other people's; the
other systems tell at least of one's own.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

from twohalves.doctor.machine import installed_psutil

_LISTENS = "0A"
"""State of a socket that waits for connections."""
FIRST_PERSON = 1000
"""User numbers below belong to services, by the custom of all Linux systems."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """Who listens; None = not told."""

    user: str | None
    """Name of the account, or its number where it has no name here."""
    process: str | None
    """Name of the program."""
    is_own: bool | None
    """Whether it is this account's."""
    is_service: bool | None
    """Whether it is an account of the system, such as root or ollama."""


def listener(port: int, root: Path, *, own_id: int | None = None) -> Listener | None:
    """Who listens on a port; None = nobody, or not told.

    Args:
        port: TCP port.
        root: the folder that holds /proc and /etc.
        own_id: this account's number; None = ask the system.
    """
    sockets = _sockets(port, root)
    if not sockets:
        return _told_by_psutil(port) if root == Path("/") else None
    user_id, inode = sockets[0]
    me = own_id if own_id is not None else os.getuid() if hasattr(os, "getuid") else -1
    return Listener(
        user=_user_name(user_id, root),
        process=_process_name(inode, root),
        is_own=user_id == me,
        is_service=user_id < FIRST_PERSON,
    )


def _sockets(port: int, root: Path) -> list[tuple[int, str]]:
    """Owner's number and inode of each socket that listens on a port."""
    found = []
    for name in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            text = (root / "proc" / "net" / name).read_text(encoding="ascii", errors="replace")
            for line in text.splitlines()[1:]:
                words = line.split()
                if len(words) > 9 and words[3] == _LISTENS and _port(words[1]) == port:
                    found.append((int(words[7]), words[9]))
    return found


def _port(address: str) -> int | None:
    """The port of an address as the kernel writes it, such as 0100007F:2CAA."""
    with contextlib.suppress(ValueError):
        return int(address.rpartition(":")[2], 16)
    return None


def _user_name(user_id: int, root: Path) -> str:
    with contextlib.suppress(OSError):
        text = (root / "etc" / "passwd").read_text(encoding="utf-8", errors="replace")
        for line in text.splitlines():
            name, *rest = line.split(":")
            if len(rest) > 1 and rest[1] == str(user_id):
                return name
    with contextlib.suppress(ImportError, KeyError):  # accounts that a server hands out
        import pwd  # noqa: PLC0415 — Windows has none

        return pwd.getpwuid(user_id).pw_name
    return f"number {user_id}"


def _process_name(inode: str, root: Path) -> str | None:
    """The program that holds a socket; None = it is another account's, which Linux hides."""
    wanted = f"socket:[{inode}]"
    for folder in (root / "proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if any(os.readlink(each) == wanted for each in (folder / "fd").iterdir()):  # noqa: PTH115 — what it points to is no path
                return (folder / "comm").read_text(encoding="utf-8", errors="replace").strip()
    return None


def _told_by_psutil(port: int) -> Listener | None:
    psutil = installed_psutil()
    if psutil is None:
        return None
    with contextlib.suppress(psutil.Error, OSError):
        for each in psutil.net_connections(kind="tcp"):
            if each.status == psutil.CONN_LISTEN and each.laddr.port == port and each.pid:
                process = psutil.Process(each.pid)
                user, me = process.username(), psutil.Process().username()
                return Listener(
                    user=user, process=process.name(), is_own=user == me, is_service=None
                )
    return None
