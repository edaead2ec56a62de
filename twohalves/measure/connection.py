"""The way to one server for a session: recorded requests, and quick looks at its state."""

from __future__ import annotations

from dataclasses import dataclass

import httpx

from twohalves.errors import TwoHalvesError
from twohalves.measure.transport import RecordingTransport
from twohalves.server import Server, client, sender, translated

SILENCE = httpx.Timeout(connect=5, read=600, write=60, pool=5)
"""Seconds; a slow machine is silent while it reads a long prompt."""
_GLANCE_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """The model as it is in memory; None = not told."""

    digest: str | None
    """Hexadecimal."""
    window: int | None
    """Its context window, tokens."""
    size: int | None = None
    """Bytes of weights, cache and buffers, as the server reckons them."""
    size_vram: int | None = None
    """Bytes of them in graphics memory."""

    @property
    def gpu_share(self) -> float | None:
        """Share of the model in graphics memory, from 0 to 1."""
        if self.size_vram is None or not self.size:
            return None
        return self.size_vram / self.size


class Connection:
    """A server, a client whose answers are recorded, and one for glances between requests."""

    def __init__(self, server: Server) -> None:
        """Make both clients; nothing is sent yet.

        Raises:
            VariablesNotUnderstood: a proxy or a certificate of the environment cannot be used.
        """
        self.server = server
        self.transport = RecordingTransport(sender(server), extra={"truncate": False})
        self.client = client(server, transport=self.transport, timeout=SILENCE)
        self._beside = sender(server)
        self._glancing = client(
            server, transport=self._beside, timeout=_GLANCE_S, longest_s=_GLANCE_S
        )

    def loaded(self, name: str) -> tuple[Loaded, ...] | None:
        """The model in memory as /api/ps tells: one or none; None = the server does not say."""
        try:
            with translated(self.server):
                listed = self._glancing.ps().models
        except TwoHalvesError:  # the next request will tell what is wrong
            return None
        return tuple(
            Loaded(
                digest=each.digest or None,
                window=each.context_length or None,
                size=each.size,
                size_vram=each.size_vram,
            )
            for each in listed
            if name in {each.name, each.model}
        )

    def digest(self, name: str) -> str | None:
        """The digest under which a model is stored now; None = not told.

        Raises:
            TwoHalvesError: the server cannot be asked.
        """
        with translated(self.server):
            listed = self._glancing.list().models
        return next((each.digest or None for each in listed if each.model == name), None)

    def unload(self, name: str) -> None:
        """Have the server put a model out of its memory.

        Raises:
            TwoHalvesError: the server cannot be asked.
        """
        with translated(self.server):
            self._glancing.generate(model=name, prompt="", keep_alive=0)

    def close(self) -> None:
        """Close both connections."""
        self.transport.close()
        self._beside.close()
