"""What clients ask: JSON bodies read, checked and refused as Ollama 0.24 does it.

The words of the refusals are part of the protocol: they are compared with recordings.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, NoReturn

from twohalves.errors import RequestRefused
from twohalves.server.builtin.durations import keep_alive_seconds

_FIELDS: dict[str, tuple[tuple[type, ...], str]] = {
    "model": ((str,), "string"),
    "name": ((str,), "string"),
    "prompt": ((str,), "string"),
    "suffix": ((str,), "string"),
    "system": ((str,), "string"),
    "template": ((str,), "string"),
    "context": ((list,), "[]int"),
    "stream": ((bool,), "bool"),
    "raw": ((bool,), "bool"),
    "images": ((list,), "[]api.ImageData"),
    "options": ((dict,), "map[string]interface {}"),
    "truncate": ((bool,), "bool"),
    "shift": ((bool,), "bool"),
    "logprobs": ((bool,), "bool"),
    "verbose": ((bool,), "bool"),
    "_debug_render_only": ((bool,), "bool"),
}
_GO_KINDS = {bool: "bool", int: "number", float: "number", str: "string", list: "array"}
_THINK_WORDS = ("high", "medium", "low")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Generate:
    """A request to /api/generate whose fields have the right types."""

    model: str
    """Name as asked."""
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
    stream: bool
    """One record a token, or one in all."""
    raw: bool
    """No template around the prompt."""
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
    """True if asked for."""
    render_only: bool
    """Answer with the rendered prompt."""


def read_json(body: bytes, go_type: str) -> dict[str, Any]:
    """The JSON object of a request's body.

    Args:
        body: bytes as received; broken UTF-8 becomes replacement characters.
        go_type: how Ollama's refusals call the request.

    Raises:
        RequestRefused: 400, no body, no JSON, or no object.
    """
    if not body:
        raise RequestRefused(400, "missing request body")
    text = body.decode("utf-8", errors="replace").lstrip(" \t\r\n")
    try:
        record = _decode(text)
        if "\\ud" in text.lower():  # half a surrogate pair cannot be passed on
            whole = _LONE_SURROGATE.sub("\ufffd", json.dumps(record, ensure_ascii=False))
            record = json.loads(whole)
    except RecursionError as error:
        raise RequestRefused(400, "exceeded max depth") from error
    if record is None:
        return {}
    if not isinstance(record, dict):
        kind = _kind(record)
        raise RequestRefused(
            400, f"json: cannot unmarshal {kind} into Go value of type api.{go_type}"
        )
    return record


def _decode(text: str) -> object:
    try:
        record: object = json.JSONDecoder(parse_constant=_no_constant).raw_decode(text)[0]
    except json.JSONDecodeError as error:
        rest = text[error.pos :].strip()
        unterminated = error.msg.startswith("Unterminated")
        if not rest or unterminated:
            raise RequestRefused(400, "unexpected EOF") from error
        wanted = "looking for beginning of value"
        raise RequestRefused(400, f"invalid character '{rest[0]}' {wanted}") from error
    except ValueError as error:  # a number of thousands of digits
        raise RequestRefused(400, "json: cannot unmarshal number") from error
    return record


def _no_constant(name: str) -> NoReturn:
    raise RequestRefused(400, f"invalid character '{name[0]}' looking for beginning of value")


def read_fields(record: dict[str, Any], go_type: str) -> dict[str, Any]:
    """The known fields that were given, each of the right type; null counts as not given.

    Raises:
        RequestRefused: 400, a field of a wrong type.
    """
    given = {name: record[name] for name in _FIELDS if record.get(name) is not None}
    for name, value in given.items():
        types, go_name = _FIELDS[name]
        if not isinstance(value, types):
            _wrong_type(value, f"{go_type}.{name}", go_name)
    return given


def read_generate(record: dict[str, Any]) -> Generate:
    """A request to /api/generate.

    Raises:
        RequestRefused: 400, a field of a wrong type.
    """
    given = read_fields(record, "GenerateRequest")
    context = given.get("context", [])
    for token in context:
        if isinstance(token, bool) or not isinstance(token, int):
            _wrong_type(token, "GenerateRequest.context", "int")
    keep_alive = record.get("keep_alive")
    return Generate(
        **{name: given.get(name, "") for name in
           ("model", "prompt", "suffix", "system", "template")},
        context=tuple(context),
        images=bool(given.get("images")),
        think=_think(record.get("think")),
        format=record.get("format") or None,
        keep_alive=None if keep_alive is None else keep_alive_seconds(keep_alive),
        options=given.get("options", {}),
        **{name: given.get(name, True) for name in ("stream", "truncate", "shift")},
        **{name: given.get(name, False) for name in ("raw", "logprobs")},
        render_only=given.get("_debug_render_only", False),
    )  # fmt: skip


def _think(value: object) -> bool:
    if value is None or isinstance(value, bool):
        return bool(value)
    if isinstance(value, str) and value in _THINK_WORDS:
        return True
    wanted = 'must be "high", "medium", "low", true, or false'
    raise RequestRefused(400, f"invalid think value: {json.dumps(value)} ({wanted})")


def _wrong_type(value: object, field: str, go_name: str) -> NoReturn:
    kind = _kind(value)
    raise RequestRefused(
        400, f"json: cannot unmarshal {kind} into Go struct field {field} of type {go_name}"
    )


def _kind(value: object) -> str:
    return _GO_KINDS.get(type(value), "object")
