"""What the README shows is what the project prints: its table, its verbs, its files."""

import pathlib
import re

from twohalves.commands import VERBS
from twohalves.measure import EXPERIMENTS, PROFILES
from twohalves.runs import named
from twohalves.runs.choose import newest_sample
from twohalves.show import rates

PROJECT = pathlib.Path(__file__).resolve().parents[1]
README = (PROJECT / "README.md").read_text(encoding="utf-8")


def test_its_table_is_the_sample_runs():
    """The table is that of the committed run, to the character."""
    between = README.split("<!-- sample table: begin -->")[1].split("<!-- sample table: end -->")[0]
    table = rates.own_table(named(newest_sample())).data.split("\n\n")[0]

    assert between.strip() == table


def _described(section):
    """What the first column of a section's table names."""
    text = README.split(f"## {section}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `(\w+)` \|", text, flags=re.MULTILINE)


def test_its_verbs_are_the_programs():
    """Every verb is described and none that does not exist."""
    assert sorted(_described("The verbs")) == sorted(VERBS)


def test_its_experiments_are_those_that_are_measured():
    """Every experiment is described, in the order in which it is measured."""
    assert _described("What is measured") == list(EXPERIMENTS)


def test_its_profiles_are_those_that_can_be_chosen():
    """Every profile is described, with its blocks."""
    assert _described("How thoroughly") == list(PROFILES)
    for profile in PROFILES.values():
        assert f"| `{profile.name}` | {profile.blocks} |" in README


def test_its_files_exist():
    """Requirements files and folders that it names are there."""
    for name in re.findall(r"`([\w./-]+\.(?:txt|qmd|json)|\w+/)`", README):
        if name not in {".venv/", "_site/"}:
            assert (PROJECT / name).exists(), name
