"""What a reader, a link or a cell asked for, made usable, with a word where it was changed."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal

from twohalves.show.calculator.spec import Input, Value
from twohalves.show.calculator.words import per, said
from twohalves.show.numbers import fixed, trimmed

_PLAIN = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,4})?", re.IGNORECASE | re.ASCII)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?", re.ASCII)
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+", re.ASCII)
_LONGEST_QUOTED = 20


@dataclass(frozen=True, slots=True)
class Accepted:
    """A value within its limits."""

    value: Value
    """What is used."""
    note: str = ""
    """What to say when it is not quite what was asked for; empty when it is."""


def accept_number(described: Input, asked: object, previous: float) -> Accepted:
    """Make a number of what was asked for; the previous one is kept where that cannot be.

    A comma is read as thousands where it stands before groups of three digits, else as the
    decimal point. Of a fraction, anything from above 1 to 100 is read as a percentage.

    Args:
        described: the input.
        asked: text or a number.
        previous: the value so far.
    """
    text = _text(asked).replace("\u2212", "-")
    number, read_as = _read(described, text)
    if number is None:
        what = f"“{text[:_LONGEST_QUOTED]}” is not a number" if text else "nothing was entered"
        return Accepted(previous, f"{described['label']}: {what}; {_used(described, previous)}.")
    low, high = described["min"], described["max"]
    if not low <= number <= high:
        limit, where = (low, "below the smallest") if number < low else (high, "above the largest")
        told = f"“{text[:_LONGEST_QUOTED]}” is {where} value; {_used(described, limit)}."
        return Accepted(limit, f"{described['label']}: {told}{_doubt(described, number)}")
    value = float(fixed(number, described["decimals"]).replace(",", ""))
    value = min(max(value, low), high)
    return Accepted(value, _remark(described, value, number, read_as))


def accept_choice(
    described: Input, asked: object, known: Collection[str], previous: str
) -> Accepted:
    """Take a choice that exists; the previous one is kept where it does not."""
    text = _text(asked)
    if text in known:
        return Accepted(text)
    quoted = f"“{text[:_LONGEST_QUOTED]}” is not among the choices"
    told = quoted if text else "nothing was chosen"
    return Accepted(previous, f"{described['label']}: {told}.")


def _text(asked: object) -> str:
    """What was asked for as somebody would type it: a number without an exponent."""
    if isinstance(asked, float) and math.isfinite(asked):
        return trimmed(f"{Decimal(repr(float(asked))):f}")
    return "" if asked is None else str(asked).strip()


def _read(described: Input, text: str) -> tuple[float | None, str]:
    """The number in a text, and what it was taken for if that is worth a word."""
    percent = bool(described.get("percent")) and text.endswith("%")
    digits = text.removesuffix("%").strip() if percent else text
    read_as = ""
    if _THOUSANDS.fullmatch(digits):
        digits = digits.replace(",", "")
        read_as = "read" if described["decimals"] else ""
    elif _DECIMAL_COMMA.fullmatch(digits):
        digits, read_as = digits.replace(",", "."), "read"
    if not _PLAIN.fullmatch(digits):
        return None, ""
    number = float(digits)
    if described.get("percent") and (percent or 1 < number <= 100):
        return number / 100, "" if percent else "read"
    return number, read_as


def _remark(described: Input, value: float, number: float, read_as: str) -> str:
    label, text = described["label"], said(described, value)
    doubt = _doubt(described, number)
    if read_as:
        return f"{label}: read as {text}.{doubt}"
    if value != number:
        return f"{label}: rounded to {text}.{doubt}"
    return f"{label}: {text} {per(described['unit'])} is unusual.{doubt}" if doubt else ""


def _doubt(described: Input, number: float) -> str:
    """A question where a number is far from what the input usually is; 0 is meant."""
    low, high = described.get("plausible", (0, math.inf))
    return "" if number <= 0 or low <= number <= high else " Is the unit right?"


def _used(described: Input, value: float) -> str:
    return f"{trimmed(fixed(value, described['decimals']))} is used"
