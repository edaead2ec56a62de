"""What a card has to hold, and the other way round: what a card of so many bytes can hold.

memory = weights + sequences × cache of a sequence + margin, section 31.3 of the chapter. The
inverse questions search the same sum, so that what they return fits and one more does not.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from twohalves.formulas.kv_cache import KvShape, cache_bytes
from twohalves.formulas.memory import kept_bytes, margin_bytes
from twohalves.formulas.ranges import positive

WEIGHT_TYPES: dict[str, tuple[int, int]] = {
    "f32": (1, 4),
    "f16": (1, 2),
    "q8_0": (32, 34),
    "q6_K": (256, 210),
    "q5_K": (256, 176),
    "q4_K": (256, 144),
    "q3_K": (256, 110),
    "q2_K": (256, 84),
}
"""Numbers in a block, and bytes of the block with its scales: ggml's block structures, largest
first. A file is named after the type that most of its weights have; its average is higher."""
_MOST_TOKENS, _MOST_SEQUENCES = 100_000_000, 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """A model, and how it is to be served."""

    shape: KvShape
    """The model as its cache sees it."""
    weights_bytes: int
    """Size of its file; of a mixture of experts all of them, whichever are active."""
    kv_type: str = "f16"
    """How the cache keeps its numbers, a name in `kv_cache.KV_TYPES`; with a `v_type` its keys."""
    v_type: str | None = None
    """How the cache keeps values; None = as the keys."""
    margin_bytes: int | None = None
    """Set aside for everything else; None = what `memory` estimates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardBytes:
    """The three parts of what a card has to hold, bytes."""

    weights: int
    """Once, whoever asks."""
    cache: int
    """Of all sequences with their windows full, and their state where it is known."""
    margin: int
    """Activations and the server itself."""

    @property
    def total(self) -> int:
        """All three."""
        return self.weights + self.cache + self.margin


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """A model on a card."""

    name: str
    """Of the model."""
    needs: CardBytes
    """With the window and the sequences that were asked for."""
    left: int
    """Bytes of the card that are free then; below 0, as many are missing."""
    window: int
    """Tokens of the largest window for that many sequences; 0 = not even one token fits."""
    sequences: int
    """The most that fit with that window; 0 = not even one."""


def weights_bytes(parameters: float, bits: float) -> int:
    """Bytes of weights: parameters × bits / 8.

    Args:
        parameters: all of them, also those of experts that are rarely asked; above 0.
        bits: a weight takes on average, scales included; above 0.

    Raises:
        ValueError: an argument outside its range.

    The chapter's model at 16 bits:

    >>> weights_bytes(3.2e9, 16)
    6400000000
    """
    positive(parameters=parameters, bits=bits)
    return round(parameters * bits / 8)


def average_bits(file_bytes: float, parameters: float) -> float:
    """Bits that a weight takes on average: what a file really has, whatever its name says.

    Args:
        file_bytes: size of the file, above 0.
        parameters: all of them, above 0.

    Raises:
        ValueError: an argument outside its range.

    >>> average_bits(2.0e9, 3.2e9)
    5.0
    """
    positive(file_bytes=file_bytes, parameters=parameters)
    return file_bytes * 8 / parameters


def card_bytes(serving: Serving, window: int, sequences: int = 1) -> CardBytes:
    """What a card has to hold: weights + cache + margin.

    Args:
        serving: the model and how it is served.
        window: tokens of context in each sequence, above 0.
        sequences: served at once, above 0.

    Raises:
        ValueError: an argument outside its range.
        UnknownName: no such cache type.
    """
    positive(window=window, sequences=sequences, weights_bytes=serving.weights_bytes)
    weights, shape = serving.weights_bytes, serving.shape
    kv_type, v_type = serving.kv_type, serving.v_type
    cache = cache_bytes(shape, window, slots=sequences, kv_type=kv_type, v_type=v_type)
    cache += sequences * (shape.state_bytes or 0)
    margin = serving.margin_bytes
    if margin is None:
        spare = kept_bytes(shape, window, sequences, kv_type, v_type) - cache
        margin = spare + margin_bytes(window, sequences, weights)
    return CardBytes(weights=weights, cache=cache, margin=margin)


