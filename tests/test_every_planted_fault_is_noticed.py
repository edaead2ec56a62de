"""Each fault that a server, a clock or another program can plant in a run has its flag.

And each flag hangs on its detector: without that one the same fault goes by unflagged.
"""

import contextlib
import dataclasses

import pytest

from tests.servers import scripted
from tests.servers.modelled import Counting, streamed
from tests.servers.process import Loading
from twohalves.errors import AnotherAnswers, NoValidAnswer, RunUnreadable
from twohalves.measure import attempts, clocks, live, measure, patience, profiles
from twohalves.measure.clocks import Gap
from twohalves.measure.transport import RecordingTransport
from twohalves.runs import drift, listed, load, validity
from twohalves.runs.drift import worst
from twohalves.server import find

SPOILT = 9
"""The answer in which a fault is planted: there have been some to compare it with."""
LONG = 4000
"""Tokens that only the longest prompt has more of."""


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    monkeypatch.setattr(patience, "PAUSE_S", 0.05)
    tables = profiles.PROFILES["quick"].only("prefill_decode")
    short = dataclasses.replace(tables, blocks=2, audits=False)
    monkeypatch.setitem(profiles.PROFILES, "quick", short)


@pytest.fixture
def model():
    with Loading().serving() as loading:
        yield loading


def measured(model, runs):
    """The run, also one that ends because of its fault."""
    model.server.routes = model.routes()
    with contextlib.suppress(AnotherAnswers):
        measure(live(find(environ={"TWOHALVES_SERVER": model.url}), None, runs))
    [name] = listed(runs)
    return load(runs / name)


def counters(**change):
    """Other counters in one answer; None = left out."""

    def plant(model, _):
        model.faults[SPOILT] = lambda final: {
            name: value for name, value in (final | change).items() if value is not None
        }

    return plant


def stream(spoil):
    """Other records in one answer."""

    def plant(model, _):
        model.streams[SPOILT] = spoil

    return plant


def thinking(records):
    """All text in another field, after an empty frame."""
    *spoken, final = records
    thoughts = [each | {"thinking": each["response"], "response": ""} for each in spoken]
    return streamed([thoughts[0] | {"thinking": ""}, *thoughts, final])


def in_circles(records):
    """The second half says the same two words again and again."""
    *spoken, final = records
    half = len(spoken) // 2
    circle = [each | {"response": " to" if n % 2 else " fro"} for n, each in enumerate(spoken)]
    return streamed([*spoken[:half], *circle[half:], final])


def cut_to_half(model, _):
    """From 0.30.11 on: 8,192 less half of what is beyond the first 4."""
    model.version = "0.30.11"
    for number in range(1, 99):
        model.faults[number] = lambda final: (
            final | {"prompt_eval_count": 4098} if final["prompt_eval_count"] > LONG else final
        )


def once(tokens, change, place=1):
    """Other counters in one of the answers to a prompt of about so many tokens, from 1."""

    def plant(model, _):
        seen = []

        def fault(final):
            if abs(final["prompt_eval_count"] - tokens) > 0.03 * tokens:
                return final
            seen.append(True)
            return final | change(final) if len(seen) == place else final

        model.faults |= dict.fromkeys(range(1, 99), fault)

    return plant


def processed_only(_):
    """Only those that were not cached are counted."""
    return {"prompt_eval_count": 500}


def read_from_cache(final):
    """Ollama 0.24: the count is whole, the time a tenth."""
    saved = round(0.9 * final["prompt_eval_duration"])
    return {name: final[name] - saved for name in ("prompt_eval_duration", "total_duration")}


def refusing(model, _):
    """The window holds 4,000 tokens, and the request's `truncate: false` is obeyed."""
    model.holds, model.counting = LONG, Counting(refuses=True)


def spill(model, _):
    """Another program takes graphics memory for one answer."""
    whole = dict(model.sizes)

    def sized(share):
        def fault(final):
            model.sizes["size_vram"] = round(share * whole["size_vram"])
            return final

        return fault

    model.faults |= {SPOILT: sized(0.9), SPOILT + 1: sized(1)}


def queue(model, _):
    """Ten seconds in no counter but the whole."""
    model.faults[SPOILT] = lambda final: (
        final | {"total_duration": final["total_duration"] + 10_000_000_000}
    )


def held_up(model, monkeypatch):
    """Twenty seconds on the client's clock of which the server knows nothing."""
    usual = RecordingTransport.handle_request

    def late(transport, request):
        answer = usual(transport, request)
        if model.answered == SPOILT:
            transport.newest().sent_ns -= 20_000_000_000
        return answer

    monkeypatch.setattr(RecordingTransport, "handle_request", late)


def asleep(model, monkeypatch):
    """An hour passes while the program stands still."""
    real, slept = clocks.read, []

    def read():
        now = real()
        later = 3600.0 * len(slept)
        through = (now.through_s or now.awake_s) + later
        return dataclasses.replace(now, through_s=through, wall_s=now.wall_s + later)

    def fault(final):
        slept.append(True)
        return final

    monkeypatch.setattr(clocks, "read", read)
    model.faults[SPOILT] = fault


def pulled_anew(model, _):
    """The name leads to another model from one answer on."""

    def fault(final):
        model.digest, model.loaded = "e" * 64, (8192, "e" * 64)
        return final

    model.faults[SPOILT] = fault


