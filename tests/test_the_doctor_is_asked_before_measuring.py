"""`site` and the first cell of a notebook ask the doctor, and say only what is amiss."""

import pytest

from tests.servers import modelled
from twohalves import doctor, errors, lab
from twohalves.commands import site
from twohalves.lab import opening
from twohalves.runs.choose import newest_sample


def _set(monkeypatch, **statuses):
    """The doctor finds this of these checks, and nothing of any other."""
    trouble = doctor.CHECKS[0].troubles[0]
    found = tuple(
        doctor.Examined(
            check=check,
            finding=doctor.Finding(
                status=doctor.Status(statuses[check.name]), says="7 of 9", trouble=trouble
            )
            if check.name in statuses
            else doctor.Finding(status=doctor.Status.OK, says="fine"),
            facts=None,
            is_silent=False,
        )
        for check in doctor.CHECKS
    )
    monkeypatch.setattr(doctor, "examine", lambda *_: found)


@pytest.fixture
def shown(monkeypatch):
    """What a cell displays."""
    things = []
    monkeypatch.setattr(opening, "display", lambda thing: things.append(thing.data))
    return things


@pytest.fixture
def ollama(monkeypatch):
    """An Ollama with one model, named by the variable."""
    with modelled.scripted.Scripted(modelled.Modelled().routes()) as server:
        monkeypatch.setenv("TWOHALVES_SERVER", server.url)
        yield server


@pytest.mark.usefixtures("ollama")
def test_a_healthy_machine_gets_one_line_in_the_notebook(monkeypatch, shown):
    """Python, cores, memory, disk and window, and nothing below."""
    _set(monkeypatch)
    lab.ready()

    assert 2 == len(shown)
    assert shown[1].startswith("> **This machine** — Python 3.")
    assert shown[1].endswith(" GiB disk free, window 131,072 tokens")
    assert "\n" not in shown[1]


@pytest.mark.usefixtures("ollama")
def test_what_is_amiss_follows_with_its_next_step(monkeypatch, shown):
    """WARN and FAIL only, and not what only tests need."""
    _set(monkeypatch, power="warn", room="fail", browser="warn", window="wait")
    lab.ready()
    first, *others = shown[1].split("\n>\n")

    assert first.startswith("> **This machine** — ")
    assert ["> **FAIL** room: 7 of 9.", "> **WARN** power: 7 of 9."] == sorted(
        other.partition(" `")[0] for other in others
    )


@pytest.mark.usefixtures("shown")
def test_the_notebooks_own_server_is_the_one_that_is_looked_at(monkeypatch, ollama):
    """Also one that was started a moment ago on a port of its own."""
    asked = []
    monkeypatch.setattr(doctor, "examine", lambda here: asked.append(here.environ) or ())
    lab.ready()

    assert ollama.url == asked[0]["TWOHALVES_SERVER"]
    assert "llama3.2:3b" == asked[0]["TWOHALVES_MODEL"]


def test_in_replay_the_machine_is_not_looked_at(monkeypatch, shown):
    """A stored output holds nothing of the machine that made it."""
    monkeypatch.setenv("TWOHALVES_RUN", newest_sample())
    monkeypatch.setattr(doctor, "examine", lambda *_: pytest.fail("the doctor was asked"))
    lab.ready()

    assert 1 == len(shown)
    assert "Doctor" not in shown[0]


def test_site_says_what_is_amiss_and_goes_on(monkeypatch, capsys):
    """A warning stops nobody."""
    _set(monkeypatch, power="warn", browser="warn")
    site._see_doctor()
    said = capsys.readouterr().err.splitlines()

    assert 2 == len(said)
    assert said[0].split() == ["WARN", "power", "7", "of", "9"]
    assert said[1].strip().startswith("Next: ")


def test_site_stops_where_nothing_can_be_measured(monkeypatch, capsys):
    """With the names of the checks, before any request is sent."""
    _set(monkeypatch, disk="fail", model="fail", pages="fail")
    with pytest.raises(errors.MachineNotReady, match="FAIL of disk and model") as stopped:
        site._see_doctor()

    assert "twohalves doctor" in stopped.value.next_step
    assert 3 == capsys.readouterr().err.count("FAIL")


def test_what_only_pages_need_stops_no_measurement(monkeypatch):
    """The pages can be made later, from the run."""
    _set(monkeypatch, pages="fail")
    assert site._see_doctor() is None
