"""The cells that talk to a reader: who answers, choosing, fetching, guessing."""

import os

import ipywidgets as widgets
import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from tests.servers import modelled
from tests.servers.scripted import Answer
from twohalves import lab
from twohalves.errors import NoModelInstalled, SeveralModels
from twohalves.lab import opening
from twohalves.lab import predictions as guessing
from twohalves.measure import live, measure
from twohalves.runs import predictions
from twohalves.server import find


@pytest.fixture
def shown(monkeypatch):
    """What a cell displays, in order."""
    things = []
    for module in (opening, guessing):
        monkeypatch.setattr(module, "display", things.append)
    return things


def _server(monkeypatch, routes):
    server = modelled.scripted.Scripted(routes)
    monkeypatch.setenv("TWOHALVES_SERVER", server.url)
    return server


def _tags(*names):
    model = {"size": 1, "digest": "d" * 64, "details": modelled.DETAILS}
    return Answer(body={"models": [model | {"name": name, "model": name} for name in names]})


def _find(widget, kind):
    if isinstance(widget, kind):
        return widget
    children = getattr(widget, "children", ())
    return next((found for child in children if (found := _find(child, kind))), None)


def test_one_line_says_who_answers(monkeypatch, shown):
    """With one model there is nothing to ask: server, version and model in a line."""
    with _server(monkeypatch, modelled.Modelled().routes()):
        book = lab.ready()

    assert book.model == "llama3.2:3b"
    assert "Ollama 0.24.0" in shown[0].data
    assert "llama3.2:3b" in shown[0].data


def test_several_models_are_offered_in_a_list(monkeypatch, shown):
    """The reader chooses in the notebook, and running the cell again takes the choice."""
    routes = modelled.Modelled().routes() | {"/api/tags": _tags("qwen2.5:3b", "mistral:7b")}
    with _server(monkeypatch, routes):
        with pytest.raises(SeveralModels):
            lab.ready()
        choice = _find(shown[0], widgets.Dropdown)
        choice.value = "mistral:7b"
        _find(shown[0], widgets.Button).click()
        assert os.environ["TWOHALVES_MODEL"] == "mistral:7b"
        assert lab.ready().model == "mistral:7b"
    monkeypatch.delenv("TWOHALVES_MODEL")


def test_with_no_model_a_button_fetches_the_chapters(monkeypatch, shown):
    """Nothing is downloaded until the reader says so; then a bar moves and the cell can run."""
    half = {"status": "pulling", "total": 2000, "completed": 1000}
    routes = modelled.Modelled().routes() | {
        "/api/tags": _tags(),
        "/api/pull": Answer(chunks=[(0, half), (0, {"status": "success"})]),
    }
    with _server(monkeypatch, routes) as server:
        with pytest.raises(NoModelInstalled, match=r"ollama pull llama3\.2:3b"):
            lab.ready()
        assert not [asked for asked in server.asked if asked.path == "/api/pull"]
        _find(shown[0], widgets.Button).click()
        [asked] = [asked for asked in server.asked if asked.path == "/api/pull"]

    assert asked.json["model"] == "llama3.2:3b"
    assert _find(shown[0], widgets.IntProgress).value == 500
    assert "run this cell again" in _find(shown[0], widgets.HTML).value


def test_a_guess_is_kept_and_goes_with_the_run(tmp_path, shown):
    """Guess 4, measure: the run remembers it, and the sentence compares both."""
    with modelled.scripted.Scripted(modelled.Modelled().routes()) as server:
        book = live(find(environ={"TWOHALVES_SERVER": server.url}), None, tmp_path)
        lab.predict(book, "ratio", "How many times?", "times")
        _find(shown[-1], widgets.BoundedFloatText).value = 4
        run = measure(book, experiment="prefill_decode")

    assert predictions.of(run.session, "ratio") == 4
    said = lab.compare(book, run, "ratio", 10.0, "times").data
    assert "You said 4.00; measured were 10.0 times: off by a factor of 2.5" in said


def test_no_guess_is_an_answer_too(tmp_path):
    """Leaving the field alone stops nobody."""
    with modelled.scripted.Scripted(modelled.Modelled().routes()) as server:
        book = live(find(environ={"TWOHALVES_SERVER": server.url}), None, tmp_path)
        run = measure(book, experiment="prefill_decode")

    assert "No guess was kept" in lab.compare(book, run, "ratio", 10.0, "times").data


def test_an_error_in_a_cell_is_one_sentence_and_no_traceback():
    """IPython asks the error itself how to be shown."""
    error = NoModelInstalled(())

    assert error._render_traceback_() == [str(error)]


def test_an_error_of_a_bare_call_is_explained():
    """The official client raises; the cell shows our sentence, and the cells after it wait."""
    cells = [
        "from twohalves import lab\nbook = lab.ready()",
        "book.client.generate(model='nope:1b', prompt='x')",
        "print('not reached')",
    ]
    routes = modelled.Modelled().routes()
    missing = Answer(status=404, body={"error": "model 'nope:1b' not found"})
    with modelled.scripted.Scripted(routes | {"/api/generate": missing}) as server:
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
        environment = {**os.environ, "TWOHALVES_SERVER": server.url}
        with pytest.raises(CellExecutionError, match=r"ollama pull nope:1b"):
            NotebookClient(notebook, kernel_name="python3").execute(env=environment)

    [error] = notebook.cells[1].outputs
    assert error.ename == "ModelMissing"
    assert "Traceback" not in "".join(error.traceback)
    assert not notebook.cells[2].outputs
