"""How long a model stays loaded: `keep_alive` in every form Ollama's clients send.

Numbers are seconds; text is a Go duration ("5m", "1h30m", "-1s"); anything negative means for
ever. The words of the refusals are Go's, so that a client that knows them is served.
"""

from __future__ import annotations

import json
import re

from twohalves.errors import RequestRefused

FOREVER = (2**63 - 1) / 1e9
"""Seconds; the longest time Go can hold, about 292 years."""

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}
_PART = re.compile(r"(\d+\.?\d*|\.\d+)([^\d.]*)")


def keep_alive_seconds(value: object) -> float:
    """Seconds that a request asks for.

    Raises:
        RequestRefused: 400, neither a number nor a duration.
    """
    if isinstance(value, str):
        seconds = parse_duration(value)
    elif isinstance(value, bool) or not isinstance(value, int | float):
        kind = {bool: "bool", list: "[]interface {}"}.get(type(value), "map[string]interface {}")
        raise RequestRefused(400, f"Unsupported type: '{kind}'")
    else:
        seconds = value
    return FOREVER if seconds < 0 else min(float(min(seconds, FOREVER)), FOREVER)


def parse_duration(text: str) -> float:
    """Seconds in a Go duration.

    >>> parse_duration("1h30m")
    5400.0

    Raises:
        RequestRefused: 400, in Go's words.
    """
    unsigned = text.removeprefix("-") if text.startswith("-") else text.removeprefix("+")
    quoted = json.dumps(text, ensure_ascii=False)
    if unsigned == "0":
        return 0.0
    parts = list(_PART.finditer(unsigned)) if unsigned.isascii() or "s" in unsigned else []
    if not parts or "".join(part[0] for part in parts) != unsigned:
        raise RequestRefused(400, f"time: invalid duration {quoted}")
    total = sum(float(number) * _seconds(unit, quoted) for number, unit in
                (part.groups() for part in parts))  # fmt: skip
    return -total if text.startswith("-") else total


def _seconds(unit: str, quoted: str) -> float:
    if not unit:
        raise RequestRefused(400, f"time: missing unit in duration {quoted}")
    if unit not in _UNITS:
        named = json.dumps(unit, ensure_ascii=False)
        raise RequestRefused(400, f"time: unknown unit {named} in duration {quoted}")
    return _UNITS[unit]
