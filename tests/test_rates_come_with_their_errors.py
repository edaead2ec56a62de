"""The worksheet's rates: whose they are, how far off, and what a page without Python can read."""

import csv
import dataclasses
import json
import pathlib
from fractions import Fraction

import pytest

from tests.servers import modelled
from tests.tables import rows_of
from twohalves.measure import live, measure
from twohalves.measure.counting import Counted, Part
from twohalves.measure.reply import Answered
from twohalves.runs import Timing, fitting, load
from twohalves.runs.load import Run
from twohalves.server import find
from twohalves.show import worksheet_rates

SAMPLE = pathlib.Path(__file__).resolve().parents[1] / "data" / "runs" / "sample-smollm2-135m"
CHAPTER = ((90, "0.487"), (960, "0.863"), (3731, "2.476"), (7427, "5.182"))
"""Whole requests of section 31.2, 64 tokens out."""


def _row(seq, tokens, late=0.0):
    """0.1 s and 1 ms a token to the first; 31 steps of 4 ms; then so many seconds of nothing."""
    first, end = round((0.1 + tokens / 1000) * 1e9), round((0.1 + tokens / 1000 + 0.124) * 1e9)
    return Timing(
        run_id="r", seq=seq, block=1, experiments="ttft;decode_vs_context", condition=str(tokens),
        prompt_eval_count=tokens, prompt_eval_duration=first, eval_count=32,
        eval_duration=124_000_000, load_duration=400_000, total_duration=end, sent_ns=0,
        first_text_ns=first, last_text_ns=end, done_ns=end + round(late * 1e9), n_chunks=32,
    )  # fmt: skip


def _run(folder, *rows):
    session = {"counters": {"steps_less": 1}}
    return Run(folder=folder / "r", session=session, timings=rows)


def test_a_fit_is_kept_with_what_it_was_tried_on(tmp_path):
    """Straight lines come back, and the one request that ended a tenth late is the largest error.

    300 tokens: 0.524 s by the curve; measured 0.524 + 0.1.
    """
    lengths = ((100, 0.0), (300, 0.1), (900, 0.0), (2000, 0.0))
    run = _run(tmp_path, *(_row(seq, *each) for seq, each in enumerate(lengths)))
    found = fitting.facts(run)

    costs = {name: found.pop(name) for name in fitting.COEFFICIENTS}
    assert costs == pytest.approx(
        {"t0_s": 0.1, "a_s": 1e-3, "b_s": 0, "c_s": 0.004, "d_s": 0}, rel=1e-6, abs=1e-12
    )
    assert found.pop("off") == pytest.approx(1 - 0.524 / 0.624, rel=1e-6)
    assert found == {"shortest": 100, "longest": 2000, "requests": 4}


def test_too_few_lengths_give_no_fit_and_no_choice(tmp_path):
    """Two lengths are no curve: the chapter's rates are left, and are begun with."""
    run = _run(tmp_path, _row(1, 100), _row(2, 900))

    assert fitting.facts(run) is None
    assert [each.id for each in worksheet_rates.choices(run)] == [
        "chapter_fitted", "chapter_constants",
    ]  # fmt: skip
    begun = worksheet_rates.start(COUNTED, ANSWERED, run)
    assert begun["rates"].value == "chapter_constants"
    assert "too few lengths" in begun["rates"].source
    assert "hit_rate" not in begun


@pytest.mark.parametrize("experiment", ["ttft", "streaming"])
def test_a_finished_measurement_keeps_its_fit(tmp_path, experiment):
    """The same figures that its rows give afterwards; null where they give none."""
    with modelled.scripted.Scripted(modelled.Modelled().routes()) as server:
        book = live(find(environ={"TWOHALVES_SERVER": server.url}), None, tmp_path)
        run = measure(book, experiment=experiment)
    kept = json.loads((run.folder / "session.json").read_text(encoding="utf-8"))["fit"]

    assert kept == fitting.facts(load(run.folder))
    assert (kept is None) == (experiment == "streaming")


def test_the_sample_keeps_its_fit():
    """What a page offers in a file picker is what its rows give."""
    run = load(SAMPLE)
    kept = run.session["fit"]

    assert kept == pytest.approx(fitting.facts(run), rel=1e-9)


def test_the_chapters_constants_miss_by_what_they_miss(tmp_path):
    """prompt / 2025 + 64 / 190 against the four whole requests, in fractions: 23% at worst."""
    errors = [
        (Fraction(prompt, 2025) + Fraction(64, 190)) / Fraction(total) - 1
        for prompt, total in CHAPTER
    ]
    constants = worksheet_rates.choices(_run(tmp_path))[-1]

    assert constants.off == pytest.approx(float(max(map(abs, errors))), rel=1e-12)
    assert (90, 7427, 4) == (constants.shortest, constants.longest, constants.requests)
    shown = [row[-1] for row in rows_of(worksheet_rates.errors(_run(tmp_path)))]
    assert ["−22%", "−6.0%", "−12%", "−23%"] == shown[-4:]


def test_the_tables_fitted_are_nearer_than_the_constants(tmp_path):
    """They saw these requests."""
    fitted, constants = worksheet_rates.choices(_run(tmp_path))

    assert fitted.off < 0.05 < constants.off


def test_the_readers_own_rates_come_first():
    """The sample's, with the largest error of its four whole requests."""
    run = load(SAMPLE)
    own = worksheet_rates.choices(run)[0]
    ends, *rows = [row for row in rows_of(worksheet_rates.errors(run)) if row[0] == "your run"]

    assert ("own", 4) == (own.id, own.requests)
    assert own.facts()["curve"]["a_s"] == run.session["fit"]["a_s"]
    assert ["90", "960", "3,731", "7,427"] == [row[1] for row in rows]
    assert ends[1:] == ["90", rows[0][-1], "7,427", rows[-1][-1]]


COUNTED = Counted(
    model="m",
    parts=(Part(name="system", tokens=6), Part(name="question", tokens=10)),
    template_tokens=12,
)
ANSWERED = Answered(
    model="m", text="x", prompt_tokens=28, output_tokens=27, ttft_s=1, total_s=2, clock="client",
    done_reason="stop",
)  # fmt: skip


def test_an_answer_that_was_cut_is_said_to_be():
    """Its length is that of the limit, and nobody's bill."""
    cut = dataclasses.replace(ANSWERED, done_reason="length")
    told = [
        worksheet_rates.start(COUNTED, each, load(SAMPLE))["output_tokens"].source
        for each in (ANSWERED, cut)
    ]

    assert told == [
        "counted by m: the one answer above",
        "counted by m: the one answer above, cut at its limit",
    ]


def test_the_worksheet_begins_with_what_was_counted_and_measured():
    """28 in, 27 out, and the hit rate of the sample's traffic, each with where it comes from."""
    with (SAMPLE / "timings.csv").open(encoding="utf-8", newline="") as file:
        rows = [r for r in csv.DictReader(file) if r["variant"] == "stable_top" and not r["flags"]]
    cached = sum(int(row["prompt_eval_cached_count"]) for row in rows)
    begun = worksheet_rates.start(COUNTED, ANSWERED, load(SAMPLE))

    assert (28, 27, "own") == tuple(
        begun[name].value for name in ("prompt_tokens", "output_tokens", "rates")
    )
    share = cached / sum(int(row["prompt_eval_count"]) for row in rows)
    assert begun["hit_rate"].value == pytest.approx(share, abs=5e-5)
    assert "2 parts" in begun["prompt_tokens"].source
    assert all(SAMPLE.name in begun[name].source for name in ("hit_rate", "rates"))
