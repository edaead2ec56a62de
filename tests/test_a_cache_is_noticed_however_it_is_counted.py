"""A prompt from the cache is noticed whether a server counts cached tokens, or not, or by time.

The scripted server keeps one prompt in its slot, as real ones do. A run plants two faults itself:
a prompt that was sent before, and a reload.
"""

import pytest

from tests.servers import scripted
from tests.servers.modelled import Counting
from tests.servers.process import Loading
from twohalves.errors import NoValidAnswer
from twohalves.measure import live, measure
from twohalves.measure.notes import notes
from twohalves.server import find

NEVER_READ = 10**6  # more tokens in the cache than any prompt has
WAYS = {
    "told apart": ("0.40.0", Counting(tells_shared=True)),
    "included": ("0.24.0", Counting()),
    "left out": ("0.30.0", Counting(counts_shared=False)),
    "left out, and a 0 too": ("0.1.48", Counting(counts_shared=False, rereads=False)),
}
SEEN_BY = {"told apart": "cached_prefix", "included": "too_fast"}


def _measured(runs, model):
    with scripted.Scripted(model.routes()) as server:
        return measure(live(find(environ={"TWOHALVES_SERVER": server.url}), None, runs))


@pytest.mark.parametrize("way", WAYS)
def test_the_planted_faults_are_noticed_and_all_else_counts(tmp_path, way):
    """The repeat and the reload are flagged, and no cold or warm row beside them."""
    version, counting = WAYS[way]
    run = _measured(tmp_path, Loading(slots=1, version=version, counting=counting))

    assert "complete" == run.session["status"]
    flagged = {row.pair: row.flags for row in run.timings if row.flags}
    assert flagged == {
        "audit-duplicate": SEEN_BY.get(way, "cached_prefix"),
        "audit-reload": "reloaded",
    }
    assert not any("on purpose" in sentence for sentence in notes(run))


def test_one_token_is_an_answer_where_only_the_prompt_matters(tmp_path):
    """A model that ends at once took no step, so Ollama leaves its duration out: no fault."""
    model = Loading(slots=1)
    short = {"eval_count": 1, "done_reason": "stop"}

    def ends_at_once(final):
        if final["eval_count"] > 8:
            return final
        return {name: value for name, value in (final | short).items() if name != "eval_duration"}

    model.faults |= dict.fromkeys(range(1, 200), ends_at_once)
    run = _measured(tmp_path, model)

    answers = [row for row in run.timings if row.experiments == "traffic"]
    assert {1} == {row.eval_count for row in answers}
    assert {None} == {row.eval_duration for row in answers}
    assert all(row.valid for row in answers)


@pytest.mark.parametrize("way", ["told apart", "left out"])
def test_a_second_process_that_still_answers_warm_ends_the_run(tmp_path, way):
    """A cache kept on disk between runs: each text was sent once and is reported as cached."""
    version, counting = WAYS[way]
    clean = _measured(tmp_path / "first", Loading(version=version, counting=counting))
    assert not any("cached_prefix" in row.flags for row in clean.timings)

    again = Loading(
        version=version,
        counting=Counting(
            shared=NEVER_READ,
            counts_shared=counting.counts_shared,
            tells_shared=counting.tells_shared,
        ),
    )
    with pytest.raises(NoValidAnswer, match="cached_prefix"):
        _measured(tmp_path / "second", again)


def test_where_no_count_tells_the_run_says_that_its_cold_rows_were_warm(tmp_path):
    """All prompts take the time of one token: no row stands out, but long ones take no longer."""
    run = _measured(tmp_path, Loading(version="0.24.0", counting=Counting(shared=NEVER_READ)))
    said = " ".join(notes(run))

    assert "served from a cache, and their rates of prefill mean nothing" in said
    assert "cannot show that its cold rows were cold" in said
