"""What servers really answer beside the usual: kept, flagged with the reason, and gone on from."""

import functools
import json
import os
import signal
import threading
import time

import httpx
import pytest

from tests import verb
from tests.rows import invalid, judged
from tests.servers import scripted
from tests.servers.process import Loading
from twohalves.errors import ServerSilent
from twohalves.measure import attempts, connection, live, measure, patience
from twohalves.measure.notes import notes
from twohalves.runs import derive, listed, load
from twohalves.runs.frame import frame
from twohalves.server import find


@pytest.fixture(autouse=True)
def _in_a_hurry(monkeypatch):
    monkeypatch.setattr(patience, "PAUSE_S", 0.05)


@pytest.fixture
def model():
    with Loading().serving() as loading:
        yield loading


def _book(model, runs):
    return live(find(environ={"TWOHALVES_SERVER": model.url}), None, runs)


def _measure(model, runs):
    return measure(_book(model, runs), experiment="prefill_decode")


def _without(*names):
    return lambda final: {name: value for name, value in final.items() if name not in names}


ONE_TOKEN = {"eval_count": 1}
FINALS = {
    "one token, no eval_duration": (
        lambda final: _without("eval_duration")(final) | ONE_TOKEN,
        "too_few_tokens",
    ),
    "no part durations": (
        _without("load_duration", "prompt_eval_duration", "eval_duration"),
        "no_counters",
    ),
    "no counts": (_without("prompt_eval_count", "eval_count"), "no_counters"),
    "null counts": (
        lambda final: final | {"prompt_eval_count": None, "eval_count": None},
        "no_counters",
    ),
}


@pytest.mark.parametrize("final", FINALS)
def test_an_answer_without_all_counters_gives_no_rate(model, tmp_path, final):
    """The row is kept and does not count; no rate of 0, infinity or NaN; the run goes on."""
    change, flag = FINALS[final]
    model.faults[9] = change
    run = _measure(model, tmp_path)

    [bad] = invalid(run)
    assert flag == bad.flags
    assert run.session["status"] == "complete"
    assert derive.decode_rate(bad) is None
    rates = frame(run)["decode_rate"].dropna()
    assert rates.between(100, 300).all()
    text = (run.folder / "timings.csv").read_text(encoding="utf-8").lower()
    assert not {"nan", "inf", "none"} & set(text.replace("\n", ",").split(","))


def test_two_tokens_give_no_absurd_rate(model, tmp_path):
    """Asked for 32 and given 2: too few, however quick the one step was."""
    model.faults[9] = lambda final: final | {"eval_count": 2, "eval_duration": 3}
    run = _measure(model, tmp_path)

    assert ["too_few_tokens"] == [row.flags for row in invalid(run)]


def test_thinking_counts_as_the_first_token_and_is_said(model, tmp_path):
    """An empty frame, then thoughts and no word of an answer: the clock starts at the thoughts."""
    usual = model.generate

    def thinks(asked):
        answer = usual(asked)
        if model.answered != 10:  # of 32 tokens
            return answer
        *chunks, final = [json.loads(line) for line in answer.body.splitlines()]
        thoughts = [each | {"response": "", "thinking": each["response"]} for each in chunks]
        pieces = [(0.005, thoughts[0] | {"thinking": ""}), (0.2, thoughts[0])]
        return scripted.Answer(chunks=[*pieces, *((0, each) for each in [*thoughts[1:], final])])

    model.server.routes["/api/generate"] = thinks
    run = _measure(model, tmp_path)

    [row] = [row for row in judged(run) if row.flags]
    assert ("only_thinking", True) == (row.flags, row.valid)
    assert row.first_text_ns - row.first_any_ns > 150_000_000
    assert row.num_predict == row.n_chunks
    assert 190 == pytest.approx(derive.decode_rate(row), rel=0.01)
    assert "only_thinking (1: all tokens went into thinking" in " ".join(notes(run))


