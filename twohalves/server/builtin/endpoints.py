"""The paths that are offered, and what those answer that need no engine."""

from __future__ import annotations

from typing import Any

from twohalves.errors import RequestRefused
from twohalves.server.builtin.bodies import read_json
from twohalves.server.builtin.model import ServedModel
from twohalves.server.builtin.replies import timestamp
from twohalves.server.builtin.requests import (
    Chat,
    Generate,
    read_chat,
    read_generate,
    read_show,
)
from twohalves.server.builtin.residence import Residence

GREETING = "Two Halves built-in server (llama.cpp) is running"
VERSION = "twohalves-builtin"
"""Not a number, so that nobody takes it for a version of Ollama."""

PATHS = {
    "/": ("GET", "HEAD"),
    "/api/version": ("GET", "HEAD"),
    "/api/tags": ("GET", "HEAD"),
    "/api/ps": ("GET",),
    "/api/show": ("POST",),
    "/api/generate": ("POST",),
    "/api/chat": ("POST",),
}
"""Every path that is offered, with its methods; another is answered as an unknown one."""

_ANSWERED_BY_THE_ENGINE = {"/api/generate", "/api/chat"}


class Endpoints:
    """What the paths answer about one served model."""

    def __init__(self, model: ServedModel, residence: Residence, engine_version: str) -> None:
        """Describe a model.

        Args:
            model: the one that is served.
            residence: knows whether it is loaded.
            engine_version: what computes, for /api/version.
        """
        self._model, self._residence = model, residence
        self._engine_version = engine_version

    def tell(self, path: str, body: bytes) -> dict[str, Any] | None:
        """The record that answers a path; None = the engine must answer it.

        Raises:
            RequestRefused: a request to /api/show that cannot be answered.
        """
        if path in _ANSWERED_BY_THE_ENGINE:
            return None
        if path == "/api/version":
            return {"version": VERSION, "engine": f"llama.cpp ({self._engine_version})"}
        if path == "/api/tags":
            return {"models": [self._model.tag()]}
        return {"models": self._loaded()} if path == "/api/ps" else self._show(body)

    def _loaded(self) -> list[dict[str, Any]]:
        resident = self._residence.resident()
        if resident is None:
            return []
        expires_at = timestamp(resident.expires_at_ns)
        settings = resident.settings
        return [self._model.loaded(settings.num_ctx, settings.setup, expires_at)]

    def _show(self, body: bytes) -> dict[str, Any]:
        asked = read_show(read_json(body, "ShowRequest"))
        if not self._model.answers_to(asked.model):
            raise RequestRefused(404, f"model '{asked.model}' not found")
        return self._model.show(verbose=asked.verbose)


def read_asked(path: str, body: bytes) -> Generate | Chat:
    """A request to one of the two paths that the engine answers.

    Raises:
        RequestRefused: 400, it cannot be read.
    """
    if path == "/api/chat":
        return read_chat(read_json(body, "ChatRequest"))
    return read_generate(read_json(body, "GenerateRequest"))
