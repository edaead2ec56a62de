"""Promise: tokens are known from units, without asking a tokenizer."""

import random

import pytest

from tests.servers.tokenizer import token_counter
from twohalves.measure import prose

LENGTHS = [90, 150, 298, 572, 1095, 2156, 3000, 4250]
PREFIX = "{number}. "


def chance(seed):
    """Repeatable chance; nothing here is secret."""
    return random.Random(seed)  # noqa: S311 - a seed is the point


@pytest.fixture(scope="module")
def tokens_of():
    """Count with the tokenizer of the built-in model."""
    return token_counter()


@pytest.mark.parametrize("units", LENGTHS)
def test_tokens_are_units_plus_a_constant_within_one_percent(tokens_of, units):
    """The constant is the entry number's, measured on another number than the ones sent."""
    constant = tokens_of(PREFIX.format(number=10_000_000) + "The") - 1
    for seed in range(5):
        rng = chance(units * 100 + seed)
        text = PREFIX.format(number=rng.randrange(10_000_000, 100_000_000))
        text += prose.write(units, rng)

        assert tokens_of(text) == pytest.approx(units + constant, rel=0.01)


def test_prose_alone_has_as_many_tokens_as_units(tokens_of):
    """Within one in a thousand over a long text."""
    texts = [prose.write(4000, chance(seed)) for seed in range(5)]

    assert sum(map(tokens_of, texts)) == pytest.approx(5 * 4000, rel=0.001)
