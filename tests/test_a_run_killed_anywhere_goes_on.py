"""kill -9 at any point costs at most the request in flight; the next start goes on in order."""

import collections
import json
import os
import pathlib
import random
import secrets
import subprocess
import sys
import time

import pytest

from tests.servers import scripted
from tests.servers.process import Loading
from twohalves.measure import live, measure
from twohalves.measure.book import kept_run
from twohalves.runs import listed, load, unreadable
from twohalves.runs import session as session_file
from twohalves.runs.witness import records
from twohalves.server import find

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no kill -9")

PROJECT = pathlib.Path(__file__).resolve().parents[1]
KILLS = 30
BY_TIMER = 10


class Nursery:
    """Lives of a measuring process, one after another."""

    def __init__(self, url, runs):
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.servers.nursery", url, str(runs)],
            cwd=PROJECT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )

    def live(self, **order):
        """One life, and how it ended."""
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.wait(20)
        self._process.stdout.close()


def _kept(runs):
    """All rows on disk; each file read as the next start would read it."""
    rows = []
    for name in listed(runs):
        folder = runs / name
        if (
            not (folder / "timings.csv").exists()
            or b"\n" not in (folder / "timings.csv").read_bytes()
        ):
            continue
        run = load(folder)
        keys = [(row.seq, row.attempt) for row in run.timings]
        assert len(keys) == len(set(keys))
        seen = records(folder)
        assert set(keys) <= set(seen)
        assert len(seen) - len(keys) <= 1 + sum(
            each["kind"] == "resumed" for each in run.session.get("noticed", [])
        )
        rows += run.timings
    return rows


def _earlier(order, share):
    [(how, at)] = order.items()
    return {how: max(1, round(at * share)) if how == "at" else at * share}


def _is_the_plan(run):
    """The blocks and their order, as drawn from the seed at the beginning."""
    assert run.session["status"] == "complete"
    newest = {row.seq: row for row in run.timings if row.role != "warmup"}
    assert all(row.valid or row.role == "audit" for row in newest.values())
    answered = [
        (seq, row.role, row.block, int(row.condition), row.num_predict)
        for seq, row in newest.items()
    ]
    attempts = collections.defaultdict(set)
    for row in filter(lambda row: row.pair, newest.values()):
        attempts[row.pair].add(row.attempt)
    assert all(len(pair) == 1 for pair in attempts.values())
    planned = [
        (each["seq"], each["role"], each["block"], each["prompt_tokens"], each["num_predict"])
        for each in run.session["plan"]
        if each["role"] != "warmup"
    ]
    assert planned == sorted(answered)


def _orders(chance, whole, life_s):
    orders = [{"at": chance.randint(1, whole["points"])} for _ in range(KILLS - BY_TIMER)]
    orders += [{"after": chance.uniform(0.001, life_s)} for _ in range(BY_TIMER)]
    chance.shuffle(orders)
    return orders


def test_a_kill_after_the_very_first_answer_is_gone_on_from_and_noted(tmp_path):
    """The record was on disk and its row was not: no row, and still a run that was stopped."""
    with scripted.Scripted(Loading().routes()) as server:
        book = live(find(environ={"TWOHALVES_SERVER": server.url}), None, tmp_path)
        whole = measure(book, experiment="prompt_cache")
        for file, lines in (("timings.csv", 1), ("raw.jsonl", 1)):
            text = (whole.folder / file).read_text(encoding="utf-8")
            first = "".join(text.splitlines(keepends=True)[:lines])
            (whole.folder / file).write_text(first, encoding="utf-8", newline="")
        session_file.write(whole.folder, whole.session | {"status": "unfinished"})
        run = measure(book, experiment="prompt_cache")

    assert ["resumed"] == [each["kind"] for each in run.session["noticed"]]
    assert (1, 2) == (run.timings[0].seq, run.timings[0].attempt)
    assert "lacks 1 answer (request 1)" in run.notes[0]
    _is_the_plan(run)


def test_a_folder_without_its_facts_troubles_nobody(tmp_path):
    """Killed before the first session.json was in its place: half a file, and no run."""
    left = tmp_path / "2026-11-29-1000-quick-m"
    left.mkdir()
    (left / "session.json.4711.new").write_text('{"schema": 1, "exp', encoding="utf-8")
    with scripted.Scripted(Loading().routes()) as server:
        book = live(find(environ={"TWOHALVES_SERVER": server.url}), None, tmp_path)
        run = measure(book, experiment="prompt_cache")

        assert (run.id,) == listed(tmp_path)
        assert () == unreadable(tmp_path)
        assert run.id == kept_run(book, ("prompt_cache",)).id
    assert 1 == run.session["number"]


def test_thirty_kills_lose_at_most_the_request_in_flight(tmp_path):
    """Points over the whole life: start, session.json, between the two files, while waiting."""
    seed = secrets.randbelow(10**6)
    print(f"seed {seed}")  # noqa: T201  # shown if it fails
    runs, model = tmp_path / "runs", Loading()
    with scripted.Scripted(model.routes()) as server, Nursery(server.url, runs) as nursery:
        began = time.monotonic()
        whole = nursery.live()
        assert (whole["killed"], whole["failed"]) == (False, False)
        chance = random.Random(seed)  # noqa: S311  # a seed that failed can be tried again
        orders = _orders(chance, whole, time.monotonic() - began)
        kills, rows = 0, _kept(runs)
        while orders:
            order = orders.pop()
            end = nursery.live(**order)
            assert not end["failed"]
            after = _kept(runs)
            assert collections.Counter(rows) <= collections.Counter(after), "a row is gone"
            rows = after
            kills += end["killed"]
            if not end["killed"]:  # it went on with a run and came to its end before that point
                orders.append(_earlier(order, chance.uniform(0.1, 1)))
            assert model.answered - len(rows) <= kills
        assert not nursery.live()["failed"]

    assert kills == KILLS
    for name in listed(runs):
        _is_the_plan(load(runs / name))
        assert not list((runs / name).glob("*.new"))
