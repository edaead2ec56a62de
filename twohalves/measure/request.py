"""A reader's own request, in parts: what is stable first, what changes last.

A prompt cache serves the beginning that two requests share. So the order of the parts is not a
matter of taste, and whatever order they are given in, they are sent in this one.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping

from twohalves.errors import RequestUnusable, UnknownName

PARTS = ("system", "tools", "examples", "context", "question")
"""In order of stability: who answers, what it can call, how it is done, on what, and what now."""
OF_SYSTEM = PARTS[:3]
"""Those that go into the system message; the others are the user's."""
BETWEEN = "\n\n"
"""Stands between two parts; it is counted with the later one."""

Parts = dict[str, str]
"""Text by the name of its part, in the order of PARTS, without blank space at both ends."""


def read(request: object) -> Parts:
    """The parts of a request as they are sent.

    Args:
        request: a dict of text by part; tools may be anything that JSON can say. Empty parts are
            left out.

    Raises:
        UnknownName: there is no such part.
        RequestUnusable: not a dict, a part that is no text, or no text at all.
    """
    if not isinstance(request, Mapping):
        reason = f"it is of the type {type(request).__name__}, not a dict"
        raise RequestUnusable(reason)
    for name in request:
        if name not in PARTS:
            kind = "part of a request"
            raise UnknownName(kind, str(name), PARTS)
    texts = {name: _text(name, request[name]).strip() for name in PARTS if name in request}
    parts = {name: text for name, text in texts.items() if text}
    if not parts:
        reason = "there is no text in it"
        raise RequestUnusable(reason)
    return parts


def beginnings(parts: Parts) -> list[str]:
    """The text up to the end of the first part, of the second, and so on."""
    return list(itertools.accumulate(parts.values(), lambda before, text: before + BETWEEN + text))


def messages(parts: Parts, before: str = "") -> list[dict[str, str]]:
    """The request as a conversation of at most one system message and one of the user.

    Args:
        parts: from `read`.
        before: put in front of the first message.
    """
    stable = BETWEEN.join(parts[name] for name in parts if name in OF_SYSTEM)
    rest = BETWEEN.join(parts[name] for name in parts if name not in OF_SYSTEM)
    roles = {"system": stable, "user": rest}
    found = [{"role": role, "content": text} for role, text in roles.items() if text]
    found[0]["content"] = before + found[0]["content"]
    return found


def _text(name: str, value: object) -> str:
    if value is None or isinstance(value, str):
        return _whole(name, value or "")
    if name != "tools":
        reason = f"its part {name!r} is of the type {type(value).__name__}, not text"
        raise RequestUnusable(reason)
    try:
        return _whole(name, json.dumps(value, ensure_ascii=False, allow_nan=False)) if value else ""
    except (TypeError, ValueError) as error:
        reason = f"its tools are neither text nor JSON data ({error})"
        raise RequestUnusable(reason) from error


def _whole(name: str, text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        reason = f"its part {name!r} holds half a character ({error})"
        raise RequestUnusable(reason) from error
    return text
