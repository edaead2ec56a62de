"""Servers as child processes of this one, each with its log.

They run in a process group of their own, so that Ctrl-C reaches the measurement and not the
server, and stop when their standard input ends: when this program is gone, however it went.
What they print goes to a log file, never to the reader's terminal.
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
from collections.abc import Callable, Mapping

from twohalves.errors import BuiltinFailed, EngineMissing
from twohalves.server.answering import Server
from twohalves.server.builtin.endpoints import VERSION
from twohalves.server.builtin.environment import read_environment
from twohalves.server.builtin.weights import installed_weights

_PROJECT = pathlib.Path(__file__).resolve().parents[2]
_ENGINE = "xllamacpp"
_START_S = 120.0
_STOP_S = 8.0
_LAST_LINES = 12


class Child:
    """One child process: a Python program of ours that ends with its standard input."""

    def __init__(self, program: list[str], environ: Mapping[str, str]) -> None:
        """Start it.

        Args:
            program: arguments for this Python; `--log FILE` is added, a file that the program
                removes when its standard input has ended.
            environ: its environment variables.
        """
        handle, log = tempfile.mkstemp(prefix="twohalves-server-", suffix=".log")
        self.log = pathlib.Path(log)
        path = os.pathsep.join(filter(None, [str(_PROJECT), environ.get("PYTHONPATH")]))
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-X", "utf8", *program, "--log", log],
                stdin=subprocess.PIPE,
                stdout=handle,
                stderr=subprocess.STDOUT,
                cwd=_PROJECT,
                env={**environ, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"},
                creationflags=_creation_flags(),
                start_new_session=True,
            )
        finally:
            os.close(handle)
        atexit.register(self.stop)

    @property
    def is_alive(self) -> bool:
        """True while its process runs."""
        return self.process.poll() is None

    def await_answer(self, look: Callable[[Child], str]) -> str:
        """Wait until it answers.

        Args:
            look: what it says, "" while it says nothing.

        Returns:
            The first thing that it said.

        Raises:
            BuiltinFailed: it ended, or took too long; with the last lines of its log.
        """
        end = time.monotonic() + _START_S
        was_alive = True
        with contextlib.ExitStack() as otherwise:
            otherwise.callback(self.stop)  # also if the reader interrupts
            while was_alive and time.monotonic() < end:
                was_alive = self.is_alive
                if said := look(self):
                    otherwise.pop_all()
                    return said
                time.sleep(0.05)
            raise BuiltinFailed("\n".join(self.lines()[-_LAST_LINES:]) or "(it said nothing)")

    def stop(self) -> None:
        """End it: politely, then firmly. Once it has ended, this does nothing."""
        atexit.unregister(self.stop)
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
        with contextlib.suppress(OSError):  # Windows keeps what is still open
            self.log.unlink(missing_ok=True)

    def lines(self) -> list[str]:
        """What it has printed, without a line that may still be on its way."""
        text = self.log.read_text(encoding="utf-8", errors="replace")
        return text.rpartition("\n")[0].splitlines()


def start_builtin(environ: Mapping[str, str], model_path: pathlib.Path | None = None) -> Server:
    """Start a built-in server of the caller's own.

    Args:
        environ: its environment variables; see `builtin.environment`.
        model_path: a GGUF file; None = the built-in model.

    Raises:
        EngineMissing: the engine is not installed here.
        WeightsMissing: the built-in model is not installed here.
        VariableUnusable: one of the variables means nothing.
        BuiltinFailed: it did not come up.
    """
    if importlib.util.find_spec(_ENGINE) is None:
        raise EngineMissing(_ENGINE)
    setup = read_environment(environ).setup
    model = str(model_path or installed_weights())
    program = ["-m", "twohalves.server.builtin", "--stop-at-end-of-input", "--model", model]
    child = Child(program, environ)
    return Server(
        url=child.await_answer(_announced),
        kind="builtin",
        version=VERSION,
        started=True,
        settings=setup,
        stopper=child.stop,
        lives=lambda: child.is_alive,
    )


_lock = threading.Lock()
_shared: list[Server] = []
"""At most one: whoever asks again is given the same server."""


def shared_builtin() -> Server:
    """The built-in server of this process, started at the first call or after it has ended.

    Raises:
        TwoHalvesError: as `start_builtin`.
    """
    with _lock:
        _shared[:] = [server for server in _shared if server.is_alive]
        if not _shared:
            _shared.append(start_builtin(os.environ))
        return _shared[0]


def _announced(child: Child) -> str:
    ready = (line for line in child.lines() if line.startswith("ready http"))
    return next(ready, "").removeprefix("ready ")


def _creation_flags() -> int:
    if sys.platform == "win32":
        return subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
    return 0
