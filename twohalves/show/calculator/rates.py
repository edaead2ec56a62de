"""How fast a machine reads and writes, as a calculator's reader chooses it: with its error."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from twohalves.formulas import FittedLatency
from twohalves.show.calculator.spec import Values
from twohalves.show.calculator.words import share
from twohalves.show.numbers import counted, fixed


@dataclass(frozen=True, slots=True, kw_only=True)
class RateSet:
    """The two curves, where they come from, and how far they can be trusted."""

    id: str
    """Short name, for links and choices."""
    label: str
    """What a reader chooses."""
    source: str
    """Where the figures come from, in a few words."""
    curve: FittedLatency
    """Seconds of both halves."""
    shortest: int | None = None
    """Tokens of the shortest measured prompt; None = not known."""
    longest: int | None = None
    """Tokens of the longest, likewise."""
    off: float | None = None
    """Largest error on the measured requests, a fraction; None = not known."""
    requests: int = 0
    """How many measured lengths that error is taken over."""

    def facts(self) -> dict[str, Any]:
        """Everything as JSON has it: what a page or a session.json carries."""
        return dataclasses.asdict(self)


def chosen(values: Values, rates: Sequence[RateSet]) -> RateSet:
    """The set that the input `rates` names."""
    return next(each for each in rates if each.id == values["rates"])


def line(rates: RateSet) -> str:
    """Whose rates are used, and by how much they miss what was measured."""
    if rates.off is None:
        return f"Rates: {rates.label} ({rates.source})."
    return (
        f"Rates: {rates.label} ({rates.source}); at most {share(rates.off)} off on "
        f"{counted(rates.requests, 'measured length')}."
    )


def beyond(rates: RateSet, prompt_tokens: float) -> str:
    """A warning where a prompt is longer or shorter than any that was measured; else nothing."""
    if rates.longest is not None and prompt_tokens > rates.longest:
        return f"Extrapolated: the longest measured prompt has {fixed(rates.longest)} tokens."
    if rates.shortest is not None and prompt_tokens < rates.shortest:
        return f"Extrapolated: the shortest measured prompt has {fixed(rates.shortest)} tokens."
    return ""
