"""Ridge, intensity and the batch at the ridge: the chapter's figures, and what it leaves out."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twohalves.errors import QuantityUnusable
from twohalves.formulas import (
    Roof,
    attention_flop,
    bandwidth_used,
    batch_at_ridge,
    batch_at_ridge_with_cache,
    batch_in_memory,
    decode_step,
    flop_used,
    intensity,
)
from twohalves.formulas.allocated import BATCH
from twohalves.runs import hardware
from twohalves.show import chips, roofline, roofline_own, roofline_picture

H100 = Roof(peak_flop_s=989e12, bandwidth=3.35e12)
PARAMETERS, F16_TOKEN = 3.2e9, 114_688
CACHE = 4247 * F16_TOKEN
ATTENTION = 4 * 4247 * 28 * 24 * 128  # 4 n L H d: 1,461,239,808
SIZES = st.floats(min_value=1e6, max_value=1e13)
BITS = st.floats(min_value=1, max_value=32)
MANY = st.integers(min_value=1, max_value=100_000)


def test_the_ridge_of_the_chapters_part():
    """989 over 3.35 is 295.2, and by 3.35e12 x 295.22 the two limits meet."""
    assert 295.2 == round(H100.ridge, 1)
    assert H100.attainable(H100.ridge) == pytest.approx(989e12)


@pytest.mark.parametrize(("bits", "batch"), [(16, 295), (4, 74), (5, 92), (8, 148)])
def test_the_batch_at_the_ridge(bits, batch):
    """295.2 x bits / 16: 73.8 at four bits, 92.3 at the real five."""
    assert batch == round(batch_at_ridge(H100.ridge, bits))


def test_prefill_on_the_same_axis():
    """4,247 tokens at two bytes a weight: 2 x 4247 / 2; over the ridge 14.4 times."""
    assert intensity(4247) == 4247
    assert 14.4 == round(intensity(4247) / H100.ridge, 1)


def test_five_bits_are_the_files():
    """2.0 GB of 3.2 billion weights are 16 / 3.2 = 5 bits each."""
    assert roofline_own.chapter().bits == 5


def test_the_chapters_380_gigabytes_a_second():
    """190 tokens a second times 2.0 GB, by the function that the reader's machine goes through."""
    assert bandwidth_used(190, 2.0e9) == 380e9
    assert "**380 GB/s**" in roofline_own.chapter_stream().data


def test_the_chapters_machine_by_its_rows():
    """Its fastest prefill is 2,104 tok/s, each 2 x (3.2 billion - 128,256 x 3,072) operations."""
    found = roofline_own.chapter()

    assert found.prefill_flop_s == pytest.approx(2_104 * 2 * (3.2e9 - 394_002_432))
    # row 572, the busiest: 190.9 steps of 2.0 GB and 572 x 60,928 bytes
    assert found.bytes_s == pytest.approx(190.9 * (2.0e9 + 572 * 60_928))
    assert 3.1 < found.decode_intensity < 3.2


def test_fifty_requests_read_more_cache_than_weights():
    """50 x 4,247 x 114,688 bytes are 24.35 GB, against 6.4 GB of weights."""
    work = decode_step(PARAMETERS, 16, 50, cache_bytes=CACHE, attention_flop=ATTENTION)

    assert work.bytes_moved == 6.4e9 + 24_353_996_800
    # (50 x (6.4e9 + 1.461e9)) / 30.754e9
    assert 12.8 == round(work.intensity, 1)


def test_the_fiftieth_is_not_nearly_free():
    """A step reads 30.754 GB for fifty and 6.887 for one: 4.47 times as long, 11.2x the tokens."""
    said = roofline.the_fiftieth().data

    assert "24.4 GB" in said
    assert "**4.5×**" in said
    assert "11× the tokens, not 50×" in said


def test_with_the_chapters_context_no_batch_reaches_the_ridge():
    """With more requests intensity rests at (6.4e9 + 1.461e9) / 487e6 = 16.1, far below 295."""
    assert batch_at_ridge_with_cache(
        H100.ridge, PARAMETERS, 16, CACHE, attention_flop=ATTENTION
    ) is None  # fmt: skip
    assert "16.1 FLOP a byte" in roofline.never_reached().data


