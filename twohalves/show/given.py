"""What a reader puts into a cell: numbers that something can be computed from, or an error."""

from __future__ import annotations

from twohalves.errors import QuantityUnusable


def whole(name: str, value: object, least: int = 1, most: float = 10**9) -> int:
    """A count, as it was given.

    Args:
        name: of the argument.
        value: that was given for it.
        least: that makes sense.
        most: likewise.

    Raises:
        QuantityUnusable: something else than a whole number within these limits.
    """
    if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
        return value
    raise QuantityUnusable(name, repr(value), f"a whole number from {least:,} to {most:,.0f}")


def above_zero(name: str, value: object, unit: str, most: float = 1e9) -> float:
    """A size, as it was given.

    Args:
        name: of the argument.
        value: that was given for it.
        unit: in which it is given.
        most: that makes sense.

    Raises:
        QuantityUnusable: something else than a number above 0 and at most that.
    """
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= most:
        return float(value)
    raise QuantityUnusable(name, repr(value), f"{unit}, a number above 0 and at most {most:,.0f}")
