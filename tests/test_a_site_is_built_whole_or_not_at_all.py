"""The site is built whole or not at all: a failure names its cause, and the old site stays."""

import json
import shlex
import shutil
import stat
import sys
from pathlib import Path

import pytest

from twohalves.errors import (
    LinksDead,
    OutputNotForPages,
    PortTaken,
    RendererComplained,
    RendererFailed,
    RendererMissing,
    SiteMissing,
    SiteNotWritten,
    SiteSourceMissing,
    VariableUnknown,
)
from twohalves.site import build, find_renderer, serving, stage

TESTS = Path(__file__).parent
NOTEBOOK_PAGE = "notebooks/31-01-two-halves.html"


@pytest.fixture
def project(tmp_path):
    """A small project in a folder with a name that is hard to bear."""
    folder = tmp_path / "Žofie Übung #1"
    shutil.copytree(TESTS / "fixtures" / "site", folder)
    shutil.copy(TESTS.parent / "_quarto.yml", folder)
    shutil.copy(TESTS.parent / "data" / "worksheet.json", folder / "data")
    return folder


def pretend_quarto(folder, monkeypatch, body):
    """Put a program named quarto first on the path that does what the body says."""
    if sys.platform == "win32":
        pytest.skip("a script is no program there")
    program = folder / "bin" / "quarto"
    program.parent.mkdir()
    script = program.with_suffix(".py")
    script.write_text(
        "import sys, pathlib\n"
        "if sys.argv[1:] == ['--version']:\n    print('1.10.18'); sys.exit()\n" + body,
        encoding="utf-8",
    )
    # by way of the shell, because a first line "#!" cannot name a path with spaces
    call = shlex.join([sys.executable, str(script)])
    program.write_text(f'#!/bin/sh\nexec {call} "$@"\n', encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")


def files(folder):
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def test_a_site_is_made_from_sources_that_stay_as_they_are(project):
    """Pages, notebook beside its page, numbers from the claims, nothing left behind."""
    before = files(project)
    steps = []
    rendered = build(project, renderer="smalldocs", say=steps.append)
    assert rendered.renderer == "smalldocs"
    assert rendered.warnings == ()
    assert rendered.pages == (
        "chapters/opening.html",
        "chapters/references.html",
        "chapters/troubleshooting.html",
        "index.html",
        NOTEBOOK_PAGE,
        "notebooks/31-02-wall-clock.html",
        "notebooks/31-03-kv-cache.html",
        "notebooks/31-04-batching.html",
        "notebooks/31-05-prompt-caching.html",
        "notebooks/31-06-cost-worksheet.html",
    )
    site = project / "_site"
    assert [f for f in files(project) if not f.startswith("_site/")] == before
    assert (site / "notebooks" / "31-01-two-halves.ipynb").is_file()
    assert (site / "data" / "claims.csv").is_file()
    text = (site / "index.html").read_text(encoding="utf-8")
    assert "the longest 4,247 tokens" in text
    assert "<math" in text
    assert "jsdelivr" not in text
    assert steps == ["Rendering the pages"]


def test_building_again_replaces_the_whole_site(project):
    """A page that is gone from the sources is gone from the site."""
    build(project, renderer="smalldocs")
    (project / "_site" / "old.html").write_text("x", encoding="utf-8")
    build(project, renderer="smalldocs")
    assert not (project / "_site" / "old.html").exists()
    assert [p.name for p in project.iterdir() if p.name.startswith("._site")] == []


def test_replay_executes_and_stores_only_when_asked(project):
    """``--run`` shows fresh outputs; ``store`` also keeps them in the project's notebook."""
    notebook = project / "notebooks" / "31-01-two-halves.ipynb"
    source = notebook.read_text(encoding="utf-8")
    sliders = r"show.calculator.sliders(\"latency\", rates, replay=True)"
    for call in ("show.table()", "show.figure()", sliders):
        source = source.replace(call, "print(__import__('os').environ['TWOHALVES_RUN'])")
    notebook.write_text(source, encoding="utf-8")
    build(project, run_id="run-7", renderer="smalldocs")
    assert notebook.read_text(encoding="utf-8") == source
    assert "run-7" in (project / "_site" / NOTEBOOK_PAGE).read_text(encoding="utf-8")
    build(project, run_id="run-8", store=True, renderer="smalldocs")
    assert "run-8" in notebook.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("left", "kind"),
    [
        (
            {
                "output_type": "execute_result",
                "data": {
                    "text/plain": ["HBox(children=(BoundedFloatText("],
                    "application/vnd.jupyter.widget-view+json": {"model_id": "a"},
                },
            },
            "a live widget",
        ),
        (
            {"output_type": "display_data", "data": {"text/plain": "IntSlider(value=0)"}},
            "a live widget",
        ),
        ({"output_type": "error", "ename": "E", "evalue": "", "traceback": []}, "an error"),
    ],
    ids=["widget", "widget as text", "error"],
)
def test_outputs_of_a_live_notebook_are_refused(project, left, kind):
    """A page could not show them; the error says which cell and how to get outputs for pages."""
    build(project, renderer="smalldocs")
    before = files(project / "_site")
    path = project / "notebooks" / "31-01-two-halves.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    at, cell = next(
        (at, cell)
        for at, cell in enumerate(notebook["cells"])
        if "show.table()" in "".join(cell["source"])
    )
    cell["outputs"].append({"metadata": {}, "execution_count": 1} | left)
    path.write_text(json.dumps(notebook), encoding="utf-8")
    with pytest.raises(OutputNotForPages) as caught:
        build(project, renderer="smalldocs")

    assert f"Cell {at + 1} of notebooks/31-01-two-halves.ipynb holds {kind}" in caught.value.what
    assert "show.table()" in caught.value.what
    assert "`python3 -m twohalves edition --run ID`" in caught.value.next_step
    assert "`git checkout -- notebooks/31-01-two-halves.ipynb`" in caught.value.next_step
    assert files(project / "_site") == before


