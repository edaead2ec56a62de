"""``clean`` removes what can be made again, and never a run."""

import pytest

from twohalves.commands import Exit, clean, main

KEPT = (
    "data/runs/mine/timings.csv",
    "data/runs/sample-1/timings.csv",
    "notebooks/31-01.ipynb",
    "twohalves/a.py",
)
REMOVED = (
    "_site/index.html",
    "twohalves/__pycache__/a.pyc",
    "notebooks/.ipynb_checkpoints/31-01.ipynb",
    ".pytest_cache/x",
)


@pytest.fixture
def project(tmp_path, monkeypatch):
    for name in (*KEPT, *REMOVED, ".venv/pyvenv.cfg"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    monkeypatch.setattr(clean, "PROJECT", tmp_path)
    return tmp_path


def _there(project):
    return {str(path.relative_to(project)) for path in project.rglob("*") if path.is_file()}


def test_what_can_be_made_again_goes(project, capsys):
    """Site and caches go; runs, notebooks and the environment stay."""
    assert Exit.DONE == main(["clean"])
    assert {*KEPT, ".venv/pyvenv.cfg"} == _there(project)
    assert "_site" in capsys.readouterr().out


def test_the_environment_goes_when_asked_for(project):
    """``--venv`` removes the environment too, without needing one."""
    assert Exit.DONE == main(["clean", "--venv"])
    assert set(KEPT) == _there(project)


def test_a_link_is_not_followed(project, tmp_path_factory):
    """What lies behind a link belongs to somebody else."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "precious").touch()
    (project / ".quarto").symlink_to(elsewhere)
    main(["clean"])

    assert (elsewhere / "precious").exists()


def test_nothing_to_do_is_said(project, capsys):
    """A second time there is nothing to remove, and that is said."""
    main(["clean"])
    capsys.readouterr()
    assert Exit.DONE == main(["clean"])
    assert "nothing, all was clean" in capsys.readouterr().out
