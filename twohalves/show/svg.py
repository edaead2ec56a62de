"""Small drawings as SVG: real letters, a title for screen readers, the colors of the page.

On the site the colors come from the page's variables, light and dark. Where an SVG is shown as
a picture and cannot see the page (JupyterLab, GitHub), the fallbacks here are used; they are
chosen to be legible on white and on black.
"""

from __future__ import annotations

import html
from collections.abc import Sequence

from twohalves.show.numbers import fixed, trimmed

INK = "var(--th-ink, #767676)"
FAINT = "var(--th-faint, #8c8c8c)"
PREFILL = "var(--th-prefill, #3d7ab8)"
DECODE = "var(--th-decode, #cc5a50)"
ON_COLOR = "var(--th-on-color, #ffffff)"
FONT = "system-ui, -apple-system, 'Segoe UI', sans-serif"
_WIDTH, _LEFT, _PITCH = 600, 8.0, 50


def drawing(width: int, height: int, title: str, parts: Sequence[str]) -> str:
    """A whole SVG.

    Args:
        width: of the drawing, in its own units and in pixels where there is room.
        height: likewise.
        title: what the picture shows, for those who cannot see it.
        parts: shapes, back to front.
    """
    return _framed('xmlns="http://www.w3.org/2000/svg"', FONT, width, height, title, parts)


def inline(name: str, width: int, height: int, title: str, parts: Sequence[str]) -> str:
    """A whole SVG inside a page, of a class of its own; the page's script draws the same one.

    Args:
        name: of the class, without the prefix.
        width: of the drawing, in its own units and in pixels where there is room.
        height: likewise.
        title: what the picture shows, for those who cannot see it.
        parts: shapes, back to front.
    """
    own = f'class="th-figure th-{name}"'
    return _framed(own, html.escape(FONT), width, height, title, parts)


def _framed(own: str, font: str, width: int, height: int, title: str, parts: Sequence[str]) -> str:
    return (
        f'<svg {own} role="img" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="{font}" font-size="14">'
        f"<title>{html.escape(title)}</title>{''.join(parts)}</svg>"
    )


def box(x: float, y: float, width: float, height: float, fill: str) -> str:
    """A filled rectangle."""
    return (
        f'<rect x="{_short(x)}" y="{_short(y)}" width="{_short(width)}" '
        f'height="{_short(height)}" rx="2" fill="{fill}"/>'
    )


def label(x: float, y: float, text: str, *, fill: str = INK, anchor: str = "start") -> str:
    """A line of text; y is its baseline."""
    return (
        f'<text x="{_short(x)}" y="{_short(y)}" fill="{fill}" '
        f'text-anchor="{anchor}">{html.escape(text)}</text>'
    )


def stroke(points: Sequence[tuple[float, float]], color: str = FAINT, width: float = 1.5) -> str:
    """A thin line through points."""
    through = " ".join(f"{_short(x)},{_short(y)}" for x, y in points)
    return (
        f'<polyline points="{through}" fill="none" stroke="{color}" '
        f'stroke-width="{_short(width)}"/>'
    )


def dot(x: float, y: float, color: str, *, hollow: bool = False) -> str:
    """A point, filled or as a ring."""
    fill = "none" if hollow else color
    return (
        f'<circle cx="{_short(x)}" cy="{_short(y)}" r="5" fill="{fill}" '
        f'stroke="{color}" stroke-width="2"/>'
    )


def bars(rows: Sequence[tuple[str, Sequence[tuple[float, str]]]], title: str) -> str:
    """A whole SVG of bars, each under its label; the title says what they show, then the labels.

    Args:
        rows: label of each bar, and its segments from left to right: part of the width, color.
        title: what the picture shows, for those who cannot see it.
    """
    parts: list[str] = []
    for number, (said, segments) in enumerate(rows):
        top, left = _PITCH * number, _LEFT
        parts.append(label(left, top + 16, said))
        for share, color in segments:
            width = (_WIDTH - 2 * _LEFT) * share
            parts.append(box(left, top + 22, width, 18, color))
            left += width
    told = f"{title} {'; '.join(said for said, _ in rows)}."
    return drawing(_WIDTH, _PITCH * len(rows), told, parts)


def _short(value: float) -> str:
    return trimmed(fixed(value, 2).replace(",", ""))
