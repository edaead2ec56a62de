"""Fills templates: who is there, what time it is, and what has been named already."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from twohalves.measure.lexicon import Filler, Slot, Template, lexicon, stems

__all__ = ["Storyteller"]

Card = TypeVar("Card")

_BEFORE_A_VOWEL = re.compile(r"\b([Aa]) (?=[aeiou]|hour|honest)(?!one\b|us[eu]|uni|eu)")
_PRONOUNS = {
    "men": {"he": "he", "him": "him", "his": "his"},
    "women": {"he": "she", "him": "her", "his": "her"},
}
_DECKS = {
    "do": "acts",
    "did": "acts",
    "done": "acts",
    "doing": "acts",
    "thing": "things",
    "things": "things",
    "sight": "sights",
    "sights": "sights",
    "people": "people",
}
"""Section of the files by kind of slot; where none is given, the kind with an s."""
_FORMS = frozenset(_DECKS) - {"people"}


class Deck(Generic[Card]):
    """Cards that are dealt one by one and shuffled anew when all are gone."""

    def __init__(self, cards: Sequence[Card], rng: random.Random) -> None:
        self._cards = cards
        self._rng = rng
        self._left: list[Card] = []

    def deal(self, fits: Callable[[Card], bool] = lambda _: True) -> Card:
        """Return the next card that fits; any card, if none of all does."""
        for _ in range(2):
            for place in reversed(range(len(self._left))):
                if fits(self._left[place]):
                    return self._left.pop(place)
            self._left = self._rng.sample(self._cards, len(self._cards))
        return self._left.pop()


@dataclass(slots=True, kw_only=True)
class _Person:
    """Somebody in a scene."""

    name: str
    job: str
    pronouns: dict[str, str]
    introduced: bool = False
    """Whether the scene has given this person's name and job already."""


class Storyteller:
    """Fills templates so that neighboring sentences share people, place and time of day."""

    def __init__(self, rng: random.Random) -> None:
        self.lexicon = lexicon()
        self._rng = rng
        self._shared = {section: Deck(cards, rng) for section, cards in self.lexicon.words.items()}
        self._names = {
            section: Deck(self.lexicon.names[section], rng) for section in ("men", "women", "days")
        }
        self._scenes = Deck(self.lexicon.scenes, rng)
        self._scene_decks: dict[str, dict[str, Deck[Filler]]] = {
            scene.place: {section: Deck(cards, rng) for section, cards in scene.fillers.items()}
            for scene in self.lexicon.scenes
        }
        self._hour = rng.randrange(len(self.lexicon.names["hours"]) - 2)
        self._just_mentioned: set[str] = set()
        self._mentioned: set[str] = set()
        self._used: set[str] = set()
        self._held: dict[tuple[str, str], Filler] = {}
        self.change_scene()

    def change_scene(self) -> None:
        """Go to another place, with a man and a woman who have not met the reader yet."""
        self._scene = self._scenes.deal()
        self._decks = {**self._shared, **self._scene_decks[self._scene.place]}
        jobs = self._rng.sample(self._scene.jobs, 2)
        sexes = self._rng.sample(sorted(_PRONOUNS), 2)
        self._cast = {
            letter: _Person(name=self._names[sex].deal(), job=job, pronouns=_PRONOUNS[sex])
            for letter, job, sex in zip("AB", jobs, sexes, strict=True)
        }
        self._just_mentioned.clear()

    def tell(self, template: Template) -> str:
        """Fill a template.

        Args:
            template: Any of the lexicon's; an opening right after a change of scene.

        Returns:
            A sentence.
        """
        self._template = template
        self._used = set(template.stems)
        if "{at}" in template.text or "{place}" in template.text:
            self._used |= stems(self._scene.place)
        self._held = {}
        self._mentioned = set()
        text = "".join(
            part if isinstance(part, str) else self._fill(part) for part in template.parts
        )
        self._just_mentioned = self._mentioned
        text = _BEFORE_A_VOWEL.sub(r"\1n ", text)
        first = 1 if text.startswith('"') else 0
        return text[:first] + text[first].upper() + text[first + 1 :]

    def _fill(self, slot: Slot) -> str:
        if slot.kind in self._cast:
            return self._person(slot.kind, slot.form)
        if slot.kind == "at":
            return self._scene.at
        if slot.kind == "place":
            return self._scene.place
        if slot.kind == "time":
            return self._later()
        filler = self._deal(_DECKS.get(slot.kind, slot.kind + "s"), slot.number)
        if slot.form == "adj":
            return self._rng.choice(filler.adjectives)
        return filler.forms[slot.kind if slot.kind in _FORMS else ""]

    def _deal(self, section: str, number: str) -> Filler:
        """Return the sentence's filler of that section and number; no word comes twice."""
        held = self._held.get((section, number))
        if held is not None:
            return held
        filler = self._decks[section].deal(lambda card: self._used.isdisjoint(card.stems))
        self._used |= filler.stems
        self._held[section, number] = filler
        return filler

    def _person(self, letter: str, form: str) -> str:
        person = self._cast[letter]
        if form in person.pronouns:
            return person.pronouns[form]
        if form == "job":
            return person.job
        again = letter in self._just_mentioned and letter not in self._mentioned
        self._mentioned.add(letter)
        if form == "name":
            person.introduced = f"{{{letter}.job}}" in self._template.text
            return person.name
        if not person.introduced:
            person.introduced = True
            return f"the {person.job} {person.name}"
        if not form and again and self._rng.random() < 0.5:
            return person.pronouns["he"]
        return person.name if self._rng.random() < 0.6 else f"the {person.job}"

    def _later(self) -> str:
        """Move on by an hour or two of the day's list, or to a new day."""
        hours = self.lexicon.names["hours"]
        self._hour += self._rng.randint(1, 2)
        if self._hour < len(hours):
            return hours[self._hour]
        self._hour = 0
        return self._names["days"].deal()
