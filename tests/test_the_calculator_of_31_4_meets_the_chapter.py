"""The calculator of section 31.4: the chapter's figures, chips as in their table, own models."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twohalves.runs import named
from twohalves.runs.choose import newest_sample
from twohalves.runs.hardware import chip
from twohalves.runs.reference import claim
from twohalves.show import own_batch
from twohalves.show.calculator import outcome, spec
from twohalves.show.calculator.start import begin, first_value

SPEC = spec("roofline")
DEFAULTS = {each["id"]: first_value(each, ()) for each in SPEC["inputs"]}
CHIPS = {each["label"]: each["values"] for each in SPEC["presets"] if each["group"] == "lever"}


def computed(**values):
    return outcome("roofline", DEFAULTS | values, ()).results


@pytest.fixture
def sample():
    return named(newest_sample())


@pytest.mark.parametrize(
    ("values", "output", "printed"),
    [
        ({}, "ridge", "ridge"),
        ({}, "batch_ridge", "ridge_batch_fp16"),
        ({"bits": 4.0}, "batch_ridge", "ridge_batch_4bit"),
        ({"users": 4247.0}, "intensity_weights", "prefill_intensity"),
    ],
)
def test_the_chapters_figures(values, output, printed):
    """295, 295, 74 and 4,247."""
    assert round(computed(**values)[output]) == claim(printed)


@pytest.mark.parametrize("name", CHIPS)
def test_a_chip_is_that_of_the_table(name):
    """Peak, bandwidth and memory as in data/hardware.csv."""
    told = chip(name)

    assert {
        "peak_tflop_s": told.peaks["fp16"] / 1e12,
        "bandwidth_gb_s": told.bandwidth / 1e9,
        "memory_gb": told.memory_bytes / 1e9,
    } == pytest.approx(CHIPS[name])


def test_the_readers_model_is_where_it_begins(sample):
    """134.5 M weights in 98.4 MB are 5.85 bits; 30 layers x 3 heads x 64 x 4 bytes are 22.5 KiB."""
    started = own_batch.start(sample)

    assert {name: each.value for name, each in started.items()} == {
        "parameters_b": 0.135,
        "bits": 5.85,
        "token_kib": 22.5,
    }
    assert begin(SPEC, started, ()).notes == []


def test_a_model_with_windows_begins_with_what_a_token_takes_here(sample):
    """Gemma 3 4B at 4,247 tokens: 5 x 4,096 bytes, and 29 x 4,096 x 1,024 / 4,247 more."""
    keys = {
        "general.architecture": "gemma3",
        "gemma3.block_count": 34,
        "gemma3.attention.head_count": 8,
        "gemma3.attention.head_count_kv": 4,
        "gemma3.attention.key_length": 256,
        "gemma3.attention.value_length": 256,
        "gemma3.attention.sliding_window": 1024,
    }
    sample.session["model"]["own_keys"] = keys
    token = own_batch.start(sample)["token_kib"]

    assert token.value == pytest.approx((20_480 + 118_784 * 1024 / 4247) / 1024, abs=0.001)
    assert "at 4,247 tokens: some layers keep only the last ones" in token.source


def test_a_model_without_a_cache_begins_with_none(sample):
    """A recurrent model does not take the cache of the chapter's; the least that can be entered."""
    sample.session["model"]["own_keys"] = {"general.architecture": "mamba", "mamba.block_count": 64}
    token = own_batch.start(sample)["token_kib"]

    assert token.value == 0.001
    assert "keeps nothing that grows" in token.source


def test_a_run_without_prompts_begins_with_its_model(sample):
    """What the calculator needs stands in the session, whatever was measured."""
    bare = dataclasses.replace(sample, timings=())
    assert own_batch.start(bare) == own_batch.start(sample)


def test_a_model_that_cannot_be_counted_begins_with_the_chapters(sample):
    """Without its size nothing is made up."""
    sample.session["model"].pop("size")

    assert own_batch.start(sample) == {}


@given(
    st.floats(1, 1e4), st.floats(1, 1e4), st.integers(1, 10_000), st.integers(1, 100_000),
    st.sampled_from([4.0, 5.0, 8.0, 16.0]),
)  # fmt: skip
def test_more_users_are_never_faster(peak, bandwidth, users, context, bits):
    """A step with one more takes as long or longer, and all together get as much or more."""
    given_values = {
        "peak_tflop_s": peak, "bandwidth_gb_s": bandwidth, "bits": bits,
        "context_tokens": float(context),
    }  # fmt: skip
    here = computed(users=float(users), **given_values)
    there = computed(users=float(users + 1), **given_values)

    assert here["step_s"] <= there["step_s"]
    assert here["all_tok_s"] <= there["all_tok_s"] * (1 + 1e-12)
    assert here["step_s"] == max(here["memory_s"], here["arithmetic_s"])
    assert 0 < here["busy"] <= 1
