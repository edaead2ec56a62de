"""JSON bodies, read and checked field by field, and refused in the words of Ollama 0.24.

The words of the refusals are part of the protocol: they are compared with recordings.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from twohalves.errors import RequestRefused

Field = tuple[tuple[type, ...], str]
"""Types that are right, and what Go calls them."""

Fields = dict[str, Field]
"""The known fields of a record, by name."""

STRING: Field = ((str,), "string")
BOOL: Field = ((bool,), "bool")
OBJECT: Field = ((dict,), "map[string]interface {}")

_GO_KINDS = {bool: "bool", int: "number", float: "number", str: "string", list: "array"}
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


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
        kind = go_kind(record)
        raise RequestRefused(
            400, f"json: cannot unmarshal {kind} into Go value of type api.{go_type}"
        )
    return record


def read_fields(record: dict[str, Any], owner: str, fields: Fields) -> dict[str, Any]:
    """The known fields that were given, each of the right type; null counts as not given.

    Args:
        record: as in the request.
        owner: how Ollama's refusals call what holds the fields.
        fields: those that are known.

    Raises:
        RequestRefused: 400, a field of a wrong type.
    """
    given = {name: record[name] for name in fields if record.get(name) is not None}
    for name, value in given.items():
        types, go_name = fields[name]
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            wrong_type(value, f"{owner}.{name}", go_name)
    return given


def wrong_type(value: object, field: str, go_name: str) -> NoReturn:
    """Refuse a value.

    Args:
        value: what came.
        field: where it came.
        go_name: what should have come.

    Raises:
        RequestRefused: 400, always.
    """
    kind = go_kind(value)
    raise RequestRefused(
        400, f"json: cannot unmarshal {kind} into Go struct field {field} of type {go_name}"
    )


def go_kind(value: object) -> str:
    """What Go calls a JSON value."""
    return _GO_KINDS.get(type(value), "object")


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