def test_what_prints_like_a_call_is_not_taken_for_a_widget(project):
    """A reader's own value is shown as it prints itself."""
    path = project / "notebooks" / "31-01-two-halves.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    code = next(cell for cell in notebook["cells"] if cell["cell_type"] == "code")
    shown = {"output_type": "display_data", "metadata": {}, "data": {"text/plain": "Model(n=1)"}}
    code["outputs"] = [shown]
    path.write_text(json.dumps(notebook), encoding="utf-8")

    assert build(project, renderer="smalldocs").pages


def test_read_only_sources_are_no_obstacle(project):
    """What is read-only in the project is not so in the copy that is built."""
    locked = [project / "data", *(project / "data").rglob("*"), project / "chapters"]
    for path in locked:
        path.chmod(path.stat().st_mode & ~0o222)
    staging = project.parent / "staging"
    try:
        stage(project, staging)
        kept = [path for path in [staging, *staging.rglob("*")] if not path.stat().st_mode & 0o200]
        assert [] == kept
        assert build(project, renderer="smalldocs").pages
    finally:
        for path in locked:
            path.chmod(path.stat().st_mode | 0o200)


@pytest.mark.parametrize(
    ("page", "text", "error", "names"),
    [
        ("index.qmd", "{{< var claims.longest >}}", VariableUnknown, "claims.longest_prompt"),
        ("chapters/opening.qmd", "[x](gone.qmd)", LinksDead, "chapters/opening.html: gone.html"),
        ("index.qmd", "[x](chapters/opening.qmd#gone)", LinksDead, "opening.html#gone"),
        ("index.qmd", "{{< include gone.qmd >}}", RendererComplained, "include gone.qmd"),
    ],
)
def test_a_page_that_would_be_wrong_keeps_the_old_site(project, page, text, error, names):
    """The error names the page and the place; what stood before still stands."""
    build(project, renderer="smalldocs")
    before = files(project / "_site")
    path = project / page
    path.write_text(path.read_text(encoding="utf-8") + f"\n\n{text}\n", encoding="utf-8")
    with pytest.raises(error) as caught:
        build(project, renderer="smalldocs")
    assert names in str(caught.value)
    assert files(project / "_site") == before


def test_a_renderer_that_fails_shows_its_last_lines(project):
    """Here: a configuration that is no YAML."""
    (project / "_quarto.yml").write_text("project: [", encoding="utf-8")
    with pytest.raises(RendererFailed, match=r"_quarto\.yml(.|\n)*smalldocs stopped with code 2"):
        build(project, renderer="smalldocs")


def test_a_folder_without_the_sources_names_what_is_missing(tmp_path):
    """The first file looked for."""
    with pytest.raises(SiteSourceMissing, match=r"_quarto\.yml"):
        build(tmp_path)


def test_quarto_is_taken_when_it_answers(tmp_path, monkeypatch):
    """And smalldocs when it does not, or when the reader says so."""
    pretend_quarto(tmp_path, monkeypatch, "")
    assert (find_renderer().name, find_renderer().version) == ("quarto", "1.10.18")
    assert find_renderer("smalldocs").name == "smalldocs"
    monkeypatch.setenv("TWOHALVES_RENDERER", "smalldocs")
    assert find_renderer().name == "smalldocs"
    monkeypatch.delenv("TWOHALVES_RENDERER")
    (tmp_path / "bin" / "quarto").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    assert find_renderer().name == "smalldocs"
    with pytest.raises(RendererMissing, match="quarto"):
        find_renderer("quarto")


