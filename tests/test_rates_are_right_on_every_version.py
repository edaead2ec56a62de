"""Servers of every range of versions do the same work, count it differently, and give one rate."""

import dataclasses

import pytest

from tests.servers.modelled import Counting, Modelled, Rates
from tests.servers.scripted import Scripted
from twohalves.errors import PrefillNotTimed
from twohalves.measure import live, measure, profiles
from twohalves.measure.notes import notes
from twohalves.runs import conditions, listed
from twohalves.server import find

# as Ollama's sources have it at each tag; two tokens at the head of each prompt are cached
PROCESSED_ONLY = Counting(shared=2, counts_shared=False)
WHOLE = Counting()
WALL = Counting(wall=True)
OBEDIENT = Counting(refuses=True)
ONE_LESS = Counting(refuses=True, cut="one less")
HALF = Counting(refuses=True, cut="half")
TOLD_APART = Counting(shared=2, tells_shared=True, refuses=True, cut="half")
MLX = Counting(steps_less=0)
VERSIONS = [
    ("0.1.48", "gguf", PROCESSED_ONLY),
    ("0.2.0", "gguf", WHOLE),
    ("0.3.14", "gguf", WHOLE),
    ("0.4.0", "gguf", WALL),
    ("0.6.7", "gguf", WALL),
    ("0.12.4", "gguf", WALL),
    ("0.12.7", "gguf", OBEDIENT),
    ("0.15.5", "gguf", OBEDIENT),
    ("0.24.0", "gguf", OBEDIENT),
    ("0.30.0", "gguf", dataclasses.replace(PROCESSED_ONLY, refuses=True, cut="one less")),
    ("0.30.1-rc2", "gguf", ONE_LESS),
    ("0.30.11", "gguf", HALF),
    ("0.33.2+dirty", "gguf", HALF),
    ("0.33.3", "gguf", HALF),
    ("0.33.3", "gguf", TOLD_APART),
    ("0.40.0", "gguf", TOLD_APART),
    ("0.0.0", "gguf", TOLD_APART),
    ("0.24.0", "safetensors", MLX),
    ("0.40.0", "safetensors", dataclasses.replace(TOLD_APART, steps_less=0)),
]
# 0.5 ms a token and 20 ns a squared one; 5 ms a step and 250 ns for each token before it
RATES = Rates(read_s=0.0005, read_s2=2e-8, step_s=0.005, step_context_s=2.5e-7, overhead_s=0.0004)


def read_at(tokens):
    """Prompt tokens a second: one over 0.5 ms + 20 ns times the length."""
    return 1 / (0.0005 + 2e-8 * tokens)


def written_at(tokens):
    """Steps a second in the middle of 31: one over 5 ms + 250 ns times what stands before."""
    return 1 / (0.005 + 2.5e-7 * (tokens + 16))


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    """One table and two blocks: what is asked beside that has tests of its own."""
    tables = profiles.PROFILES["quick"].only("prefill_decode")
    short = dataclasses.replace(tables, blocks=2, audits=False)
    monkeypatch.setitem(profiles.PROFILES, "quick", short)


def book_of(server, runs):
    return live(find(environ={"TWOHALVES_SERVER": server.url}), None, runs)


@pytest.mark.parametrize(("version", "model_format", "counting"), VERSIONS)
def test_the_rates_that_went_in_come_out(tmp_path, version, model_format, counting):
    """At each length within 1%, whatever the counters leave out; no row is lost for its rate."""
    model = Modelled(version=version, counting=counting, model_format=model_format, rates=RATES)
    with Scripted(model.routes()) as server:
        run = measure(book_of(server, tmp_path), profile_name="quick")

    lines = conditions(run, "prefill_decode")
    assert [96, 298, 572, 1095, 2156, 4247] == [line.asked for line in lines]
    for line in lines:
        tokens = line.prompt_tokens.median
        assert read_at(tokens) == pytest.approx(line.prefill_rate.median, rel=0.01)
        assert written_at(tokens) == pytest.approx(line.decode_rate.median, rel=0.01)
    assert [] == [row.flags for row in run.timings if row.flags]


def test_a_run_of_a_server_that_grows_slower_keeps_every_row(tmp_path):
    """A machine that loses half a percent an answer: all rows count, the slowest too."""
    rates = dataclasses.replace(RATES, drift=0.005)
    with Scripted(Modelled(rates=rates).routes()) as server:
        run = measure(book_of(server, tmp_path), profile_name="quick")

    assert [] == [row.flags for row in run.timings if row.flags]


@pytest.mark.parametrize("version", ["0.12.5", "0.12.6", "0.12.6-rc0", "0.12.5+dirty"])
def test_a_clock_of_the_last_batch_only_is_refused_before_anything_is_kept(tmp_path, version):
    """512 of 4,247 tokens timed would print 8 times the truth: no run begins, and why is said."""
    model = Modelled(version=version, counting=Counting(last_batch=512))
    with Scripted(model.routes()) as server:
        book = book_of(server, tmp_path)
        with pytest.raises(PrefillNotTimed, match="last batch") as refused:
            measure(book, profile_name="quick")

        assert "Update Ollama" in refused.value.next_step
        assert listed(tmp_path) == ()
        # the reader's own first call is still answered
        answer = book.client.generate(model=book.model, prompt="Why?", options={"num_predict": 3})
        book.client.close()
        assert answer.eval_count == 3


@pytest.mark.parametrize(
    ("version", "counting", "says"),
    [
        ("0.30.0", PROCESSED_ONLY, "leaves cached tokens out of `prompt_eval_count`"),
        ("0.1.48", PROCESSED_ONLY, "leaves cached tokens out of `prompt_eval_count`"),
        ("0.12.4", WHOLE, "the prefill clock runs from accepting the request"),
    ],
)
def test_unusual_counting_is_said_with_the_run(tmp_path, version, counting, says):
    """A reader who compares counts is told why they are a little small, or the rates low."""
    with Scripted(Modelled(version=version, counting=counting).routes()) as server:
        run = measure(book_of(server, tmp_path), profile_name="quick")

    assert says in " ".join(notes(run))


def test_usual_counting_needs_no_word(tmp_path):
    """Nothing is said of a version that counts like most."""
    with Scripted(Modelled(version="0.24.0").routes()) as server:
        run = measure(book_of(server, tmp_path), profile_name="quick")

    assert "Ollama" not in " ".join(notes(run))
