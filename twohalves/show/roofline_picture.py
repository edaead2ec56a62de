"""The picture of section 31.4: operations a second over operations a byte, both logarithmic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from IPython.display import SVG, Markdown

from twohalves.formulas import Roof, batch_at_ridge, intensity
from twohalves.runs import Run
from twohalves.runs.hardware import chip
from twohalves.runs.reference import claim
from twohalves.show import roofline_own
from twohalves.show.markdown import say
from twohalves.show.numbers import counted, fixed
from twohalves.show.roofline import chapter_roof, chapter_step
from twohalves.show.svg import DECODE, INK, PREFILL, dot, drawing, label, stroke

COMPARED = ("NVIDIA L40S", "Intel Arc Pro B60")
"""Chips drawn beside the chapter's: a card for servers, one for a desk."""
BATCHES = (1, 8, 64)
"""Drawn beside the batch at the ridge."""
_WIDTH, _HEIGHT = 640, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 16, 48
_UNITS = ((1e12, "TFLOP/s"), (1e9, "GFLOP/s"), (1e6, "MFLOP/s"), (1, "FLOP/s"))
_GAP = 15
"""Pixels between two lines of text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A point on the picture."""

    intensity: float
    """FLOP a byte."""
    flop_s: float
    """FLOP a second."""
    said: str
    """What stands beside it; empty = nothing."""
    color: str
    """Of decode or of prefill."""
    hollow: bool = False
    """True for a point of another series."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Axes:
    """The range of the picture, in powers of ten, and how it lies on the drawing."""

    left: float
    """Power of ten of the least intensity."""
    right: float
    """Of the greatest."""
    bottom: float
    """Power of ten of the least FLOP a second."""
    top: float
    """Of the greatest."""

    def x(self, value: float) -> float:
        """Pixels from the left for an intensity."""
        share = (math.log10(value) - self.left) / (self.right - self.left)
        return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        """Pixels from the top for FLOP a second."""
        share = (math.log10(value) - self.bottom) / (self.top - self.bottom)
        return _HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM)


def picture() -> SVG:
    """The chapter's chip and two others, with decode in batches and the chapter's prefill."""
    roof, context = chapter_roof(), int(claim("longest_prompt"))
    roofs = [(_with_ridge("H100-class", roof), roof)]
    for name in COMPARED:
        other = chip(name).roof()
        if other is not None:
            roofs.append((_with_ridge(name.partition(" ")[2], other), other))
    marks = []
    batches = (*BATCHES, round(batch_at_ridge(roof.ridge)))
    for batch in batches:
        bare, full = intensity(batch), chapter_step(batch, context).intensity
        marks.append(_mark(roof, bare, f"batch {fixed(batch)}", DECODE))
        marks.append(_mark(roof, full, "", DECODE, hollow=True))
    marks.append(_mark(roof, intensity(context), f"prefill, {fixed(context)} tokens", PREFILL))
    told = (
        "Rooflines, both axes logarithmic. Decode at batches of "
        f"{', '.join(fixed(batch) for batch in batches)} climbs the slope of memory to the ridge; "
        f"prefill of {fixed(context)} tokens lies far on the flat. Hollow points: the same batches "
        f"with {fixed(context)} tokens of cache to read for each request, which stay on the slope."
    )
    axes = Axes(left=-0.7, right=3.9, bottom=11.5, top=15.4)
    legend = [
        dot(_LEFT + 6, _HEIGHT - 15, DECODE, hollow=True),
        label(_LEFT + 18, _HEIGHT - 10, f"with {fixed(context)} tokens of cache each"),
    ]
    return SVG(drawing(_WIDTH, _HEIGHT, told, [*_drawn(roofs, marks, axes), *legend]))


def own_picture(run: Run) -> SVG | Markdown:
    """The run's decode and prefill, and the limits that they show to be at least so high."""
    mine = roofline_own.own(run)
    if isinstance(mine, str):
        return say(f"> **Note** — {mine}")
    floors = Roof(peak_flop_s=max(mine.prefill_flop_s, mine.decode_flop_s), bandwidth=mine.bytes_s)
    marks = (
        Mark(intensity=mine.decode_intensity, flop_s=mine.decode_flop_s,
             said="decode", color=DECODE),
        Mark(intensity=mine.prefill_intensity, flop_s=mine.prefill_flop_s,
             said=f"prefill, {counted(mine.prefill_tokens, 'token')}", color=PREFILL),
    )  # fmt: skip
    told = (
        f"Run {run.id}: decode and prefill, both axes logarithmic. The line is the lowest roof "
        "that both points allow; the machine's own lies on it or above it."
    )
    least, most = (
        math.floor(math.log10(flop_s)) for flop_s in (mine.decode_flop_s, floors.peak_flop_s)
    )
    axes = Axes(left=-0.7, right=3.9, bottom=least - 1, top=most + 1.4)
    parts = _drawn([("at least this", floors)], marks, axes)
    return SVG(drawing(_WIDTH, _HEIGHT, told, parts))


