"""Whatever a spreadsheet or a later version did to timings.csv: read right, or refused by line."""

import csv
import io
import json

import pytest

from tests.servers import modelled
from twohalves.errors import CannotAppend, RunUnreadable
from twohalves.measure import EXPERIMENTS, live, measure
from twohalves.runs import (
    COLUMNS,
    SCHEMA,
    Keeper,
    Timing,
    Whose,
    latest_number,
    load,
    readers_run,
    unfinished,
    unreadable,
)
from twohalves.runs import session as session_file
from twohalves.server import find


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """The files of one run, as measured."""
    runs = tmp_path_factory.mktemp("runs")
    with modelled.scripted.Scripted(modelled.Modelled().routes()) as server:
        return measure(live(find(environ={"TWOHALVES_SERVER": server.url}), None, runs))


@pytest.fixture
def folder(measured, tmp_path):
    """A copy of the run that may be spoilt."""
    folder = tmp_path / measured.id
    folder.mkdir()
    for path in measured.folder.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    return folder


def _rows(folder):
    text = (folder / "timings.csv").read_text(encoding="utf-8")
    return list(csv.reader(io.StringIO(text)))


def _write(folder, rows, **how):
    out = io.StringIO()
    csv.writer(out, **({"lineterminator": "\n"} | how)).writerows(rows)
    (folder / "timings.csv").write_text(out.getvalue(), encoding="utf-8", newline="")


def _refusal(folder):
    before = (folder / "timings.csv").read_bytes()
    with pytest.raises(RunUnreadable) as caught:
        load(folder)
    assert before == (folder / "timings.csv").read_bytes()
    return caught.value.what


@pytest.mark.parametrize(
    "how",
    [
        {"lineterminator": "\r\n"},
        {"quoting": csv.QUOTE_ALL},
        {"lineterminator": "\r\n", "quoting": csv.QUOTE_ALL},
    ],
)
def test_line_ends_and_quotes_of_a_spreadsheet_are_no_fault(folder, measured, how):
    """The same cells in another dress are the same rows."""
    _write(folder, _rows(folder), **how)

    assert measured.timings == load(folder).timings
    assert () == load(folder).notes


def test_a_byte_order_mark_is_no_fault(folder, measured):
    """A spreadsheet may have put one in front; rows can still be added."""
    text = (folder / "timings.csv").read_text(encoding="utf-8")
    (folder / "timings.csv").write_text(text, encoding="utf-8-sig")

    assert measured.timings == load(folder).timings
    Keeper(folder).keep(Timing(run_id="r", seq=99, role="warmup"), {})
    assert 99 == load(folder).timings[-1].seq


def test_empty_cells_and_lines_of_a_spreadsheet_are_no_fault(folder, measured):
    """It saves columns and rows that were only touched as commas."""
    rows = [[*row, "", ""] for row in _rows(folder)]
    _write(folder, [*rows, [""] * 40, [""] * 40])

    assert measured.timings == load(folder).timings
    assert () == load(folder).notes


def test_a_lock_of_an_office_program_is_no_row(folder, measured):
    """It lies beside the file while that is open there."""
    (folder / ".~lock.timings.csv#").write_text(",me,host,29.11.2026;", encoding="utf-8")
    (folder / "~$timings.csv").write_bytes(b"\0me")

    assert measured.timings == load(folder).timings


def test_truth_in_capitals_is_truth(folder, measured):
    """A spreadsheet writes TRUE and FALSE."""
    at = COLUMNS.index("valid")
    head, *rows = _rows(folder)
    _write(folder, [head, *[[*row[:at], row[at].upper(), *row[at + 1 :]] for row in rows]])

    assert measured.timings == load(folder).timings


def test_a_last_line_without_its_end_is_a_whole_line(folder, measured):
    """Some editors leave the last line end out: the row counts, and the next one follows it."""
    path = folder / "timings.csv"
    path.write_bytes(path.read_bytes().rstrip(b"\n"))

    assert measured.timings == load(folder).timings
    Keeper(folder).keep(Timing(run_id="r", seq=99, role="warmup"), {})
    assert [*measured.timings, load(folder).timings[-1]] == list(load(folder).timings)
    assert not (folder / "timings.csv.torn").exists()


