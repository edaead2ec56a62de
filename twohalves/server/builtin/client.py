"""The one who asked, watched while we work for it: who has left wants no answer any more."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
from collections.abc import Callable, Iterator

# this one takes no file handle of its own, for there may be hundreds of clients; Windows lacks it
_Selector = getattr(selectors, "PollSelector", selectors.SelectSelector)


class Client:
    """The client of one request; a context manager around the work for it."""

    def __init__(self, connection: socket.socket) -> None:
        """Watch a connection whose request has been read."""
        self._connection = connection
        self._lock = threading.Lock()
        self._is_gone = False
        self._when_gone: list[Callable[[], None]] = []

    @property
    def is_gone(self) -> bool:
        """True once its connection has ended."""
        return self._is_gone

    def __enter__(self) -> Client:
        self._watcher_end, self._our_end = socket.socketpair()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._our_end.close()
        self._thread.join()
        self._watcher_end.close()

    @contextlib.contextmanager
    def calls(self, act: Callable[[], None]) -> Iterator[None]:
        """Call `act` when the client leaves, from another thread; at once if it has left."""
        with self._lock:
            self._when_gone.append(act)
            is_gone = self._is_gone
        if is_gone:
            act()
        try:
            yield
        finally:
            with self._lock:
                self._when_gone.remove(act)

    def _watch(self) -> None:
        if not self._has_left():
            return
        with self._lock:
            self._is_gone = True
            acts = list(self._when_gone)
        for act in acts:
            act()

    def _has_left(self) -> bool:
        """Wait until the client leaves, or the work is done, or it sends its next request."""
        with _Selector() as selector:
            selector.register(self._connection, selectors.EVENT_READ)
            selector.register(self._watcher_end, selectors.EVENT_READ)
            if self._watcher_end in {key.fileobj for key, _ in selector.select()}:
                return False
        try:
            return not self._connection.recv(1, socket.MSG_PEEK)
        except OSError:
            return True  # the connection was reset
