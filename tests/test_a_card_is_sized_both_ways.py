"""A card is sized from a model, and a model from a card: what is said to fit fits, by a byte."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twohalves.errors import UnknownName
from twohalves.formulas import KV_TYPES, KvLayer, KvShape, memory_needed, uniform_shape
from twohalves.formulas.sizing import (
    WEIGHT_TYPES,
    Serving,
    average_bits,
    card_bytes,
    largest_type,
    largest_window,
    most_bits,
    most_sequences,
    most_weights,
    ranked,
    weights_bytes,
)
from twohalves.runs.reference import claim

GB, GIB = 10**9, 2**30
LLAMA = uniform_shape(28, 8, 128)  # 2 x 28 x 8 x 128 x 2 = 114,688 bytes a token
TINY = Serving(shape=uniform_shape(1, 1, 1), weights_bytes=100, margin_bytes=10)  # 4 bytes a token


def mixed(full, windowed, window):
    """Layers that keep every token, and layers that keep the last ones; one head of one number."""
    kinds = (None,) * full + (window,) * windowed
    layers = tuple(KvLayer(heads=1, key_width=1, value_width=1, window=kind) for kind in kinds)
    return KvShape(layers=layers, query_heads=1, read=())


def test_the_chapters_card():
    """3.2 billion weights of 16 bits are 6.4 GB; with 3.8 GB of cache about 10 before a margin."""
    weights = weights_bytes(claim("params_billion") * 1e9, 16)
    serving = Serving(shape=LLAMA, weights_bytes=weights, margin_bytes=0)
    one, four = card_bytes(serving, 32_768), card_bytes(serving, 32_768, 4)

    assert weights == 6_400_000_000
    assert one.cache == 3_758_096_384
    assert one.total == 10_158_096_384
    assert four.cache == 14 * GIB
    assert four.weights == one.weights
    assert four.cache / four.weights > claim("four_conv_over_weights")


def test_bits_are_those_of_the_file():
    """2.0 GB for 3.2 billion are 5 bits; 23.9 GB for all 35 billion of the experts are 5.46."""
    assert average_bits(2.0 * GB, 3.2e9) == 5
    assert average_bits(23.9 * GB, 35e9) == pytest.approx(191.2 / 35)
    assert average_bits(23.9 * GB, 3e9) > 60  # the active ones alone: no file has so many bits


def test_each_inverse_by_hand():
    """100 of weights, 10 of margin, 4 bytes a token; a card of 200 bytes has 90 for the cache."""
    assert card_bytes(TINY, 5, 3).total == 100 + 60 + 10
    assert largest_window(TINY, 200) == 22  # 88 bytes
    assert largest_window(TINY, 200, 3) == 7  # 3 x 28 = 84
    assert largest_window(TINY, 113) == 0  # 3 bytes are left
    assert largest_window(TINY, 114) == 1
    assert most_sequences(TINY, 200, 5) == 4  # 20 bytes each
    assert most_sequences(TINY, 200, 23) == 0
    assert most_weights(TINY, 200, 5, 2) == 150  # 200 - 40 - 10
    assert most_bits(TINY, 100, 200, 5, 2) == 12  # 150 bytes for 100 weights
    assert most_weights(TINY, 50, 10) == most_bits(TINY, 100, 50, 10) == 0  # to the byte: nothing


def test_layers_with_a_window_stop_growing():
    """Two full layers and three of a window of 10: 8 bytes a token, and 12 up to the tenth."""
    serving = Serving(shape=mixed(2, 3, 10), weights_bytes=100, margin_bytes=0)

    assert largest_window(serving, 100 + 10 * 20) == 10
    assert largest_window(serving, 100 + 10 * 20 + 8 * 5) == 15  # 20 a token would give 12
    forgetful = replace(serving, shape=mixed(0, 3, 10))
    assert largest_window(forgetful, 100 + 9 * 12) == 9
    assert largest_window(forgetful, 100 + 10 * 12) == 100_000_000  # whatever the window


def test_a_full_window_on_sixteen():
    """131,072 tokens are 14 GiB: with a 2.0 GB file 17.03 GB, 15.86 GiB; a margin decides."""
    bare = Serving(shape=LLAMA, weights_bytes=2 * GB, margin_bytes=0)

    assert card_bytes(bare, 131_072).total == 17_032_385_536
    assert largest_window(bare, 16 * GB) == 122_070  # 14e9 / 114,688 = 122,070.3
    assert largest_window(bare, 16 * GIB) == 132_357
    assert largest_window(replace(bare, margin_bytes=None), 16 * GIB) < 131_072


def test_a_margin_that_is_not_stated_is_the_estimate():
    """Weights and cache are what the formula says; with the rest it is what a server is asked."""
    serving = Serving(shape=LLAMA, weights_bytes=2 * GB, kv_type="q8_0")
    needs = card_bytes(serving, 8192, 2)

    assert needs.cache == 2 * 8192 * 60_928
    assert needs.total == memory_needed(LLAMA, 8192, 2, "q8_0", 2 * GB)
    assert needs.margin > 176 * 2**20 + 0.05 * 2 * GB


def test_values_and_states_count_too():
    """32 numbers of a key take 34 bytes, of a value 18; and a sequence 1,000, however long."""
    shape = replace(uniform_shape(1, 1, 32), state_bytes=1000)
    serving = Serving(shape=shape, weights_bytes=100, kv_type="q8_0", v_type="q4_0", margin_bytes=0)

    assert card_bytes(serving, 10, 3).cache == 3 * (10 * 52 + 1000)
    assert largest_window(serving, 100 + 1000 + 519) == 9
    assert most_sequences(replace(serving, v_type=None), 100 + 2 * 1680, 10) == 2  # 68 a token
    estimated = card_bytes(replace(serving, margin_bytes=None), 10)
    spare = (256 - 10) * 52  # the engine keeps 256 cells for 10 tokens, and masks them
    assert estimated.margin == spare + 256 * 1024 + 176 * 2**20 + 5
    stateless = memory_needed(uniform_shape(1, 1, 32), 10, 3, "f16", 100)
    assert memory_needed(shape, 10, 3, "f16", 100) == stateless + 3000


@pytest.mark.parametrize(
    ("name", "bits"),
    # Q8_0: 32 bytes and a scale of 2. K types, 256 numbers: 2 scales of 2 bytes and 12 of 6 bits
    [("q8_0", 8.5), ("q6_K", 6.5625), ("q5_K", 5.5), ("q4_K", 4.5), ("q3_K", 3.4375)],
)
def test_the_largest_type_is_told(name, bits):
    """At exactly its bits a type fits, below them it does not."""
    assert largest_type(bits) == name
    assert largest_type(bits - 0.001) != name


def test_types_are_sorted_and_the_smallest_has_an_end():
    """The first that fits is the largest; under 2.625 bits there is none."""
    sizes = [size / numbers for numbers, size in WEIGHT_TYPES.values()]

    assert sizes == sorted(sizes, reverse=True)
    assert largest_type(64) == "f32"
    assert largest_type(2.6) is None
    assert largest_type(0) is None


def test_models_on_a_card_are_ranked_by_whom_they_serve():
    """100 + 4 a token, 60 + 8, 150 + 4: of 10 tokens a card of 200 holds 2, 1 and 1."""
    servings = {
        "broad": replace(TINY, weights_bytes=60, shape=uniform_shape(2, 1, 1)),
        "large": replace(TINY, weights_bytes=150),
        "plain": TINY,
        "huge": replace(TINY, weights_bytes=195),
    }
    found = ranked(servings, 200, 10)

    assert [fit.name for fit in found] == ["plain", "broad", "large", "huge"]
    assert [fit.sequences for fit in found] == [2, 1, 1, 0]
    assert [fit.left for fit in found] == [50, 50, 0, -45]
    assert [fit.window for fit in found] == [22, 16, 10, 0]


@pytest.mark.parametrize(
    ("ask", "name"),
    [
        (lambda: card_bytes(TINY, 0), "window"),
        (lambda: card_bytes(TINY, -1), "window"),
        (lambda: card_bytes(TINY, 1, 0), "sequences"),
        (lambda: card_bytes(replace(TINY, weights_bytes=0), 1), "weights_bytes"),
        (lambda: largest_window(TINY, 0), "memory"),
        (lambda: most_sequences(TINY, 100, -5), "window"),
        (lambda: weights_bytes(0, 4), "parameters"),
        (lambda: weights_bytes(1, float("nan")), "bits"),
        (lambda: average_bits(1, 0), "parameters"),
        (lambda: most_bits(TINY, 0, 100, 1), "parameters"),
    ],
)
def test_nothing_is_sized_for_nothing(ask, name):
    """A window, a card or a model of no size is refused by its name."""
    with pytest.raises(ValueError, match=f"{name} must be above 0"):
        ask()


def test_an_unknown_cache_type_is_refused():
    """And the known ones are told."""
    with pytest.raises(UnknownName, match="q8_0"):
        largest_window(replace(TINY, kv_type="q8"), 200)


SERVINGS = st.builds(
    Serving,
    shape=st.builds(
        mixed, full=st.integers(0, 40), windowed=st.integers(1, 40), window=st.integers(1, 9000)
    ),
    weights_bytes=st.integers(1, 10**11),
    kv_type=st.sampled_from(sorted(KV_TYPES)),
    v_type=st.none() | st.sampled_from(sorted(KV_TYPES)),
    margin_bytes=st.none() | st.integers(0, 10**10),
)
CARDS, COUNTS = st.integers(1, 10**12), st.integers(1, 300)


@given(SERVINGS, CARDS, st.integers(1, 200_000), COUNTS)
def test_what_is_returned_fits_and_one_more_does_not(serving, memory, tokens, count):
    """Whichever question was asked; 0 means that one is too much already."""
    window = largest_window(serving, memory, count)
    most = most_sequences(serving, memory, tokens)
    weights = most_weights(serving, memory, tokens, count)

    for value, total in (
        (window, lambda n: card_bytes(serving, n, count).total),
        (most, lambda n: card_bytes(serving, tokens, n).total),
        (weights, lambda n: card_bytes(replace(serving, weights_bytes=n), tokens, count).total),
    ):
        assert value == 0 or total(value) <= memory
        assert value in (1_000_000, 100_000_000) or total(value + 1) > memory


@given(SERVINGS, CARDS, st.integers(1, 200_000), st.integers(10**6, 10**12))
def test_the_bits_that_fit_are_a_file_that_fits(serving, memory, tokens, parameters):
    """Bits and bytes answer alike."""
    bits = most_bits(serving, parameters, memory, tokens)
    if bits:
        weights = weights_bytes(parameters, bits)
        assert weights == most_weights(serving, memory, tokens)
        assert card_bytes(replace(serving, weights_bytes=weights), tokens).total <= memory
