"""A small, realistic traffic: one assistant, a few documents, many questions, in two layouts.

Every request holds the same kinds of text. What differs is only their order: with the volatile
part on top nothing that follows it is ever the beginning of another prompt; with the stable
part on top, instructions, tools and examples are.
"""

from __future__ import annotations

import random

from twohalves.measure.prompts import prose

_SYSTEM, _TOOLS, _EXAMPLES, _DOCUMENT, _QUESTION = 180, 90, 60, 80, 18  # words and marks
_POPULARITY = (5, 3, 2)
"""How often each document is asked about, in proportion: a few are asked about most."""


class Traffic:
    """Requests to one assistant, made as they are needed."""

    def __init__(self) -> None:
        self._stable = [prose(units) for units in (_SYSTEM, _TOOLS, _EXAMPLES)]
        self._documents = [prose(_DOCUMENT) for _ in _POPULARITY]
        self._chance = random.SystemRandom()
        self._head = ""

    def begin(self, head: str) -> None:
        """Start over with a beginning of the instructions that no server has seen.

        Args:
            head: an entry number.
        """
        self._head = head

    def next(self, layout: str, now: str) -> str:
        """The next request.

        Args:
            layout: volatile_top or stable_top.
            now: what the time is, in words.
        """
        document = self._chance.choices(self._documents, _POPULARITY)[0]
        volatile = f"{now} User {self._chance.randrange(1000, 10000)} asks."
        stable = " ".join([self._head, *self._stable, document])
        order = [volatile, stable] if layout == "volatile_top" else [stable, volatile]
        return " ".join([*order, prose(_QUESTION)])
