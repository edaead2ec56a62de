"""The reader's machine on the roofline: what its run reached, and no more than that."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twohalves import runs
from twohalves.places import DATA
from twohalves.show import roofline_own, roofline_picture
from twohalves.show.roofline_own import Row, reached

RATES = st.floats(min_value=0.1, max_value=1e5)


@pytest.fixture
def run():
    return runs.load(DATA / "runs" / "sample-smollm2-135m")


def told_of_model(run, **facts):
    """The run as it would be with another model in its session."""
    return dataclasses.replace(run, session=run.session | {"model": run.session["model"] | facts})


def test_the_best_row_gives_each_floor():
    """1 GB of a billion weights: 10 x 1.2 GB/s beats 11 x 1.0; prefill 300 x 2 GFLOP."""
    rows = (
        Row(tokens=100, prefill_rate=300, decode_rate=11, cache_bytes=0),
        Row(tokens=1000, prefill_rate=200, decode_rate=10, cache_bytes=0.2e9),
    )
    found = reached(rows, 1e9, 1e9)

    assert found.bits == 8
    assert found.bytes_s == pytest.approx(12e9)
    assert found.decode_flop_s == pytest.approx(20e9)
    assert found.decode_intensity == pytest.approx(2 / 1.2)
    assert found.prefill_tokens == 100
    assert found.prefill_intensity == 200  # 16 x 100 / 8
    assert found.prefill_flop_s == pytest.approx(600e9)
    assert found.apart == pytest.approx(30)


def test_a_prompt_is_counted_without_the_table_of_words():
    """A prompt's tokens go through 0.9 of a billion weights; a step of decode through all."""
    rows = (Row(tokens=100, prefill_rate=300, decode_rate=10, cache_bytes=0),)
    found = reached(rows, 1e9, 1e9, words=1e8)

    assert found.prefill_flop_s == pytest.approx(540e9)
    assert found.decode_flop_s == pytest.approx(20e9)


def test_a_floor_is_called_so_only_where_it_is_one(run):
    """49,152 words of 576 numbers are 28.3 of 134.5 million; without them no floor is claimed."""
    told = roofline_own.own(run)
    keys = {k: v for k, v in run.session["model"]["own_keys"].items() if "vocab" not in k}
    silent = told_of_model(run, own_keys=keys)

    assert told.words == 49_152 * 576
    assert "did at least **" in roofline_own.own_verdict(run).data
    assert "in prefill without the table of words" in roofline_own.own_table(run).data
    assert roofline_own.own(silent).words == 0
    assert "did about **" in roofline_own.own_verdict(silent).data
    assert "| prefill, GFLOP/s, about |" in roofline_own.own_table(silent).data


def test_a_table_of_words_larger_than_the_model_is_not_believed(run):
    """Metadata of another model leave the prefill as it is."""
    keys = run.session["model"]["own_keys"] | {"llama.vocab_size": 10**9}
    assert roofline_own.own(told_of_model(run, own_keys=keys)).words == 0


def test_a_long_prompt_counts_in_pieces():
    """4,000 tokens are read 512 at a time: 16 x 512 / 8, not 16 x 4,000 / 8."""
    rows = (Row(tokens=4000, prefill_rate=300, decode_rate=11, cache_bytes=0),)
    assert reached(rows, 1e9, 1e9).prefill_intensity == 1024


@given(prefill=RATES, decode=RATES, cache=st.floats(min_value=0, max_value=1e9))
def test_decode_lies_on_the_slope_that_it_shows(prefill, decode, cache):
    """Intensity times bytes a second is FLOP a second: the point is on its own line."""
    rows = (Row(tokens=64, prefill_rate=prefill, decode_rate=decode, cache_bytes=cache),)
    found = reached(rows, 2e9, 3.2e9)

    assert found.decode_intensity * found.bytes_s == pytest.approx(found.decode_flop_s)


def test_the_sample_is_a_small_machine(run):
    """Tens of GB/s, and its bytes do not explain its decode at long context: the page says so."""
    said = roofline_own.own_verdict(run).data

    assert 1e9 < roofline_own.own(run).bytes_s < 100e9
    assert "at least **" in said
    assert "floors of its two limits, not the limits" in said
    assert "**But bytes do not explain its decode at long context**" in said
    assert "processor's own cache" in said


def test_a_few_cores_are_blamed_only_where_they_compute(run):
    """On a graphics card, or without a cache, what takes the time is not known."""
    keys = {"general.architecture": "mamba", "mamba.block_count": 64}
    others = ({"gpu_share": 1.0}, {"gpu_share": None}, {"own_keys": keys})
    for other in (told_of_model(run, **facts) for facts in others):
        said = roofline_own.own_verdict(other).data

        assert "bytes do not explain its decode" in said
        assert "Something else than reading takes longer" in said
        assert "cores" not in said


def test_its_table_stands_beside_the_chapters(run):
    """388 GB/s and 11,800 GFLOP/s for the chapter, from its printed rows."""
    table = roofline_own.own_table(run).data

    assert "| 388 |" in table
    assert "| 11,800 |" in table


@pytest.mark.parametrize("lacking", ["size", "parameter_count"])
def test_unknown_is_said_and_not_guessed(run, lacking):
    """Neither table nor picture without the model's size or its parameters."""
    poor = told_of_model(run, **{lacking: None})

    assert "does not hold the model's size and parameters" in roofline_own.own_table(poor).data
    assert "no place on the picture" in roofline_own.own_verdict(poor).data
    assert "does not hold" in roofline_picture.own_picture(poor).data


def test_a_run_of_another_experiment_has_no_place(run):
    """The newest run of a machine may hold anything: the page says what is lacking, and goes on."""
    other = dataclasses.replace(run, timings=())

    for shows in (roofline_own.own_table, roofline_picture.own_picture):
        assert "timed no prompts of different lengths; section 31.1" in shows(other).data
    assert "no place on the picture" in roofline_own.own_verdict(other).data


def test_a_mixture_of_experts_is_refused(run):
    """Its tokens use some weights only: counting all would make too much of the machine."""
    keys = run.session["model"]["own_keys"] | {"llama.expert_count": 8}
    mixed = told_of_model(run, own_keys=keys)

    assert "mixture of experts" in roofline_own.own_table(mixed).data


def test_a_model_of_unknown_shape_says_what_is_missing(run):
    """Without heads and layers the cache has no bytes to count."""
    blank = told_of_model(run, own_keys={"general.architecture": "llama"})
    assert roofline_own.own_table(blank).data.startswith("> **Note**")


def test_decode_as_busy_as_prefill_is_not_called_idle():
    """Where prefill does no more operations a second than decode, memory is not accused."""
    rows = [Row(tokens=64, prefill_rate=12, decode_rate=11, cache_bytes=0)]
    assert "may not be what" in roofline_own._idle(reached(rows, 1e9, 1e9))


def test_its_picture_draws_both_halves(run):
    """Two points and the lowest roof that allows them."""
    drawn = roofline_picture.own_picture(run).data

    assert drawn.count("<circle") == 2
    assert "at least this" in drawn
    assert "GFLOP/s" in drawn
