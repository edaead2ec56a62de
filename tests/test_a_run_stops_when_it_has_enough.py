"""A budget leaves out whole experiments, narrow intervals leave out blocks, and both are said."""

import dataclasses

import pytest

from tests.rows import is_whole
from tests.servers import modelled, scripted
from tests.servers.process import Loading
from twohalves.measure import Profile, live, measure, profiles
from twohalves.measure.notes import notes
from twohalves.server import find

SMALL = Profile(
    name="thorough", points=profiles.points((96, 298)), blocks=12, enough=6, control_every=2
)
SLOW = modelled.Rates(read_s=1 / 20, step_s=1 / 2)
"""So slow by its counters that what this computer needs meanwhile is nothing beside it."""


@pytest.fixture
def measured(tmp_path, monkeypatch):
    """Measures a profile on a server whose answers a function may spoil."""

    def run(profile, *, spoil=None, rates=None):
        monkeypatch.setitem(profiles.PROFILES, profile.name, profile)
        model = Loading()
        model.rates = rates or model.rates
        if spoil:
            model.faults = {number: spoil(number) for number in range(1, 99)}
        with scripted.Scripted(model.routes()) as server:
            book = live(find(environ={"TWOHALVES_SERVER": server.url}), None, tmp_path)
            return measure(book, profile_name=profile.name)

    return run


def _blocks(run):
    return run.session["blocks"]["measured"]


def test_six_blocks_are_enough_when_all_intervals_are_narrow(measured):
    """A server without any variation: six repeats carry an interval, and it has no width."""
    run = measured(SMALL)

    assert 6 == _blocks(run)
    assert "control" == run.timings[-1].role
    assert run.session["status"] == "complete"


def test_twelve_are_asked_when_they_are_not(measured):
    """Decode that jumps by a third from answer to answer never comes within a twentieth."""

    def spoil(number):
        return lambda final: (
            final | {"eval_duration": final["eval_duration"] * (4 if number % 4 < 2 else 3) // 3}
        )

    run = measured(SMALL, spoil=spoil)

    assert 12 == _blocks(run)
    is_whole(run)


def test_blocks_end_as_soon_as_the_intervals_are_narrow(measured):
    """A wild fourth block widens the interval until there are nine of them.

    With nine values the lowest and the highest bound the median with 1 - 2 / 512 and the next
    ones with 1 - 2 * 10 / 512 = 96%; with eight those do with 93% only.
    """

    def spoil(number):
        wild = {13, 14}
        return lambda final: (
            final | ({"eval_duration": 2 * final["eval_duration"]} if number in wild else {})
        )

    run = measured(SMALL, spoil=spoil)

    assert {4} == {row.block for row in run.timings[12:14]}
    assert 9 == _blocks(run)


@pytest.mark.parametrize(
    ("budget_s", "left_out"),
    [
        (500, {"traffic"}),
        (250, {"cache_broken", "traffic"}),
        (100, {"streaming", "cache_broken", "traffic"}),
        (9999, set()),
    ],
)
def test_experiments_are_left_out_by_name(measured, budget_s, left_out):
    """Each needs its own time within 1.2 times the budget, or is not begun.

    By this server's rates, with 0.1 s a request beside: the trial 2 * (1,095 / 20 + 64 / 2) =
    174 s; the cache 14 requests of 16 tokens with 572 or 628 to read, or 60 that are left = 443 s;
    the traffic 20 * (460 / 20 + 8 / 2) and 20 * (60 / 20 + 8 / 2) = 684 s.
    """
    quick = dataclasses.replace(
        profiles.PROFILES["quick"],
        points=profiles.points((96,)),
        once=(),
        blocks=1,
        budget_s=budget_s,
        audits=False,
    )
    run = measured(quick, rates=SLOW)

    without = {name for name, why in run.session["left_out"].items() if "no time" in why}
    assert left_out == without
    asked = {row.experiments for row in run.timings if row.role == "measure"}
    assert {"prefill_decode", "streaming", "cache_broken", "traffic"} - left_out == asked
    for name in left_out:
        assert name in " ".join(notes(run))
