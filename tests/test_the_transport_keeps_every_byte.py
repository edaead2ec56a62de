"""What passes between client and server is kept as it came, with the time of each piece."""

import json

import httpx
import ollama
import pytest

from twohalves.measure.ask import read_exchange
from twohalves.measure.transport import Exchange, RecordingTransport
from twohalves.runs import Timing

RECORDS = [
    {"model": "m", "created_at": "2026-11-29T15:10:08.066Z", "response": " a", "done": False},
    {"model": "m", "created_at": "2026-11-29T15:10:08.087Z", "response": " b", "done": False},
    {
        "model": "m",
        "created_at": "2026-11-29T15:10:08.088Z",
        "response": "",
        "done": True,
        "done_reason": "length",
        "total_duration": 196_111_771,
        "load_duration": 66_530_363,
        "prompt_eval_count": 3,
        "prompt_eval_cached_count": 1,
        "prompt_eval_duration": 15_981_224,
        "eval_count": 2,
        "eval_duration": 21_000_000,
    },
]


class Pieces(httpx.SyncByteStream):
    """A body in given pieces."""

    def __init__(self, pieces):
        self.pieces = pieces

    def __iter__(self):
        yield from self.pieces


def _client(pieces, seen, clock=None, extra=None):
    def answer(request):
        seen.append(json.loads(request.content))
        headers = {"content-type": "application/x-ndjson"}
        return httpx.Response(200, headers=headers, stream=Pieces(pieces))

    ticks = iter(range(100, 10_000, 100))
    transport = RecordingTransport(
        httpx.MockTransport(answer), extra=extra, clock=clock or (lambda: next(ticks))
    )
    return ollama.Client(host="http://127.0.0.1:1", transport=transport), transport


def _lines():
    return [json.dumps(record).encode() + b"\n" for record in RECORDS]


def test_the_client_gets_what_the_server_sent():
    """Recording changes nothing for the official client."""
    client, _ = _client(_lines(), [])

    chunks = list(client.generate(model="m", prompt="p", stream=True))

    assert [" a", " b", ""] == [chunk.response for chunk in chunks]
    assert chunks[-1].eval_count == 2


def test_fields_that_the_client_drops_are_kept():
    """prompt_eval_cached_count is unknown to the client and stands in the record."""
    client, transport = _client(_lines(), [])
    list(client.generate(model="m", prompt="p", stream=True))

    assert transport.newest().body == b"".join(_lines())
    assert transport.newest().records()[-1][1]["prompt_eval_cached_count"] == 1


def test_fields_that_the_client_lacks_are_sent():
    """truncate reaches the server although the client has no such argument."""
    seen = []
    client, _ = _client(_lines(), seen, extra={"truncate": False})
    list(client.generate(model="m", prompt="p", stream=True))

    assert seen[0]["truncate"] is False
    assert seen[0]["prompt"] == "p"


def test_each_piece_has_its_time():
    """Sending reads the clock once, each piece once, the end once: 100, 200 ... in order."""
    client, transport = _client(_lines(), [])
    list(client.generate(model="m", prompt="p", stream=True))

    exchange = transport.newest()
    assert exchange.sent_ns == 100
    assert [200, 300, 400] == [clock for clock, _ in exchange.pieces]
    assert exchange.done_ns == 500


@pytest.mark.parametrize("size", [1, 7, 100, 10_000])
def test_records_do_not_depend_on_how_the_network_cut_them(size):
    """A record split over pieces is whole, and dated by its last byte."""
    body = b"".join(_lines())
    pieces = [(start, body[start : start + size]) for start in range(0, len(body), size)]
    exchange = Exchange(sent_ns=0, pieces=pieces, done_ns=9**9)

    assert [record for _, record in exchange.records()] == RECORDS


def test_a_row_from_an_exchange():
    """Counters as sent, clocks since the run's beginning, chunks that carried text."""
    client, transport = _client(_lines(), [])
    list(client.generate(model="m", prompt="p", stream=True))

    row = read_exchange(Timing(run_id="r", seq=1), transport.newest(), began_ns=50).row

    assert (50, 150, 150, 250, 450) == (
        row.sent_ns,
        row.first_any_ns,
        row.first_text_ns,
        row.last_text_ns,
        row.done_ns,
    )
    assert (3, 1, 15_981_224) == (
        row.prompt_eval_count,
        row.prompt_eval_cached_count,
        row.prompt_eval_duration,
    )
    assert (2, "length", 2) == (row.eval_count, row.done_reason, row.n_chunks)
    assert row.server_first_at == "2026-11-29T15:10:08.066Z"
    assert row.server_last_at == "2026-11-29T15:10:08.087Z"


def test_an_empty_first_record_is_no_first_token():
    """A role-only record arrives early; the clock of the first token waits for text."""
    empty = json.dumps({"response": "", "done": False}).encode() + b"\n"
    client, transport = _client([empty, *_lines()], [])
    list(client.generate(model="m", prompt="p", stream=True))

    row = read_exchange(Timing(run_id="r", seq=1), transport.newest(), began_ns=0).row

    assert (200, 300) == (row.first_any_ns, row.first_text_ns)


def test_thinking_is_generated_text():
    """The first generated token may be a thought; content may never come (case A11)."""
    thoughts = [{"response": "", "thinking": f"t{n}", "done": False} for n in range(40)]
    final = {"response": "", "done": True, "done_reason": "length", "eval_count": 80}
    lines = [json.dumps(record).encode() + b"\n" for record in (*thoughts, final)]
    client, transport = _client(lines, [])
    list(client.generate(model="m", prompt="p", stream=True))

    row = read_exchange(Timing(run_id="r", seq=1), transport.newest(), began_ns=0).row

    assert row.first_text_ns == 200
    assert row.n_chunks == 40


def test_a_broken_stream_leaves_unknown_counters():
    """A stream without its last record has no counters: unknown, not zero."""
    exchange = Exchange(sent_ns=0, pieces=[(1, _lines()[0]), (2, b'{"resp')])

    answered = read_exchange(Timing(run_id="r", seq=1), exchange, began_ns=0)

    assert answered.row.eval_count is None
    assert answered.row.done_reason == ""
    assert answered.row.done_ns is None
    assert answered.row.n_chunks == 1