def largest_window(serving: Serving, memory: int, sequences: int = 1) -> int:
    """Tokens of the largest window with which everything fits; 0 = not even one token does.

    A cache that stops growing lets any window fit; then it is a hundred million.

    Args:
        serving: the model and how it is served.
        memory: bytes of the card, above 0.
        sequences: served at once, above 0.

    Raises:
        ValueError: an argument outside its range.
        UnknownName: no such cache type.
    """
    return _most(lambda tokens: card_bytes(serving, tokens, sequences).total, memory, _MOST_TOKENS)


def most_sequences(serving: Serving, memory: int, window: int) -> int:
    """How many sequences fit at once, each with its window; 0 = not even one.

    A model that keeps nothing of a sequence could serve any number; then it is a million.

    Args:
        serving: the model and how it is served.
        memory: bytes of the card, above 0.
        window: tokens of context in each sequence, above 0.

    Raises:
        ValueError: an argument outside its range.
        UnknownName: no such cache type.
    """
    return _most(lambda count: card_bytes(serving, window, count).total, memory, _MOST_SEQUENCES)


def most_weights(serving: Serving, memory: int, window: int, sequences: int = 1) -> int:
    """Bytes of the largest file that fits beside the cache; 0 = none does.

    Args:
        serving: the model and how it is served; its own weights do not count here.
        memory: bytes of the card, above 0.
        window: tokens of context in each sequence, above 0.
        sequences: served at once, above 0.

    Raises:
        ValueError: an argument outside its range.
        UnknownName: no such cache type.
    """

    def total(weights: int) -> int:
        return card_bytes(replace(serving, weights_bytes=weights), window, sequences).total

    return _most(total, memory, memory)


def most_bits(
    serving: Serving, parameters: float, memory: int, window: int, sequences: int = 1
) -> float:
    """Bits that a weight may take on average, so that everything fits; 0 = none do.

    Args:
        serving: the model and how it is served; its own weights do not count here.
        parameters: all of the model's, above 0.
        memory: bytes of the card, above 0.
        window: tokens of context in each sequence, above 0.
        sequences: served at once, above 0.

    Raises:
        ValueError: an argument outside its range.
        UnknownName: no such cache type.
    """
    positive(parameters=parameters)
    return most_weights(serving, memory, window, sequences) * 8 / parameters


def largest_type(bits: float) -> str | None:
    """The largest weight type that takes no more bits, scales included; None = none is so small.

    >>> largest_type(5), largest_type(8.5), largest_type(2.6)
    ('q4_K', 'q8_0', None)
    """
    fitting = (name for name, (numbers, size) in WEIGHT_TYPES.items() if size * 8 <= bits * numbers)
    return next(fitting, None)


def ranked(
    servings: Mapping[str, Serving], memory: int, window: int, sequences: int = 1
) -> tuple[Fit, ...]:
    """Models on a card: those that hold most sequences first, among equals the smallest first.

    Args:
        servings: by the names of the models.
        memory: bytes of the card, above 0.
        window: tokens of context in each sequence, above 0.
        sequences: served at once, above 0.

    Raises:
        ValueError: an argument outside its range.
        UnknownName: no such cache type.
    """
    fits = []
    for name, serving in servings.items():
        needs = card_bytes(serving, window, sequences)
        fits.append(
            Fit(
                name=name,
                needs=needs,
                left=memory - needs.total,
                window=largest_window(serving, memory, sequences),
                sequences=most_sequences(serving, memory, window),
            )
        )
    return tuple(sorted(fits, key=lambda fit: (-fit.sequences, fit.needs.total)))


def _most(total: Callable[[int], int], memory: int, limit: int) -> int:
    """The largest count from 1 to the limit whose total fits; totals never fall with the count."""
    positive(memory=memory)
    return bisect.bisect_right(range(1, limit + 1), memory, key=total)