def test_short_contexts_reach_it_late():
    """100 tokens: R N 2 / (2 N + A - R K), in fractions."""
    ridge, cache = Fraction(989_000, 3_350), 100 * 114_688
    attention = 4 * 100 * 28 * 24 * 128
    wanted = ridge * 6_400_000_000 / (6_400_000_000 + attention - ridge * cache)

    assert batch_at_ridge_with_cache(
        float(ridge), 3.2e9, 16, cache, attention_flop=attention
    ) == pytest.approx(float(wanted))  # fmt: skip
    assert attention_flop(100, 28, 24, 128) == attention


def test_how_long_a_context_may_be_for_the_ridge():
    """6.4e9 / (295.2 x 114,688 - 344,064) = 190.96: at 190 tokens a batch exists, at 191 none."""

    def batch(tokens):
        return batch_at_ridge_with_cache(
            H100.ridge, 3.2e9, 16, tokens * F16_TOKEN,
            attention_flop=attention_flop(tokens, 28, 24, 128),
        )  # fmt: skip

    assert batch(190) > 0
    assert batch(191) is None
    assert "about 191 tokens" in roofline.never_reached().data


def test_memory_caps_the_batch_before_the_ridge():
    """80 GB less 6.4 of weights and 8 kept free, over 0.487: 134 requests, not 295."""
    assert batch_in_memory(80e9, 6.4e9, CACHE, 8e9) == 134
    assert batch_in_memory(6e9, 6.4e9, CACHE) == 0
    row = next(line for line in chips.caps().data.splitlines() if "NVIDIA H100" in line)
    assert row == "| NVIDIA H100 | 80 | 134 | 295 | memory | never |"


def test_the_other_chips_stand_in_a_fold():
    """Each chip with a ridge once; those named first stand open."""
    said = chips.caps().data
    told = [chip for chip in hardware.chips() if chip.roof()]

    assert all(said.count(f"| {chip.name} ") == 1 for chip in told)
    assert [chip.name in said.split("<details>")[0] for chip in told] == [
        chip.name in chips.SHOWN for chip in told
    ]


def test_the_table_of_batches_says_what_attention_adds():
    """4 x 4,247 x 28 x 24 x 128 = 1.461 GFLOP on 6.4: 23%."""
    assert "23% on top of" in roofline.by_batch(4247).data


def test_laptops_have_lower_ridges():
    """4.6 TFLOP/s over 136 GB/s is 34, 2.6 over 66.67 is 39; the H100's is 295."""
    assert chips.on_laptops() == "34 (Qualcomm Snapdragon X Elite) or 39 (Apple M1)"


def test_an_engine_that_reads_a_prompt_in_pieces():
    """Pieces of 512 tokens: 512 / 295.2 = 1.73 times the ridge instead of 14.4."""
    assert BATCH == 512
    assert "1.7× the ridge" in roofline.in_pieces().data


@given(parameters=SIZES, bits=BITS, batch=MANY)
def test_the_size_of_the_model_cancels(parameters, bits, batch):
    """Without a cache the step of any model has the intensity that batch and bits give."""
    assert decode_step(parameters, bits, batch).intensity == pytest.approx(intensity(batch, bits))


@given(parameters=SIZES, bits=BITS, batch=MANY, cache=SIZES, more=SIZES)
def test_intensity_falls_with_the_cache_to_be_read(parameters, bits, batch, cache, more):
    """The more cache, the fewer operations a byte."""
    less = decode_step(parameters, bits, batch, cache_bytes=cache).intensity
    with_more = decode_step(parameters, bits, batch, cache_bytes=cache + more).intensity

    assert with_more <= less <= decode_step(parameters, bits, batch).intensity * (1 + 1e-9)


@given(peak=SIZES, bandwidth=SIZES, at=st.floats(min_value=1e-3, max_value=1e6))
def test_attainable_is_the_smaller_of_two(peak, bandwidth, at):
    """Neither limit is passed, and one of the two is reached."""
    found = Roof(peak_flop_s=peak, bandwidth=bandwidth).attainable(at)

    assert found <= peak
    assert found <= at * bandwidth
    assert found in {peak, at * bandwidth}


