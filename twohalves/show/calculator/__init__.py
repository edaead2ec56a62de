"""Calculators under a reader's hand: sliders, numbers, one small picture, tables, a sentence.

Live, ipywidgets call Python. In replay the output is Markdown tables and the place in which the
site's script builds the same calculator. Both read data/worksheet.json and show the same
characters: tests/vectors holds them equal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from IPython.display import Markdown

from twohalves.errors import SlidersUnusable
from twohalves.show.calculator.kinds import Outcome, outcome
from twohalves.show.calculator.rates import RateSet
from twohalves.show.calculator.spec import spec
from twohalves.show.calculator.start import Start, begin, unusable
from twohalves.show.calculator.stored import stored

if TYPE_CHECKING:
    from ipywidgets import VBox

__all__ = ["Outcome", "RateSet", "Start", "outcome", "sliders", "spec"]


def sliders(
    name: str,
    rates: Sequence[RateSet] = (),
    start: Mapping[str, Start] | None = None,
    *,
    replay: bool = False,
) -> VBox | Markdown:
    """Show a calculator.

    Args:
        name: of the calculator in data/worksheet.json.
        rates: to choose from; the first is chosen unless `start` says otherwise.
        start: values to begin with in place of the defaults, by the ids of the inputs.
        replay: True gives what a stored notebook and the site need; no widget is made.

    Returns:
        An ipywidgets box; in replay an ``IPython.display.Markdown``.

    Raises:
        UnknownName: no such calculator.
        SlidersUnusable: it needs rates and has none, two sets have one id, or something given is
            no `RateSet` or no `Start`.
    """
    described = spec(name)
    reason = unusable(described, start or {}, rates)
    if reason:
        raise SlidersUnusable(name, reason)
    begun = begin(described, start or {}, rates)
    if replay:
        return stored(name, rates, begun)
    from twohalves.show.calculator.live import live  # noqa: PLC0415 — only here widgets are needed

    return live(name, rates, begun)
