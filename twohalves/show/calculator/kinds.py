"""The calculators there are: what each computes and says, by its name in data/worksheet.json."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from twohalves.show.calculator import kv_cache, latency, roofline, worksheet
from twohalves.show.calculator.rates import RateSet
from twohalves.show.calculator.spec import Results, Spec, Values, spec
from twohalves.show.calculator.words import shown


class Kind(Protocol):
    """What a calculator's module has: four pure functions."""

    def compute(self, values: Values, rates: Sequence[RateSet], /) -> Results:
        """Outputs from inputs."""

    def sentence(
        self, spec: Spec, values: Values, texts: dict[str, str], results: Results, /
    ) -> str:
        """The outcome in words."""

    def notes(self, values: Values, results: Results, rates: Sequence[RateSet], /) -> list[str]:
        """What a reader should know of it."""

    def picture(self, results: Results, texts: dict[str, str], told: str, /) -> str:
        """SVG; the last argument says it in words."""


KINDS: Mapping[str, Kind] = {
    "kv_cache": kv_cache,
    "latency": latency,
    "roofline": roofline,
    "worksheet": worksheet,
}
"""By name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Everything that a calculator shows for one set of inputs."""

    results: Results
    """Outputs, unrounded."""
    texts: dict[str, str]
    """Outputs and numeric inputs as they are shown, by id."""
    sentence: str
    """The outcome in words."""
    notes: list[str]
    """What a reader should know of it: a sentence each."""
    picture: str
    """SVG."""


def outcome(name: str, values: Values, rates: Sequence[RateSet]) -> Outcome:
    """Compute and say everything for one set of inputs.

    Args:
        name: of the calculator.
        values: of all its inputs, accepted.
        rates: those there are to choose from; none where a calculator needs none.

    Raises:
        UnknownName: no such calculator.
    """
    described, kind = spec(name), KINDS[name]
    results = kind.compute(values, rates)
    texts = shown(described, values, results)
    said = kind.sentence(described, values, texts, results)
    return Outcome(
        results=results,
        texts=texts,
        sentence=said,
        notes=kind.notes(values, results, rates),
        picture=kind.picture(results, texts, said),
    )