@given(peak=SIZES, bandwidth=SIZES, bits=BITS)
def test_at_the_batch_of_the_ridge_both_limits_bind(peak, bandwidth, bits):
    """Intensity of that batch is the ridge; twice the bits, twice the batch."""
    ridge = Roof(peak_flop_s=peak, bandwidth=bandwidth).ridge
    batch = batch_at_ridge(ridge, bits)

    assert intensity(batch, bits) == pytest.approx(ridge)
    assert batch_at_ridge(ridge, 2 * bits) == pytest.approx(2 * batch)


@given(parameters=SIZES, bits=BITS, cache=SIZES, ridge=st.floats(min_value=1, max_value=1e4))
def test_a_batch_at_the_ridge_with_caches_has_its_intensity(parameters, bits, cache, ridge):
    """Put back into the step it gives the ridge; None only where no batch is enough."""
    batch = batch_at_ridge_with_cache(ridge, parameters, bits, cache)

    if batch is None:
        assert 2 * parameters / cache <= ridge * (1 + 1e-9)
    elif batch < 1e9:
        step = decode_step(parameters, bits, batch, cache_bytes=cache)
        assert step.intensity == pytest.approx(ridge, rel=1e-5)


@given(memory=SIZES, weights=SIZES, cache=SIZES, margin=SIZES)
def test_what_fits_fits_and_one_more_does_not(memory, weights, cache, margin):
    """The batch in memory is the last that fits."""
    batch = batch_in_memory(memory, weights, cache, margin)
    room = memory - weights - margin

    assert batch >= 0
    assert batch == 0 or batch * cache <= room * (1 + 1e-9)
    assert (batch + 1) * cache >= room * (1 - 1e-9)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: Roof(peak_flop_s=0, bandwidth=1), "peak_flop_s must be above 0 and finite, got 0"),
        (lambda: H100.attainable(-1), "intensity must be above 0 and finite, got -1"),
        (lambda: intensity(0), "tokens must be above 0"),
        (lambda: batch_at_ridge(295, 0), "bits must be above 0"),
        (lambda: decode_step(1e9, 4, cache_bytes=-1), "cache_bytes must be at least 0"),
        (lambda: attention_flop(-1, 1, 1, 1), "tokens must be at least 0"),
        (lambda: batch_in_memory(1, 1, 0), "cache_bytes must be above 0"),
        (lambda: flop_used(float("inf"), 1), "tokens_per_s must be above 0 and finite, got inf"),
    ],
)
def test_what_cannot_be_is_refused_by_name(call, said):
    """The parameter, the rule and the value."""
    with pytest.raises(ValueError, match=said):
        call()


def test_the_picture_says_what_it_shows():
    """Title for those who cannot see it, the chapter's ridge, and no number cut off."""
    drawn = roofline_picture.picture().data

    assert "<title>Rooflines, both axes logarithmic." in drawn
    assert "H100-class: ridge 295" in drawn
    assert "batch 295" in drawn
    assert "prefill, 4,247 tokens" in drawn


@pytest.mark.parametrize("tokens", [0, -5, 0.5, "4247"])
@pytest.mark.parametrize(
    "shows", [roofline.by_batch, roofline.the_fiftieth, roofline.never_reached, chips.caps]
)
def test_a_context_of_nothing_is_questioned(shows, tokens):
    """A reader who sets the cell's number to nothing is told what is wanted."""
    with pytest.raises(QuantityUnusable, match="Give context_tokens as a whole number from 1"):
        shows(tokens)


@pytest.mark.parametrize("tokens", [1, 190, 191, 1_000_000])
@pytest.mark.parametrize(
    "shows", [roofline.by_batch, roofline.the_fiftieth, roofline.never_reached, chips.caps]
)
def test_any_context_has_an_answer(shows, tokens):
    """From one token to a million: also where decode does reach the ridge."""
    assert shows(tokens).data
