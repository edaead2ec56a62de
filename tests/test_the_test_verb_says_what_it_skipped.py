"""``test`` runs notebooks and tests, ends with the worst code, and says what it skipped."""

import pytest

from twohalves import bootstrap
from twohalves.bootstrap import TESTS
from twohalves.commands import Exit, test
from twohalves.commands.parser import Options
from twohalves.errors import InstallFailed


@pytest.fixture
def started(monkeypatch, tmp_path):
    """What the verb starts and installs, with nothing really started or installed."""
    record = {"commands": [], "installed": [], "codes": {}}

    def start(command, variables):
        record["commands"].append((command, variables.get("TWOHALVES_RUN")))
        return record["codes"].get("nbval" if "--nbval" in command else "pytest", 0)

    monkeypatch.setattr(test, "_run", start)
    monkeypatch.setattr(test.shutil, "which", lambda *_, **__: "/usr/bin/it")
    monkeypatch.setattr(test, "newest_sample", lambda: "sample-2")
    monkeypatch.setattr(test, "NOTEBOOKS", tmp_path)
    (tmp_path / "31-01.ipynb").touch()
    monkeypatch.setattr(
        bootstrap.Environment, "install", lambda _, wanted: record["installed"].append(wanted)
    )
    return record


def test_notebooks_are_compared_in_replay_of_the_committed_run(started):
    """The notebooks run in replay of the sample; the tests do not see that variable."""
    assert Exit.DONE == test.run(Options(pytest=[]))

    (book, replayed), (tests, none) = started["commands"]
    assert ("sample-2", None) == (replayed, none)
    assert book[-1].endswith("31-01.ipynb")
    assert "pytest" == tests[-1]
    assert TESTS is started["installed"][0]


@pytest.mark.parametrize("failing", ["nbval", "pytest"])
def test_one_failure_is_enough(started, failing):
    """Whichever fails, both were run and the exit code says so."""
    started["codes"][failing] = 1
    assert Exit.FAILED == test.run(Options(pytest=[]))
    assert 2 == len(started["commands"])


def test_a_test_run_that_found_nothing_has_failed(started):
    """An empty run is never green."""
    started["codes"]["pytest"] = 5
    assert Exit.FAILED == test.run(Options(pytest=["-k", "nothing"]))


def test_arguments_select_tests_only(started, capsys):
    """With arguments for pytest the notebooks are left out, and that is said."""
    test.run(Options(pytest=["-k", "name"]))

    assert [["-k", "name"]] == [command[-2:] for command, _ in started["commands"]]
    assert "Skipped: the notebooks under nbval" in capsys.readouterr().err


def test_what_is_missing_is_said_at_the_end(started, monkeypatch, capsys):
    """No browser, no Quarto, no engine: skipped, each in one line with the reason."""
    monkeypatch.setattr(test.shutil, "which", lambda *_, **__: None)

    def refuse():
        raise InstallFailed("the built-in engine", "no wheel", "platform")

    monkeypatch.setattr(test.engine, "install", refuse)
    assert Exit.DONE == test.run(Options(pytest=[]))

    said = [line for line in capsys.readouterr().err.splitlines() if "Skipped: " in line]
    for word, line in zip(("built-in server", "Quarto", "Chromium"), said, strict=True):
        assert word in line
