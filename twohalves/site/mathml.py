"""Formulas as MathML, which browsers draw themselves: no font and no script to fetch."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bs4 import BeautifulSoup
from bs4.element import NavigableString, PreformattedString
from latex2mathml import exceptions as unread
from latex2mathml.converter import convert as to_mathml

from twohalves.errors import PageLeftover

if TYPE_CHECKING:
    from bs4.element import Tag

_TEX = re.compile(r"^\s*\\[(\[](.*)\\[)\]]\s*$", re.DOTALL)
# The converter reads the starred form; the one TeX authors write it would leave half done.
_ALIGNED = re.compile(r"\\(begin|end)\{aligned\}")
# In a finished formula: a backslash or a bare ampersand is a command that was not understood.
_RAW_IN_MATH = re.compile(r"[\\&]")
_RAW_IN_TEXT = re.compile(r"\\[(\[]|\$\$|\\(?:frac|text|begin|end|approx|times)\b")
_REFERENCE = re.compile(r"\?@[\w-]+|\?(?:var|meta|env):[\w.-]+|\{\{<.*?>\}\}")
_PARTS = {"mfrac": 2, "msub": 2, "msup": 2, "msubsup": 3, "munder": 2, "mover": 2, "mroot": 2}
# The converter's errors have no common base.
_UNREAD: tuple[type[Exception], ...] = tuple(
    getattr(unread, name) for name in dir(unread) if name.endswith("Error")
)


def convert(soup: BeautifulSoup, page: str) -> None:
    """Turn every formula that the renderer left as TeX into MathML.

    Raises:
        PageLeftover: a formula cannot be read, or a command in it is not known.
    """
    for span in soup.find_all("span", class_="math"):
        found = _TEX.match(span.get_text())
        if not found or span.find("math"):
            continue
        source = _ALIGNED.sub(r"\\\1{align*}", found[1].strip())
        display = "block" if "display" in (span.get("class") or []) else "inline"
        try:
            markup = to_mathml(source, display=display)
        except _UNREAD as error:
            raise PageLeftover(page, found[1].strip(), "a formula that cannot be read") from error
        formula = BeautifulSoup(markup, "html.parser").math
        if formula is None or _RAW_IN_MATH.search(formula.get_text()) or _incomplete(formula):
            raise PageLeftover(page, found[1].strip(), "a formula with an unknown command")
        formula["alttext"] = found[1].strip()
        span.clear()
        span.append(formula)


def _incomplete(formula: Tag) -> bool:
    """Whether a fraction or an index lacks a part: the converter lets that pass."""
    return any(
        len(tag.find_all(recursive=False)) != parts
        for name, parts in _PARTS.items()
        for tag in formula.find_all(name)
    )


def refuse_leftovers(soup: BeautifulSoup, page: str) -> None:
    """Refuse a page whose text shows TeX, a dead reference or a shortcode.

    Raises:
        PageLeftover: with the page and the first such text.
    """
    for text in soup.find_all(string=True):
        if isinstance(text, PreformattedString) or _is_source(text):
            continue
        found = _REFERENCE.search(text)
        if found:
            raise PageLeftover(page, found[0], "an unresolved reference")
        found = _RAW_IN_TEXT.search(text)
        if found:
            raise PageLeftover(page, text.strip()[:80], "TeX source")


def _is_source(text: NavigableString) -> bool:
    parents = {parent.name for parent in text.parents}
    return bool(parents & {"code", "pre", "script", "style", "math", "kbd", "samp", "svg"})
