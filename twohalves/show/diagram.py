"""The two-part picture of a request: its shape, then its honest length."""

from __future__ import annotations

from dataclasses import dataclass

from IPython.display import SVG, Markdown

from twohalves.runs import Run, reference
from twohalves.runs.reference import claim
from twohalves.show import svg
from twohalves.show.markdown import say
from twohalves.show.numbers import counted, fixed, percent, seconds
from twohalves.show.rates import lines

WIDTH = 600
_LEFT = 8.0
_ROOM = WIDTH - 2 * _LEFT
_BOXES_IN_A_ROW = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """One request, to be drawn."""

    name: str
    """Whose request, and its tokens."""
    first_s: float
    """Seconds of the first part."""
    rest_s: float
    """Seconds of the second part."""
    first_name: str
    """What the first part is."""

    @property
    def share(self) -> float:
        """The first part of the whole, a fraction."""
        return self.first_s / (self.first_s + self.rest_s)


def shape(run: Run) -> SVG:
    """Not to scale: one wide pass, then a chain of small ones, one per answer token."""
    line = lines(run)[-1]
    tokens = int(line.output_tokens.median)
    prefill = (
        f"prefill: {fixed(line.prompt_tokens.median)} tokens in one pass, "
        f"{seconds(line.prefill_s.median)}"
    )
    title = f"A request as one pass and {tokens} steps, not to scale. {prefill}."
    parts = [
        svg.label(_LEFT, 18, "What happens, not to scale"),
        svg.box(_LEFT, 30, _ROOM, 44, svg.PREFILL),
        svg.label(WIDTH / 2, 57, prefill, fill=svg.ON_COLOR, anchor="middle"),
        svg.stroke([(_LEFT + 9, 74), (_LEFT + 9, 92)]),
        *_chain(tokens, 92),
        svg.label(
            _LEFT,
            142,
            f"decode: {fixed(tokens)} tokens, each waits for the one before, "
            f"{seconds(line.decode_s.median)}",
        ),
    ]
    return SVG(svg.drawing(WIDTH, 156, title, parts))


def to_scale(run: Run) -> SVG:
    """To scale: the reader's longest row, and the chapter's streamed request."""
    bars = (own_parts(run), chapter_parts())
    title = "; ".join(f"{bar.name}: {_said(bar)}" for bar in bars)
    parts: list[str] = []
    for number, bar in enumerate(bars):
        top = 18.0 + 74 * number
        cut = _ROOM * bar.share
        parts += [
            svg.label(_LEFT, top, bar.name),
            svg.box(_LEFT, top + 10, cut, 28, svg.PREFILL),
            svg.box(_LEFT + cut, top + 10, _ROOM - cut, 28, svg.DECODE),
            svg.label(_LEFT + 8, top + 29, _said(bar), fill=svg.ON_COLOR),
        ]
    return SVG(svg.drawing(WIDTH, 146, f"To scale. {title}.", parts))


def how_unfair(run: Run) -> Markdown:
    """How wide the decode boxes would be at the prefill box's scale."""
    line = lines(run)[-1]
    share = line.decode_s.median / line.prefill_s.median
    printed = claim("diagram_decode_px") / claim("diagram_prefill_px")
    return say(
        f"The picture draws one box a token, so that the steps can be seen. At the scale of the "
        f"prefill box your {counted(line.output_tokens.median, 'answer token')} would together be "
        f"{percent(share)} as wide as it. On the chapter's laptop they were {percent(printed)}: "
        f"{fixed(claim('diagram_decode_s'), 2)} s against {fixed(claim('diagram_prefill_s'), 2)} s."
    )


def _said(bar: Parts) -> str:
    return f"{bar.first_name}: {percent(bar.share)} of {seconds(bar.first_s + bar.rest_s)}"


def own_parts(run: Run) -> Parts:
    """The reader's longest row, prefill against decode."""
    line = lines(run)[-1]
    name = (
        f"Yours: {fixed(line.prompt_tokens.median)} tokens in, "
        f"{fixed(line.output_tokens.median)} out"
    )
    return Parts(
        name=name,
        first_s=line.prefill_s.median,
        rest_s=line.decode_s.median,
        first_name="prefill",
    )


def chapter_parts() -> Parts:
    """The chapter's longest streamed request: before and after its first token."""
    row = reference.ttft()[-1]
    name = (
        f"The chapter's: {fixed(row.context_tokens)} tokens in, "
        f"{fixed(claim('bar_output'))} out, streamed"
    )
    return Parts(
        name=name,
        first_s=row.ttft_s,
        rest_s=row.total_s - row.ttft_s,
        first_name="until the first token",
    )


def _chain(tokens: int, top: float) -> list[str]:
    """One box a token, joined, as many as fit a row."""
    drawn = min(tokens, _BOXES_IN_A_ROW)
    pitch = _ROOM / drawn
    joined = svg.stroke([(_LEFT, top + 12), (_LEFT + _ROOM - pitch, top + 12)])
    boxes = [svg.box(_LEFT + pitch * n, top, pitch * 0.7, 24, svg.DECODE) for n in range(drawn)]
    return [joined, *boxes]
