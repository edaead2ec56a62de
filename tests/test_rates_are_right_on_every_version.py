"""Servers of every range of versions do the same work, count it differently, and give one rate."""

import pytest

from tests.servers.modelled import Counting, Modelled
from tests.servers.scripted import Scripted
from twohalves.errors import PrefillNotTimed
from twohalves.measure import live, measure
from twohalves.measure.notes import notes
from twohalves.runs import conditions, listed
from twohalves.server import find

# as Ollama's sources have it at each tag; two tokens at the head of each prompt are cached
PROCESSED_ONLY = Counting(shared=2, counts_shared=False)
WHOLE = Counting()
TOLD_APART = Counting(shared=2, tells_shared=True)
VERSIONS = [
    ("0.1.48", "gguf", PROCESSED_ONLY),
    ("0.2.0", "gguf", WHOLE),
    ("0.3.14", "gguf", WHOLE),
    ("0.4.0", "gguf", WHOLE),
    ("0.6.7", "gguf", WHOLE),
    ("0.12.4", "gguf", WHOLE),
    ("0.12.7", "gguf", WHOLE),
    ("0.15.5", "gguf", WHOLE),
    ("0.24.0", "gguf", WHOLE),
    ("0.30.0", "gguf", PROCESSED_ONLY),
    ("0.30.1-rc2", "gguf", WHOLE),
    ("0.30.11", "gguf", WHOLE),
    ("0.33.2+dirty", "gguf", WHOLE),
    ("0.33.3", "gguf", WHOLE),
    ("0.33.3", "gguf", TOLD_APART),
    ("0.40.0", "gguf", TOLD_APART),
    ("0.0.0", "gguf", TOLD_APART),
    ("0.24.0", "safetensors", Counting(steps_less=0)),
    ("0.40.0", "safetensors", Counting(steps_less=0, shared=2, tells_shared=True)),
]


def book_of(server, runs):
    return live(find(environ={"TWOHALVES_SERVER": server.url}), None, runs)


@pytest.mark.parametrize(("version", "model_format", "counting"), VERSIONS)
def test_the_rates_that_went_in_come_out(tmp_path, version, model_format, counting):
    """2,000 tokens and 190 steps a second, within 0.1%, whatever the counters leave out."""
    model = Modelled(version=version, counting=counting, model_format=model_format)
    with Scripted(model.routes()) as server:
        run = measure(book_of(server, tmp_path), profile_name="quick")

    for line in conditions(run, "prefill_decode"):
        assert line.prefill_rate.median == pytest.approx(2000, rel=0.001)
        assert line.decode_rate.median == pytest.approx(190, rel=0.001)
    assert all(row.valid for row in run.timings if row.role != "warmup")


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
