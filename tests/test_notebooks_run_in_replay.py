"""Notebooks are executed in replay, by this interpreter, and three outcomes are told apart."""

import copy
import json
import os
import sys

import nbformat
import psutil
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from twohalves.errors import (
    NotebookCellFailed,
    NotebookChanged,
    NotebookNotRun,
    NotebookUnreadable,
    TwoHalvesError,
)
from twohalves.site import execute, stage, store_outputs
from twohalves.site.execute import normalize


def staged(tmp_path, *sources, name="one.ipynb", **metadata):
    folder = tmp_path / "notebooks"
    folder.mkdir(exist_ok=True)
    book = new_notebook(cells=[new_code_cell(source) for source in sources], metadata=metadata)
    path = folder / name
    path.write_text(nbformat.writes(book), encoding="utf-8")
    return path


def outputs(path):
    return [cell.get("outputs") for cell in nbformat.read(path, as_version=4).cells]


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"kernelspec": {"name": "conda-env-ml-py", "display_name": "ml"}},
        {"kernelspec": {"name": "python37564bit1f3a", "display_name": "x", "language": "python"}},
    ],
    ids=["none", "renamed-no-language", "hash"],
)
def test_any_saved_kernel_name_runs_here(tmp_path, metadata):
    """The kernel is this interpreter, in replay of the run, in the notebook's own folder."""
    source = (
        "import os, sys, pathlib, twohalves\n"
        "print(sys.prefix, os.environ['TWOHALVES_RUN'], pathlib.Path.cwd().name, sep='\\n')"
    )
    path = staged(tmp_path, source, **metadata)
    execute([path], tmp_path, "run-7")
    assert outputs(path)[0][0]["text"].splitlines() == [sys.prefix, "run-7", "notebooks"]
    saved = nbformat.read(path, as_version=4)
    assert saved.metadata.kernelspec.name == "python3"
    assert saved.metadata.kernelspec.language == "python"
    assert saved.cells[0].execution_count == 1
    assert "execution" not in saved.cells[0].metadata
    left = [child.cmdline() for child in psutil.Process().children()]
    assert not [line for line in left if "ipykernel_launcher" in line]


def test_a_failing_cell_is_shown_with_what_it_printed(tmp_path):
    """The notebook's own code failed: the cell, its output so far, the traceback."""
    path = staged(tmp_path, "ready = True", "print('so far')\nraise LookupError('no row')")
    with pytest.raises(NotebookCellFailed) as caught:
        execute([path], tmp_path, "run-7")
    text = str(caught.value)
    at = [text.index(part) for part in ("notebooks/one.ipynb", "print('so far')", "so far\n")]
    assert at == sorted(at)
    assert "LookupError: no row" in text
    assert "\x1b" not in text
    assert "Next:" in text
    assert isinstance(copy.copy(caught.value), NotebookCellFailed)


def test_a_kernel_that_dies_is_another_outcome(tmp_path):
    """It could not be run: not the fault of what the cell computes."""
    path = staged(tmp_path, "import os; os._exit(3)")
    with pytest.raises(NotebookNotRun, match="kernel died"):
        execute([path], tmp_path, "run-7")


def test_how_a_stream_was_cut_leaves_no_trace():
    """Two flushes are one output; another stream between them keeps its place."""
    cell = new_code_cell("…")
    cell.outputs = [
        new_output("stream", name="stdout", text="a"),
        new_output("stream", name="stdout", text="b\n"),
        new_output("stream", name="stderr", text="warned\n"),
        new_output("stream", name="stdout", text="c"),
    ]
    book = new_notebook(cells=[cell, new_markdown_cell("x")], metadata={"widgets": {"state": {}}})
    normalize(book)
    assert [(o.name, o.text) for o in cell.outputs] == [
        ("stdout", "ab\n"),
        ("stderr", "warned\n"),
        ("stdout", "c"),
    ]
    assert "widgets" not in book.metadata


def test_storing_moves_outputs_and_nothing_else(tmp_path):
    """The project's notebook keeps its cells, ids and metadata."""
    kept = staged(tmp_path, "6 * 7", tags="mine")
    fresh = staged(tmp_path, "6 * 7", name="fresh.ipynb")
    before = nbformat.read(kept, as_version=4)
    execute([fresh], tmp_path, "run-7")
    store_outputs(kept, fresh)
    after = nbformat.read(kept, as_version=4)
    assert after.cells[0].outputs[0]["data"]["text/plain"] == "42"
    assert after.cells[0].id == before.cells[0].id
    assert after.metadata.tags == "mine"
    assert [p.name for p in sorted(kept.parent.iterdir())] == ["fresh.ipynb", "one.ipynb"]


def test_outputs_of_another_version_are_not_stored(tmp_path):
    """A notebook that was edited while it ran keeps what it has."""
    kept, fresh = staged(tmp_path, "1"), staged(tmp_path, "2", name="fresh.ipynb")
    before = kept.read_bytes()
    with pytest.raises(NotebookChanged, match=r"one\.ipynb"):
        store_outputs(kept, fresh)
    assert kept.read_bytes() == before


@pytest.mark.parametrize("text", ["", "version https://git-lfs.github.com/spec/v1", "[]", "{}"])
def test_a_file_that_is_no_notebook_is_named(tmp_path, text):
    """Cut short, a pointer instead of the file, or something else."""
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "data").mkdir()
    for name in ("_quarto.yml", "index.qmd"):
        (tmp_path / name).write_text("", encoding="utf-8")
    header = "id,section,kind,claim,value,unit,decimals_printed,derivation,note\n"
    (tmp_path / "data" / "claims.csv").write_text(header, encoding="utf-8")
    (tmp_path / "notebooks" / "31-01.ipynb").write_text(text, encoding="utf-8")
    with pytest.raises(NotebookUnreadable, match=r"notebooks/31-01\.ipynb"):
        stage(tmp_path, tmp_path / "staging")


def test_staging_strips_saved_widgets_and_touches_no_source(tmp_path):
    """The state of a widget would make a page ask for a script; the source keeps it."""
    (tmp_path / "data").mkdir()
    for name in ("_quarto.yml", "index.qmd"):
        (tmp_path / name).write_text("", encoding="utf-8")
    header = "id,section,kind,claim,value,unit,decimals_printed,derivation,note\n"
    (tmp_path / "data" / "claims.csv").write_text(header, encoding="utf-8")
    path = staged(tmp_path, "1", widgets={"state": {"é": 1}})
    before = path.read_bytes()
    (made,) = stage(tmp_path, tmp_path / "staging")
    assert "widgets" not in json.loads(made.read_text(encoding="utf-8"))["metadata"]
    assert path.read_bytes() == before


def test_every_outcome_is_of_the_one_family():
    """So that a command can show any of them in one way."""
    for kind in (NotebookCellFailed, NotebookChanged, NotebookNotRun, NotebookUnreadable):
        assert issubclass(kind, TwoHalvesError)
    assert "TWOHALVES_RUN" not in os.environ
