"""A slip on the command line is answered with what was probably meant, and changes nothing."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from twohalves import bootstrap, commands
from twohalves.commands import VERBS, Exit, main
from twohalves.commands.parser import help_text, parse
from twohalves.errors import Interrupted, PortTaken
from twohalves.measure import EXPERIMENTS, PROFILES

PROJECT = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def _nothing_is_set_up(monkeypatch):
    monkeypatch.setattr(bootstrap.Environment, "prepare", lambda _: pytest.fail("was set up"))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["sit"], "site"),
        (["mesure"], "measure"),
        (["tests"], "test"),
        (["measure", "--profle", "quick"], "--profile"),
        (["edition", "--ruin", "x"], "--run"),
        (["clean", "--vnv"], "--venv"),
    ],
    ids=" ".join,
)
def test_a_near_miss_names_what_was_meant(typed, meant, capsys):
    """The nearest verb or option is named, and the exit code says that nothing was done."""
    assert Exit.USAGE == main(typed)
    assert f"Did you mean '{meant}'?" in capsys.readouterr().err


def test_a_word_near_to_nothing_gets_the_whole_list(capsys):
    """An unknown verb that resembles none is answered with all there are."""
    assert Exit.USAGE == main(["xylophone"])
    said = capsys.readouterr().err
    assert [] == [verb for verb in VERBS if verb not in said]


@pytest.mark.parametrize("typed", [["site", "extra"], ["clean", "all", "runs"]], ids=" ".join)
def test_a_verb_takes_no_further_words(typed, capsys):
    """A word too much is not called an option, and nothing is done."""
    assert Exit.USAGE == main(typed)
    said = capsys.readouterr().err
    assert f"`{typed[0]}` takes no further words, and '{' '.join(typed[1:])}' follows" in said


@pytest.mark.parametrize(
    "typed",
    [
        ["--profile", "chapter", "measure", "--model", "site"],
        ["--profile=chapter", "measure", "--model", "site"],
        ["--profile", "chapter", "--model=site", "measure"],
        ["measure", "--model", "site", "--profile", "chapter"],
    ],
    ids=" ".join,
)
def test_options_may_stand_before_the_verb(typed):
    """They mean the same there."""
    options = parse(typed)
    assert ("measure", "chapter", "site") == (options.verb, options.profile, options.model)


def test_no_verb_prints_the_help_and_fails(capsys):
    """Without a verb every verb is explained, and the exit code is 2."""
    assert Exit.USAGE == main([])
    said = capsys.readouterr().err
    assert [] == [text for text in VERBS if f"    {text}" not in said]


@pytest.mark.parametrize("port", ["-1", "65536", "http", "8.5", ""])
def test_a_port_that_is_none_is_refused(port, capsys):
    """A port is a whole number from 0 to 65535."""
    with pytest.raises(SystemExit) as stopped:
        parse(["serve", f"--port={port}"])
    assert Exit.USAGE == stopped.value.code
    assert "is not a port" in capsys.readouterr().err


def test_arguments_of_pytest_go_through_untouched():
    """Whatever follows ``test`` is pytest's."""
    assert ["-k", "two words", "--lf", "site"] == parse(
        ["test", "-k", "two words", "--lf", "site"]
    ).pytest


def test_help_for_every_verb():
    """Every verb explains itself and exits with 0."""
    for verb in VERBS:
        with pytest.raises(SystemExit) as stopped:
            parse([verb, "--help"])
        assert 0 == stopped.value.code, verb


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (PortTaken("127.0.0.1", 80, "taken"), Exit.BLOCKED, "ERROR Cannot listen on 127.0.0.1:80"),
        (Interrupted("r1", 3, 9), Exit.INTERRUPTED, "3 of 9 requests are kept"),
        (KeyboardInterrupt(), Exit.INTERRUPTED, "stopped by Ctrl-C"),
    ],
    ids=["a fault", "an interrupted run", "ctrl-c"],
)
def test_each_way_to_end_has_its_exit_code(raised, code, said, monkeypatch, capsys):
    """A fault is one clear text and its exit code, never a traceback."""

    def obey(*_):
        raise raised

    monkeypatch.setattr(commands, "_obey", obey)
    assert code == main(["site"])
    assert said in capsys.readouterr().err


def test_the_help_of_measure_names_every_experiment_and_profile(capsys):
    """The command line is read before anything is installed, so it keeps names of its own."""
    with pytest.raises(SystemExit):
        parse(["measure", "--help"])
    words = set(re.findall(r"\w+", capsys.readouterr().out))

    assert set(EXPERIMENTS) | set(PROFILES) <= words


def test_the_exit_codes_are_what_the_help_says():
    """The meanings that ``--help`` prints are those in use."""
    assert {"DONE": 0, "FAILED": 1, "USAGE": 2, "BLOCKED": 3, "INTERRUPTED": 130} == {
        code.name: code.value for code in Exit
    }
    assert [] == [code for code in Exit if str(code.value) not in re.findall(r"\d+", help_text())]


def test_the_shell_sees_the_exit_code():
    """The process ends with the code, and what is said of a fault goes to stderr."""
    answer = subprocess.run(
        [sys.executable, "-m", "twohalves", "sit"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (2, "") == (answer.returncode, answer.stdout)
    assert answer.stderr.startswith("ERROR There is no verb 'sit'.")