def test_columns_in_another_order_are_read_by_name_and_not_added_to(folder, measured):
    """Reading needs the names only; a new row would stand in the wrong columns."""
    _write(folder, [row[::-1] for row in _rows(folder)])
    before = (folder / "timings.csv").read_bytes()

    assert measured.timings == load(folder).timings
    with pytest.raises(CannotAppend, match="was edited") as caught:
        Keeper(folder)
    assert "Undo the edit" in caught.value.next_step
    assert before == (folder / "timings.csv").read_bytes()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"PK\3\4\0\xff", "it is not UTF-8 text"),
        (b"my notes", "its first line does not name the columns"),
        ("\ufeff".encode() + ";".join(COLUMNS).encode() + b"\r\n", "semicolons stand where"),
        (b"sep=,\n" + ",".join(COLUMNS).encode() + b"\n", "its first line does not name"),
        (",".join(COLUMNS).encode() + b"\r" + b"," * 36 + b"\r", "line 1 has no line feed"),
        (",".join(COLUMNS[:-1]).encode() + b"\n", "line 1 lacks loop_chunks"),
    ],
)
def test_what_is_no_table_is_not_added_to(folder, content, reason):
    """Going on with such a run says what is wrong, and sets nothing of the reader's aside."""
    (folder / "timings.csv").write_bytes(content)
    names = {path.name for path in folder.iterdir()}

    with pytest.raises(RunUnreadable, match=reason) as caught:
        Keeper(folder)
    assert "move the run's folder elsewhere" in caught.value.next_step
    assert content == (folder / "timings.csv").read_bytes()
    assert names == {path.name for path in folder.iterdir()}


def test_a_last_line_torn_within_a_letter_is_passed_over(folder, measured):
    """Power failed after the first byte of an umlaut: the rows before it are read."""
    with (folder / "timings.csv").open("ab") as file:
        file.write("run,99,ü".encode()[:-1])

    assert measured.timings == load(folder).timings
    assert "cut short" in load(folder).notes[0]


def test_columns_of_a_later_version_are_passed_over_and_said(folder, measured):
    """Columns are only ever added at the end, so an older reader can skip them."""
    head, *rows = _rows(folder)
    _write(folder, [[*head, "brand_new"], *[[*row, "7"] for row in rows]])

    assert measured.timings == load(folder).timings
    assert "does not know were passed over: brand_new." in load(folder).notes[0]


def test_rows_in_another_order_are_taken_as_measured(folder, measured):
    """Sorted by speed in a spreadsheet, they would show a drift that never was."""
    head, *rows = _rows(folder)
    at = COLUMNS.index("prompt_eval_duration")
    _write(folder, [head, *sorted(rows, key=lambda row: row[at])])

    assert measured.timings == load(folder).timings
    assert "stood in another order" in load(folder).notes[0]


def test_a_deleted_row_is_missed(folder, measured):
    """Line 8 is gone, and the record as received tells which request it was."""
    rows = _rows(folder)
    gone = rows.pop(7)
    _write(folder, rows)

    run = load(folder)
    assert len(measured.timings) - 1 == len(run.timings)
    assert f"timings.csv lacks 1 answer (request {gone[1]})" in run.notes[0]


def test_an_invented_row_is_noticed(folder):
    """A row of which no answer is known is said."""
    rows = _rows(folder)
    made_up = list(rows[-1])
    made_up[COLUMNS.index("seq")] = "777"
    _write(folder, [*rows, made_up])

    assert "timings.csv has 1 answer (request 777)" in load(folder).notes[0]


@pytest.mark.parametrize(
    ("column", "cell", "reason"),
    [
        ("prompt_eval_duration", "fast", "must be a whole number, got 'fast'"),
        ("prompt_eval_duration", "1,5", "must be a whole number, got '1,5'"),
        ("prompt_eval_duration", "1.23457E+11", "must be a whole number, got '1.23457E+11'"),
        ("prompt_eval_duration", "1_000", "must be a whole number, got '1_000'"),
        ("prompt_eval_duration", "", "must be above 0 in a valid row, got None"),
        ("prompt_eval_duration", "7", "is 7, and the server sent"),
        ("eval_count", "64", "is 64, and the server sent 32"),
        ("valid", "yes", "must be true or false, got 'yes'"),
        ("seq", "", "must be a whole number, got ''"),
    ],
)
def test_a_changed_value_is_refused_with_its_line(folder, column, cell, reason):
    """Neither text for a number nor another number for the server's passes."""
    rows = _rows(folder)
    number = next(n for n, row in enumerate(rows) if row[COLUMNS.index("role")] == "measure")
    rows[number][COLUMNS.index(column)] = cell
    _write(folder, rows)

    said = _refusal(folder)
    assert f"line {number + 1}: " in said
    assert column in said
    assert reason in said


