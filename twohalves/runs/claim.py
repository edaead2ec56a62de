"""One run at a time on one machine or server, and one process at a time in one run's folder.

All servers of this machine share its cores and its memory: two built-in ones, or one and an
Ollama, slow each other down as two runs on one server do.

A claim is an advisory lock of the operating system on an open file. The system lets it go when
the process ends, however it ends, so that no claim outlives its holder; a file that stays
behind after a kill claims nothing. What stands in it only tells others whom to wait for.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import re
import sys
import tempfile
import urllib.parse
from typing import Any

from twohalves.errors import CannotKeep, RunBusy
from twohalves.runs.session import now
from twohalves.server.loopback import is_loopback

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_LOCKED_BYTE = 1 << 30  # far behind the text, which Windows would keep others from reading
FILE = "claimed"


class Claim:
    """Sole use of a server or a folder, until it is released or the process ends."""

    def __init__(self, path: pathlib.Path, claimed: str) -> None:
        """Claim it at once or not at all.

        Args:
            path: the file that stands for it.
            claimed: what it is, for whoever finds it taken.

        Raises:
            RunBusy: another process holds it.
            CannotKeep: the file cannot be made.
        """
        self._path = path
        while True:
            self._file = self._open()
            try:
                _lock(self._file)
            except OSError:
                os.close(self._file)
                told = _told(path)
                who, since = told.get("pid"), str(told.get("since", ""))
                raise RunBusy(claimed, who, since, str(told.get("run", ""))) from None
            if self._is_current():
                break
            os.close(self._file)  # its last holder has just removed it
        self.tell("")

    def tell(self, run: str) -> None:
        """Write down who holds it and for which run."""
        text = json.dumps({"pid": os.getpid(), "since": now(), "run": run}) + "\n"
        with contextlib.suppress(OSError):  # on a full disk the claim holds all the same
            os.ftruncate(self._file, 0)
            os.lseek(self._file, 0, os.SEEK_SET)
            os.write(self._file, text.encode("utf-8"))

    def release(self) -> None:
        """Let others have it, and leave no file behind."""
        if sys.platform != "win32":  # still held, so that nobody else can hold what is removed
            self._path.unlink(missing_ok=True)
        os.close(self._file)
        if sys.platform == "win32":
            with contextlib.suppress(OSError):  # somebody holds it already
                self._path.unlink(missing_ok=True)

    def _open(self) -> int:
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        try:
            return os.open(self._path, flags, 0o600)
        except OSError as error:
            raise CannotKeep(str(self._path), error.strerror or str(error)) from error

    def _is_current(self) -> bool:
        """Whether the file that is held is the one that others find."""
        try:
            return os.path.samestat(os.fstat(self._file), self._path.stat())
        except FileNotFoundError:
            return False

    def __enter__(self) -> Claim:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def claim_server(url: str) -> Claim:
    """Claim a server for this user's runs; one of this machine stands for all that are on it.

    Raises:
        RunBusy: another run asks it, or another server of this machine.
        CannotKeep: the temporary folder cannot be written to.
    """
    parts = urllib.parse.urlsplit(url)
    if is_loopback(parts.hostname):
        return Claim(_own_folder() / "this-machine.claimed", "a server on this machine")
    name = re.sub(r"[^a-z0-9.]+", "-", f"{parts.hostname}-{parts.port}{parts.path}".lower())
    return Claim(_own_folder() / f"{name.strip('-')}.claimed", f"the server at {url}")


def claim_folder(folder: pathlib.Path) -> Claim:
    """Claim a run's folder.

    Raises:
        RunBusy: another process adds to the run.
        CannotKeep: the folder cannot be written to.
    """
    return Claim(folder / FILE, f"the run {folder.name}")


def _own_folder() -> pathlib.Path:
    """A folder in the system's temporary one that belongs to this user."""
    user = f"-{os.getuid()}" if sys.platform != "win32" else ""
    folder = pathlib.Path(tempfile.gettempdir()) / f"twohalves{user}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise CannotKeep(str(folder), error.strerror or str(error)) from error
    return folder


def _told(path: pathlib.Path) -> dict[str, Any]:
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # the holder is just writing it
        return {}
    return told if isinstance(told, dict) else {}


def _lock(file: int) -> None:
    if sys.platform == "win32":
        os.lseek(file, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
