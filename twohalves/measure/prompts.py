"""Prompts that no server has seen, of a length that is known before they are sent."""

from __future__ import annotations

import random
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from twohalves.measure.prose import count, write


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A fresh prompt."""

    text: str
    """Entry number, then prose."""
    nonce: str
    """The entry number's eight digits."""
    units: int
    """Words and punctuation marks of the prose; 0 where there is more in it than prose."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """How this model counts our prose: tokens = fixed + per_unit * units."""

    fixed: float = 9.0
    """Tokens of the entry number and whatever the server puts before a raw prompt."""
    per_unit: float = 1.0
    """Tokens per word or punctuation mark."""

    def units(self, tokens: int) -> int:
        """Units of prose for a prompt of so many tokens, at least one."""
        return max(1, round((tokens - self.fixed) / self.per_unit))


def calibrate(points: Sequence[tuple[int, int]]) -> Calibration:
    """A line through the counts of the warm-ups.

    Args:
        points: (units sent, tokens counted by the server); the shortest and the longest count.

    With fewer than two different lengths the defaults stand: the prose is made of words that
    are one token each in common vocabularies.
    """
    if len({units for units, _ in points}) < 2:
        return Calibration()
    (short, low), (long, high) = min(points), max(points)
    per_unit = (high - low) / (long - short)
    return Calibration(fixed=low - per_unit * short, per_unit=per_unit)


def plausible(counted: int, wanted: int) -> bool:
    """True if a count tells of the tokenizer and not of a cut prompt: at most half as much off."""
    return wanted / 1.5 <= counted <= wanted * 1.5


def entry(*previous: str) -> str:
    """Eight random digits from the system's random source.

    Nothing is seeded, so neither an earlier request nor an earlier run can have left a prompt
    that begins so in a cache. The first digit differs from those of the entry numbers before,
    so that a slot which still holds one of their prompts shares nothing of the text with it.

    Args:
        previous: entry numbers of which a slot may still hold the prompt, at most eight.
    """
    taken = {number[:1] for number in previous}
    first = secrets.choice([digit for digit in "123456789" if digit not in taken])
    return f"{first}{secrets.randbelow(10_000_000):07}"


def prose(units: int) -> str:
    """Prose that nobody has written before."""
    return write(units, random.SystemRandom())


def fresh(tokens: int, calibration: Calibration, *previous: str) -> Prompt:
    """A prompt of about `tokens` tokens that begins like no other.

    Args:
        tokens: length wanted, the entry number included.
        calibration: how the model counts our prose.
        previous: entry numbers of which a slot may still hold the prompt, at most eight.
    """
    nonce = entry(*previous)
    text = prose(calibration.units(tokens))
    return Prompt(text=f"{nonce}. {text}", nonce=nonce, units=count(text))
