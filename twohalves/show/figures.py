"""The charts: rates over prompt length, and the time of a token over context."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator

import matplotlib as mpl
from IPython.display import SVG
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from twohalves.runs import Run, reference
from twohalves.show import byte_count, decode
from twohalves.show.needs import needs
from twohalves.show.numbers import fixed
from twohalves.show.rates import lines
from twohalves.show.svg import DECODE, FONT, INK, PREFILL

_STAND_INS = {"#010101": INK, "#020202": PREFILL, "#030303": DECODE}
"""matplotlib knows no CSS variables: it draws with these, and the text is exchanged after."""
_INK, _PREFILL, _DECODE = _STAND_INS


def rates_by_length(run: Run) -> SVG:
    """Tokens per second over prompt tokens, both axes logarithmic."""
    own, printed = lines(run), reference.prefill_decode()
    lengths = [line.prompt_tokens.median for line in own]
    theirs = [row.prompt_tokens for row in printed]
    with _figure() as (figure, axes):
        for color, name, yours, chapters in (
            (
                _PREFILL,
                "prefill",
                [line.prefill_rate.median for line in own],
                [row.prefill_tok_s for row in printed],
            ),
            (
                _DECODE,
                "decode",
                [line.decode_rate.median for line in own],
                [row.decode_tok_s for row in printed],
            ),
        ):
            axes.plot(lengths, yours, "o-", color=color, label=f"{name}, yours")
            axes.plot(theirs, chapters, "s:", color=color, mfc="none", label=f"{name}, chapter")
        axes.set(xscale="log", yscale="log", xlabel="prompt tokens", ylabel="tokens per second")
        axes.set_xticks(lengths)
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        _dress(axes)
        return SVG(_themed(figure, "Prefill and decode rates over prompt length, both logarithmic"))


@needs(decode.DECODE)
def token_time_by_context(run: Run) -> SVG:
    """Milliseconds a token over context: measured, by counting bytes, and the chapter's."""
    own, printed = decode.lines(run), reference.decode_vs_context()
    counted = byte_count.own_count(run)
    with _figure() as (figure, axes):
        contexts = [line.prompt_tokens.median for line in own]
        times = [1000 / line.decode_rate.median for line in own]
        axes.plot(contexts, times, "o-", color=_DECODE, label="yours")
        if counted is not None:
            by_bytes = [1000 / step.predicted for step in counted.steps]
            axes.plot(contexts, by_bytes, "--", color=_INK, label="yours, by bytes alone")
        theirs = [row.context_tokens for row in printed]
        axes.plot(theirs, [row.ms_per_token for row in printed], "s:", color=_DECODE,
                  mfc="none", label="chapter")  # fmt: skip
        axes.set(xlabel="context tokens", ylabel="milliseconds per token", ylim=(0, None))
        _dress(axes)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10], integer=True))
        return SVG(_themed(figure, "Milliseconds per answer token over tokens of context"))


@contextlib.contextmanager
def _figure() -> Iterator[tuple[Figure, mpl.axes.Axes]]:
    """One size and one style for all; the same data give the same text of the SVG."""
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "two-halves", "font.size": 10}):
        figure = Figure(figsize=(6.2, 3.6), layout="constrained")
        yield figure, figure.subplots()


def _dress(axes: mpl.axes.Axes) -> None:
    """Plain numbers at the ticks, no box, one color of ink."""
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: fixed(value)))
        axis.set_minor_locator(NullLocator())
    axes.tick_params(colors=_INK)
    axes.xaxis.label.set_color(_INK)
    axes.yaxis.label.set_color(_INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(_INK)
    axes.legend(
        frameon=False, labelcolor=_INK, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1)
    )


def _themed(figure: Figure, title: str) -> str:
    """The figure as clean SVG: no prolog, no date, no global style, the page's colors."""
    out = io.StringIO()
    figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<style[^>]*>.*?</style>", "", text, flags=re.DOTALL)
    text = re.sub(r"font: ([\d.]+)px [^;\"]+", rf"font: \1px {FONT}".replace("'", ""), text)
    for stand_in, color in _STAND_INS.items():
        text = text.replace(stand_in, color)
    head, _, rest = text.partition(">")
    return f'{head} role="img"><title>{title}</title>{rest}'
