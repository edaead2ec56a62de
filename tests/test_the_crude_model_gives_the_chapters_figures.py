"""The crude latency model on the chapter's constants, against figures worked out by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twohalves.formulas import crude_latency, decode_steps, rate
from twohalves.runs import reference

COUNTS = st.floats(0, 1e6)
RATES = st.floats(0.1, 1e6)


@pytest.mark.parametrize(
    ("prompt", "expected"), [(90, 0.382), (960, 0.817), (3731, 2.202), (7427, 4.050)]
)
def test_the_model_on_the_streamed_requests(prompt, expected):
    """prompt / 2000 + 64 / 190 seconds, to the printed millisecond."""
    assert expected == pytest.approx(crude_latency(prompt, 64, 2000, 190).total_s, abs=0.0005)


def test_exercise_one():
    """4,000 tokens in and 100 out: 2 s of prefill and 0.526 s of decode."""
    latency = crude_latency(4000, 100, 2000, 190)

    assert latency.prefill_s == pytest.approx(2.0)
    assert latency.decode_s == pytest.approx(0.5263, abs=1e-4)


@given(COUNTS, COUNTS, RATES, RATES, st.floats(0, 1e5))
def test_more_tokens_never_take_less_time(prompt, output, prefill, decode, more):
    """The model rises with either count, and its parts add up."""
    base = crude_latency(prompt, output, prefill, decode)

    assert crude_latency(prompt + more, output, prefill, decode).total_s >= base.total_s
    assert crude_latency(prompt, output + more, prefill, decode).total_s >= base.total_s
    assert base.total_s == base.prefill_s + base.decode_s


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((-1, 1, 1, 1), "prompt_tokens"),
        ((1, -1, 1, 1), "output_tokens"),
        ((1, 1, 0, 1), "prefill_tok_s"),
        ((1, 1, 1, -5), "decode_tok_s"),
        ((float("nan"), 1, 1, 1), "prompt_tokens"),
    ],
)
def test_impossible_arguments_are_named(arguments, name):
    """A negative count or a rate of zero is refused by name."""
    with pytest.raises(ValueError, match=name):
        crude_latency(*arguments)


def test_no_time_is_no_rate():
    """A division by zero seconds is not infinitely fast, it is unknown."""
    assert rate(32, 0) is None
    assert rate(0, 1) is None


def test_steps_after_the_first_token():
    """32 tokens take 31 steps, one token takes none, and none takes none."""
    assert [31, 0, 0] == [decode_steps(n) for n in (32, 1, 0)]


def test_the_printed_ratio():
    """1,848 over 161.2 on the last row is 11.46: the chapter's eleven."""
    assert reference.prefill_decode()[-1].ratio == pytest.approx(11.46, abs=0.005)
    assert reference.claim("rate_ratio") == 11
