"""In replay nobody is asked: rows and plain calls come from the run that is named."""

import json

import httpx
import ollama
import pytest

from tests.servers import modelled
from twohalves.errors import NotInThisRun, RunMissing
from twohalves.measure import kept_run, live, measure, open_book
from twohalves.measure.replay import ReplayTransport
from twohalves.server import find


@pytest.fixture
def kept(tmp_path):
    """A finished run, and the server it was measured on."""
    with modelled.scripted.Scripted(modelled.Modelled().routes()) as server:
        book = live(find(environ={"TWOHALVES_SERVER": server.url}), None, tmp_path)
        yield measure(book, experiment="prefill_decode"), server, tmp_path


def _replayed(run, runs, **more):
    return open_book({"TWOHALVES_RUN": run.id, **more}, runs)


def _ask(book):
    return book.client.generate(model=book.model, prompt="Why?", options={"num_predict": 4})


def test_a_plain_call_is_recorded_once_and_given_again(kept):
    """While the site is made the call is asked and kept; afterwards nobody is asked."""
    run, server, runs = kept
    recorded = _ask(_replayed(run, runs, TWOHALVES_RECORD=server.url))
    asked = len(server.asked)

    again = _ask(_replayed(run, runs))

    assert again == recorded
    assert len(server.asked) == asked
    [call] = (run.folder / "calls.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(call)["request"]["prompt"] == "Why?"


def test_a_changed_prompt_in_replay_is_an_error_that_says_so(kept):
    """Replay invents nothing: an unknown request names the run and the way out."""
    run, _, runs = kept

    with pytest.raises(NotInThisRun, match="unset TWOHALVES_RUN"):
        _ask(_replayed(run, runs))


def test_in_replay_nothing_is_measured(kept):
    """The experiment is the run's own, and the page says which run it shows."""
    run, server, runs = kept
    asked = len(server.asked)
    book = _replayed(run, runs)

    assert kept_run(book).id == run.id
    assert run.id in book.says
    assert len(server.asked) == asked


def test_a_run_that_is_not_there_lists_those_that_are(kept):
    """A typing error in TWOHALVES_RUN is answered with the runs there are."""
    run, _, runs = kept

    with pytest.raises(RunMissing, match=run.id):
        open_book({"TWOHALVES_RUN": "2020-nothing"}, runs)


def test_live_the_readers_run_is_reused(kept):
    """What the reader's run holds is not measured again, unless asked for; what it lacks is."""
    run, server, runs = kept
    book = live(find(environ={"TWOHALVES_SERVER": server.url}), None, runs)

    assert kept_run(book, ("prefill_decode",)).id == run.id
    assert kept_run(book) is None
    assert measure(book, experiment="prefill_decode").id != run.id


def test_the_order_of_fields_does_not_matter(tmp_path):
    """A request is known by what it says, not by how its JSON was written."""
    beyond = httpx.MockTransport(lambda _: httpx.Response(200, json={"response": "x"}))
    first = ollama.Client(host="http://127.0.0.1:1", transport=ReplayTransport(tmp_path, beyond))
    first.generate(model="m", prompt="p", options={"seed": 1, "top_k": 2})

    second = ollama.Client(host="http://h/prefix", transport=ReplayTransport(tmp_path))
    answer = second.generate(model="m", prompt="p", options={"top_k": 2, "seed": 1})

    assert answer.response == "x"


def test_a_torn_last_line_costs_that_call_only(tmp_path):
    """A kill while a call is being kept leaves the others readable."""
    beyond = httpx.MockTransport(lambda _: httpx.Response(200, json={"response": "x"}))
    client = ollama.Client(host="http://127.0.0.1:1", transport=ReplayTransport(tmp_path, beyond))
    client.generate(model="m", prompt="one")
    path = tmp_path / "calls.jsonl"
    path.write_bytes(path.read_bytes() + b'{"key": "half')

    again = ollama.Client(host="http://127.0.0.1:1", transport=ReplayTransport(tmp_path))
    assert again.generate(model="m", prompt="one").response == "x"
