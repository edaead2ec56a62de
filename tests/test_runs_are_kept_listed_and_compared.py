"""The verb `runs`: what is kept is listed, shown and compared, and no comparison is unfair."""

import csv
import dataclasses
import json
import os
import re

import pytest

from tests import verb
from twohalves import bootstrap
from twohalves.commands import Exit, main
from twohalves.places import RUNS
from twohalves.runs import COLUMNS, SCHEMA, Timing, named
from twohalves.runs.choose import newest_sample
from twohalves.runs.schema import to_cells
from twohalves.show.beside import beside

MS = 1_000_000
SAMPLE = named(newest_sample())


@pytest.fixture(autouse=True)
def _inside(monkeypatch):
    monkeypatch.setattr(bootstrap.Environment, "prepare", lambda _: None)
    monkeypatch.setattr(bootstrap.Environment, "inside", lambda _: True)


@pytest.fixture
def give(capsys, monkeypatch, tmp_path):
    """Give `runs …` on the test's own folder; what came back as (code, stdout, stderr)."""

    def given(*words, width=200):
        monkeypatch.setenv("COLUMNS", str(width))
        code = main(["runs", *words, "--out", str(tmp_path)])
        said = capsys.readouterr()
        return code, said.out, said.err

    return given


def _rows(*, factor=1.0, blocks=5, grows=True):
    """A run like the chapter's in small: 96 and 4,247 tokens, cold then warm, and its controls.

    Cold prefill takes half a millisecond a token, warm 16 ms, decode 5 ms a step (and 7 ms at
    the long context) times `factor`; each block is half a percent slower than the one before.
    """
    seq = 0
    for block in range(1, blocks + 1):
        slower = factor * (1 + 0.005 * block)
        for tokens, step in ((96, 5), (4247, 7 if grows else 5)):
            for variant, reading in (("cold", 0.5 * tokens), ("warm", 16)):
                seq += 1
                tables = "prefill_decode;ttft;decode_vs_context;prompt_cache"
                yield _timing(
                    seq,
                    block=block,
                    experiments=tables if variant == "cold" else "prompt_cache",
                    condition=str(tokens),
                    variant=variant,
                    pair=f"cache-{tokens}-b{block}",
                    prompt_eval_count=tokens,
                    reading_ms=slower * reading,
                    writing_ms=slower * step * 31,
                )
    for number in range(7):
        yield _timing(
            100 + number,
            role="control",
            condition="1000",
            prompt_eval_count=1000,
            reading_ms=500 * factor * (1 + 0.0005 * number),
            writing_ms=155 * factor,
        )


def _timing(seq, *, reading_ms, writing_ms, **facts):
    first, done = round(reading_ms * MS), round((reading_ms + writing_ms) * MS)
    return Timing(
        run_id="made",
        seq=seq,
        num_predict=32,
        prompt_eval_cached_count=0,
        prompt_eval_duration=first,
        eval_count=32,
        eval_duration=done - first,
        done_reason="length",
        sent_ns=0,
        first_text_ns=first,
        last_text_ns=done,
        done_ns=done,
        **facts,
    )


def _keep(folder, name, rows, **facts):
    """A run on disk; `facts` change what its session says."""
    (folder / name).mkdir()
    held = ["prefill_decode", "ttft", "decode_vs_context", "prompt_cache"]
    session = SAMPLE.session | {"run_id": name, "schema": SCHEMA, "experiments": held} | facts
    (folder / name / "session.json").write_text(json.dumps(session), encoding="utf-8")
    with (folder / name / "timings.csv").open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(COLUMNS)
        out.writerows(to_cells(dataclasses.replace(row, run_id=name)) for row in rows)


def test_each_run_is_one_line(give, tmp_path):
    """With its date, profile, server, model, experiments, valid rows and status."""
    rows = list(_rows())
    rows[0] = dataclasses.replace(rows[0], valid=False, flags="waited")
    _keep(tmp_path, "mine", rows, profile="quick", started_at="2026-12-01T10:00:00+00:00")
    _keep(tmp_path, "sample-one", _rows(), status="unfinished")
    code, said, _ = give("list")
    head, sample, mine = said.splitlines()

    assert code == Exit.DONE
    assert "valid rows" in head
    for word in ("mine", "2026-12-01 10:00", "quick", "builtin", "smollm2:135m", "26/27"):
        assert word in mine
    assert sample.endswith("unfinished (sample)")