FAULTS = {
    "a stream without its last record": (stream(lambda all_: streamed(all_[:-1])), "no_answer"),
    "a connection that drops": (
        stream(lambda all_: streamed(all_[:7], breaks_off=True)),
        "no_answer",
    ),
    "a runner that dies": (
        stream(lambda all_: streamed([*all_[:7], {"error": "model runner has stopped"}])),
        "no_answer",
    ),
    "busy": (
        stream(lambda _: scripted.Answer(status=503, body={"error": "server busy"})),
        "no_answer",
    ),
    "counts left out": (counters(prompt_eval_count=None, eval_count=None), "no_counters"),
    "prefill not timed": (counters(prompt_eval_duration=None), "no_counters"),
    "one token": (counters(eval_count=1, eval_duration=None), "too_few_tokens"),
    "an early end": (counters(eval_count=20, done_reason="stop"), "too_few_tokens"),
    "cut to half the window": (cut_to_half, "truncated"),
    "a count without what was cached": (once(572, processed_only), "off_length"),
    "a refusal": (refusing, "refused"),
    "the smallest model loaded anew": (counters(load_duration=200_000_000), "reloaded"),
    "a cache that is told": (counters(prompt_eval_cached_count=90), "cached_prefix"),
    "a cache that is not told": (once(1000, read_from_cache, place=3), "too_fast"),
    "less of the graphics memory": (spill, "spilled"),
    "sleep": (asleep, "slept"),
    "a way that is held up": (held_up, "stalled"),
    "another model of that name": (pulled_anew, "other_model"),
    "a queue": (queue, "waited"),
    "thinking first": (stream(thinking), "only_thinking"),
    "circles": (stream(in_circles), "repeats_itself"),
}
INFORMATIVE = {"waited", "only_thinking", "repeats_itself"}


def check(run, flag):
    """Rows carry this flag alone, and count or do not count as its kind has it."""
    found = [row for row in run.timings if row.flags]
    assert found, "nothing was noticed"
    assert {flag} == {row.flags for row in found}
    assert {flag in INFORMATIVE} == {row.valid for row in found}


def without(flag, monkeypatch):
    """Take one detector away."""
    monkeypatch.setattr(attempts.Asker, "_other_model", _unless(flag == "other_model"))
    if flag in validity.DETECTORS:
        monkeypatch.setitem(validity.DETECTORS, flag, lambda *_: False)
    elif flag == "slept":
        monkeypatch.setattr(clocks, "between", lambda *_: Gap(slept_s=0.0, set_s=0.0))
    elif flag != "other_model":
        asked = attempts.ask
        monkeypatch.setattr(
            attempts, "ask", lambda *how: dataclasses.replace(asked(*how), noticed=())
        )


def _unless(is_off, usual=attempts.Asker._other_model):
    return (lambda _: None) if is_off else usual


def test_every_flag_has_a_fault():
    """A new flag comes with a fault that raises it."""
    assert validity.INVALID.keys() | validity.INFORMATIVE.keys() == {f for _, f in FAULTS.values()}
    assert INFORMATIVE == validity.INFORMATIVE.keys()


@pytest.mark.parametrize("fault", FAULTS)
def test_it_is_flagged_and_nothing_else_is(fault, model, tmp_path, monkeypatch):
    """The spoilt answer has its flag; all others count without one, and the run goes on."""
    plant, flag = FAULTS[fault]
    plant(model, monkeypatch)
    run = measured(model, tmp_path)

    check(run, flag)
    if flag != "other_model":
        assert "complete" == run.session["status"]
        lost = flag in {"truncated", "refused"}  # each time, and so the longest prompt has no row
        counted = [row for row in run.timings if row.role == "measure" and row.valid]
        assert 2 * 5 + 1 - lost == len(counted)


@pytest.mark.parametrize("fault", FAULTS)
def test_without_its_detector_it_is_not(fault, model, tmp_path, monkeypatch):
    """The test above fails once the detector is taken away."""
    plant, flag = FAULTS[fault]
    plant(model, monkeypatch)
    without(flag, monkeypatch)

    # a row that counts and lacks a counter is refused by the file itself, and a cut prompt that
    # is not known as one misleads the calibration
    with pytest.raises((AssertionError, RunUnreadable, NoValidAnswer)):
        check(measured(model, tmp_path), flag)
    [kept] = tmp_path.glob("*/timings.csv")
    assert flag not in kept.read_text(encoding="utf-8")


@pytest.mark.parametrize(("an_answer", "verdict"), [(0.0, "steady"), (0.01, "drifted")])
def test_a_machine_that_grows_slower_is_told_by_its_control(
    an_answer, verdict, model, tmp_path, monkeypatch
):
    """Every row counts; the controls say that the machine drifted, and nothing if it did not."""
    often = dataclasses.replace(profiles.PROFILES["quick"], control_every=2)
    monkeypatch.setitem(profiles.PROFILES, "quick", often)
    model.rates = dataclasses.replace(model.rates, drift=an_answer)
    run = measured(model, tmp_path)

    assert [] == [row.flags for row in run.timings if row.flags]
    assert verdict == worst(run).verdict
    monkeypatch.setattr(drift, "trend", lambda *_: pytest.fail("the control was looked at"))
    with pytest.raises(pytest.fail.Exception):
        worst(run)