def _with_ridge(name: str, roof: Roof) -> str:
    return f"{name}: ridge {fixed(roof.ridge)}"


def _mark(roof: Roof, at: float, said: str, color: str, *, hollow: bool = False) -> Mark:
    return Mark(intensity=at, flop_s=roof.attainable(at), said=said, color=color, hollow=hollow)


def _drawn(roofs: Sequence[tuple[str, Roof]], marks: Sequence[Mark], axes: Axes) -> list[str]:
    parts = _frame(axes)
    heights: list[float] = []
    for number, (name, roof) in enumerate(roofs):
        parts.append(_roof(roof, axes, main=number == 0))
        heights.append(_free(axes.y(roof.peak_flop_s) + 16, heights))
        parts.append(label(_WIDTH - _RIGHT, heights[-1], name, anchor="end"))
    for mark in marks:
        x, y = axes.x(mark.intensity), axes.y(mark.flop_s)
        parts.append(dot(x, y, mark.color, hollow=mark.hollow))
        if mark.said:
            end = x - 4 if mark.color == DECODE else min(x + 40, _WIDTH - _RIGHT)
            parts.append(label(end, y - 10, mark.said, anchor="end"))
    return parts


def _free(wanted: float, taken: Sequence[float]) -> float:
    """The nearest height further down for a line of text that touches none of the others."""
    while any(abs(wanted - other) < _GAP for other in taken):
        wanted += _GAP / 3
    return wanted


def _roof(roof: Roof, axes: Axes, *, main: bool) -> str:
    """The slope of memory, the ridge, the flat of arithmetic."""
    start = max(10**axes.left, 10**axes.bottom / roof.bandwidth)
    corners = [
        (start, roof.attainable(start)),
        (roof.ridge, roof.peak_flop_s),
        (10**axes.right, roof.peak_flop_s),
    ]
    points = [(axes.x(at), axes.y(flop_s)) for at, flop_s in corners]
    return stroke(points, INK, 2) if main else stroke(points)


def _frame(axes: Axes) -> list[str]:
    """The two axes with a number at each power of ten."""
    floor, powers = _HEIGHT - _BOTTOM, range(math.ceil(axes.bottom), math.floor(axes.top) + 1)
    size, unit = next(each for each in _UNITS if 10.0 ** powers[0] >= each[0])
    parts = [stroke([(_LEFT, _TOP), (_LEFT, floor), (_WIDTH - _RIGHT, floor)])]
    for power in range(math.ceil(axes.left), math.floor(axes.right) + 1):
        x = axes.x(10.0**power)
        parts.append(stroke([(x, floor), (x, floor + 4)]))
        parts.append(label(x, floor + 18, fixed(10.0**power), anchor="middle"))
    for power in powers:
        y = axes.y(10.0**power)
        parts.append(stroke([(_LEFT - 4, y), (_LEFT, y)]))
        parts.append(label(_LEFT - 8, y + 5, fixed(10.0**power / size), anchor="end"))
    parts.append(label(_LEFT + 8, _TOP + 8, unit))
    parts.append(label(_WIDTH - _RIGHT, floor + 38, "operations a byte", anchor="end"))
    return parts
