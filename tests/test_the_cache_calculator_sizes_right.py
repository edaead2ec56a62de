"""The calculator of section 31.3 gives the chapter's sizes, and what it says fits, fits."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twohalves.formulas import KV_TYPES
from twohalves.formulas.memory import margin_bytes
from twohalves.runs.reference import claim
from twohalves.show.calculator import outcome, spec
from twohalves.show.calculator.start import first_value, take

SPEC = spec("kv_cache")
DEFAULTS = {each["id"]: first_value(each, ()) for each in SPEC["inputs"]}


def sized(**values):
    return outcome("kv_cache", DEFAULTS | values, ()).results


@pytest.mark.parametrize(
    ("values", "output", "printed", "decimals"),
    [
        ({}, "token_bytes", "kv_bytes_per_token", 0),
        ({}, "token_kib", "kv_kib_per_token", 0),
        ({"cache_type": "q8_0"}, "token_kib", "q8_kib_per_token", 1),
        ({"tokens": 131_072}, "cache_gib", "kv_full_gib", 0),
        ({"tokens": 131_072}, "cache_gb", "kv_full_gb", 0),
        ({"tokens": 131_072, "cache_type": "q8_0"}, "cache_gib", "q8_full_gib", 1),
        ({"tokens": 131_072, "weights_gb": 6.4}, "ratio", "ratio_matched", 1),
        ({"tokens": 131_072, "cache_type": "q8_0"}, "ratio", "ratio_q8_file", 1),
        ({"tokens": 131_072}, "ratio", "ratio_fp16_file", 1),
        ({"tokens": 131_072, "kv_heads": 24}, "cache_gib", "kv_full_mha_gib", 0),
        ({"tokens": 32_768}, "cache_gib", "long_conv_gib", 1),
        ({"tokens": 32_768}, "cache_gb", "long_conv_gb", 1),
        ({"tokens": 32_768, "weights_gb": 6.4, "margin_gib": 0}, "total_gb", "card_total_gb", 0),
        ({}, "file_bits", "avg_bits", 0),
        ({"tokens": 32_768, "slots": 4}, "cache_gib", "four_conv_gib", 0),
        ({"tokens": 32_768, "layers": 80}, "cache_gb", "big_kv_gqa_gb", 1),
        ({"tokens": 32_768, "layers": 80, "kv_heads": 64}, "cache_gb", "big_kv_mha_gb", 1),
    ],
)
def test_the_chapters_figures(values, output, printed, decimals):
    """Each printed figure of section 31.3, to its printed decimals."""
    assert sized(**values)[output] == pytest.approx(claim(printed), abs=0.5 * 10**-decimals)


def test_every_preset_can_be_set_exactly_and_says_where_it_is_from():
    """No value is rounded or clamped on its way in."""
    described = {each["id"]: each for each in SPEC["inputs"]}
    for preset in SPEC["presets"]:
        assert preset["source"]
        for name, value in preset["values"].items():
            assert take(described[name], value, DEFAULTS[name], ()) == (value, "")


def test_a_full_window_is_no_question_of_units():
    """17.03 GB do not fit into 16 GB; a machine sold with 16 GB holds 17.18, and there they do."""
    found = sized(tokens=131_072, memory_gib=16, margin_gib=0)

    assert found["total_gb"] == pytest.approx(17.03, abs=0.005)
    assert found["total_gib"] == pytest.approx(15.86, abs=0.005)
    assert found["left_gib"] == pytest.approx(0.137, abs=0.0005)
    assert sized(tokens=131_072, memory_gib=16)["left_gib"] is None  # with a margin of 0.5 GiB


def test_the_questions_backwards_by_hand():
    """24 GiB, 0.75 of margin, 6.4 GB: 18.56 GB are free, 161,869 tokens or 4 times 32,768.

    Beside four times 3.76 GB there is room for 9.93 GB, or 24.8 bits for each of 3.2 billion.
    """
    found = sized(tokens=32_768, memory_gib=24, margin_gib=0.75, weights_gb=6.4)

    assert found["longest_tokens"] == (24 * 2**30 - 805_306_368 - 6_400_000_000) // 114_688
    assert found["most_slots"] == 4
    four = sized(tokens=32_768, memory_gib=24, margin_gib=0.75, weights_gb=6.4, slots=4)
    assert four["largest_file_gb"] == pytest.approx(9.932, abs=0.0005)
    assert four["most_bits"] == pytest.approx(24.83, abs=0.005)
    assert sized(slots=4, tokens=131_072)["largest_file_gb"] is None


def test_the_margin_is_that_of_the_formula():
    """The calculator tells the estimate of formulas/memory.py, and doubts one that is smaller."""
    found = outcome("kv_cache", DEFAULTS | {"weights_gb": 40, "tokens": 100_000, "slots": 3}, ())

    expected = margin_bytes(100_000, 3, 40 * 10**9)
    assert found.results["estimate_gib"] == expected / 2**30
    assert any("The margin is small" in note for note in found.notes)


MODELS = st.fixed_dictionaries(
    {
        "layers": st.integers(1, 256),
        "kv_heads": st.integers(1, 128),
        "head_dim": st.integers(1, 1024),
        "slots": st.integers(1, 256),
        "cache_type": st.sampled_from(sorted(KV_TYPES)),
        "weights_gb": st.integers(0, 400_000).map(lambda megabytes: megabytes / 1000),
        "memory_gib": st.integers(25, 100_000).map(lambda hundredths: hundredths / 100),
        "margin_gib": st.integers(0, 5_000).map(lambda hundredths: hundredths / 100),
        "parameters_b": st.integers(1, 700_000).map(lambda millions: millions / 1000),
    }
)


@given(MODELS)
def test_the_longest_context_fits_and_one_token_more_does_not(model):
    """Whatever the model and the memory; without one, the weights are too large already."""
    longest = sized(**model)["longest_tokens"]
    if longest is None:
        assert sized(**model)["weights_gib"] + model["margin_gib"] > model["memory_gib"]
        return
    if longest:
        assert sized(**model, tokens=longest)["left_gb"] is not None
    assert sized(**model, tokens=longest + 1)["left_gb"] is None


@given(MODELS, st.integers(1, 10**6))
def test_the_most_slots_fit_and_one_more_does_not(model, tokens):
    """However many slots there are now."""
    most = sized(**model, tokens=tokens)["most_slots"]
    if most:
        assert sized(**model | {"slots": int(most)}, tokens=tokens)["left_gb"] is not None
    if most is not None:
        assert sized(**model | {"slots": int(most) + 1}, tokens=tokens)["left_gb"] is None


@given(MODELS, st.integers(1, 10**6))
def test_the_largest_file_fits_and_a_megabyte_more_does_not(model, tokens):
    """And the bits that fit are its bits."""
    found = sized(**model, tokens=tokens)
    largest = found["largest_file_gb"]
    if largest is None:
        assert sized(**model | {"weights_gb": 0}, tokens=tokens)["left_gb"] is None
        return
    fits = math.floor(largest * 1000) / 1000
    below = sized(**model | {"weights_gb": fits}, tokens=tokens)
    assert below["left_gb"] is not None
    assert sized(**model | {"weights_gb": fits + 0.001}, tokens=tokens)["left_gb"] is None
    assert below["file_bits"] <= found["most_bits"] * (1 + 1e-12)


@given(MODELS, st.integers(1, 10**7), st.integers(0, 10**6))
def test_more_context_never_takes_less(model, tokens, more):
    """And a memory is either large enough or too small by some bytes."""
    less, found = sized(**model, tokens=tokens), sized(**model, tokens=tokens + more)

    assert found["cache_gb"] >= less["cache_gb"]
    assert (found["left_gb"] is None) == (found["missing_gb"] is not None)
