"""Facts in prose come from the data.

``{{< var claims.some_id >}}`` in a page is a row of data/claims.csv, and
``{{< var session.model.tag >}}`` an entry of data/reference/session.json, the chapter's session.
"""

from __future__ import annotations

import csv
import difflib
import json
import re
from collections.abc import Iterator, Mapping
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from pathlib import Path

from twohalves.errors import SiteSourceMissing, VariableUnknown

Known = Mapping[str, "str | Known"]
"""Names and what is printed for them; a name with dots is a path of nested names."""

_USE = re.compile(r"(?<!\\)\{\{<\s*var\s+(\S+?)\s*>\}\}")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")


def variables(project: Path) -> Known:
    """The facts that pages may use, as they are printed.

    Args:
        project: the project's folder.

    Returns:
        ``{"claims": {id: text}, "session": {…}}``; what has no value is not among them.

    Raises:
        SiteSourceMissing: there is no data/claims.csv.
    """
    name = "data/claims.csv"
    path = project / name
    if not path.is_file():
        raise SiteSourceMissing(name)
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    claims = {
        row["id"]: printed(row["value"], row["decimals_printed"])
        for row in rows
        if row["value"].strip()
    }
    session = project / "data" / "reference" / "session.json"
    facts = json.loads(session.read_text(encoding="utf-8")) if session.is_file() else {}
    return {"claims": claims, "session": _entries(facts)}


def _entries(facts: Mapping[str, object]) -> Known:
    """The named texts and numbers; lists and what is not known are left out."""
    kept: dict[str, str | Known] = {}
    for name, value in facts.items():
        if isinstance(value, Mapping):
            kept[name] = _entries(value)
        elif isinstance(value, str):
            kept[name] = value
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            kept[name] = f"{value:,}"
    return kept


def printed(value: str, decimals: str) -> str:
    """A value with as many decimals as the column says, and thousands separated.

    Negative decimals mean "about": -3 prints to the thousand. What is not a number is printed
    as it stands.

    >>> printed("4247", "0"), printed("0.2", "2"), printed("2043", "-3"), printed("q8_0", "0")
    ('4,247', '0.20', '2,000', 'q8_0')
    """
    try:
        places = int(decimals)
        rounded = Decimal(value).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    except (InvalidOperation, ValueError):
        return value.strip()
    return f"{rounded:,.{max(0, places)}f}"


def check(page: str, text: str, known: Known) -> None:
    """Refuse a page that asks for a number nobody has: the renderers would print nothing.

    Raises:
        VariableUnknown: with the page, the name, and the names that are near.
    """
    names = set(_paths(known))
    for line in _outside_code(text):
        for name in _USE.findall(line):
            wanted = name.strip("\"'")
            if wanted not in names:
                near = difflib.get_close_matches(wanted, sorted(names), n=3, cutoff=0.6)
                raise VariableUnknown(page, wanted, tuple(near))


def _paths(known: Known, above: str = "") -> Iterator[str]:
    for name, value in known.items():
        if isinstance(value, str):
            yield above + name
        else:
            yield from _paths(value, f"{above}{name}.")


def _outside_code(text: str) -> list[str]:
    lines, fence = [], ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence):
                fence = ""
        elif mark:
            fence = mark[1]
        else:
            lines.append(line)
    return lines


def write(folder: Path, known: Known) -> None:
    """Write the file that both renderers read such names from."""
    text = json.dumps(known, ensure_ascii=False, indent=1)  # JSON is YAML, too
    (folder / "_variables.yml").write_text(text, encoding="utf-8")
