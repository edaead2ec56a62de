"""Public models: what their published config.json says, and a shortcut that misreads it."""

from __future__ import annotations

import csv
import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from twohalves.places import DATA

_MODELS = DATA / "models"


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """One model of `data/models`."""

    name: str
    """As people call it."""
    design: str
    """How it keeps its context, in a few words."""
    longest: int
    """The longest context that it was made for, tokens."""
    config: Mapping[str, Any]
    """The lines of its config.json that its cache depends on."""
    shortcut: tuple[str, str, str, str]
    """What a shortcut multiplies: layers, heads, numbers in a key and in a value, each a key of
    the configuration, a quotient or a sum of two. Empty where there is nothing to multiply."""
    mistake: str
    """Why that is wrong."""

    def by_shortcut(self) -> int | None:
        """Bytes a token by the shortcut, at two bytes a number; None = it finds no heads."""
        if not all(self.shortcut):
            return None
        layers, heads, key, value = (_value(self.config, said) for said in self.shortcut)
        return layers * heads * (key + value) * 2


@functools.cache
def models() -> tuple[Published, ...]:
    """All of them, in the order of the list."""
    with (_MODELS / "models.csv").open(encoding="utf-8", newline="") as file:
        return tuple(_model(row) for row in csv.DictReader(file))


def _model(row: dict[str, str]) -> Published:
    text = (_MODELS / f"{row['file']}.json").read_text(encoding="utf-8")
    return Published(
        name=row["model"],
        design=row["design"],
        longest=int(row["longest"]),
        config=json.loads(text),
        shortcut=(row["layers"], row["heads"], row["key"], row["value"]),
        mistake=row["mistake"],
    )


def _value(config: Mapping[str, Any], said: str) -> int:
    """A key's value, a sum or a whole quotient of two.

    >>> _value({"a": 12, "b": {"c": 4}}, "a/b.c"), _value({"a": 12}, "a+a")
    (3, 24)
    """
    for sign in "+/":
        if sign in said:
            one, other = (_value(config, part) for part in said.split(sign))
            return one + other if sign == "+" else one // other
    found: Any = config
    for part in said.split("."):
        found = found[part]
    return int(found)
