"""What makes a row invalid is decided by its counters, before anybody looks at its speed."""

import dataclasses

import pytest

from twohalves.runs import Timing
from twohalves.runs.validity import Expected, flags, is_valid, usual_prefill_rate
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
        ({"load_duration": 181_000_000}, "reloaded"),
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


@pytest.mark.parametrize(
    ("usual", "load", "found"),
    [
        (240_000, 150_000_000, ()),  # the built-in server on a machine that is very busy
        (240_000, 198_000_000, ("reloaded",)),  # and when it loads the smallest model
        (20_000_000, 110_000_000, ()),  # the most that Ollama was seen to report for a loaded one
        (72_000_000, 500_000_000, ("reloaded",)),  # its quickest reload
        (160_000_000, 320_000_000, ()),  # a larger model, loaded
        (240_000_000, 1_130_000_000, ("reloaded",)),  # and loaded anew
        (None, 9_000_000_000, ()),  # nothing to compare it with
    ],
)
def test_a_reload_stands_out_of_what_is_usual(usual, load, found):
    """As seen on real servers: more than 150 ms, and more than three times the usual value."""
    asked = dataclasses.replace(ASKED, usual_load_ns=usual)

    assert found == flags(dataclasses.replace(GOOD, load_duration=load), asked)


UNTOLD = dataclasses.replace(GOOD, prompt_eval_cached_count=None)
RATE = 4247 / 2.292


@pytest.mark.parametrize(
    ("change", "usual", "found"),
    [
        ({}, RATE / 2.9, ()),
        ({}, RATE / 3.1, ("too_fast",)),
        ({}, None, ()),
        ({"prompt_eval_cached_count": 0}, RATE / 3.1, ()),  # the count says that it was cold
        ({"variant": "warm"}, RATE / 99, ()),
    ],
)
def test_a_cold_prompt_is_not_read_three_times_as_fast_as_its_like(change, usual, found):
    """Judged only where no count of cached tokens is told, and only on rows called cold."""
    asked = dataclasses.replace(ASKED, usual_prefill_rate=usual)

    assert found == flags(dataclasses.replace(UNTOLD, **change), asked)


def test_a_short_prompt_is_not_judged_by_its_time():
    """Below 200 tokens fixed costs are most of it, and they vary."""
    asked = dataclasses.replace(ASKED, prompt_tokens=199, usual_prefill_rate=100.0)
    short = dataclasses.replace(UNTOLD, prompt_eval_count=199, prompt_eval_duration=10_000_000)

    assert () == flags(short, asked)
    long = dataclasses.replace(short, prompt_eval_count=200)
    assert ("too_fast",) == flags(long, dataclasses.replace(asked, prompt_tokens=200))


def test_the_usual_rate_is_that_of_prompts_alike():
    """Half to twice as long, valid, cold, no warm-ups: here 1,000 tokens in 1, 2 and 4 seconds."""
    like = dataclasses.replace(UNTOLD, prompt_eval_count=1000, prompt_eval_duration=10**9)
    rows = [
        like,
        dataclasses.replace(like, prompt_eval_duration=2 * 10**9),
        dataclasses.replace(like, prompt_eval_duration=4 * 10**9),
        dataclasses.replace(like, role="warmup", prompt_eval_duration=1),
        dataclasses.replace(like, variant="warm", prompt_eval_duration=1),
        dataclasses.replace(like, valid=False, prompt_eval_duration=1),
    ]

    for length in (500, 1000, 2000):
        assert 500 == usual_prefill_rate(rows, length)
    for length in (499, 2001):
        assert usual_prefill_rate(rows, length) is None
    assert usual_prefill_rate(rows[:2], 1000) is None  # nobody knows which of two is odd


@pytest.mark.parametrize(
    ("begun", "now", "found"),
    [
        (1.0, 0.995, ()),
        (1.0, 0.98, ("spilled",)),
        (0.5, 0.6, ("spilled",)),
        (0.0, 0.0, ()),  # all on the processor, from first to last
        (None, 0.5, ()),
        (1.0, None, ()),
    ],
)
def test_a_model_that_moves_between_memories_is_seen(begun, now, found):
    """By more than one percent, in either direction; what is not told is not judged."""
    asked = dataclasses.replace(ASKED, gpu_share_begun=begun, gpu_share_now=now)

    assert found == flags(GOOD, asked)


def test_any_answer_will_do_where_only_the_prompt_matters():
    """A short answer to one of many requests; but one without an end does not count."""
    asked = dataclasses.replace(ASKED, any_answer=True)

    assert () == flags(dataclasses.replace(GOOD, eval_count=3, done_reason="stop"), asked)
    assert () == flags(dataclasses.replace(GOOD, eval_count=1, eval_duration=None), asked)
    assert ("no_answer",) == flags(dataclasses.replace(GOOD, done_reason=""), asked)


@pytest.mark.parametrize(
    ("variant", "count", "found"),
    [
        ("warm", 1, ()),
        ("warm", None, ()),  # before 0.2.0 a count of 0 is left out
        ("cold", 4245, ()),  # what stands before every prompt
        ("cold", 4116, ()),
        ("cold", 4115, ("cached_prefix",)),  # 132 are missing: 3% and 4 more
        ("cold", None, ("cached_prefix",)),
        ("cold", 4375, ("off_length",)),
    ],
)
def test_what_was_not_counted_was_cached_where_only_the_rest_is_counted(variant, count, found):
    """Ollama before 0.2.0, and 0.30.0: a warm row may lack tokens, a cold one may not."""
    asked = dataclasses.replace(ASKED, counts_cached=False)
    row = dataclasses.replace(UNTOLD, variant=variant, prompt_eval_count=count)

    assert found == flags(row, asked)


def test_a_prompt_of_unknown_length_is_not_off_its_length():
    """What is appended to an answer has the length that it has; a cut is seen all the same."""
    asked = dataclasses.replace(ASKED, length_known=False)

    assert () == flags(dataclasses.replace(GOOD, prompt_eval_count=3000), asked)
    long = dataclasses.replace(asked, prompt_tokens=9000)
    assert ("truncated",) == flags(dataclasses.replace(GOOD, prompt_eval_count=8192), long)


def test_a_warmup_may_load_the_model_and_miss_its_length():
    """Warm-ups calibrate the length and may wait for the model."""
    warming = dataclasses.replace(ASKED, warming=True, length_known=False)
    row = dataclasses.replace(GOOD, prompt_eval_count=5000, load_duration=9_000_000_000)

    assert flags(row, warming) == ()
