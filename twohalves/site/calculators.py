"""Calculators: the place that a notebook's output left, and the data that the script needs.

A page without JavaScript keeps the table above that place and misses nothing.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from twohalves.errors import CalculatorUnusable

if TYPE_CHECKING:
    from bs4 import BeautifulSoup
    from bs4.element import Tag

Worksheet = dict[str, Any]


def read(staging: Path) -> Worksheet:
    """The calculators of data/worksheet.json by name; none when there is no such file."""
    path = staging / "data" / "worksheet.json"
    if not path.is_file():
        return {}
    calculators: Worksheet = json.loads(path.read_text(encoding="utf-8"))["calculators"]
    return calculators


def prepare(soup: BeautifulSoup, page: str, worksheet: Worksheet) -> None:
    """Check every calculator's place in a page and put its description beside it.

    Raises:
        CalculatorUnusable: the name or a rate is not what data/worksheet.json asks for.
    """
    written: set[str] = set()
    for place in soup.select("[data-calculator]"):
        name = str(place["data-calculator"])
        spec = worksheet.get(name)
        if spec is None:
            known = ", ".join(sorted(worksheet)) or "none"
            raise CalculatorUnusable(page, name, f"data/worksheet.json describes {known}")
        _check_rates(place, page, name, spec)
        place["class"] = "th-calculator"
        place.clear()
        place.append(_without_script(soup))
        if name not in written:
            place.insert_before(_description(soup, name, spec))
            written.add(name)


def _check_rates(place: Tag, page: str, name: str, spec: Worksheet) -> None:
    try:
        rates = json.loads(str(place.get("data-rates", "")))
    except json.JSONDecodeError as error:
        raise CalculatorUnusable(page, name, f"its rates are not JSON ({error})") from error
    for rate in spec["rates"]:
        value = rates.get(rate["id"]) if isinstance(rates, dict) else None
        if not _is_rate(value):
            reason = f"{rate['id']} must be a number above 0, got {value!r}"
            raise CalculatorUnusable(page, name, reason)


def _is_rate(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return math.isfinite(value) and value > 0


def _without_script(soup: BeautifulSoup) -> Tag:
    """What stands there until the script has put the sliders in its place."""
    line = soup.new_tag("p", attrs={"class": "th-help"})
    line.string = "With JavaScript, sliders stand here; the table above needs none."
    return line


def _description(soup: BeautifulSoup, name: str, spec: Worksheet) -> Tag:
    attributes = {"type": "application/json", "id": f"th-spec-{name}"}
    script = soup.new_tag("script", attrs=attributes)
    # "</" would end the script early
    script.string = json.dumps(spec, ensure_ascii=False).replace("</", "<\\/")
    return script
