"""The server that answers, and the one line that says who it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields
from typing import Literal, Protocol

Kind = Literal["ollama", "builtin", "other"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """What a server of ours was started with: no API tells it, so it is kept."""

    slots: int
    """Requests that it answers at once."""
    kv_type: str
    """Type of the numbers in the KV cache, such as f16 or q8_0."""
    flash_attention: bool | None
    """Whether it uses flash attention; None = the engine decides."""
    host_cache_mib: int
    """MiB of main memory for prompts that had to leave the cache; 0 = none are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Who answers. A context manager: leaving it stops a server that we started."""

    url: str
    """Address without a slash at the end."""
    kind: Kind
    """Ollama, our built-in server, or something else that speaks the same protocol."""
    version: str | None
    """As it calls itself; None = it did not say."""
    started: bool = False
    """True if this program started it."""
    settings: Started | None = None
    """What we started it with; None = not known, since another program did."""
    notes: tuple[str, ...] = ()
    """What a reader should know about how it was found: a sentence each."""
    stopper: Callable[[], None] | None = field(default=None, repr=False, compare=False)
    """Stops it; None = not ours to stop."""
    lives: Callable[[], bool] | None = field(default=None, repr=False, compare=False)
    """Tells whether its process runs; None = not ours to know."""

    def settings_as_facts(self) -> dict[str, int | str | bool]:
        """Slots, KV type, flash attention and host cache, for JSON.

        Each is "unknown" unless we started the server, for no API tells it; flash attention is
        "auto" where the engine decides.
        """
        if self.settings is None:
            return dict.fromkeys((each.name for each in fields(Started)), "unknown")
        return {
            name: "auto" if value is None else value
            for name, value in asdict(self.settings).items()
        }

    @property
    def is_alive(self) -> bool:
        """False if we started it and its process has ended."""
        return self.lives is None or self.lives()

    def stop(self) -> None:
        """Stop the server if we started it; else do nothing."""
        if self.stopper is not None:
            self.stopper()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class _Named(Protocol):
    """What `who` needs of a model."""

    @property
    def name(self) -> str: ...
    @property
    def parameter_size(self) -> str | None: ...
    @property
    def quantization(self) -> str | None: ...


def who(server: Server, model: _Named) -> str:
    """One line: who answers, where, with which model."""
    version = f" {server.version}" if server.version else ""
    name = {
        "ollama": f"Ollama{version}",
        "builtin": "The built-in server (llama.cpp, not Ollama)",
        "other": f"A server that speaks Ollama's protocol{version}",
    }[server.kind]
    facts = ", ".join(fact for fact in (model.parameter_size, model.quantization) if fact)
    sentence = f"{name} at {server.url} answers with {model.name}{f' ({facts})' if facts else ''}."
    return " ".join([sentence, *server.notes])
