"""The crude latency model under a reader's hand: two sliders, one small picture, one sentence.

Live, ipywidgets call Python. In replay the output is a Markdown table and the place in which the
site's script builds the same sliders; both read data/worksheet.json and show the same words
(tests/vectors/latency.json holds them equal).
"""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from IPython.display import Markdown, display

from twohalves.formulas.latency import Latency, crude_latency
from twohalves.show import svg
from twohalves.show.numbers import fixed, percent, seconds, significant

if TYPE_CHECKING:
    from ipywidgets import HBox, VBox

_WORKSHEET = Path(__file__).resolve().parents[2] / "data" / "worksheet.json"
_BAR_WIDTH = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """The two rates the prediction uses, and where they come from."""

    prefill_tok_s: float
    """Prompt tokens per second."""
    decode_tok_s: float
    """Output tokens per second."""
    source: str = ""
    """Which run and row, in a few words; shown beside the rates."""


@cache
def spec(name: str = "latency") -> dict[str, Any]:
    """The description of a calculator: its inputs, outputs, presets and words."""
    calculators = json.loads(_WORKSHEET.read_text(encoding="utf-8"))["calculators"]
    found: dict[str, Any] = calculators[name]
    return found


def share(fraction: float) -> str:
    """A share that never shows as none or all of something that has a little of both.

    >>> share(0.9746), share(0.0004), share(0.99995)
    ('97.5%', '<0.1%', '>99.9%')
    """
    if 0 < fraction < 0.001:
        return "<0.1%"
    if 0.999 < fraction < 1:
        return ">99.9%"
    return percent(fraction, 1)


def texts(latency: Latency) -> dict[str, str]:
    """The outputs as they are shown, by the ids of data/worksheet.json."""
    return {
        "prefill_s": seconds(latency.prefill_s),
        "decode_s": seconds(latency.decode_s),
        "total_s": seconds(latency.total_s),
        "prefill_share": share(latency.prefill_share),
    }


def sentence(prompt_tokens: int, output_tokens: int, shown: dict[str, str]) -> str:
    """The prediction in one sentence."""
    prompt, output = spec()["inputs"]
    return (
        f"{_counted(prompt_tokens, prompt)} in and {_counted(output_tokens, output)} out take "
        f"{shown['total_s']}: {shown['prefill_s']} to read and {shown['decode_s']} to write; "
        f"{shown['prefill_share']} of the time is prefill."
    )


def _counted(count: int, described: dict[str, Any]) -> str:
    return f"{fixed(count)} {described['unit_one'] if count == 1 else described['unit']}"


def predict(prompt_tokens: float, output_tokens: float, rates: Rates) -> Latency:
    """The crude model at a reader's rates."""
    return crude_latency(prompt_tokens, output_tokens, rates.prefill_tok_s, rates.decode_tok_s)


def picture(prompt_tokens: int, output_tokens: int, rates: Rates) -> str:
    """The small stacked bar with its figures and its sentence, as HTML."""
    latency = predict(prompt_tokens, output_tokens, rates)
    shown = texts(latency)
    said = html.escape(sentence(prompt_tokens, output_tokens, shown))
    split = round(latency.prefill_share * _BAR_WIDTH, 1)
    read, write = (html.escape(shown[key]) for key in ("prefill_s", "decode_s"))
    return (
        f'<svg viewBox="0 0 {_BAR_WIDTH} 54" width="100%" style="max-width:{_BAR_WIDTH}px" '
        f'role="img" aria-label="{said}" font-family="sans-serif" font-size="15">'
        f'<rect width="{split}" height="28" fill="{svg.PREFILL}"/>'
        f'<rect x="{split}" width="{_BAR_WIDTH - split:.1f}" height="28" fill="{svg.DECODE}"/>'
        f'<text y="48" fill="currentColor">prefill {read}</text>'
        f'<text x="{_BAR_WIDTH}" y="48" text-anchor="end" fill="currentColor">decode {write}</text>'
        f'</svg><p class="th-sentence">{said}</p>'
    )


