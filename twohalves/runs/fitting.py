"""The two halves as curves: fitted, compared with what was measured, and tried on held-out lengths.

A curve that has seen a length predicts it well; that proves little. So each inner length is
left out in turn and predicted from the others (interpolation), and the longest from all that
are shorter (extrapolation). Those are two numbers, since the second is the one that fails.
"""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from twohalves.formulas import FittedLatency, crude_latency
from twohalves.runs.load import Run
from twohalves.runs.material import Material, Point, Total, of_run
from twohalves.stats import (
    Interval,
    Quadratic,
    Staircase,
    block_intervals,
    line,
    quadratic,
    staircase,
    summarize,
)

COEFFICIENTS = ("t0_s", "a_s", "b_s", "c_s", "d_s")
"""Of `FittedLatency`, in order."""

_LEAST_FIRST, _LEAST_STEPS = 3, 2
_LEAST_TO_HOLD_OUT = _LEAST_FIRST + 1

Curve = TypeVar("Curve")


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One measured length beside what the two models say of it."""

    total: Total
    """What was measured."""
    crude_s: float
    """Seconds by the crude model."""
    fitted_s: float
    """Seconds by the fitted curves."""

    @property
    def crude_off(self) -> float:
        """Error of the crude model, a fraction of what was measured; below 0 is too low."""
        return self.crude_s / self.total.seconds - 1

    @property
    def fitted_off(self) -> float:
        """Error of the fitted curves, likewise."""
        return self.fitted_s / self.total.seconds - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """What the models say of lengths they have not seen."""

    inner: tuple[Compared, ...]
    """Each length but the shortest and the longest, predicted from all others."""
    longest: Compared
    """The longest, predicted from all shorter ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stairs:
    """Whether the time to the first token climbs in whole batches of 512 tokens."""

    smooth: float
    """Median size of the error on inner lengths left out, smooth curve, a fraction."""
    stairs: float
    """The same with whole batches paid for."""
    spread: float | None
    """Median spread of the repeats of a length, a fraction; None = no length has repeats."""

    @property
    def show(self) -> bool:
        """True if the staircase predicts better by more than repeats differ."""
        return self.spread is not None and self.smooth - self.stairs > self.spread


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """On which prompts a curve was tried, and with what success."""

    shortest: int
    """Tokens of the shortest measured prompt."""
    longest: int
    """Tokens of the longest."""
    off: float | None
    """Largest error on the whole requests, a fraction; None = none of them is whole."""
    requests: int
    """How many measured lengths that error is taken over."""


def fit(material: Material) -> FittedLatency | None:
    """Both curves; None with fewer than three lengths for the first or two for the second."""
    try:
        values = _coefficients(material.first, material.steps)
    except ValueError:
        return None
    t0, a, b, c, d = values
    return FittedLatency(t0_s=t0, a_s=a, b_s=b, c_s=c, d_s=d)


def trust(curve: FittedLatency, totals: Sequence[Total]) -> Trust:
    """How far a curve, or constants as a curve, can be trusted on measured requests.

    Args:
        curve: whatever it was made from.
        totals: what was measured, at least one length.
    """
    lengths = [round(total.prompt_tokens) for total in totals]
    errors = [abs(off(curve, total)) for total in totals if _is_whole(total)]
    return Trust(
        shortest=min(lengths),
        longest=max(lengths),
        off=max(errors, default=None),
        requests=len(errors),
    )


def off(curve: FittedLatency, total: Total) -> float:
    """Error of a curve on a measured request, a fraction of it; below 0 is too low."""
    return curve.total_s(total.prompt_tokens, total.output_tokens) / total.seconds - 1


def facts(run: Run) -> dict[str, Any] | None:
    """The fitted curves of a run and how far they can be trusted, as session.json keeps them.

    A page without Python reads them there.

    Returns:
        COEFFICIENTS and the fields of `Trust` by name; None if nothing can be fitted.
    """
    material = of_run(run)
    curve = fit(material)
    if curve is None:
        return None
    known = {name: getattr(curve, name) for name in COEFFICIENTS}
    return known | dataclasses.asdict(trust(curve, material.totals))


def intervals(material: Material) -> dict[str, Interval] | None:
    """A 95 percent interval for each of COEFFICIENTS, by block bootstrap.

    Returns:
        None if no curve can be fitted, or with too few blocks: see `stats.block_intervals`.
    """
    if fit(material) is None:
        return None

    def of_draw(drawn: list[tuple[bool, Point]]) -> tuple[float, ...]:
        first = [point for is_first, point in drawn if is_first]
        return _coefficients(first, [point for is_first, point in drawn if not is_first])

    found = block_intervals(material.blocks(), of_draw)
    return dict(zip(COEFFICIENTS, found, strict=True)) if found else None


