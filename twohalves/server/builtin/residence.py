"""Who is loaded, for whom, and until when.

One engine at most. Requests with the same settings share it, as many at once as it has slots;
a request with other settings waits until it is idle and loads it anew. All are served in order
of arrival, so that nobody waits for ever.
"""

from __future__ import annotations

import collections
import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from twohalves.errors import RequestRefused
from twohalves.server.builtin.client import Client
from twohalves.server.builtin.engine import Engine, EngineSettings

_ENDING = "the server is ending"
_BUSY = "server busy, please try again.  maximum pending requests exceeded"
_log = logging.getLogger(__name__)


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
        self,
        start: Callable[[EngineSettings], Engine],
        default_keep_alive: float,
        longest_queue: int,
    ) -> None:
        """Begin with nothing loaded.

        Args:
            start: begins to load an engine.
            default_keep_alive: seconds that a model stays when the request does not say.
            longest_queue: how many requests may wait; the next one is refused.
        """
        self._start = start
        self._keep_alive = self._default_keep_alive = default_keep_alive
        self._longest_queue = longest_queue
        self._changed = threading.Condition()
        self._queue: collections.deque[object] = collections.deque()
        self._engine: Engine | None = None
        self._is_ready = False
        self._ready_ns = 0
        self._is_closed = False
        self._users = 0
        self._expires_at_ns = 0
        self._timer: threading.Timer | None = None

    @contextlib.contextmanager
    def engine(
        self, settings: EngineSettings, keep_alive: float | None, client: Client
    ) -> Iterator[tuple[Engine, int]]:
        """A free slot of an engine with these settings, for the time of one request.

        Args:
            settings: what it must be loaded with.
            keep_alive: seconds to stay loaded afterwards; None = as told before, or the default
                for what is loaded anew.
            client: who asks; one that leaves gives its place in the queue away.

        Yields:
            The engine, and the nanoseconds for which it was ready and had no slot free.

        Raises:
            RequestRefused: 503, too many are waiting, or the server is ending.
            WeightsUnreadable: it cannot be loaded.
            EngineBroke: it ended while it was loaded.
            ConnectionAbortedError: the client left while it waited.
        """
        arrived_ns = time.perf_counter_ns()
        engine, is_new = self._enter(settings, keep_alive, client)
        try:
            if is_new:
                self._load(engine)
            waited_ns = 0
            if not is_new:
                waited_ns = time.perf_counter_ns() - max(arrived_ns, self._ready_ns)
            yield engine, waited_ns
        finally:
            self._leave()

    def give_up(self, engine: Engine) -> None:
        """End an engine whose answer broke off; the next request loads it anew."""
        with self._changed:
            if self._engine is engine:
                self._drop(is_broken=True)

    def resident(self) -> Resident | None:
        """What is loaded now; None = nothing."""
        with self._changed:
            engine = self._loaded()
            if engine is None:
                return None
            expires = self._expires_at_ns if not self._users else self._expiry()
            return Resident(settings=engine.settings, expires_at_ns=expires)

    def unload(self) -> None:
        """Unload now, or as soon as nobody uses it."""
        with self._changed:
            self._keep_alive = 0
            if not self._users:
                self._drop()

    def close(self) -> None:
        """Unload for good: what runs or loads is cut off, who waits is refused."""
        with self._changed:
            self._is_closed = True
            self._drop()
            self._changed.notify_all()

    def _enter(
        self, settings: EngineSettings, keep_alive: float | None, client: Client
    ) -> tuple[Engine, bool]:
        """The engine, and whether it must be loaded first."""
        ticket = object()
        with client.calls(self._look_again), self._changed:
            if self._queue and len(self._queue) >= self._longest_queue:
                raise RequestRefused(503, _BUSY)
            self._queue.append(ticket)
            try:
                self._changed.wait_for(
                    lambda: self._is_closed or client.is_gone or self._is_next(ticket, settings)
                )
                if client.is_gone:
                    raise ConnectionAbortedError
                if self._is_closed:
                    raise RequestRefused(503, _ENDING)
                return self._admit(settings, keep_alive)
            finally:
                self._queue.remove(ticket)
                self._changed.notify_all()

    def _admit(self, settings: EngineSettings, keep_alive: float | None) -> tuple[Engine, bool]:
        self._stop_timer()
        engine = self._loaded()
        is_new = engine is None or engine.settings != settings
        if engine is None or is_new:
            self._drop()
            engine = self._engine = self._start(settings)
            self._keep_alive = self._default_keep_alive
        if keep_alive is not None:
            self._keep_alive = keep_alive
        self._users += 1
        return engine, is_new

    def _look_again(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _is_next(self, ticket: object, settings: EngineSettings) -> bool:
        if self._queue[0] is not ticket:
            return False
        if not self._users:
            return True
        engine = self._loaded()
        is_right = engine is not None and engine.settings == settings
        return is_right and self._users < settings.setup.slots

    def _loaded(self) -> Engine | None:
        """The engine if it has been loaded and lives."""
        engine = self._engine
        if engine is None or not self._is_ready or engine.exit_code is not None:
            return None
        return engine

    def _load(self, engine: Engine) -> None:
        # without the lock: others may ask meanwhile what is loaded, or end the server
        engine.await_ready()
        with self._changed:
            self._is_ready = self._engine is engine
            self._ready_ns = time.perf_counter_ns()
            self._changed.notify_all()

    def _leave(self) -> None:
        with self._changed:
            self._users -= 1
            if not self._users:
                self._arm()
            self._changed.notify_all()

    def _arm(self) -> None:
        if self._keep_alive <= 0 or not self._is_ready:
            self._drop()
            return
        self._expires_at_ns = self._expiry()
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

    def _drop(self, *, is_broken: bool = False) -> None:
        self._stop_timer()
        engine, self._engine = self._engine, None
        if engine is None:
            return
        is_broken = is_broken or bool(engine.exit_code)
        self._is_ready = False
        engine.close()
        if is_broken:
            _log.error("the engine broke off (exit code %s); it is loaded anew", engine.exit_code)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None

    def _expiry(self) -> int:
        return time.time_ns() + int(self._keep_alive * 1e9)
