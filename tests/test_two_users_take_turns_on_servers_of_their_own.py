"""Two users on one slot, on two, and with main memory for prompts: each on a private server."""

import dataclasses

import pytest

from tests.rows import invalid
from tests.servers import modelled, scripted
from tests.servers.process import Loading
from twohalves.errors import BuiltinFailed, Interrupted
from twohalves.measure import Profile, lines, live, measure, plan, profiles
from twohalves.measure.notes import notes
from twohalves.runs import derive
from twohalves.server import Started, find

USERS = Profile(name="users", points=(), blocks=1, broken_tokens=96)
SETUPS = {"one_slot": (1, 0), "two_slots": (2, 0), "host_cache": (1, 512)}


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    monkeypatch.setitem(profiles.PROFILES, "users", USERS)
    short = {"CONTROL_TOKENS": 64, "CONTROL_PREDICT": 4, "WARMUP_TOKENS": (40, 80)}
    for name, value in short.items():
        monkeypatch.setattr(plan, name, value)


@pytest.fixture
def model():
    with Loading().serving() as loading:
        yield loading


class Private:
    """Private servers that are scripted ones, a fresh one each; they tell what they cached."""

    def __init__(self):
        self.opened, self.running = [], []
        self.fails = None
        """The setup whose servers break off each answer."""

    def open(self, setup, _):
        """In place of the real one."""
        assert [] == self.running, "one at a time"
        counting = modelled.Counting(tells_shared=True)
        keeps = 1 if setup == "one_slot" else 2
        routes = modelled.Modelled(slots=keeps, counting=counting).routes()
        if setup == self.fails:
            routes["/api/generate"] = scripted.Answer(chunks=[], breaks_off=True)
        served = scripted.Scripted(routes)
        served.__enter__()
        self.opened.append(setup)
        self.running.append(served)
        slots, host_cache = SETUPS[setup]
        laid_out = Started(
            slots=slots, kv_type="f16", flash_attention=None, host_cache_mib=host_cache
        )
        found = find(environ={"TWOHALVES_SERVER": served.url})
        return dataclasses.replace(found, started=True, settings=laid_out, stopper=self.stop)

    def stop(self):
        """The one that runs."""
        self.running.pop().__exit__()


@pytest.fixture
def private(monkeypatch):
    servers = Private()
    monkeypatch.setattr(lines.private, "open_private", servers.open)
    yield servers
    assert [] == servers.running, "each is stopped"


def _measure(model, runs, **how):
    book = live(find(environ={"TWOHALVES_SERVER": model.url}), None, runs)
    return measure(book, profile_name="users", **how)


def _processed(run, setup):
    """Tokens that the two users' second requests cost, and those of their prompts."""
    rows = run.measured("cache_broken", "other_user")
    return [
        (row.prompt_eval_count - row.prompt_eval_cached_count, row.prompt_eval_count)
        for row in rows
        if row.setup == setup
    ]


def test_each_private_server_is_asked_by_two_users(model, tmp_path, private):
    """Four rows on the run's own server and on each of three, laid out as told."""
    run = _measure(model, tmp_path, agreed=True)

    users = [row for row in run.measured("cache_broken") if "users" in row.pair]
    for setup in ("", *SETUPS):
        assert ["cold", "cold", "other_user", "other_user"] == [
            row.variant for row in users if row.setup == setup
        ]
    for setup, (slots, host_cache) in SETUPS.items():
        told = run.session["setups"][setup]
        assert (slots, host_cache) == (told["slots"], told["host_cache_mib"])
        assert {slots} == {row.slots for row in run.timings if row.setup == setup}
    assert list(SETUPS) == private.opened
    assert {} == run.session["left_out"]
    assert not invalid(run)


