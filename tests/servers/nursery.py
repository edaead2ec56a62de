"""Measuring processes that are killed at a chosen point of their life.

Imports once and forks for each life, so that thirty lives take seconds. A life's points are all
that it does to its files and sockets: each opening, renaming, making, truncating and connecting,
and the moments before and after each flush to disk.

    stdin:  {"at": 17}       SIGKILL at the 17th point
            {"after": 0.3}   killed by a timer after 0.3 s, wherever it is then
            {}               lives to its end
    stdout: {"killed": true, "points": 17} for each
"""

from __future__ import annotations

import json
import os
import pathlib
import signal
import sys

from twohalves.measure import live, measure
from twohalves.server import find

EVENTS = frozenset({"open", "os.rename", "os.mkdir", "os.remove", "os.truncate", "socket.connect"})


class Points:
    """Counts the points of a life, in a place that outlives it, and ends it at one of them."""

    def __init__(self, counter, folder, last):
        self.counter, self.folder, self.last, self.number = counter, folder, last, 0

    def hook(self, event, arguments):
        """Called by the interpreter for everything that it does outside."""
        if event in EVENTS and (event == "socket.connect" or self._is_ours(arguments[0])):
            self.next()

    def next(self):
        """One more point."""
        self.number += 1
        os.pwrite(self.counter, b"%9d" % self.number, 0)
        if self.number == self.last:
            os.kill(os.getpid(), signal.SIGKILL)

    def _is_ours(self, path):
        return isinstance(path, str | pathlib.Path) and str(path).startswith(self.folder)


def _life(url, runs, order, counter):
    points = Points(counter, str(runs), order.get("at"))
    sys.addaudithook(points.hook)
    flush = os.fsync

    def flushed(file):
        points.next()
        flush(file)
        points.next()

    os.fsync = flushed
    if "after" in order:
        signal.setitimer(signal.ITIMER_REAL, order["after"])  # nobody handles it: it kills
    book = live(find(environ={"TWOHALVES_SERVER": url}), None, runs)
    measure(book, experiment="prompt_cache")  # pairs, and a few audits


def main(url, runs, counter):
    """Obey each line of stdin."""
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _life(url, runs, json.loads(line), counter)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        told = {"killed": os.WIFSIGNALED(status), "points": int(os.pread(counter, 9, 0))}
        failed = os.WIFEXITED(status) and os.WEXITSTATUS(status) != 0
        print(json.dumps(told | {"failed": failed}), flush=True)  # noqa: T201  # it is asked for


if __name__ == "__main__":
    place = pathlib.Path(sys.argv[2])
    place.mkdir(exist_ok=True)
    main(sys.argv[1], place, os.open(f"{place}.points", os.O_RDWR | os.O_CREAT))