@pytest.mark.parametrize(("mode", "flag"), [("refuses", "refused"), ("cuts", "truncated")])
def test_a_window_smaller_than_told_is_recognized(model, tmp_path, mode, flag):
    """The same long prompt: some models answer 400, others 200 with half of the window counted."""
    usual = model.generate

    def limited(asked):
        if len(asked.json["prompt"].split()) < 3000:
            return usual(asked)
        if mode == "refuses":
            text = "the input length exceeds the context length"
            return scripted.Answer(status=400, body={"error": text})
        model.faults[model.answered + 1] = lambda final: final | {"prompt_eval_count": 4098}
        return usual(asked)

    model.version = "0.30.11" if mode == "cuts" else "0.24.0"
    model.server.routes |= model.routes() | {"/api/generate": limited}
    run = _measure(model, tmp_path)

    bad = invalid(run)
    assert {("4247", flag)} == {(row.condition, row.flags) for row in bad}
    assert len(bad) == (1 if mode == "refuses" else 3)
    assert run.session["status"] == "complete"
    assert "No valid row was had at 4,247 tokens." in " ".join(notes(run))


def test_a_server_that_takes_a_question_and_never_answers_is_not_waited_for(
    model, tmp_path, monkeypatch
):
    """Each silence ends at the limit and is a row; after three of them the run says so."""
    monkeypatch.setattr(connection, "SILENCE", httpx.Timeout(0.3))
    usual = model.generate

    def silent(asked):
        answer = usual(asked)
        return answer if model.answered < 9 else scripted.Answer(delay_s=30)

    model.server.routes["/api/generate"] = silent
    began = time.monotonic()
    with pytest.raises(ServerSilent, match="went silent"):
        _measure(model, tmp_path)

    assert time.monotonic() - began < 20
    [name] = listed(tmp_path)
    lost = [row for row in load(tmp_path / name).timings if not row.valid]
    assert ["no_answer"] * 3 == [row.flags for row in lost]


def test_a_silence_is_borne_for_as_long_as_the_machine_may_need(model, tmp_path, monkeypatch):
    """With rates of 2,000 and 190 tokens a second ten minutes would be absurd: a moment is cut."""
    monkeypatch.setattr(attempts, "SHORTEST_PATIENCE_S", 0.3)
    monkeypatch.setattr(attempts, "PATIENCE", 1)
    usual = model.generate

    def once_silent(asked):
        answer = usual(asked)
        return scripted.Answer(delay_s=30) if model.answered == 9 else answer

    model.server.routes["/api/generate"] = once_silent
    began = time.monotonic()
    run = _measure(model, tmp_path)

    assert time.monotonic() - began < 30
    [lost] = invalid(run)
    assert ("no_answer", 9) == (lost.flags, run.timings.index(lost) + 1)
    assert run.session["status"] == "complete"


@pytest.mark.parametrize("manner", ["falls silent", "drips"])
def test_an_answer_that_begins_and_never_ends_costs_that_answer(
    model, tmp_path, monkeypatch, manner
):
    """One chunk, then nothing or an empty one now and then: bounded, a row, and gone on from."""
    monkeypatch.setattr(connection, "SILENCE", httpx.Timeout(0.5))
    bounded = functools.partial(connection.client, longest_s=0.5)
    monkeypatch.setattr(connection, "client", bounded)

    def endless(records):
        drips = [(0.1, records[0] | {"response": ""})] * 300
        return scripted.Answer(
            chunks=[(0, records[0]), *(drips if manner == "drips" else [(30, records[1])])]
        )

    model.streams[9] = endless
    run = measure(_book(model, tmp_path))

    [lost] = [row for row in run.timings if row.flags == "no_answer"]
    assert (False, 1, None) == (lost.valid, lost.n_chunks, lost.eval_count)
    assert lost.seq in {row.seq for row in run.timings if row.valid}
    assert run.session["status"] == "complete"


@pytest.mark.skipif(os.name == "nt", reason="Windows sends no such signal")
@pytest.mark.parametrize("path", ["/api/tags", "/api/show", "/api/generate"])
def test_ctrl_c_ends_any_wait_at_once(model, tmp_path, path):
    """The server took the question and is silent: the verb ends with its own code and words."""
    asked = threading.Event()

    def silent(_):
        asked.set()
        return scripted.Answer(delay_s=60)

    model.server.routes[path] = silent
    command = verb.begin("measure", "--out", str(tmp_path), "--host", model.url)
    assert asked.wait(60)
    command.send_signal(signal.SIGINT)
    said = command.communicate(timeout=30)[1].decode()

    assert 130 == command.returncode, said
    assert "Traceback" not in said
    assert "kept" in said