def test_what_a_private_server_did_is_kept_apart(model, tmp_path, private):
    """One slot reads all again; two, or memory for prompts, only what is new."""
    run = _measure(model, tmp_path, agreed=True)

    for read, whole in _processed(run, "one_slot"):
        assert read == pytest.approx(whole, abs=3)
    for setup in ("two_slots", "host_cache"):
        for read, whole in _processed(run, setup):
            assert read == pytest.approx(40, abs=5)
            assert whole > 140


def test_without_being_asked_no_second_ollama_is_started(model, tmp_path, private):
    """The run says which part lacks and how to ask for it."""
    run = _measure(model, tmp_path)

    assert [] == private.opened
    assert {f"cache_broken:{name}" for name in SETUPS} == set(run.session["left_out"])
    assert all("--private" in why for why in run.session["left_out"].values())
    assert "Not measured: cache_broken:host_cache" in " ".join(notes(run))
    assert 4 == len([row for row in run.measured("cache_broken") if "users" in row.pair])


def test_a_private_server_that_cannot_be_started_is_left_out(model, tmp_path, private, monkeypatch):
    """With its reason; the others are asked, and the run is complete."""
    failure = BuiltinFailed("no memory")

    def start(setup, session):
        if setup == "two_slots":
            raise failure
        return private.open(setup, session)

    monkeypatch.setattr(lines.private, "open_private", start)
    run = _measure(model, tmp_path, agreed=True)

    assert {"cache_broken:two_slots": failure.what} == run.session["left_out"]
    assert {"", "one_slot", "host_cache"} == {row.setup for row in run.timings}
    assert "complete" == run.session["status"]


def test_a_private_server_that_fails_each_time_is_left_out(model, tmp_path, private):
    """It starts and breaks off each answer: three rows, its reason, and the run goes on."""
    private.fails = "two_slots"
    run = _measure(model, tmp_path, agreed=True)

    [(name, why)] = run.session["left_out"].items()
    assert "cache_broken:two_slots" == name
    assert "broke off" in why
    assert ["no_answer"] * 3 == [row.flags for row in run.timings if row.setup == "two_slots"]
    assert "complete" == run.session["status"]
    assert 4 == len([row for row in run.measured("cache_broken") if row.setup == "host_cache"])


def test_what_was_left_out_stays_left_out_when_the_run_is_gone_on_with(model, tmp_path, private):
    """Else a server that never works would end each start of the same command."""
    private.fails = "two_slots"

    def stop(progress):
        if "host_cache" in private.opened:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted):
        _measure(model, tmp_path, agreed=True, report=stop)
    private.opened.clear()
    run = _measure(model, tmp_path, agreed=True)

    assert ["host_cache"] == private.opened
    assert ["cache_broken:two_slots"] == list(run.session["left_out"])
    assert 4 == len([row for row in run.measured("cache_broken") if row.setup == "host_cache"])


def test_a_private_server_is_for_a_server_on_this_machine(model):
    """What another machine does cannot be measured on this one."""
    own = find(environ={"TWOHALVES_SERVER": model.url})
    far = dataclasses.replace(own, url="http://192.0.2.7:11434")

    asked, why = lines.private.setups(far, agreed=True)
    assert ("",) == asked
    assert all("another machine" in each for each in why.values())


@pytest.mark.engine
def test_the_built_in_server_shows_what_slots_and_memory_save(tmp_path):
    """Its own counts: with one slot a conversation is read anew, else only what is new of it."""
    with find(environ={"TWOHALVES_SERVER": "builtin"}) as server:
        run = measure(live(server, None, tmp_path), profile_name="users")

    assert {"two_slots", "host_cache"} == set(run.session["setups"])
    assert {} == run.session["left_out"]
    for read, whole in _processed(run, ""):
        assert read >= whole - 5
    for setup in ("two_slots", "host_cache"):
        assert 2 == len(_processed(run, setup))
        for read, whole in _processed(run, setup):
            assert read < whole / 2
    rows = [row for row in run.measured("cache_broken") if "users" in row.pair]
    assert 12 == len(rows)
    assert all(derive.prefill_s(row) for row in rows)