def latency_sliders(rates: Rates, *, replay: bool = False) -> VBox | Markdown:
    """Show the two sliders that move the crude model's prediction.

    Args:
        rates: the reader's rates, tokens per second.
        replay: True gives what a stored notebook and the site need: a Markdown table for the
            presets, and the place for the site's sliders. No widget is made.

    Returns:
        An ipywidgets box; in replay an ``IPython.display.Markdown``.
    """
    if replay:
        return Markdown(_replayed(rates))
    return _live(rates)


def _replayed(rates: Rates) -> str:
    described = spec()
    head = ["Request", "Prompt", "Output", *(output["label"] for output in described["outputs"])]
    lines = [f"| {' | '.join(head)} |", "|:--|" + "--:|" * (len(head) - 1)]
    for preset in described["presets"]:
        prompt, output = preset["values"]["prompt_tokens"], preset["values"]["output_tokens"]
        shown = texts(predict(prompt, output, rates))
        cells = [preset["label"], fixed(prompt), fixed(output)]
        cells += [shown[o["id"]].replace("<", "&lt;") for o in described["outputs"]]
        lines.append(f"| {' | '.join(cells)} |")
    data = {
        "prefill_tok_s": rates.prefill_tok_s,
        "decode_tok_s": rates.decode_tok_s,
        "source": rates.source,
    }
    attribute = html.escape(json.dumps(data, ensure_ascii=False), quote=True)
    place = f'<div class="th-calculator" data-calculator="latency" data-rates="{attribute}"></div>'
    return "\n".join(lines) + f"\n\n{_rates_line(rates)}\n\n{place}\n"


def _rates_line(rates: Rates) -> str:
    source = f" ({rates.source})" if rates.source else ""
    return (
        f"Rates: prefill {significant(rates.prefill_tok_s)}, decode "
        f"{significant(rates.decode_tok_s)} tokens per second{source}."
    )


def _live(rates: Rates) -> VBox:
    import ipywidgets  # noqa: PLC0415 — replay and tests of the words need no widgets

    rows = [_row(described) for described in spec()["inputs"]]
    prompt, output = (row.children[0] for row in rows)
    outcome = ipywidgets.HTML()
    outcome.add_class("th-outcome")

    def redraw(_: object = None) -> None:
        outcome.value = picture(prompt.value, output.value, rates)

    for slider in (prompt, output):
        slider.observe(redraw, names="value")
    redraw()
    box = ipywidgets.VBox([ipywidgets.Label(_rates_line(rates)), *rows, outcome])
    box.add_class("th-calculator")
    display(_Names())
    return box


def _row(described: dict[str, Any]) -> HBox:
    """A slider and a number field that hold one value, and its unit."""
    import ipywidgets  # noqa: PLC0415 — as above

    limits = {
        "value": described["default"],
        "min": described["min"],
        "max": described["max"],
        "step": described["step"],
    }
    slider = ipywidgets.IntSlider(
        **limits,
        description=described["label"],
        tooltip=described["help"],
        readout=False,
        continuous_update=True,
    )
    field = ipywidgets.BoundedIntText(**limits, layout={"width": "7em"})
    name = described["id"].removesuffix("_tokens")
    slider.add_class(f"th-{name}")
    field.add_class(f"th-{name}-number")
    ipywidgets.link((slider, "value"), (field, "value"))
    return ipywidgets.HBox([slider, field, ipywidgets.Label(described["unit"])])


class _Names:
    """Gives slider handles and number fields the names that ipywidgets leaves out."""

    _SCRIPT = """
    (function name(tries) {
      const wanted = %s;
      let missing = 0;
      Object.entries(wanted).forEach(([selector, label]) => {
        const found = document.querySelectorAll(selector);
        if (!found.length) missing += 1;
        found.forEach((node) => node.setAttribute("aria-label", label));
      });
      if (missing && tries) setTimeout(() => name(tries - 1), 200);
    })(50);
    """

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        wanted = {}
        for described in spec()["inputs"]:
            name = described["id"].removesuffix("_tokens")
            label = f"{described['label']}, {described['unit']}"
            wanted[f".th-{name} [role=slider]"] = label
            wanted[f".th-{name}-number input"] = label
        return {"application/javascript": self._SCRIPT % json.dumps(wanted), "text/plain": ""}