def compare(material: Material) -> tuple[Compared, ...]:
    """Each measured length beside both models; the fitted one has seen them all."""
    return tuple(compared for total in material.totals if (compared := _compared(total, material)))


def hold_out(material: Material) -> HeldOut | None:
    """Each inner length predicted from the others, the longest from the shorter ones.

    The crude model's rates are taken anew from the lengths that are left; the chapter's
    constants are given, and stay.

    Returns:
        None with fewer than four lengths: three are needed for the curve.
    """
    totals = material.totals
    if len(totals) < _LEAST_TO_HOLD_OUT:
        return None
    found = [_compared(total, material.without(total.asked)) for total in totals[1:]]
    known = [compared for compared in found if compared is not None]
    if len(known) < len(found):
        return None
    return HeldOut(inner=tuple(known[:-1]), longest=known[-1])


def stairs(material: Material) -> Stairs | None:
    """Whether whole batches predict the time to the first token better than a smooth curve.

    Returns:
        None with fewer than four lengths.
    """
    lengths = sorted({point.asked for point in material.first})
    if len(lengths) < _LEAST_TO_HOLD_OUT:
        return None
    smooth = [_first_off(material, asked, quadratic) for asked in lengths[1:-1]]
    whole = [_first_off(material, asked, staircase) for asked in lengths[1:-1]]
    if None in smooth or None in whole:
        return None
    return Stairs(
        smooth=statistics.median(each for each in smooth if each is not None),
        stairs=statistics.median(each for each in whole if each is not None),
        spread=_spread(material, lengths),
    )


def crude_constants(material: Material) -> tuple[float, float]:
    """The crude model's two rates: medians over the lengths, tokens per second.

    Raises:
        ValueError: no length has both rates.
    """
    if not material.paces:
        msg = "material must hold the rates of at least one length, got none"
        raise ValueError(msg)
    return (
        statistics.median(pace.prefill_tok_s for pace in material.paces),
        statistics.median(pace.decode_tok_s for pace in material.paces),
    )


def _compared(total: Total, seen: Material) -> Compared | None:
    """Both models, made from what was seen, on one length."""
    fitted = fit(seen)
    if fitted is None or not seen.paces or not _is_whole(total):
        return None
    crude = crude_latency(total.prompt_tokens, total.output_tokens, *crude_constants(seen))
    return Compared(
        total=total,
        crude_s=crude.total_s,
        fitted_s=fitted.total_s(total.prompt_tokens, total.output_tokens),
    )


def _is_whole(total: Total) -> bool:
    return total.seconds > 0 and total.output_tokens >= 1


def _coefficients(first: Sequence[Point], steps: Sequence[Point]) -> tuple[float, ...]:
    """Of both curves, in the order of COEFFICIENTS.

    Raises:
        ValueError: too few lengths.
    """
    curve = _through(first, quadratic, _LEAST_FIRST)
    step = _through(steps, line, _LEAST_STEPS)
    return (curve.t0, curve.a, curve.b, step.c, step.d)


def _through(
    points: Sequence[Point], curve: Callable[[list[float], list[float]], Curve], least: int
) -> Curve:
    """A curve through points of at least so many lengths; a token more or less makes no length."""
    if len({point.asked for point in points}) < least:
        msg = f"points must be of at least {least} lengths"
        raise ValueError(msg)
    return curve([point.tokens for point in points], [point.seconds for point in points])


def _first_off(
    material: Material,
    asked: int,
    curve: Callable[[list[float], list[float]], Quadratic | Staircase],
) -> float | None:
    """Size of the error on the first token of a length that the curve has not seen."""
    try:
        found = _through(material.without(asked).first, curve, _LEAST_FIRST)
    except ValueError:
        return None
    here = [point for point in material.first if point.asked == asked]
    measured = statistics.median(point.seconds for point in here)
    return abs(found.at(statistics.median(point.tokens for point in here)) / measured - 1)


def _spread(material: Material, lengths: Sequence[int]) -> float | None:
    repeats = [
        [point.seconds for point in material.first if point.asked == asked] for asked in lengths
    ]
    spreads = [summarize(values).spread for values in repeats if len(values) > 1]
    return statistics.median(spreads) if spreads else None
