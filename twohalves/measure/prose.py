"""Fresh English prose of an exact length, for prompts that no server has seen before.

A server counts tokens and offers no way to ask for them in advance. The words used here are so
common that each is one token, with the space before it, in the vocabularies of today's models;
so is each run of punctuation marks (``.``, ``,"``). Tokens are therefore counted without a
tokenizer, as *units*: a run of letters or a run of punctuation marks is one unit.

There are no line breaks: two of them are one token here and two tokens there.
"""

from __future__ import annotations

import itertools
import random
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from twohalves.measure.lexicon import Template
from twohalves.measure.storyteller import Storyteller

__all__ = ["Sentence", "count", "sentences", "write"]

REST = 1050
"""Units from one use of a template to the next: 1,000, and room for the sentence itself."""

_UNIT = re.compile(r"[A-Za-z]+|[^A-Za-z\s]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One generated sentence."""

    text: str
    """From its capital letter (or opening quotation mark) to its last punctuation mark."""
    template: str
    """The line of ``data/text/templates.ini`` that it was made from."""


def count(text: str) -> int:
    """Count the units of a text.

    Args:
        text: Prose of this module (words without apostrophes, no digits).

    Returns:
        Units: words and runs of punctuation marks.
    """
    return len(_UNIT.findall(text))


class _Pool:
    """Templates that are free to be used, and those that still rest."""

    def __init__(self, templates: tuple[Template, ...], rng: random.Random) -> None:
        self._free = list(templates)
        self._resting: deque[tuple[int, Template]] = deque()
        self._rng = rng

    def take(self, position: int) -> Template:
        """Return a template by chance; it rests from then on."""
        while self._resting and self._resting[0][0] <= position:
            self._free.append(self._resting.popleft()[1])
        template = self._free.pop(self._rng.randrange(len(self._free)))
        self._resting.append((position + REST, template))
        return template


def sentences(rng: random.Random) -> Iterator[Sentence]:
    """Tell a story without end, scene after scene.

    No sentence comes twice, and no template comes twice within 1,000 units.

    Args:
        rng: Source of chance; the same state gives the same sentences.

    Yields:
        One sentence after another.
    """
    teller = Storyteller(rng)
    openings = _Pool(teller.lexicon.openings, rng)
    others = _Pool(teller.lexicon.templates, rng)
    told: set[str] = set()
    position = 0
    while True:
        teller.change_scene()
        for pool in itertools.chain([openings], itertools.repeat(others, rng.randint(7, 13))):
            sentence = _new(teller, pool, told, position)
            told.add(sentence.text)
            position += count(sentence.text)
            yield sentence


def _new(teller: Storyteller, pool: _Pool, told: set[str], position: int) -> Sentence:
    """Return a sentence that was not told before, whatever templates that takes."""
    while True:
        template = pool.take(position)
        text = teller.tell(template)
        if text not in told:
            return Sentence(text=text, template=template.text)


def _beginning(text: str, units: int) -> str:
    """Return the first units of a text, without a space after them."""
    return text[: next(itertools.islice(_UNIT.finditer(text), units - 1, None)).end()]


def write(units: int, rng: random.Random) -> str:
    """Write prose of exactly the wanted length.

    The last sentence is cut off after a word, so that a model has something to go on with, and no
    space follows. A sentence that would end exactly there is left out for another one.

    Args:
        units: Wanted length, in words and runs of punctuation marks; at least 1.
        rng: Source of chance; the same state gives the same text.

    Returns:
        One line of text.

    Raises:
        ValueError: If fewer than one unit is asked for.
    """
    if units < 1:
        msg = f"units must be a whole number of at least 1, got {units!r}"
        raise ValueError(msg)
    written: list[str] = []
    left = units
    for sentence in sentences(rng):
        length = count(sentence.text)
        if length < left:
            written.append(sentence.text)
            left -= length
        elif length > left:
            last = _beginning(sentence.text, left)
            if last[-1].isalpha():
                written.append(last)
                break
    return " ".join(written)
