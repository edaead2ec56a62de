"""What clients ask: requests to /api/generate, /api/chat and /api/show, read and checked."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from twohalves.errors import RequestRefused
from twohalves.server.builtin.bodies import BOOL, OBJECT, STRING, Fields, read_fields, wrong_type
from twohalves.server.builtin.durations import keep_alive_seconds

_SHARED: Fields = {
    "model": STRING,
    "stream": BOOL,
    "options": OBJECT,
    "truncate": BOOL,
    "shift": BOOL,
    "logprobs": BOOL,
    "top_logprobs": ((int,), "int"),
    "_debug_render_only": BOOL,
}
_GENERATE: Fields = _SHARED | {
    "prompt": STRING,
    "suffix": STRING,
    "system": STRING,
    "template": STRING,
    "context": ((list,), "[]int"),
    "raw": BOOL,
    "images": ((list,), "[]api.ImageData"),
}
_CHAT: Fields = _SHARED | {
    "messages": ((list,), "[]api.Message"),
    "tools": ((list,), "api.Tools"),
}
_MESSAGE: Fields = {
    "role": STRING,
    "content": STRING,
    "images": ((list,), "[]api.ImageData"),
}
_SHOW: Fields = {"model": STRING, "name": STRING, "verbose": BOOL}
_THINK_WORDS = ("high", "medium", "low")
_MOST_LOGPROBS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What requests to /api/generate and /api/chat have in common."""

    model: str
    """Name as asked."""
    stream: bool
    """One record a token, or one in all."""
    images: bool
    """True if any came."""
    think: bool
    """True if thinking was asked for."""
    format: Any
    """None, "json", or a JSON schema."""
    keep_alive: float | None
    """Seconds to stay loaded; None = the server's default."""
    options: dict[str, Any]
    """Not yet checked."""
    truncate: bool
    """Cut a prompt that is too long, instead of refusing it."""
    shift: bool
    """Go on past the window's end by forgetting, instead of stopping."""
    logprobs: bool
    """Tell how likely each token was."""
    top_logprobs: int
    """How many of the likeliest tokens to tell beside each."""
    render_only: bool
    """Answer with the rendered prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Generate(Asked):
    """A request to /api/generate whose fields have the right types."""

    prompt: str
    """Empty = only load or unload."""
    suffix: str
    """Text that should follow the answer."""
    system: str
    """System message."""
    template: str
    """A template of the client's own."""
    context: tuple[int, ...]
    """Token ids of an earlier answer to go on from."""
    raw: bool
    """No template around the prompt."""

    @property
    def is_empty(self) -> bool:
        """True if nothing is to be answered: only load or unload."""
        return not self.prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a conversation."""

    role: str
    """In lower case; any word, as in Ollama: the template decides what it knows."""
    content: str
    """The text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat(Asked):
    """A request to /api/chat whose fields have the right types."""

    messages: tuple[Message, ...]
    """Oldest first; none = only load or unload."""
    tools: bool
    """True if any came."""

    @property
    def is_empty(self) -> bool:
        """True if nothing is to be answered: only load or unload."""
        return not self.messages


@dataclass(frozen=True, slots=True, kw_only=True)
class Show:
    """A request to /api/show."""

    model: str
    """Name as asked."""
    verbose: bool
    """With the arrays of the metadata."""


def read_generate(record: dict[str, Any]) -> Generate:
    """A request to /api/generate.

    Raises:
        RequestRefused: 400, a field of a wrong type.
    """
    given = read_fields(record, "GenerateRequest", _GENERATE)
    context = given.get("context", [])
    for token in context:
        if isinstance(token, bool) or not isinstance(token, int):
            wrong_type(token, "GenerateRequest.context", "int")
    return Generate(
        **_shared(record, given),
        **{name: given.get(name, "") for name in ("prompt", "suffix", "system", "template")},
        images=bool(given.get("images")),
        context=tuple(context),
        raw=given.get("raw", False),
    )


def read_chat(record: dict[str, Any]) -> Chat:
    """A request to /api/chat.

    Raises:
        RequestRefused: 400, no model, or a field of a wrong type.
    """
    given = read_fields(record, "ChatRequest", _CHAT)
    if not given.get("model"):
        raise RequestRefused(400, "model is required")
    turns = [_turn(each) for each in given.get("messages", [])]
    return Chat(
        **_shared(record, given),
        images=any(turn.get("images") for turn in turns),
        messages=tuple(
            Message(role=turn.get("role", "").lower(), content=turn.get("content", ""))
            for turn in turns
        ),
        tools=bool(given.get("tools")),
    )


def read_show(record: dict[str, Any]) -> Show:
    """A request to /api/show.

    Raises:
        RequestRefused: 400, no model, or a field of a wrong type.
    """
    given = read_fields(record, "ShowRequest", _SHOW)
    name = given.get("model") or given.get("name")
    if not name:
        raise RequestRefused(400, "model is required")
    return Show(model=name, verbose=given.get("verbose", False))


def _turn(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        wrong_type(value, "ChatRequest.messages", "api.Message")
    return read_fields(value, "ChatRequest.messages", _MESSAGE)


def _shared(record: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    keep_alive = record.get("keep_alive")
    top_logprobs = given.get("top_logprobs", 0)
    if not 0 <= top_logprobs <= _MOST_LOGPROBS:
        raise RequestRefused(400, f"top_logprobs must be between 0 and {_MOST_LOGPROBS}")
    return {
        "model": given.get("model", ""),
        "think": _think(record.get("think")),
        "format": record.get("format") or None,
        "keep_alive": None if keep_alive is None else keep_alive_seconds(keep_alive),
        "options": given.get("options", {}),
        **{name: given.get(name, True) for name in ("stream", "truncate", "shift")},
        "logprobs": given.get("logprobs", False),
        "top_logprobs": top_logprobs,
        "render_only": given.get("_debug_render_only", False),
    }


def _think(value: object) -> bool:
    if value is None or isinstance(value, bool):
        return bool(value)
    if isinstance(value, str) and value in _THINK_WORDS:
        return True
    wanted = 'must be "high", "medium", "low", true, or false'
    raise RequestRefused(400, f"invalid think value: {json.dumps(value)} ({wanted})")
