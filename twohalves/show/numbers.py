"""The one place where a number becomes text.

Halves round up, away from zero, on the decimal digits a reader would see (so 2.675 shows as
2.68), and thousands are separated by commas. The page's script rounds by the same rule, so
both show the same characters.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal

UNKNOWN = "not reported"
"""Shown where the server did not say."""
_ROUNDED = Context(prec=14, rounding=ROUND_HALF_UP)
_WHOLE = Context(prec=400, rounding=ROUND_HALF_UP)
"""Has room for every finite number with all its decimals."""


def fixed(value: float | None, decimals: int = 0) -> str:
    """A number with a fixed count of decimals and thousands separators.

    Raises:
        ValueError: the value is not finite.

    >>> fixed(4247), fixed(2.675, 2), fixed(400.49999999999994), fixed(-0.3), fixed(None)
    ('4,247', '2.68', '401', '0', 'not reported')
    """
    if value is None:
        return UNKNOWN
    if not math.isfinite(value):
        msg = f"a number to show must be finite, got {value}"
        raise ValueError(msg)
    step = Decimal(1).scaleb(-decimals)
    return f"{_decimal(value).quantize(step, context=_WHOLE):z,f}"


def _decimal(value: float) -> Decimal:
    """The digits that a reader would see, freed of the last binary ones.

    Products of decimal prices and counts are off by a unit in the sixteenth digit or so:
    $400.50 comes out as 400.49999999999994 and would be rounded down. Fourteen digits are kept.
    """
    return _ROUNDED.create_decimal(repr(float(value)))


def counted(count: float, one: str) -> str:
    """A count with its noun, in the singular where it is one.

    >>> counted(1, "control"), counted(1095, "token")
    ('1 control', '1,095 tokens')
    """
    return f"{fixed(count)} {one}{'' if count == 1 else 's'}"


def significant(value: float | None, digits: int = 3) -> str:
    """A number with so many significant digits, never in exponent form.

    >>> significant(190.26), significant(5.2356), significant(2043.6), significant(0)
    ('190', '5.24', '2,040', '0')
    """
    if value is None or value == 0 or not math.isfinite(value):
        return fixed(value)
    exact = _decimal(value)
    step = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    rounded = exact.quantize(step, context=_WHOLE)
    return fixed(float(rounded), max(0, digits - 1 - rounded.adjusted()))


def trimmed(text: str) -> str:
    """Without zeros at the end of the decimals.

    >>> trimmed("0.500"), trimmed("100"), trimmed("1.00")
    ('0.5', '100', '1')
    """
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(fraction: float | None, decimals: int = 0) -> str:
    """A fraction as a percentage.

    >>> percent(0.9099, 1)
    '91.0%'
    """
    return UNKNOWN if fraction is None else f"{fixed(fraction * 100, decimals)}%"


def seconds(value: float | None) -> str:
    """A duration in the unit that keeps three digits readable.

    >>> seconds(2.292), seconds(0.9996), seconds(0.0641), seconds(0.00054), seconds(-0.0004)
    ('2.29 s', '1.00 s', '64.1 ms', '0.540 ms', '−0.400 ms')
    """
    if value is None:
        return UNKNOWN
    size, sign = abs(value), "−" if value < 0 else ""
    if size >= 1:
        return f"{sign}{significant(size)} s"
    told = significant(size * 1000)
    return f"{sign}{told} ms" if told != "1,000" else f"{sign}1.00 s"


def times(factor: float) -> str:
    """A factor, with one decimal below ten.

    >>> times(152.67), times(8.96), times(9.97)
    ('153×', '9.0×', '10×')
    """
    return f"{fixed(factor, 1 if factor < 9.95 else 0)}×"


def from_to(low: float, high: float, shown: Callable[[float], str] = seconds) -> str:
    """A range, as one number where both ends read the same.

    >>> from_to(0.0641, 0.0655), from_to(0.06411, 0.06412), from_to(8.96, 9.97, times)
    ('64.1 ms to 65.5 ms', '64.1 ms', '9.0× to 10×')
    """
    return " to ".join(dict.fromkeys((shown(low), shown(high))))
