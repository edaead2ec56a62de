"""Starting and stopping the built-in server."""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import pathlib
import signal
import sys
import threading
from collections.abc import Callable

from twohalves.errors import EngineMissing, NotLoopback, PortTaken
from twohalves.server.builtin.answerer import Answerer
from twohalves.server.builtin.engine import Engine
from twohalves.server.builtin.environment import read_environment
from twohalves.server.builtin.listener import Listener
from twohalves.server.builtin.model import read_model
from twohalves.server.builtin.residence import Residence
from twohalves.server.builtin.weights import installed_weights
from twohalves.server.loopback import is_loopback

_HANDLES = 4096
"""File handles: a client that waits holds three, one that is answered four."""

Ready = Callable[[str], None]
"""Called once with the URL when the server answers."""


def serve(
    host: str = "127.0.0.1",
    port: int = 0,
    model_path: pathlib.Path | None = None,
    *,
    ready: Ready = lambda _url: None,
    stop: threading.Event | None = None,
) -> None:
    """Serve one model until SIGTERM, SIGINT or `stop`.

    What Ollama reads from environment variables is read here too; see `environment`.

    Args:
        host: a loopback address, or localhost.
        port: 0 = a free one.
        model_path: a GGUF file; None = the built-in model.
        ready: called with the URL when the server answers.
        stop: ends the server when set, from whichever thread.

    Raises:
        NotLoopback: the host could be reached from elsewhere.
        PortTaken: something else listens there.
        WeightsMissing: no file named, and the built-in model is not installed.
        WeightsUnreadable: the file is no model.
        EngineMissing: the engine is not installed.
        VariableUnusable: one of the variables holds no duration or number.
    """
    _allow_many_clients()
    listener = _listener(host, port, model_path)
    stop = stop or threading.Event()
    with listener, _signals(stop):
        threading.Thread(target=listener.serve_forever, daemon=True).start()
        try:
            ready(listener.url)
            while not stop.wait(3600):  # with a limit, or Windows delivers no Ctrl-C
                pass
        finally:
            listener.residence.close()
            listener.shutdown()


def _listener(host: str, port: int, model_path: pathlib.Path | None) -> Listener:
    address = _loopback_address(host)
    version = _engine_version()
    environment = read_environment(os.environ)
    model = read_model(pathlib.Path(model_path) if model_path else installed_weights())
    residence = Residence(
        lambda settings: Engine(model.path, settings),
        environment.keep_alive,
        environment.longest_queue,
    )
    answerer = Answerer(model, residence, environment)
    try:
        return Listener((address, port), model, residence, answerer, version)
    except (OSError, OverflowError) as error:
        raise PortTaken(host, port, getattr(error, "strerror", None) or str(error)) from error


def _allow_many_clients() -> None:
    """Take more file handles than a shell gives: 256 on macOS are used up by 64 clients."""
    if sys.platform != "win32":
        import resource  # noqa: PLC0415  # Windows has none, and no such limit

        given, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = _HANDLES if most == resource.RLIM_INFINITY else min(_HANDLES, most)
        if given != resource.RLIM_INFINITY and given < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


def stop_at_end_of_input(stop: threading.Event, log: pathlib.Path | None) -> None:
    """Set `stop` when standard input ends: the program that started this one is gone.

    Works on every system, also when that program was killed.

    Args:
        stop: what `serve` waits for.
        log: a file that nobody will read then, and that is removed.
    """

    def wait() -> None:
        try:
            while os.read(0, 4096):  # sys.stdin would hold a lock when the program ends
                pass
        finally:
            if log is not None:
                with contextlib.suppress(OSError):  # Windows keeps what is still open
                    log.unlink(missing_ok=True)
            stop.set()

    threading.Thread(target=wait, daemon=True).start()


def _loopback_address(host: str) -> str:
    name = host.strip("[]").lower()
    if not is_loopback(name):
        raise NotLoopback(host)
    if name.endswith("localhost"):
        return "127.0.0.1"
    return name


def _engine_version() -> str:
    try:
        return f"xllamacpp {importlib.metadata.version('xllamacpp')}"
    except importlib.metadata.PackageNotFoundError as error:
        raise EngineMissing(str(error)) from error


class _signals:  # noqa: N801  # reads as a with-statement's subject
    """SIGTERM and SIGINT set an event; what was there before comes back afterwards."""

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop
        self._before: dict[int, object] = {}

    def __enter__(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return  # only the main thread may; the caller has the event
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, lambda *_: self._stop.set())

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]  # it came from there
