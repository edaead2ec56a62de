"""The house rules that a machine can check."""

import ast
import importlib
import inspect
import json
import pathlib
import pickle
import pkgutil
import re
import shutil
import subprocess
import sys

import pytest

import twohalves
from twohalves import errors
from twohalves.commands import VERBS

PROJECT = pathlib.Path(__file__).resolve().parents[1]
MODULES = sorted((PROJECT / "twohalves").rglob("*.py"))
NOTEBOOKS = sorted((PROJECT / "notebooks").glob("*.ipynb"))
FORBIDDEN = {"utils", "helpers", "common", "misc", "core", "base", "tools", "manager"}
LONG_MODULES = {"errors.py"}  # all wording of all errors, in one file on purpose
FAMILY = sorted(
    (
        each
        for _, each in inspect.getmembers(errors, inspect.isclass)
        if issubclass(each, errors.TwoHalvesError) and each is not errors.TwoHalvesError
    ),
    key=lambda each: each.__name__,
)
FACTS = {"str": "fact", "int": 7, "tuple": ("first", "second"), "float": 1.5, "bool": True}


def _name(path):
    return path.relative_to(PROJECT).as_posix()


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_modules_and_functions_stay_small(path):
    """A module has at most 300 lines and a function 40: split it by subject."""
    text = path.read_text(encoding="utf-8")
    if path.name not in LONG_MODULES:
        assert len(text.splitlines()) <= 300, "split it by subject"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno - node.lineno < 40, f"{node.name} is long: split it by subject"


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_names_say_what_is_inside(path):
    """No drawer for odds and ends."""
    assert not {path.stem, path.parent.name} & FORBIDDEN


def _packages():
    found = pkgutil.walk_packages(twohalves.__path__, "twohalves.")
    return sorted(module.name for module in found if module.ispkg)


@pytest.mark.parametrize("name", _packages())
def test_a_package_lists_what_it_offers(name):
    """A docstring that says what lives here, and a sorted list of names that exist."""
    package = importlib.import_module(name)

    assert package.__doc__
    offered = getattr(package, "__all__", [])
    assert all(hasattr(package, each) for each in offered)
    assert offered == sorted(offered, key=lambda each: (not each.isupper(), each.islower(), each))


def _facts_for(each):
    wanted = list(inspect.signature(each.__init__).parameters.values())[1:]
    return [_fact(parameter.annotation) for parameter in wanted]


def _fact(annotation):
    word = str(annotation).partition("[")[0].partition(" ")[0]
    return FACTS.get(word, "fact")


@pytest.mark.parametrize("each", FAMILY, ids=lambda each: each.__name__)
def test_an_error_says_what_happened_and_what_to_do(each):
    """Every error takes facts, survives pickling, and ends in an action."""
    error = each(*_facts_for(each))

    assert error.what.endswith((".", "?", "…")), error.what
    assert len(error.next_step) > 15
    assert str(error) == f"{error.what}\nNext: {error.next_step}"
    again = pickle.loads(pickle.dumps(error))  # noqa: S301  # our own bytes
    assert str(again) == str(error)
    assert each.__doc__


@pytest.mark.parametrize("each", FAMILY, ids=lambda each: each.__name__)
def test_what_others_said_ends_in_one_period(each):
    """A reason that brings its own period, or two lines' end, gives no second one."""
    wanted = inspect.signature(each.__init__).parameters
    told = [name in {"reason", "detail", "said", "text"} for name in list(wanted)[1:]]
    facts = [
        "it said so.\n" if by_others else fact
        for by_others, fact in zip(told, _facts_for(each), strict=True)
    ]

    assert not re.search(r"so\.\s*[.)]", each(*facts).what)


def test_the_next_step_names_commands_that_exist():
    """Every `python3 -m twohalves VERB` that the library says is one of the verbs."""
    said = "\n".join(path.read_text(encoding="utf-8") for path in MODULES)
    verbs = re.findall(r"-m twohalves(?:`|\"\s+f?\")? ([a-z]+)\b", said)

    assert len(verbs) > 10
    assert set(verbs) <= set(VERBS)


def test_the_tree_of_errors_is_drawn_whole():
    """Whoever opens the file sees every error at its top."""
    for each in FAMILY:
        assert each.__name__ in errors.__doc__


def test_imports_point_one_way():
    """The layers of the design hold, and the arithmetic knows no files."""
    command = shutil.which("lint-imports", path=str(pathlib.Path(sys.executable).parent))
    if command is None:
        pytest.fail("lint-imports is missing: python3 -m twohalves test installs it")
    done = subprocess.run(
        [command], cwd=PROJECT, capture_output=True, text=True, encoding="utf-8", check=False
    )

    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_cell_is_one_thing(path):
    """A code cell has at most 15 lines, and the notebook carries no private kernel."""
    notebook = json.loads(path.read_text(encoding="utf-8"))

    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    assert "widgets" not in notebook["metadata"]
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert len("".join(cell["source"]).splitlines()) <= 15


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_is_portable_markdown(path):
    """It reads well in Jupyter and on GitHub: no fenced divs, no cross-reference keys."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    texts = ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "markdown"]

    for text in texts:
        assert ":::" not in text
        assert "{#" not in text
        assert "@fig-" not in text
