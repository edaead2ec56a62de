"""Calculators: the place that a notebook's output left, and the data that the script needs.

A page without JavaScript keeps the sentence and the tables above that place and misses nothing.
With it they fold, because the calculator says the same of whatever a reader sets.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bs4.element import Tag

from twohalves.errors import CalculatorUnusable
from twohalves.formulas import FittedLatency

if TYPE_CHECKING:
    from bs4 import BeautifulSoup

Worksheet = dict[str, Any]
_CURVE = tuple(each.name for each in dataclasses.fields(FittedLatency))
_COUNTS = ("shortest", "longest", "off", "requests")
"""Numbers that may be unknown."""
_SHORTEST_S, _MOST = 1e-18, 1e6
"""Seconds of a step, and the most that a constant or an error can be: picked.js knows them, too."""


def read(staging: Path) -> Worksheet:
    """The calculators of data/worksheet.json by name; none when there is no such file."""
    path = staging / "data" / "worksheet.json"
    if not path.is_file():
        return {}
    calculators: Worksheet = json.loads(path.read_text(encoding="utf-8"))["calculators"]
    return calculators


def prepare(soup: BeautifulSoup, page: str, worksheet: Worksheet) -> None:
    """Check every calculator's place in a page, put its description beside it, fold its tables.

    Raises:
        CalculatorUnusable: the name, a rate or a value to begin with is not what
            data/worksheet.json asks for.
    """
    written: set[str] = set()
    for place in soup.select("[data-calculator]"):
        name = str(place["data-calculator"])
        reason = _unusable(place, worksheet.get(name), worksheet)
        if reason:
            raise CalculatorUnusable(page, name, reason)
        place["class"] = "th-calculator"
        place.clear()
        place.append(_without_script(soup))
        _fold(soup, place)
        if name not in written:
            place.insert_before(_description(soup, name, worksheet[name]))
            written.add(name)


def _unusable(place: Tag, spec: dict[str, Any] | None, worksheet: Worksheet) -> str:
    """Why a place cannot be brought to life; empty when it can."""
    if spec is None:
        return f"data/worksheet.json describes {', '.join(sorted(worksheet)) or 'none'}"
    for attribute, check in (("rates", _wrong_rates), ("start", _wrong_start)):
        try:
            given = json.loads(str(place.get(f"data-{attribute}", "")))
        except json.JSONDecodeError as error:
            return f"its data-{attribute} is not JSON ({error})"
        reason = check(given, spec)
        if reason:
            return reason
    return ""


def _wrong_rates(rates: object, spec: dict[str, Any]) -> str:
    if not isinstance(rates, list):
        return "its rates are not a list"
    if not rates and any(each.get("options") == "rates" for each in spec["inputs"]):
        return "it has no rates to choose from"
    for place, each in enumerate(rates):
        if not isinstance(each, dict) or not re.fullmatch(r"\w+", str(each.get("id", ""))):
            return f"a set of rates needs an id of letters, digits and _, got {each!r:.60}"
        if each["id"] in (earlier["id"] for earlier in rates[:place]):
            return f"two sets of rates have the id {each['id']!r}"
        reason = _wrong_set(each)
        if reason:
            return f"{reason} of the rates {each['id']!r}"
    return ""


def _wrong_set(rates: dict[str, Any]) -> str:
    for name in ("label", "source"):
        if not isinstance(rates.get(name), str):
            return f"{name} must be text, got {rates.get(name)!r}"
    if not isinstance(rates.get("curve"), dict):
        return "there is no curve"
    for name in _COUNTS:
        if rates.get(name) is not None and not _is_size(rates[name]):
            return f"{name} must be a number from 0 on, got {rates[name]!r}"
    if (rates.get("off") or 0) > _MOST:
        return f"off is {rates['off']!r}, no error of anything measured,"
    return _wrong_curve(rates["curve"])


def _wrong_curve(curve: dict[str, Any]) -> str:
    for name in _CURVE:
        if not _is_size(curve.get(name)):
            return f"{name} must be a number from 0 on, got {curve.get(name)!r}"
        if curve[name] and not _SHORTEST_S <= curve[name] <= _MOST:
            return f"{name} is {curve[name]!r}, no time that a machine takes,"
    return ""


def _wrong_start(start: object, spec: dict[str, Any]) -> str:
    if not isinstance(start, dict):
        return "its start is not an object"
    unknown = sorted(start.keys() - {each["id"] for each in spec["inputs"]})
    if unknown:
        return f"it begins with {', '.join(unknown)}, no input of it"
    for name, each in start.items():
        value = each.get("value") if isinstance(each, dict) else None
        if not (_is_size(value) or isinstance(value, str)):
            return f"it begins with {value!r} as {name}"
        if not isinstance(each.get("source"), str):
            return f"it does not say in words where {name} comes from"
    return ""


def _is_size(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return math.isfinite(value) and value >= 0


def _without_script(soup: BeautifulSoup) -> Tag:
    """What stands there until the script has put the sliders in its place."""
    line = soup.new_tag("p", attrs={"class": "th-help"})
    line.string = "With JavaScript, sliders stand here; the tables above need none."
    return line


def _fold(soup: BeautifulSoup, place: Tag) -> None:
    """Put what the output says above the place into a fold, open until the script closes it."""
    above = [each for each in reversed(list(place.previous_siblings)) if str(each).strip()]
    if not above or not _is_output(place.parent):
        return
    fold = soup.new_tag("details", attrs={"class": "th-stored", "open": ""})
    summary = soup.new_tag("summary")
    summary.string = "What it begins with, and its presets side by side"
    fold.append(summary)
    place.insert_before(fold)
    fold.extend(above)


def _is_output(box: Tag | None) -> bool:
    return box is not None and any("output" in each for each in box.get("class") or [])


def _description(soup: BeautifulSoup, name: str, spec: dict[str, Any]) -> Tag:
    attributes = {"type": "application/json", "id": f"th-spec-{name}"}
    script = soup.new_tag("script", attrs=attributes)
    # "</" would end the script early
    script.string = json.dumps(spec, ensure_ascii=False).replace("</", "<\\/")
    return script
