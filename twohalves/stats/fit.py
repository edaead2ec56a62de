"""Curves through timings: least squares with relative weights and coefficients at least 0.

Relative weights: each error counts as a fraction of its value (weights 1 / y^2), because
timings scatter by a percentage. Unweighted, the longest prompt alone would decide the curve.

At least 0: each coefficient is a cost in seconds. A cost below 0 has no meaning, and between
few lengths the best unbounded curve often buys its fit with one, then bends down outside them.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BATCH = 512
"""Prompt tokens that llama.cpp and Ollama work on at once unless told otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quadratic:
    """t = t0 + a * n + b * n^2."""

    t0: float
    """Value at 0."""
    a: float
    """Per n."""
    b: float
    """Per n squared."""

    def at(self, n: float) -> float:
        """The curve at n."""
        return self.t0 + self.a * n + self.b * n**2


@dataclass(frozen=True, slots=True, kw_only=True)
class Staircase:
    """t = t0 + a * 512 * ceil(n / 512) + b * n^2: whole batches are paid for."""

    t0: float
    """Value before the first step."""
    a: float
    """Per n, where n fills its batches."""
    b: float
    """Per n squared."""

    def at(self, n: float) -> float:
        """The curve at n."""
        return self.t0 + self.a * _filled(n) + self.b * n**2


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """y = c + d * x."""

    c: float
    """Value at 0."""
    d: float
    """Per x."""

    def at(self, x: float) -> float:
        """The line at x."""
        return self.c + self.d * x


def quadratic(n: Sequence[float], t: Sequence[float]) -> Quadratic:
    """The curve t0 + a * n + b * n^2 with the least relative errors.

    Raises:
        ValueError: fewer than three different n, a t that is not above 0, unequal counts.
    """
    _demand_different(n, 3)
    t0, a, b = nonnegative([[1.0] * len(n), n, [each**2 for each in n]], t)
    return Quadratic(t0=t0, a=a, b=b)


def staircase(n: Sequence[float], t: Sequence[float]) -> Staircase:
    """The curve t0 + a * 512 * ceil(n / 512) + b * n^2 with the least relative errors.

    Raises:
        ValueError: as `quadratic`.
    """
    _demand_different(n, 3)
    filled = [_filled(each) for each in n]
    t0, a, b = nonnegative([[1.0] * len(n), filled, [each**2 for each in n]], t)
    return Staircase(t0=t0, a=a, b=b)


def line(x: Sequence[float], y: Sequence[float]) -> Line:
    """The line c + d * x with the least relative errors.

    Raises:
        ValueError: fewer than two different x, a y that is not above 0, unequal counts.
    """
    _demand_different(x, 2)
    c, d = nonnegative([[1.0] * len(x), x], y)
    return Line(c=c, d=d)


def nonnegative(columns: Sequence[Sequence[float]], y: Sequence[float]) -> tuple[float, ...]:
    """Coefficients, none below 0, of the sum of columns that comes nearest to y, relatively.

    Every choice of columns is fitted without bounds. Of those that need no coefficient below 0
    the best is the answer: the bounded optimum is the unbounded one over the columns it uses
    (Lawson & Hanson, Solving Least Squares Problems, chapter 23). With three columns that is
    seven small fits.

    Raises:
        ValueError: a y that is not above 0 and finite, or columns of another length.
    """
    if any(len(column) != len(y) for column in columns):
        msg = f"columns must have {len(y)} values each, as y"
        raise ValueError(msg)
    target = np.asarray(y, dtype=float)
    if not (np.isfinite(target).all() and (target > 0).all()):
        msg = f"y must be above 0 and finite, got {list(y)}"
        raise ValueError(msg)
    weighted = np.asarray(columns, dtype=float).T / target[:, None]
    size = np.abs(weighted).max(axis=0)
    size[size == 0] = 1.0  # a column of zeros
    return _best(weighted / size, size)


def _best(scaled: NDArray[np.float64], size: NDArray[np.float64]) -> tuple[float, ...]:
    """The best choice of columns, all of them tried first: usually they are the answer."""
    count = scaled.shape[1]
    best, least = np.zeros(count), float(len(scaled))
    for used in range(count, 0, -1):
        for chosen in itertools.combinations(range(count), used):
            picked = list(chosen)
            found = np.linalg.lstsq(scaled[:, picked], np.ones(len(scaled)), rcond=None)[0]
            loss = float(np.square(scaled[:, picked] @ found - 1.0).sum())
            if (found >= 0).all() and loss < least:
                best, least = np.zeros(count), loss
                best[picked] = found
        if used == count and best.any():
            break  # nothing bounded beats the unbounded best
    return tuple(float(each) for each in best / size)


def _filled(n: float) -> float:
    """N rounded up to whole batches."""
    return float(-(-n // BATCH) * BATCH)


def _demand_different(x: Sequence[float], least: int) -> None:
    if len(set(x)) < least:
        msg = f"x must hold at least {least} different values, got {len(set(x))}"
        raise ValueError(msg)
