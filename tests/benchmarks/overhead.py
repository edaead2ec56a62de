"""What a run costs beside waiting for its server: prompts, files, looks around, progress.

Without arguments a whole `chapter` is carried out against a server in another process that
answers at once: whatever takes time then is ours. It is told as a share of the time that a
small machine would take. With --run the gaps between the requests of a kept run are added up.

    python -m tests.benchmarks.overhead
    python -m tests.benchmarks.overhead --run runs/ID
"""

import argparse
import contextlib
import dataclasses
import os
import pathlib
import sys
import tempfile
import time
from unittest.mock import patch

from tests.benchmarks.terminal_line import Terminal
from tests.servers.modelled import NAME
from tests.servers.process import Process
from twohalves.commands.measure import Line
from twohalves.measure import attempts
from twohalves.measure.begin import begin
from twohalves.measure.connection import Connection
from twohalves.measure.profiles import PROFILES
from twohalves.measure.variants import Script
from twohalves.measure.work import carry_out
from twohalves.runs import Keeper, load
from twohalves.server import facts, find

PREFILL, DECODE = 200.0, 60.0
"""Tokens a second of a small machine: about those of two slow cores."""
ITEMS = {
    "asking what is loaded": (Connection, "loaded"),
    "writing prompts": (Script, "prompt"),
    "keeping rows": (Keeper, "keep"),
    "of it, until the disk has them": (os, "fsync"),
    "asking, and reading what came": (attempts, "ask"),
}
"""Where the time goes: whose function is timed."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """A run's time, seconds."""

    requests: int
    """How many."""
    waiting_s: float
    """From sending to the end of each answer, or to where it broke off."""
    beside_s: float
    """All the rest."""
    servers_s: float = 0.0
    """Starting and stopping private servers, which is neither."""

    @property
    def share(self):
        """The rest's part of the run."""
        return self.beside_s / (self.beside_s + self.waiting_s)


def main():
    """Measure or read, and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--run", type=pathlib.Path)
    folder = parser.parse_args().run
    lines = table(*measure(PROFILES["chapter"])) if folder is None else [said(kept(load(folder)))]
    for line in lines:
        sys.stdout.write(f"{line}\n")


def kept(run):
    """What the client's clocks say of a run that was kept."""
    end, setup = 0, ""
    waiting = beside = servers = 0
    for row in run.timings:
        if row.sent_ns < end:  # a later session: its clock begins again
            end = 0
        gap = row.sent_ns - end
        if row.setup == setup:
            beside += gap
        else:
            servers += gap
        end, setup = _end(row), row.setup
        waiting += end - row.sent_ns
    return Cost(
        requests=len(run.timings),
        waiting_s=waiting / 1e9,
        beside_s=beside / 1e9,
        servers_s=servers / 1e9,
    )


def _end(row):
    known = (row.done_ns, row.last_text_ns, row.first_any_ns, row.sent_ns)
    return max(clock for clock in known if clock is not None)


def said(cost):
    """One line."""
    return (
        f"{cost.requests} requests: {cost.waiting_s:.1f} s waiting for the server, "
        f"{cost.beside_s:.2f} s beside it ({cost.share:.2%}; "
        f"{1e3 * cost.beside_s / cost.requests:.1f} ms a request), "
        f"{cost.servers_s:.1f} s for private servers"
    )


def measure(profile):
    """The cost of a profile, as if a small machine had answered, and seconds for each item."""
    spent = dict.fromkeys([*ITEMS, "showing progress"], 0.0)
    with contextlib.ExitStack() as stack:
        server = Process()
        stack.callback(server.stop)
        found = find(environ={"TWOHALVES_SERVER": server.url})
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory())) / "run"
        for item, (owner, name) in ITEMS.items():
            timed = _timed(getattr(owner, name), item, spent)
            stack.enter_context(patch.object(owner, name, timed))
        stack.enter_context(Terminal())
        line = _timed(stack.enter_context(Line()), "showing progress", spent)
        began = time.perf_counter()
        begin(found, facts(found, NAME), profile, folder)
        run = carry_out(found, folder, profile, line)
        took_s = time.perf_counter() - began
    answered_s = kept(run).waiting_s
    spent["asking, and reading what came"] -= answered_s
    cost = Cost(
        requests=len(run.timings),
        waiting_s=sum(map(_small_machine_s, run.timings)),
        beside_s=took_s - answered_s,
    )
    return cost, spent


def _small_machine_s(row):
    read = row.prompt_eval_count if row.variant == "cold" else 0  # else most is in the cache
    return read / PREFILL + row.eval_count / DECODE


def _timed(function, item, spent):
    def call(*arguments, **more):
        began = time.perf_counter()
        try:
            return function(*arguments, **more)
        finally:
            spent[item] += time.perf_counter() - began

    return call


def table(cost, spent):
    """The lines of a Markdown table."""
    named = sum(seconds for item, seconds in spent.items() if not item.startswith("of it"))
    yield f"{said(cost)}, at {PREFILL:.0f} and {DECODE:.0f} tokens/s"
    yield ""
    yield "| beside the server | ms a request | s a run | share of the run |"
    yield "|---|---|---|---|"
    whole_s = cost.waiting_s + cost.beside_s
    for item, seconds in [*spent.items(), ("all the rest", cost.beside_s - named)]:
        each = 1e3 * seconds / cost.requests
        yield f"| {item} | {each:.2f} | {seconds:.2f} | {seconds / whole_s:.3%} |"


if __name__ == "__main__":
    main()
