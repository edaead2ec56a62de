"""The calculator of section 31.3 gives the chapter's sizes, and what it says fits, fits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twohalves.formulas import KV_TYPES
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
        ({"tokens": 32_768, "weights_gb": 6.4}, "total_gb", "card_total_gb", 0),
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
    found = sized(tokens=131_072, memory_gib=16)

    assert found["total_gb"] == pytest.approx(17.03, abs=0.005)
    assert found["total_gib"] == pytest.approx(15.86, abs=0.005)
    assert found["left_gib"] == pytest.approx(0.137, abs=0.0005)


MODELS = st.fixed_dictionaries(
    {
        "layers": st.integers(1, 256),
        "kv_heads": st.integers(1, 128),
        "head_dim": st.integers(1, 1024),
        "slots": st.integers(1, 256),
        "cache_type": st.sampled_from(sorted(KV_TYPES)),
        "weights_gb": st.integers(0, 400_000).map(lambda megabytes: megabytes / 1000),
        "memory_gib": st.integers(25, 100_000).map(lambda hundredths: hundredths / 100),
    }
)


@given(MODELS)
def test_the_longest_context_fits_and_one_token_more_does_not(model):
    """Whatever the model and the memory; without one, the weights are too large already."""
    longest = sized(**model)["longest_tokens"]
    if longest is None:
        assert sized(**model)["weights_gib"] > model["memory_gib"]
        return
    if longest:
        assert sized(**model, tokens=longest)["left_gb"] is not None
    assert sized(**model, tokens=longest + 1)["left_gb"] is None


@given(MODELS, st.integers(1, 10**7), st.integers(0, 10**6))
def test_more_context_never_takes_less(model, tokens, more):
    """And a memory is either large enough or too small by some bytes."""
    less, found = sized(**model, tokens=tokens), sized(**model, tokens=tokens + more)

    assert found["cache_gb"] >= less["cache_gb"]
    assert (found["left_gb"] is None) == (found["missing_gb"] is not None)
