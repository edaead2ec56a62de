"""The roofline: how much arithmetic each byte pays for, and which of the two limits a chip first.

A chip has a peak of arithmetic, FLOP a second, and a peak of memory traffic, bytes a second.
Work that does few operations a byte waits for memory, work that does many waits for arithmetic;
the two meet at the ridge. Williams, Waterman and Patterson, "Roofline", CACM 52(4), 2009.

Weights are those of a dense model: every step reads all of them and uses each once a token. In a
mixture of experts a token uses few, and a batch reads more of them the larger it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from twohalves.formulas.ranges import not_negative, positive

FLOP_PER_WEIGHT = 2
"""A weight is multiplied by an activation, and the product is added: two operations a token."""
BITS = 8
"""In a byte."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Roof:
    """The two limits of a chip, for one kind of arithmetic."""

    peak_flop_s: float
    """FLOP a second at most, dense."""
    bandwidth: float
    """Bytes a second that memory delivers at most."""

    def __post_init__(self) -> None:
        """Refuse a chip without one of the two.

        Raises:
            ValueError: a limit that is not above 0.
        """
        positive(peak_flop_s=self.peak_flop_s, bandwidth=self.bandwidth)

    @property
    def ridge(self) -> float:
        """FLOP a byte from which on arithmetic is the limit.

        The chapter's H100-class part, section 31.4:

        >>> round(Roof(peak_flop_s=989e12, bandwidth=3.35e12).ridge)
        295
        """
        return self.peak_flop_s / self.bandwidth

    def attainable(self, intensity: float) -> float:
        """FLOP a second that work of this intensity can reach: the smaller of the two limits.

        Args:
            intensity: FLOP a byte, above 0.

        Raises:
            ValueError: an intensity that is not above 0.
        """
        positive(intensity=intensity)
        return min(self.peak_flop_s, intensity * self.bandwidth)

    def seconds(self, work: Work) -> float:
        """The shortest time for this work, if memory and arithmetic overlap completely."""
        return max(work.flop / self.peak_flop_s, work.bytes_moved / self.bandwidth)


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What one pass through a model does."""

    flop: float
    """Floating-point operations."""
    bytes_moved: float
    """Bytes that it reads from memory."""

    @property
    def intensity(self) -> float:
        """Operations a byte."""
        return self.flop / self.bytes_moved


def intensity(tokens: float, bits: float = 16) -> float:
    """FLOP a byte of weights, for so many tokens that share one reading of them.

    I = 2 N B / (N b / 8) = 16 B / b, in which the size of the model N cancels. For a step of
    decode B is the number of requests in the batch, for prefill the length of the prompt
    (section 31.4 of the chapter, where b is in bytes). Neither the cache nor the arithmetic of
    attention is in it.

    Args:
        tokens: B, that go through the model together, above 0.
        bits: b, of a weight, on average, above 0.

    Raises:
        ValueError: an argument that is not above 0.

    >>> intensity(1), intensity(4247), intensity(1, bits=4)
    (1.0, 4247.0, 4.0)
    """
    positive(tokens=tokens, bits=bits)
    return FLOP_PER_WEIGHT * BITS * tokens / bits


def batch_at_ridge(ridge: float, bits: float = 16) -> float:
    """The batch at which decode reaches the ridge, were there no cache to read: R b / 16.

    Args:
        ridge: FLOP a byte, of the chip at the precision that it computes in, above 0.
        bits: of a weight as it lies in memory, above 0.

    Raises:
        ValueError: an argument that is not above 0.

    >>> [round(batch_at_ridge(989 / 3.35, bits)) for bits in (16, 4, 5)]
    [295, 74, 92]
    """
    positive(ridge=ridge, bits=bits)
    return ridge * bits / (FLOP_PER_WEIGHT * BITS)


def decode_step(
    parameters: float,
    bits: float,
    batch: float = 1,
    *,
    cache_bytes: float = 0,
    attention_flop: float = 0,
) -> Work:
    """One step of decode: weights are read once for the whole batch, each cache for one request.

    FLOP = B (2 N + A), bytes = N b / 8 + B K.

    Args:
        parameters: N, weights of the model, above 0.
        bits: b, of a weight, on average, above 0.
        batch: B, requests that take the step together, above 0.
        cache_bytes: K, that one request reads of its own cache, at least 0.
        attention_flop: A, that one request spends on its cache, at least 0; see
            `attention_flop`. The chapter leaves it out.

    Raises:
        ValueError: an argument outside its range.
    """
    positive(parameters=parameters, bits=bits, batch=batch)
    not_negative(cache_bytes=cache_bytes, attention_flop=attention_flop)
    return Work(
        flop=batch * (FLOP_PER_WEIGHT * parameters + attention_flop),
        bytes_moved=parameters * bits / BITS + batch * cache_bytes,
    )


def attention_flop(tokens: float, layers: int, query_heads: int, width: int) -> float:
    """FLOP that one new token spends on the cache: 4 n L H d.

    Each query head multiplies its query with every key, and every value with its weight: two
    products of d numbers a token, two operations a number.

    Args:
        tokens: n, in the cache, at least 0.
        layers: L, that attend to all of it.
        query_heads: H, in a layer; query heads, not KV heads.
        width: d, numbers in a head.

    Raises:
        ValueError: a negative number of tokens.
    """
    not_negative(tokens=tokens)
    return 2 * FLOP_PER_WEIGHT * tokens * layers * query_heads * width


def batch_at_ridge_with_cache(
    ridge: float,
    parameters: float,
    bits: float,
    cache_bytes: float,
    *,
    attention_flop: float = 0,
) -> float | None:
    """The batch at which decode reaches the ridge although each request reads its own cache.

    B = R (N b / 8) / (2 N + A − R K), from B (2 N + A) = R (N b / 8 + B K).

    Args:
        ridge: R, FLOP a byte, above 0.
        parameters: N, above 0.
        bits: b, of a weight, above 0.
        cache_bytes: K, that one request reads a step, at least 0.
        attention_flop: A, that it spends on it, at least 0.

    Returns:
        None where no batch reaches it: with more requests intensity approaches (2 N + A) / K,
        and that is not above the ridge.

    Raises:
        ValueError: an argument outside its range.
    """
    positive(ridge=ridge, parameters=parameters, bits=bits)
    not_negative(cache_bytes=cache_bytes, attention_flop=attention_flop)
    gained = FLOP_PER_WEIGHT * parameters + attention_flop - ridge * cache_bytes
    return ridge * parameters * bits / BITS / gained if gained > 0 else None


def batch_in_memory(
    memory_bytes: float, weights_bytes: float, cache_bytes: float, margin_bytes: float = 0
) -> int:
    """The requests whose caches fit beside the weights, whole; 0 if the weights leave no room.

    Args:
        memory_bytes: of the card, above 0.
        weights_bytes: of the model, above 0.
        cache_bytes: of one request at its full context, above 0.
        margin_bytes: kept for activations and the runtime, at least 0.

    Raises:
        ValueError: an argument outside its range.
    """
    positive(memory_bytes=memory_bytes, weights_bytes=weights_bytes, cache_bytes=cache_bytes)
    not_negative(margin_bytes=margin_bytes)
    free = memory_bytes - weights_bytes - margin_bytes
    return max(0, math.floor(free / cache_bytes))


def flop_used(tokens_per_s: float, parameters: float) -> float:
    """FLOP a second that this rate has done with the weights at least: 2 N a token.

    A floor: the arithmetic of attention comes on top, and so does what was done in vain.

    Args:
        tokens_per_s: prefilled or decoded, above 0.
        parameters: weights that a token uses, above 0.

    Raises:
        ValueError: an argument that is not above 0.

    >>> flop_used(2000, 3.2e9) / 1e12
    12.8
    """
    positive(tokens_per_s=tokens_per_s, parameters=parameters)
    return FLOP_PER_WEIGHT * parameters * tokens_per_s
