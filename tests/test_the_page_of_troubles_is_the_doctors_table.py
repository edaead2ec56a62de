"""The page on what goes wrong is made from the doctor's own table and the errors' own texts."""

import pathlib
import re

import pytest

from twohalves import doctor, errors
from twohalves.commands.doctor import run
from twohalves.commands.parser import parse
from twohalves.doctor.page import page
from twohalves.runs.validity import DETECTORS, INFORMATIVE, INVALID

PROJECT = pathlib.Path(__file__).resolve().parents[1]
COMMITTED = (PROJECT / "chapters" / "troubleshooting.qmd").read_text(encoding="utf-8")


def test_the_committed_page_is_the_tables():
    """To the character; `python3 -m twohalves doctor --page > chapters/troubleshooting.qmd`."""
    assert page() == COMMITTED


def test_the_verb_prints_it(capsys):
    """So that it can be made anew after a change."""
    assert 0 == run(parse(["doctor", "--page"]))
    assert COMMITTED == capsys.readouterr().out


@pytest.mark.parametrize("check", doctor.CHECKS, ids=lambda check: check.name)
def test_each_check_has_its_section_with_every_message(check):
    """A message that somebody pastes is found as text, with the command of each system below."""
    assert f"\n## {check.name.capitalize()}\n" in COMMITTED
    for trouble in check.troubles:
        assert f"\n### {trouble.title}\n" in COMMITTED
        for symptom in trouble.symptoms:
            assert f"`{symptom}`" in COMMITTED
        for system in ("linux", "macos", "windows"):
            assert trouble.next_step(system) in COMMITTED


@pytest.mark.parametrize(
    "error",
    [
        errors.ServerUnreachable("URL", "DETAIL", ""),
        errors.ModelMissing("WANTED", ("NAME",)),
        errors.EngineMissing("DETAIL"),
        errors.DiskFull("FOLDER", 100, 1000),
        errors.CannotKeep("FOLDER", "REASON"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_the_errors_of_server_model_engine_and_disk_are_there(error):
    """With the words that the program uses."""
    assert f"> {error.what}\n" in COMMITTED
    assert f"What to do: {error.next_step}\n" in COMMITTED


@pytest.mark.parametrize("flag", [*DETECTORS, "refused", "only_thinking", "slept", "other_model"])
def test_every_flag_stands_there_with_its_meaning(flag):
    """Whoever finds one in `timings.csv` reads what it means and whether the row counts."""
    counts = "no" if flag in INVALID else "yes"

    assert f"\n| `{flag}` | {(INVALID | INFORMATIVE)[flag]} | {counts} |\n" in COMMITTED


def test_no_heading_stands_twice():
    """So that a link to one leads to it."""
    headings = re.findall(r"^##+ (.*)$", COMMITTED, flags=re.MULTILINE)

    assert sorted(set(headings)) == sorted(headings)


def test_it_is_plain_markdown():
    """No fenced div, no HTML, no script; lists stand apart from what they follow."""
    assert ":::" not in COMMITTED
    assert "<" not in re.sub(r"`[^`]*`", "", COMMITTED)
    assert "{{" not in COMMITTED
    for before, line in zip(COMMITTED.splitlines(), COMMITTED.splitlines()[1:], strict=False):
        if line.startswith("- "):
            assert not before or before.startswith("- ")


def test_it_is_reached_from_the_site_and_from_the_readme():
    """Whoever has trouble finds it."""
    assert "chapters/troubleshooting.qmd" in (PROJECT / "_quarto.yml").read_text(encoding="utf-8")
    assert "(chapters/troubleshooting.qmd)" in (PROJECT / "README.md").read_text(encoding="utf-8")
