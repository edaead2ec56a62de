"""The picture of section 31.5: whole requests to scale, cold above warm."""

from __future__ import annotations

from IPython.display import SVG, Markdown

from twohalves.runs import Run
from twohalves.runs.reuse import Reuse
from twohalves.show import svg
from twohalves.show.caching import EXPERIMENT, lines
from twohalves.show.needs import not_held
from twohalves.show.numbers import counted, fixed, seconds

_WIDTH, _LEFT, _ROW, _BAR = 640, 96, 52, 16
_ROOM = _WIDTH - _LEFT - 76


def to_scale(run: Run) -> SVG | Markdown:
    """A pair of bars a length: prefill, then the rest of the request."""
    rows = lines(run)
    if not rows:
        return not_held(run, EXPERIMENT)
    longest = max(line.cold_total_s.median for line in rows)
    parts: list[str] = []
    for number, line in enumerate(rows):
        parts += _pair(line, 8.0 + number * _ROW, _ROOM / longest)
    foot = _ROW * len(rows) + 22
    parts += [
        svg.label(_LEFT - 8, foot, "tokens", anchor="end"),
        svg.box(_LEFT, foot - 11, 12, 12, svg.PREFILL),
        svg.label(_LEFT + 18, foot, "prefill"),
        svg.box(_LEFT + 90, foot - 11, 12, 12, svg.DECODE),
        svg.label(_LEFT + 108, foot, "the rest of the request"),
    ]
    told = "; ".join(
        f"{counted(line.prompt_tokens.median, 'token')}: cold {seconds(line.cold_total_s.median)}, "
        f"warm {seconds(line.later_total_s.median)}"
        for line in rows
    )
    return SVG(svg.drawing(_WIDTH, foot + 10, f"Whole requests to scale. {told}.", parts))


def _pair(line: Reuse, top: float, scale: float) -> list[str]:
    """Cold above warm."""
    parts = [svg.label(_LEFT - 8, top + _BAR + 6, fixed(line.prompt_tokens.median), anchor="end")]
    both = ((line.cold_s, line.cold_total_s), (line.later_s, line.later_total_s))
    for number, (prefill, total) in enumerate(both):
        y, end = top + number * (_BAR + 2), total.median * scale
        cut = min(prefill.median * scale, end)
        parts += [
            svg.box(_LEFT, y, cut, _BAR, svg.PREFILL),
            svg.box(_LEFT + cut, y, end - cut, _BAR, svg.DECODE),
            svg.label(_LEFT + end + 6, y + 13, seconds(total.median)),
        ]
    return parts