@pytest.mark.parametrize(
    "said",
    [
        "WARN: Unable to resolve crossref @fig-x",
        "[WARNING] Div at line 3 column 1 unclosed at line 9",
        "WARN (main.lua:1) The following string was found in the document: :::",
    ],
)
def test_what_quarto_only_warns_about_is_an_error(project, monkeypatch, said):
    """It ends with 0 over unresolved references, missing files and stray marks."""
    pretend_quarto(project.parent, monkeypatch, f"print('[1/4] index.qmd'); print({said!r})\n")
    with pytest.raises(RendererComplained) as caught:
        build(project, renderer="quarto")
    assert said in str(caught.value)


def test_where_quarto_fails_the_reader_still_gets_a_site(project, monkeypatch):
    """Quarto was preferred, not demanded: its failure is said, and smalldocs makes the pages."""
    pretend_quarto(project.parent, monkeypatch, "print('it broke'); sys.exit(1)\n")
    told = []
    built = build(project, say=told.append)

    assert built.renderer == "smalldocs"
    assert any("Quarto is here but did not make the site" in line for line in told)
    monkeypatch.setenv("TWOHALVES_RENDERER", "quarto")
    with pytest.raises(RendererFailed, match="it broke"):
        build(project)


def test_pages_of_quarto_get_the_same_finish(project, monkeypatch):
    """Its figures come from files, its formulas are MathML; its script loader is taken out."""
    page = (
        "<html><head><script src='https://cdnjs.cloudflare.com/x/require.min.js'></script>"
        "<link rel='stylesheet' href='../site_libs/x.css'></head><body><main>"
        "<header id='title-block-header'><h1>T</h1></header>"
        "<div class='cell'><div class='cell-output cell-output-display'><p>"
        "<img src='31-01-two-halves_files/figure-html/cell-4-output-1.svg'></p></div></div>"
        '<div class="cell"><div class="th-calculator" data-calculator="kv_cache" '
        'data-rates="[]" data-start="{}"></div></div>'
        "</main></body></html>"
    )
    remark = "[WARNING] Could not load translations for en"
    body = (
        f"print({remark!r})\n"
        "site = pathlib.Path('_site')\n"
        "figures = site / 'notebooks/31-01-two-halves_files/figure-html'\n"
        "figures.mkdir(parents=True); (site / 'site_libs').mkdir()\n"
        "(site / 'site_libs/x.css').write_text('')\n"
        "(figures / 'cell-4-output-1.svg').write_text('<svg><rect fill=\"#b3453e\"/></svg>')\n"
        "(site / 'index.html').write_text('<html><head></head><main></main></html>')\n"
        f"(site / 'notebooks/31-01-two-halves.html').write_text({page!r})\n"
    )
    pretend_quarto(project.parent, monkeypatch, body)
    rendered = build(project)
    text = (project / "_site" / NOTEBOOK_PAGE).read_text(encoding="utf-8")
    assert rendered.renderer == "quarto"
    assert rendered.warnings == (remark,)  # nothing is missing by it
    assert '<rect fill="var(--th-decode, #B3453E)"' in text
    assert "require.min.js" not in text
    assert 'id="th-spec-kv_cache"' in text
    assert "../assets/twohalves.js" in text
    assert 'download="31-01-two-halves.ipynb"' in text


def test_a_full_disk_is_said_in_one_sentence(project, monkeypatch):
    """With the folder that is full; the site that stood before still stands."""
    build(project, renderer="smalldocs")
    before = files(project / "_site")

    copy = shutil.copytree

    def full(source, target, **options):
        if str(target).endswith(".new"):
            raise OSError(28, "No space left on device", str(target))
        return copy(source, target, **options)

    monkeypatch.setattr(shutil, "copytree", full)
    with pytest.raises(SiteNotWritten, match=r"\.new: No space left on device"):
        build(project, renderer="smalldocs")
    assert files(project / "_site") == before


def test_there_must_be_a_site_to_look_at(tmp_path):
    """Instead of an empty listing of a folder."""
    with pytest.raises(SiteMissing), serving(tmp_path):
        pass


def test_a_taken_port_is_named(tmp_path):
    """The preview that was told to use it says so; told nothing, it finds a free one."""
    (tmp_path / "index.html").write_text("<p>x</p>", encoding="utf-8")
    with serving(tmp_path) as address:
        port = int(address.rstrip("/").rpartition(":")[2])
        assert address == f"http://127.0.0.1:{port}/"
        with pytest.raises(PortTaken, match=str(port)), serving(tmp_path, port=port):
            pass
        with serving(tmp_path) as other:
            assert other != address
