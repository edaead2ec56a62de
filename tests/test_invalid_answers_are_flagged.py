"""What makes a row invalid is decided by its counters, before anybody looks at its speed."""

import dataclasses

import pytest

from twohalves.runs import Timing
from twohalves.runs.validity import Expected, flags, is_valid
from twohalves.server import Server, meaning

GOOD = Timing(
    run_id="r",
    seq=1,
    prompt_eval_count=4247,
    prompt_eval_cached_count=0,
    prompt_eval_duration=2_292_000_000,
    eval_count=32,
    eval_duration=192_000_000,
    load_duration=60_000_000,
    done_reason="length",
)
ASKED = Expected(prompt_tokens=4247, num_predict=32, num_ctx=8192, usual_load_ns=60_000_000)


def test_a_good_answer_carries_no_flag():
    """Counts, lengths and load as expected."""
    assert flags(GOOD, ASKED) == ()


def test_a_slow_answer_is_valid():
    """Nothing is dropped for its value: ten times slower is still a measurement."""
    slow = dataclasses.replace(GOOD, prompt_eval_duration=22_920_000_000)

    assert flags(slow, ASKED) == ()


@pytest.mark.parametrize(
    ("change", "flag"),
    [
        ({"done_reason": ""}, "no_answer"),
        ({"prompt_eval_count": None}, "no_counters"),
        ({"prompt_eval_duration": None}, "no_counters"),
        ({"prompt_eval_duration": 0}, "no_counters"),
        ({"eval_count": None}, "no_counters"),
        ({"eval_count": 31}, "too_few_tokens"),
        ({"eval_count": 1, "eval_duration": None}, "too_few_tokens"),
        ({"done_reason": "stop"}, "too_few_tokens"),
        ({"prompt_eval_count": 4119}, "off_length"),
        ({"prompt_eval_count": 4375}, "off_length"),
        ({"load_duration": 501_000_000}, "reloaded"),
        ({"prompt_eval_cached_count": 5}, "cached_prefix"),
    ],
)
def test_each_fault_has_its_flag(change, flag):
    """One change, one flag, and the row no longer counts."""
    found = flags(dataclasses.replace(GOOD, **change), ASKED)

    assert found == (flag,)
    assert not is_valid(found)


@pytest.mark.parametrize("change", [{"prompt_eval_count": 4120}, {"prompt_eval_count": 4374}])
def test_three_percent_is_the_tolerance(change):
    """127 tokens off 4,247 are 2.99%: still the length that was asked for."""
    assert flags(dataclasses.replace(GOOD, **change), ASKED) == ()


@pytest.mark.parametrize(
    ("window", "count"),
    [(4096, 4096), (4096, 4095), (4096, 2050), (4096, 2051), (8192, 4098), (32768, 16386)],
)
def test_silent_cuts_are_known_by_their_count(window, count):
    """To the window until Ollama 0.24, to one less in 0.30, to half from 0.30.11 (case A14)."""
    asked = dataclasses.replace(ASKED, num_ctx=window, prompt_tokens=40_000)
    row = dataclasses.replace(GOOD, prompt_eval_count=count)

    assert flags(row, asked) == ("truncated",)


@pytest.mark.parametrize(
    ("version", "count"),
    [("0.24.0", 4096), ("0.30.5", 4095), ("0.30.11", 2050), ("0.33.2", 2051)],
)
def test_a_cut_is_known_by_what_that_version_does(version, count):
    """Only the count that this version leaves counts as cut; another one is just off."""
    meant = meaning(Server(url="http://h", kind="ollama", version=version))
    asked = dataclasses.replace(ASKED, num_ctx=4096, prompt_tokens=40_000, cut=meant.cut)

    for other in (4096, 4095, 2050, 2051):
        row = dataclasses.replace(GOOD, prompt_eval_count=other)
        same = other == count or {other, count} == {2050, 2051}
        assert flags(row, asked) == (("truncated",) if same else ("off_length",))


def test_a_shared_first_word_is_no_cached_prefix():
    """The word before the entry number is the same in all prompts, and a server may reuse it."""
    assert flags(dataclasses.replace(GOOD, prompt_eval_cached_count=4), ASKED) == ()


def test_a_server_that_reports_no_cache_is_not_accused():
    """Missing is unknown: Ollama 0.24 has no cached count."""
    assert flags(dataclasses.replace(GOOD, prompt_eval_cached_count=None), ASKED) == ()


def test_a_warm_row_may_be_cached():
    """Only cold rows must be cold."""
    warm = dataclasses.replace(GOOD, variant="warm", prompt_eval_cached_count=4246)

    assert flags(warm, ASKED) == ()


def test_a_warmup_may_load_the_model_and_miss_its_length():
    """Warm-ups calibrate the length and may wait for the model."""
    warming = dataclasses.replace(ASKED, warming=True)
    row = dataclasses.replace(GOOD, prompt_eval_count=5000, load_duration=9_000_000_000)

    assert flags(row, warming) == ()
