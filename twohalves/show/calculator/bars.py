"""The calculators' picture: stacked bars of seconds on one scale.

The halves differ in height as well as in color: prefill is broad, as many tokens at once;
decode is narrow, one after another. The page's script draws the same characters.
"""

from __future__ import annotations

from collections.abc import Sequence

from twohalves.show import svg
from twohalves.show.numbers import fixed, trimmed

_WIDTH, _LEFT, _PITCH = 360, 4.0, 46
_ROOM = _WIDTH - 2 * _LEFT
_MOST_TICKS = 5
Row = tuple[str, float, float]
"""What stands above a bar, and its seconds of prefill and of decode."""


def bars(rows: Sequence[Row], told: str) -> str:
    """A whole SVG.

    Args:
        rows: one bar each; the longest fills the width.
        told: the picture in words, for those who cannot see it.
    """
    longest = max(prefill + decode for _, prefill, decode in rows)
    scale = _ROOM / longest if longest else 0.0
    foot = _PITCH * len(rows) + 8
    parts = _axis(longest, scale, foot)
    for number, (label, prefill, decode) in enumerate(rows):
        parts += _bar(_PITCH * number, label, prefill * scale, decode * scale)
    height = foot + 46
    parts += [
        svg.box(_LEFT, foot + 28, 14, 14, svg.PREFILL),
        svg.label(_LEFT + 20, foot + 40, "prefill"),
        svg.box(_LEFT + 90, foot + 31, 14, 8, svg.DECODE),
        svg.label(_LEFT + 110, foot + 40, "decode"),
    ]
    return svg.inline("seconds", _WIDTH, height, told, parts)


def ticks(longest: float) -> list[tuple[float, str]]:
    """Round values from 0 up to `longest`, at most six of them, with their text."""
    if not longest > 0:
        return [(0.0, "0 s")]
    power = -9
    while float(f"1e{power + 1}") * _MOST_TICKS <= longest:
        power += 1
    step, decimals = 0.0, 0
    for shift, digits in ((0, 1), (0, 2), (0, 5), (1, 1)):
        step, decimals = float(f"{digits}e{power + shift}"), max(0, -(power + shift))
        if step * _MOST_TICKS >= longest:
            break
    found, at = [], 0
    while at * step <= longest:
        text = trimmed(fixed(at * step, decimals))
        found.append((at * step, text))
        at += 1
    return [*found[:-1], (found[-1][0], f"{found[-1][1]} s")]


def _axis(longest: float, scale: float, foot: float) -> list[str]:
    parts = [svg.stroke([(_LEFT, foot), (_LEFT + _ROOM, foot)])]
    for value, text in ticks(longest):
        x = _LEFT + value * scale
        anchor = "start" if x < 12 else "end" if x > _WIDTH - 24 else "middle"
        parts += [
            svg.stroke([(x, foot), (x, foot + 4)]),
            svg.label(x, foot + 18, text, anchor=anchor),
        ]
    return parts


def _bar(top: float, label: str, prefill: float, decode: float) -> list[str]:
    return [
        svg.label(_LEFT, top + 15, label),
        svg.box(_LEFT, top + 21, prefill, 20, svg.PREFILL),
        svg.box(_LEFT + prefill, top + 25, decode, 12, svg.DECODE),
    ]
