"""Arguments that a formula cannot use are refused by their names, so that nothing odd comes out."""

from __future__ import annotations

import math


def positive(**given: float) -> None:
    """Demand numbers above 0.

    Raises:
        ValueError: one of them is not, or is not finite.
    """
    for name, value in given.items():
        if not 0 < value < math.inf:
            msg = f"{name} must be above 0 and finite, got {value}"
            raise ValueError(msg)


def not_negative(**given: float) -> None:
    """Demand numbers from 0 on.

    Raises:
        ValueError: one of them is not, or is not finite.
    """
    for name, value in given.items():
        if not 0 <= value < math.inf:
            msg = f"{name} must be at least 0 and finite, got {value}"
            raise ValueError(msg)


def fraction(**given: float) -> None:
    """Demand numbers from 0 to 1.

    Raises:
        ValueError: one of them is not.
    """
    for name, value in given.items():
        if not 0 <= value <= 1:
            msg = f"{name} must be from 0 to 1, got {value}"
            raise ValueError(msg)
