"""Who is loaded, for whom, and until when.

One engine at most. Requests with the same settings share it and queue inside it; a request
with others waits until it is idle and loads it anew. All are served in order of arrival, so
that nobody waits for ever.
"""

from __future__ import annotations

import collections
import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from twohalves.errors import RequestRefused
from twohalves.server.builtin.engine import Completion, Engine, EngineSettings

_LONGEST_QUEUE = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Resident:
    """What is loaded now."""

    settings: EngineSettings
    """How it was loaded."""
    expires_at_ns: int
    """When it will be unloaded if nobody asks: nanoseconds since 1970."""


class Residence:
    """Holds the engine, loads and unloads it."""

    def __init__(
        self, start: Callable[[EngineSettings], Engine], default_keep_alive: float
    ) -> None:
        """Begin with nothing loaded.

        Args:
            start: loads an engine.
            default_keep_alive: seconds that a model stays when the request does not say.
        """
        self._start = start
        self._keep_alive = self._default_keep_alive = default_keep_alive
        self._changed = threading.Condition()
        self._queue: collections.deque[object] = collections.deque()
        self._engine: Engine | None = None
        self._broken = False
        self._users = 0
        self._running: set[Completion] = set()
        self._expires_at_ns = 0
        self._timer: threading.Timer | None = None

    @contextlib.contextmanager
    def engine(self, settings: EngineSettings, keep_alive: float | None) -> Iterator[Engine]:
        """The engine with these settings, for the time of one request.

        Args:
            settings: what it must be loaded with.
            keep_alive: seconds to stay loaded afterwards; None = the default.

        Raises:
            RequestRefused: 503, too many are waiting.
            WeightsUnreadable: it cannot be loaded.
        """
        engine = self._enter(settings)
        try:
            yield engine
        finally:
            self._leave(self._default_keep_alive if keep_alive is None else keep_alive)

    @contextlib.contextmanager
    def running(self, completion: Completion) -> Iterator[Completion]:
        """Remember a completion while it runs, so that `close` can end it."""
        with self._changed:
            self._running.add(completion)
        try:
            yield completion
        finally:
            with self._changed:
                self._running.discard(completion)
            completion.close()

    def mark_broken(self) -> None:
        """Load anew before the next request."""
        with self._changed:
            self._broken = True

    def resident(self) -> Resident | None:
        """What is loaded now; None = nothing."""
        with self._changed:
            if self._engine is None:
                return None
            expires = self._expires_at_ns if not self._users else self._expiry(self._keep_alive)
            return Resident(settings=self._engine.settings, expires_at_ns=expires)

    def unload(self) -> None:
        """Unload now, or as soon as nobody uses it."""
        with self._changed:
            self._keep_alive = 0
            if not self._users:
                self._drop()

    def close(self, wait_s: float) -> bool:
        """End what runs and unload.

        Args:
            wait_s: longest wait for what runs, in seconds.

        Returns:
            False if something still runs; the engine is then still loaded.
        """
        with self._changed:
            for completion in self._running:
                completion.abort()
            idle = self._changed.wait_for(lambda: not self._users, wait_s)
            if idle:
                self._drop()
            return idle

    def _enter(self, settings: EngineSettings) -> Engine:
        ticket = object()
        with self._changed:
            if len(self._queue) >= _LONGEST_QUEUE:
                text = "server busy, please try again.  maximum pending requests exceeded"
                raise RequestRefused(503, text)
            self._queue.append(ticket)
            try:
                self._changed.wait_for(
                    lambda: self._queue[0] is ticket and (self._serves(settings) or not self._users)
                )
                self._stop_timer()
                if self._engine is None or not self._serves(settings):
                    self._drop()
                    self._engine = self._start(settings)
                self._users += 1
                return self._engine
            finally:
                self._queue.remove(ticket)
                self._changed.notify_all()

    def _leave(self, keep_alive: float) -> None:
        with self._changed:
            self._users -= 1
            self._keep_alive = keep_alive
            if not self._users:
                self._arm()
            self._changed.notify_all()

    def _serves(self, settings: EngineSettings) -> bool:
        return self._engine is not None and not self._broken and self._engine.settings == settings

    def _arm(self) -> None:
        if self._keep_alive <= 0 or self._broken:
            self._drop()
            return
        self._expires_at_ns = self._expiry(self._keep_alive)
        wait = min(self._keep_alive, threading.TIMEOUT_MAX)
        timer = threading.Timer(wait, lambda: self._expire(timer))
        timer.daemon = True
        self._timer = timer
        timer.start()

    def _expire(self, timer: threading.Timer) -> None:
        with self._changed:
            # a request may have come in between, and then this timer no longer counts
            if self._timer is timer and not self._users:
                self._drop()

    def _drop(self) -> None:
        self._stop_timer()
        if self._engine is not None:
            self._engine.close()
        self._engine = None
        self._broken = False

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None

    def _expiry(self, keep_alive: float) -> int:
        return time.time_ns() + int(keep_alive * 1e9)