def test_a_narrow_terminal_gets_no_line_too_long(give, tmp_path):
    """Forty characters hold every form, but for names and numbers that may not be broken."""
    _keep(tmp_path, "first", _rows())
    _keep(tmp_path, "second", _rows())
    for words in (["list"], ["show", "first"], ["compare", "first", "second"]):
        for line in give(*words, width=40)[1].splitlines():
            assert len(line) <= 40 or " " not in line.strip(), line
    assert give("compare", "reference", "first", width=40)[0] == Exit.DONE


def test_a_broken_folder_is_named_and_hides_no_other(give, tmp_path):
    """A spoilt session.json, rows without one, and a folder that is no run at all."""
    _keep(tmp_path, "good", _rows())
    _keep(tmp_path, "spoilt", _rows())
    (tmp_path / "spoilt" / "session.json").write_text("{", encoding="utf-8")
    _keep(tmp_path, "alone", _rows())
    (tmp_path / "alone" / "session.json").unlink()
    (tmp_path / "holiday").mkdir()
    code, said, errors = give("list")

    assert code == Exit.DONE
    assert "good" in said
    assert "The run spoilt cannot be read: session.json" in errors
    assert "The run alone cannot be read: session.json" in errors
    assert "holiday" not in said + errors


def test_an_empty_shelf_is_said(give):
    """No table of nothing."""
    assert (Exit.DONE, "No run is kept yet.\n") == give()[:2]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["lst"], Exit.USAGE, "Did you mean 'list'?"),
        (["show"], Exit.USAGE, "takes the name of one run, and got none"),
        (["show", "a", "b"], Exit.USAGE, "takes the name of one run, and got a, b"),
        (["compare", "a"], Exit.USAGE, "takes the names of 2 runs, and got a"),
        (["show", "2026-12-01-quik"], Exit.BLOCKED, "Did you mean 2026-12-01-quick?"),
        (["show", "quick"], Exit.BLOCKED, "Did you mean 2026-12-01-quick?"),
        (["compare", "refrence", "2026-12-01-quick"], Exit.BLOCKED, "Did you mean reference?"),
        (["compare", "reference", "reference"], Exit.BLOCKED, "is named twice"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_slip_is_answered(give, tmp_path, words, code, says):
    """Whatever was mistyped, the answer names what was meant."""
    _keep(tmp_path, "2026-12-01-quick", _rows())
    got, _, errors = give(*words)

    assert code == got
    assert says in errors
    assert "data/runs" not in errors  # it was looked for elsewhere


def test_a_run_is_shown_in_full(give, tmp_path):
    """Counts of valid rows, drift, audits, and each table: medians that stand in the rows."""
    _keep(tmp_path, "mine", _rows())
    code, said, _ = give("show", "mine")

    assert code == Exit.DONE
    assert "measured 20/20, controls 7/7" in said
    assert "prefill 0.3% (0.3% to 0.3%), steady" in said
    assert "repeated prompt not planted" in said
    # block 3 of 5 is the median: 0.5 ms * 4,247 * 1.015 = 2,155 ms
    assert re.search(r"4,247 +cold +5 +2\.16 s", said)
    assert re.search(r"4,247 +warm +5 +16\.2 ms", said)


@pytest.mark.parametrize("words", [["show", "cut"], ["compare", "reference", "cut"]])
@pytest.mark.parametrize("rows", [0, 3, 9])
def test_a_run_killed_anywhere_can_be_looked_at(give, tmp_path, words, rows):
    """Before its first row, within a block, within a pair."""
    _keep(tmp_path, "cut", list(_rows())[:rows], status="unfinished")
    if not rows:
        (tmp_path / "cut" / "timings.csv").unlink()
    assert give(*words)[0] == Exit.DONE
    assert f"{rows}/{rows}" in give("list")[1]


def test_a_run_of_the_first_schema_works_in_every_form(give, tmp_path):
    """The sample that is committed, or one like it."""
    old = [dataclasses.replace(row, experiments="prefill_decode") for row in _rows()]
    _keep(tmp_path, "new", _rows())
    _keep(tmp_path, "old", old, schema=1, experiments=["prefill_decode"])
    path = tmp_path / "old" / "timings.csv"
    lines = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
    kept = lines[0].index("setup")
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(line[:kept] for line in lines)
    for words in (["list"], ["show", "old"], ["compare", "reference", "old"]):
        assert give(*words)[0] == Exit.DONE
    assert "prefill_decode: reading over writing" in give("compare", "old", "new")[1]


def _line(said, title, tokens):
    block = said.split(title)[1].split("\n\n")[0]
    return next(line for line in block.splitlines() if line.startswith(tokens)).split()


def test_two_runs_of_one_machine_are_compared_in_ratios_and_seconds(give, tmp_path):
    """B takes 1.2 times as long in everything: its rates are 1/1.2 = 0.833, its ratios equal.

    The five rates of a run lie within 2%; the interval is the third quotient from either end.
    """
    _keep(tmp_path, "first", _rows())
    _keep(tmp_path, "second", _rows(factor=1.2))
    code, said, _ = give("compare", "first", "second")

    assert code == Exit.DONE
    assert "Nothing is known that forbids" in said
    tokens, a, b, ratio, low, _, high, *values = _line(said, "prefill_decode: prefill", "4,247")
    assert ("4,247", "1,970", "1,640", "0.833") == (tokens, a, b, ratio)
    assert 0.82 < float(low) < 0.833 < float(high) < 0.85
    assert ["5,", "5"] == values
    assert "1.000" == _line(said, "reading over writing", "4,247")[3]
    assert "1.000" == _line(said, "cold over warm", "4,247")[3]


def test_three_blocks_claim_no_interval(give, tmp_path):
    """And what they could at most is said once."""
    _keep(tmp_path, "first", _rows(blocks=3))
    _keep(tmp_path, "second", _rows(blocks=3))
    said = give("compare", "first", "second")[1]

    assert "–" == _line(said, "prefill_decode: prefill", "96")[4]
    assert 1 == said.count("Three against three reach 90% at most")


S = SAMPLE.session


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        ({"machine": S["machine"] | {"id": "other"}}, "differ in the machine"),
        ({"machine": S["machine"] | {"on_battery": True}}, "differ in its power"),
        ({"model": S["model"] | {"digest": "e" * 64}}, "differ in the model"),
        ({"server": S["server"] | {"kind": "ollama"}}, "differ in the server"),
        ({"server": S["server"] | {"version": "0.24.0"}}, "differ in the server"),
        ({"server": S["server"] | {"slots": 2}}, "differ in how the server was started"),
        ({"server": S["server"] | {"kv_type": "q8_0"}}, "differ in how the server was started"),
        ({"counters": S["counters"] | {"steps_less": 0}}, "differ in the counters (steps_less)"),
        ({"options": S["options"] | {"num_ctx": 4096}}, "differ in the option num_ctx"),
        ({"packages": {"xllamacpp": "1"}}, "differ in the engine"),
        ({"load_average": {"before": 7.5}}, "The machine was busy when second began"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_what_differs_forbids_seconds_and_leaves_ratios(give, tmp_path, facts, says):
    """Each reason by itself: named, rates withheld, ratios shown."""
    _keep(tmp_path, "first", _rows())
    _keep(tmp_path, "second", _rows(), **facts)
    said = give("compare", "first", "second")[1]

    assert says in said
    assert "prefill tok/s" not in said
    assert "seconds of" not in said
    assert "reading over writing" in said
    assert "cold over warm" in said


def test_counters_differ_in_words_and_only_where_both_are_known(give, tmp_path):
    """Not told is no difference, the versions stand under the server, and no value is Python's."""
    known = {"counters": S["counters"] | {"versions": "a", "counts_cached": True}}
    other = {"counts_cached": False, "versions": "b", "reports_cached": None}
    _keep(tmp_path, "first", _rows(), **known)
    _keep(tmp_path, "second", _rows(), counters=known["counters"] | other)
    said = give("compare", "first", "second")[1]

    assert "differ in the counters (counts_cached): yes against no." in said
    assert said.count("differ in the counters") == 1
    assert "None" not in said


def test_a_run_that_shares_its_timings_is_not_one_that_does_not(give, tmp_path):
    """As quick beside chapter."""
    alone = [dataclasses.replace(row, experiments="prefill_decode") for row in _rows()]
    _keep(tmp_path, "first", _rows())
    _keep(tmp_path, "second", alone)

    assert "differ in timings" in give("compare", "first", "second")[1]


def test_drift_forbids_seconds_and_leaves_ratios(give, tmp_path):
    """A control that grows 12% slower in seven steps, in one of the runs."""
    drifting = [
        dataclasses.replace(row, prompt_eval_duration=round((500 + 10 * (row.seq - 100)) * MS))
        if row.role == "control"
        else row
        for row in _rows()
    ]
    _keep(tmp_path, "first", _rows())
    _keep(tmp_path, "second", drifting)
    said = give("compare", "first", "second")[1]

    assert "second drifted" in said
    assert "prefill tok/s" not in said
    assert "reading over writing" in said


def test_runs_without_a_common_condition_say_so(give, tmp_path):
    """An answer of another length is another condition."""
    longer = [dataclasses.replace(row, num_predict=64) for row in _rows()]
    _keep(tmp_path, "first", _rows())
    _keep(tmp_path, "second", longer)

    assert "They share no condition" in give("compare", "first", "second")[1]


def test_the_chapter_stands_beside_a_run_with_the_sign_test(give, tmp_path):
    """Its printed figures to the digit, the run's medians, and k of n with p = 1/2^n.

    The run's gain at 4,247 tokens is 2,123.5 / 16 = 133 in every pair.
    """
    _keep(tmp_path, "mine", _rows())
    code, said, _ = give("compare", "mine", "reference")

    assert code == Exit.DONE
    assert ["1,848", "1,970"] == _line(said, "prefill_decode", "4,247")[4:6]
    assert "58.7" == _line(said, "ttft", "960")[2]
    assert ["100.0", "–"] == _line(said, "decode_vs_context", "83")[2:4]
    assert ["153×", "133×"] == _line(said, "prompt_cache", "4,247")[2:4]
    assert "longer to write than to read: 5 of 5 blocks, p = 0.031." in said
    assert "than after the shortest: 5 of 5 blocks, p = 0.031." in said
    assert "larger part of its time: 5 of 5 blocks, p = 0.031." in said
    assert "less time than at first: 5 of 5 blocks, p = 0.031." in said
    assert "more for the longest than for the shortest: 5 of 5 blocks" in said


def test_the_ratio_is_that_of_the_two_columns_beside_it():
    """As in the chapter's table and in the notebook, and not a median of its own."""
    cells = _line("\n".join(beside(SAMPLE, 1000)), "prefill_decode", "96")
    ratio, reading, writing = (float(cells[at].strip("×")) for at in (3, 5, 7))

    assert ratio == pytest.approx(reading / writing, rel=0.01)


def test_a_claim_that_does_not_hold_is_not_called_one(give, tmp_path):
    """Decode as fast at 4,247 tokens as at 96: a tie is no support."""
    _keep(tmp_path, "mine", _rows(grows=False))
    said = give("compare", "reference", "mine")[1]

    assert "than after the shortest: 0 of 5 blocks, p = 1.000." in said


def test_a_pair_that_was_cut_in_two_is_no_evidence(give, tmp_path):
    """Without its warm twin a cold row says nothing of the gain, for or against."""
    rows = list(_rows())
    last = next(row for row in rows if (row.block, row.seq % 4) == (5, 0))
    _keep(tmp_path, "cut", [row for row in rows if row is not last])
    said = give("compare", "reference", "cut")[1]

    assert "at first: 5 of 5 blocks" in said
    assert "more for the longest than for the shortest: 4 of 4 blocks" in said


def test_the_verb_reads_the_committed_sample():
    """As the reader gives it, in a process of its own, behind a pipe."""
    done = verb.give("runs", variables={"PYTHONPATH": os.environ.get("PYTHONPATH", "")})

    assert done.returncode == 0, done.stderr
    listed = done.stdout.decode("utf-8").splitlines()
    assert any(line.startswith(newest_sample()) and "(sample)" in line for line in listed)
    assert RUNS.is_dir()
