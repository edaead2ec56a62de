"""How a calculator says its numbers: one function a display format of data/worksheet.json."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from twohalves.show.calculator.spec import Input, Results, Spec, Values
from twohalves.show.numbers import fixed, percent, seconds, significant, trimmed

_MILLION = 1_000_000
_WHOLE_DOLLARS = 99.995
"""From here on cents are left out."""


def share(fraction: float) -> str:
    """A share that never shows as none or all of something that has a little of both.

    >>> share(0.9746), share(0.0004), share(0.99995)
    ('97.5%', '<0.1%', '>99.9%')
    """
    if 0 < fraction < 0.001:
        return "<0.1%"
    if 0.999 < fraction < 1:
        return ">99.9%"
    return percent(fraction, 1)


def exact_percent(fraction: float) -> str:
    """A fraction as a percentage with the four decimals that a reader can set.

    >>> exact_percent(0.6), exact_percent(0.3333), exact_percent(0.00002), exact_percent(0.99998)
    ('60%', '33.33%', '<0.01%', '>99.99%')
    """
    if 0 < fraction < 0.00005:
        return "<0.01%"
    if 0.99995 <= fraction < 1:
        return ">99.99%"
    return f"{trimmed(fixed(fraction * 100, 2))}%"


def exact(value: float) -> str:
    """A number that somebody set, to three decimals, without zeros that say nothing.

    >>> exact(2.0), exact(1234.567), exact(0.098)
    ('2', '1,234.567', '0.098')
    """
    return trimmed(fixed(value, 3))


def number(value: float) -> str:
    """Three significant digits, without zeros that say nothing.

    >>> number(16.79), number(1), number(0.05)
    ('16.8', '1', '0.05')
    """
    return trimmed(significant(value))


def amount(value: float) -> str:
    """A quantity: whole from a hundred on, else three significant digits.

    >>> amount(1032.05), amount(12.34), amount(0.5)
    ('1,032', '12.3', '0.5')
    """
    return fixed(value) if value >= 100 else number(value)


def millions(value: float) -> str:
    """A count in millions.

    >>> millions(1_068_000_000), millions(53)
    ('1,068 M', '0.000053 M')
    """
    return f"{amount(value / _MILLION)} M"


def dollars(value: float) -> str:
    """Money: whole dollars from a hundred on, cents below, four digits of what is less than one.

    >>> dollars(1242.8), dollars(3.75), dollars(0.0000075), dollars(0.0005837), dollars(0.075)
    ('$1,243', '$3.75', '$0.0000075', '$0.0005837', '$0.075')
    >>> dollars(0), dollars(0.1), dollars(-127.2)
    ('$0', '$0.10', '−$127')
    """
    size, sign = abs(value), "−" if value < 0 else ""
    if size == 0:
        return "$0"
    if size >= _WHOLE_DOLLARS:
        return f"{sign}${fixed(size)}"
    if size >= 1:
        return f"{sign}${fixed(size, 2)}"
    whole, _, rest = trimmed(significant(size, 4)).partition(".")
    return f"{sign}${whole}.{rest.ljust(2, '0')}"


FORMATS: dict[str, Callable[[float], str]] = {
    "amount": amount,
    "count": fixed,
    "dollars": dollars,
    "exact": exact,
    "millions": millions,
    "number": number,
    "percent": exact_percent,
    "seconds": seconds,
    "share": share,
}
"""By the names that data/worksheet.json uses."""


def said(described: dict[str, Any], value: float) -> str:
    """A value in the format of its input or output."""
    return FORMATS[described["format"]](value)


def per(unit: str) -> str:
    """A unit as it follows a number that may carry the sign of the dollar."""
    return unit.removeprefix("dollars ")


def with_unit(described: Input, value: float) -> str:
    """A value of an input as it is said: with its unit, in the singular where it is one."""
    unit = described["unit"]
    if value == 1:
        unit = described.get("unit_one", unit)
    text = said(described, value)
    return f"{text} {per(unit) if text.startswith('$') else unit}"


def shown(spec: Spec, values: Values, results: Results) -> dict[str, str]:
    """All outputs and all numeric inputs as they are shown, by their ids."""
    texts = {}
    for described in spec["inputs"]:
        value = values[described["id"]]
        if not isinstance(value, str):
            texts[described["id"]] = said(described, value)
    for output in spec["outputs"]:
        result = results[output["id"]]
        texts[output["id"]] = output["none"] if result is None else said(output, result)
    return texts