def test_a_repeated_row_is_refused_with_both_lines(folder):
    """A row pasted twice would count twice."""
    rows = _rows(folder)
    _write(folder, [*rows, rows[4]])

    assert f"line {len(rows) + 1} holds request" in _refusal(folder)
    assert ", as line 5 does" in _refusal(folder)


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ({"delimiter": ";"}, "line 1: semicolons stand where commas should"),
        ({"delimiter": "\t"}, "line 1: tabulators stand where commas should"),
    ],
)
def test_other_separators_are_named(folder, how, reason):
    """What a spreadsheet of another country saves."""
    _write(folder, _rows(folder), **how)

    assert reason in _refusal(folder)


@pytest.mark.parametrize("column", ["valid", "prompt_eval_cached_count", "flags"])
def test_a_dropped_column_is_missed(folder, column):
    """Without it an invalid row would look valid, or a cached one cold."""
    at = COLUMNS.index(column)
    _write(folder, [row[:at] + row[at + 1 :] for row in _rows(folder)])

    assert f"line 1 lacks {column}" in _refusal(folder)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "its first line does not name the columns"),
        (b"a,b\n1,2\n", "its first line does not name the columns"),
        ("run_id".encode("utf-16"), "it is not UTF-8 text from byte 0 on"),
        (",".join((*COLUMNS, "seq")).encode() + b"\n", "line 1 names seq twice"),
        (",".join(COLUMNS).encode() + b"\nr,1,2\n", "line 2: it has 3 cells where the header has"),
        (",".join(COLUMNS).encode() + b'\nr,"1\r2\n', "line 2: "),
    ],
)
def test_what_is_no_table_is_refused(folder, content, reason):
    """Said with the place, and left as it is."""
    (folder / "timings.csv").write_bytes(content)

    assert reason in _refusal(folder)


def test_a_newer_schema_is_refused(folder):
    """A run written by a newer version is not read wrongly by this one, nor added to."""
    newer = session_file.read(folder) | {"schema": SCHEMA + 1}
    (folder / "session.json").write_text(json.dumps(newer), encoding="utf-8")

    assert f"schema {SCHEMA + 1} is newer than {SCHEMA}" in _refusal(folder)


def _damaged(session):
    plan = session["plan"]
    yield session | {"server": "x"}, "server"
    yield session | {"machine": {}}, "machine.id, machine.logical_cores"
    yield session | {"plan": {}}, "plan"
    yield session | {"plan": [{**plan[0], "role": 1}, {"seq": 2}]}, "plan.block"
    yield session | {"load_average": None}, "load_average"


def test_a_damaged_session_is_refused_and_hides_no_other(folder, measured):
    """Whatever is missing in it, it is named, and the next run is begun beside it."""
    runs = folder.parent
    whole = session_file.read(folder)
    texts = [(json.dumps(each), lacks) for each, lacks in _damaged(whole)]
    texts += [(text, "session.json: ") for text in ("", "\0" * 99, json.dumps(whole)[:500], "[]")]
    whose = Whose(
        machine_id=whole["machine"]["id"],
        server_kind="ollama",
        model_digest=whole["model"]["digest"],
    )
    for text, lacks in texts:
        (folder / "session.json").write_text(text, encoding="utf-8")
        with pytest.raises(RunUnreadable, match=lacks):
            load(folder)
        assert readers_run(whose, EXPERIMENTS, runs) is None
        assert unfinished(whose, EXPERIMENTS, "quick", runs) is None
        assert 0 == latest_number(runs)
        assert [folder.name] == [error.args[0] for error in unreadable(runs)]


def test_a_run_without_its_raw_records_is_read(folder, measured):
    """The published edition carries the rows alone."""
    (folder / "raw.jsonl").unlink()

    assert measured.timings == load(folder).timings
    assert () == load(folder).notes


def test_a_run_of_an_earlier_schema_is_read_without_the_columns_added_since(folder):
    """Old runs stay readable for ever; one that calls itself new must have all columns."""
    path = folder / "timings.csv"
    table = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))
    old = table[0].index("setup")
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(cells[:old] for cells in table)
    assert "line 1 lacks setup, streamed, server_done_at, loop_chunks" in _refusal(folder)

    session_file.write(folder, session_file.read(folder) | {"schema": 1})

    assert [row.setup for row in load(folder).timings] == [""] * (len(table) - 1)
