"""Where a calculator begins: the defaults of data/worksheet.json, or what a reader measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from twohalves.show.calculator.accept import accept_choice, accept_number
from twohalves.show.calculator.rates import RateSet
from twohalves.show.calculator.spec import Input, Spec, Value, Values


@dataclass(frozen=True, slots=True)
class Start:
    """A value to begin with in place of a default."""

    value: Value
    """Of an input."""
    source: str
    """Where it comes from, in a few words; shown beside the input."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """The values that a calculator shows first."""

    values: Values
    """By the ids of the inputs."""
    sources: dict[str, str]
    """Where each comes from, likewise."""
    notes: list[str]
    """What could not be used as it was given."""


def unusable(spec: Spec, start: Mapping[str, object], rates: Sequence[object]) -> str:
    """Why a calculator cannot begin with what a cell gives it; empty when it can."""
    other = next((each for each in rates if not isinstance(each, RateSet)), None)
    if other is not None:
        return f"{other!r:.40} is no RateSet"
    ids = [each.id for each in rates if isinstance(each, RateSet)]
    if not ids and any(each.get("options") == "rates" for each in spec["inputs"]):
        return "it has no rates to compute with"
    if len(set(ids)) < len(ids):
        return f"of its rates two have the same id: {', '.join(ids)}"
    bare = [name for name, value in start.items() if not isinstance(value, Start)]
    return f"{bare[0]} begins with {start[bare[0]]!r:.40}, which is no Start" if bare else ""


def begin(spec: Spec, start: Mapping[str, Start], rates: Sequence[RateSet]) -> Begun:
    """Defaults, and over them what was given, accepted like anything a reader types.

    Args:
        spec: of the calculator.
        start: by the ids of the inputs; others are passed over.
        rates: to choose from; the first one is chosen unless `start` says otherwise.
    """
    values: Values = {}
    sources, notes = {}, []
    for described in spec["inputs"]:
        name = described["id"]
        first = first_value(described, rates)
        values[name], sources[name] = first, described["source"]
        if name in start:
            values[name], note = take(described, start[name].value, first, rates)
            sources[name] = start[name].source
            notes += [note] if note else []
    return Begun(values=values, sources=sources, notes=notes)


def first_value(described: Input, rates: Sequence[RateSet]) -> Value:
    """The default; where rates are to be chosen, the first set."""
    known = choices(described, rates)
    default: Value = described["default"]
    return next(iter(known)) if known and default not in known else default


def choices(described: Input, rates: Sequence[RateSet]) -> dict[str, str]:
    """Labels by ids of what an input can be; empty for a number."""
    if described["kind"] != "choice":
        return {}
    if described["options"] == "rates":
        return {each.id: each.label for each in rates}
    return {option["id"]: option["label"] for option in described["options"]}


def take(
    described: Input, asked: object, previous: Value, rates: Sequence[RateSet]
) -> tuple[Value, str]:
    """A number or a choice, whichever the input is, and the note on it."""
    if isinstance(previous, str):
        taken = accept_choice(described, asked, choices(described, rates), previous)
    else:
        taken = accept_number(described, asked, previous)
    return taken.value, taken.note
