"""The built-in server as a child process of this one.

It runs in a process group of its own, so that Ctrl-C reaches the measurement and not the
server, and stops when its standard input ends: when this program is gone, however it went.
What it prints goes to a log file, never to the reader's terminal.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

from twohalves.errors import BuiltinFailed, EngineMissing
from twohalves.server.answering import Server, Started
from twohalves.server.builtin.listener import VERSION
from twohalves.server.builtin.weights import installed_weights

_PROJECT = pathlib.Path(__file__).resolve().parents[2]
_ENGINE = "xllamacpp"
_START_S = 120.0
_STOP_S = 8.0
_LAST_LINES = 12
_SETTINGS = Started(slots=1, kv_type="f16", flash_attention=None, host_cache_mib=0)


class _Child:
    """One child process and its log."""

    def __init__(self) -> None:
        handle, log = tempfile.mkstemp(prefix="twohalves-server-", suffix=".log")
        self.log = pathlib.Path(log)
        self.url = ""
        path = os.pathsep.join(filter(None, [str(_PROJECT), os.environ.get("PYTHONPATH")]))
        command = ["-X", "utf8", "-m", "twohalves.server.builtin"]
        try:
            self.process = subprocess.Popen(
                [sys.executable, *command, "--stop-at-end-of-input", "--log", log],
                stdin=subprocess.PIPE,
                stdout=handle,
                stderr=subprocess.STDOUT,
                cwd=_PROJECT,
                env=os.environ | {"PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"},
                creationflags=_creation_flags(),
                start_new_session=True,
            )
        finally:
            os.close(handle)

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    def await_ready(self) -> None:
        """Wait until it listens, and note where.

        Raises:
            BuiltinFailed: it ended, or took too long.
        """
        end = time.monotonic() + _START_S
        while time.monotonic() < end:
            ended = not self.is_alive
            for line in self._lines():
                if line.startswith("ready http"):
                    self.url = line.removeprefix("ready ")
                    return
            if ended:
                break
            time.sleep(0.05)
        last_lines = "\n".join(self._lines()[-_LAST_LINES:]) or "(it said nothing)"
        self.stop()
        raise BuiltinFailed(last_lines)

    def stop(self) -> None:
        """End it: politely, then firmly."""
        if self.process.stdin is not None:
            with contextlib.suppress(OSError):
                self.process.stdin.close()
        for end in (None, self.process.terminate, self.process.kill):
            if end is not None:
                end()
            try:
                self.process.wait(_STOP_S)
                break
            except subprocess.TimeoutExpired:
                continue
        self.log.unlink(missing_ok=True)

    def _lines(self) -> list[str]:
        # the last line may still be on its way
        text = self.log.read_text(encoding="utf-8", errors="replace")
        return text.rpartition("\n")[0].splitlines()


_lock = threading.Lock()
_children: list[_Child] = []
"""At most one: whoever asks again is given the same server."""


def start_child() -> Server:
    """Start the built-in server, or return the one this process has started already.

    Raises:
        EngineMissing: the engine is not installed here.
        WeightsMissing: the model is not installed here.
        BuiltinFailed: it did not come up; with the last lines of its log.
    """
    if importlib.util.find_spec(_ENGINE) is None:
        raise EngineMissing(_ENGINE)
    installed_weights()
    with _lock:
        _children[:] = [child for child in _children if child.is_alive]
        if not _children:
            child = _Child()
            atexit.register(child.stop)
            child.await_ready()
            _children.append(child)
        return Server(
            url=_children[0].url,
            kind="builtin",
            version=VERSION,
            started=True,
            settings=_SETTINGS,
            stopper=_children[0].stop,
        )


def _creation_flags() -> int:
    if sys.platform == "win32":
        return subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
    return 0
