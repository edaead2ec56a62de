"""A notebook that another program saved is executed, compared, rendered, or says what it lacks."""

import importlib.util
import json
import os
import shutil
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from twohalves.commands import test as verb
from twohalves.errors import NotebookUnreadable
from twohalves.places import PROJECT
from twohalves.runs.choose import newest_sample
from twohalves.site import build, execute, stage

NAME = "31-01-two-halves.ipynb"
PAGE = "notebooks/31-01-two-halves.html"


@pytest.fixture
def project(tmp_path):
    """A small book whose notebook can be spoilt."""
    folder = tmp_path / "book"
    shutil.copytree(PROJECT / "tests" / "fixtures" / "site", folder)
    for name in ("_quarto.yml", "data/worksheet.json"):
        shutil.copyfile(PROJECT / name, folder / name)
    return folder


def saved(project, change, name=NAME):
    """Let another program save the notebook: `change` is done to its JSON."""
    path = project / "notebooks" / name
    notebook = json.loads(path.read_text(encoding="utf-8"))
    change(notebook)
    path.write_text(json.dumps(notebook), encoding="utf-8")


def _no_language(notebook):
    notebook["metadata"]["kernelspec"] = {"name": "python3", "display_name": "Python 3"}


def _no_kernel(notebook):
    notebook["metadata"].pop("kernelspec", None)


def _no_metadata(notebook):
    notebook["metadata"] = None


def _bare_cells(notebook):
    for cell in notebook["cells"]:
        cell.pop("metadata")
        cell.pop("execution_count", None)


@pytest.mark.parametrize("change", [_no_language, _no_kernel, _no_metadata, _bare_cells])
def test_what_other_programs_leave_out_is_filled_in(project, change):
    """Rendered as it is, without a word about the key that is not there."""
    saved(project, change)
    rendered = build(project, renderer="smalldocs")
    assert PAGE in rendered.pages
    assert rendered.warnings == ()


@pytest.mark.parametrize("change", [_no_language, _no_kernel, _no_metadata, _bare_cells])
def test_it_is_executed_too(project, tmp_path, change):
    """In replay, under the book's own kernel."""
    saved(project, change)
    saved(project, lambda book: book["cells"].__setitem__(slice(1, None), []))
    saved(project, lambda book: book["cells"].append(_code("import sys; sys.prefix")))
    [path] = [made for made in stage(project, tmp_path / "staging") if made.name == NAME]
    execute([path], tmp_path / "staging", "sample")
    [out] = nbformat.read(path, as_version=4).cells[-1].outputs
    assert out["data"]["text/plain"] == repr(sys.prefix)


def _code(source):
    return {"cell_type": "code", "id": "mine", "source": source}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda book: book.pop("cells"), "the key “cells”"),
        (lambda book: book["cells"][1].pop("source"), "cell 2 lacks the key “source”"),
        (lambda book: book["cells"][0].pop("cell_type"), "cell 1 lacks the key “cell_type”"),
    ],
)
def test_what_cannot_be_filled_in_is_named(project, tmp_path, change, said):
    """The file, the cell and the key."""
    saved(project, change)
    with pytest.raises(NotebookUnreadable, match=said) as caught:
        stage(project, tmp_path / "staging")
    assert f"notebooks/{NAME}" in caught.value.what


def _computes_alone(notebook):
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["source"] = "6 * 7"


@pytest.mark.parametrize("kernel", ["conda-env-ml-py", "python37564bit1f3ahash"])
def test_a_private_kernel_is_replaced_and_that_is_said_once(project, kernel):
    """Nobody else has it; the notebook runs under the book's own."""
    saved(project, lambda book: book["metadata"].update(kernelspec={"name": kernel}))
    for path in (project / "notebooks").glob("*.ipynb"):
        saved(project, _computes_alone, path.name)
    steps = []
    build(project, run_id="sample", renderer="smalldocs", say=steps.append)
    [said] = [step for step in steps if NAME in step and kernel in step]
    assert "the book's own" in said


def test_how_output_was_cut_and_numbered_makes_no_difference(tmp_path):
    """A stream in one piece or two, a module that prints by itself, the ids of widgets."""
    flushed = "print('a', flush=True)\nimport time; time.sleep(0.3)\nprint('b')"
    view = {"version_major": 2, "version_minor": 0, "model_id": "0123456789abcdef"}
    widget = {
        "application/vnd.jupyter.widget-view+json": view,
        "text/plain": "IntProgress(value=0)",
    }
    cells = [
        cell(flushed, stream("a\nb\n")),
        cell("print('a')\nprint('b')", stream("a\n"), stream("b\n")),
        cell("from tqdm import tqdm\nfor _ in tqdm([1], disable=True): print('c')", stream("c\n")),
        cell(
            "import ipywidgets\nipywidgets.IntProgress()",
            new_output("execute_result", data=widget, execution_count=1),
        ),
    ]
    if importlib.util.find_spec("tqdm") is None:  # a reader's own; nothing here brings it
        cells.pop(2)
    path = tmp_path / "cut.ipynb"
    path.write_text(nbformat.writes(new_notebook(cells=cells)), encoding="utf-8")
    variables = {**os.environ, "TWOHALVES_RUN": newest_sample()}
    assert 0 == verb._nbval([path], variables)
    cells[0].outputs = [stream("a\nX\n")]
    path.write_text(nbformat.writes(new_notebook(cells=cells)), encoding="utf-8")
    assert 1 == verb._nbval([path], variables)


def cell(source, *outputs):
    return new_code_cell(source, outputs=list(outputs), execution_count=1)


def stream(text):
    return new_output("stream", name="stdout", text=text)
