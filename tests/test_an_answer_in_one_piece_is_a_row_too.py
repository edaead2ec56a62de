"""Asked without streaming a server sends one record at the end: the row says when it came."""

import pytest

from tests.servers import modelled, scripted
from twohalves.measure.ask import ask
from twohalves.measure.connection import Connection
from twohalves.runs import Timing, derive
from twohalves.runs.validity import Expected, flags
from twohalves.server import Server

ASKED = Expected(prompt_tokens=7, num_predict=32, num_ctx=8192, usual_load_ns=None)
PROMPT = "Why is it so dark here"
"""Six words, and the token before them."""


@pytest.fixture
def model():
    modelled_one = modelled.Modelled()
    with scripted.Scripted(modelled_one.routes()) as server:
        modelled_one.server = server
        modelled_one.line = Connection(Server(url=server.url, kind="ollama", version="0.24.0"))
        yield modelled_one
        modelled_one.line.close()


def _answer(model, *, streamed):
    row = Timing(
        run_id="r",
        seq=1,
        model=modelled.NAME,
        num_ctx=8192,
        num_predict=32,
        streamed=streamed,
    )
    return ask(model.line, row, PROMPT, 0)


@pytest.mark.parametrize("streamed", [True, False])
def test_both_ways_ask_alike_and_give_the_same_counters_and_text(model, streamed):
    """Only `stream` differs in the request, and in the row only when which part came."""
    answered = _answer(model, streamed=streamed)
    [asked] = [each.json for each in model.server.asked if each.path == "/api/generate"]
    row = answered.row

    assert (streamed, True, False) == (asked["stream"], asked["raw"], asked["truncate"])
    assert (7, 32, "length") == (row.prompt_eval_count, row.eval_count, row.done_reason)
    assert "".join(modelled.word(number) for number in range(32)) == answered.reply
    assert 31 / 190 == pytest.approx(derive.decode_s(row))
    assert "2026" == row.server_done_at[:4]
    assert (32 if streamed else 1) == row.n_chunks
    assert (0 if streamed else None) == row.loop_chunks


def test_its_first_text_is_its_last(model):
    """One moment by either clock: nothing is known of the time between the tokens."""
    row = _answer(model, streamed=False).row

    assert row.sent_ns < row.first_text_ns == row.last_text_ns <= row.done_ns
    assert row.server_first_at == row.server_last_at == row.server_done_at


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"eval_count": 1, "eval_duration": None}, "too_few_tokens"),
        ({"load_duration": None, "prompt_eval_duration": None}, "no_counters"),
        ({"prompt_eval_count": None, "eval_count": None}, "no_counters"),
        ({"done": False, "eval_count": None}, "no_answer"),
    ],
)
def test_what_lacks_is_unknown_and_never_a_zero(model, streamed, change, found):
    """Final records as met in the wild: flagged, no rate of nothing."""
    model.faults[1] = lambda final: {
        name: value for name, value in (final | change).items() if value is not None
    }
    row = _answer(model, streamed=streamed).row

    assert (found,) == flags(row, ASKED)
    assert derive.decode_rate(row) is None or row.eval_count == 32
    assert all(
        getattr(row, name) is None for name, value in change.items() if name != "done" and not value
    )


@pytest.mark.parametrize("stamp", [None, ""])
def test_a_stamp_that_is_none_stays_none(model, stamp):
    """A server without stamps is not given any."""
    model.faults[1] = lambda final: final | {"created_at": stamp}
    row = _answer(model, streamed=False).row

    assert "" == row.server_done_at
