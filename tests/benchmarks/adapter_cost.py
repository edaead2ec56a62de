"""What the built-in server adds to its engine: the same request through it, and past it.

Each pair asks both, in random order, with a prompt that neither has seen. Told are the delay
of the first chunk beyond the engine's own prompt time, and the rate of the chunks after it.

    python -m tests.benchmarks.adapter_cost --pairs 40
"""

import argparse
import http.client
import json
import os
import random
import secrets
import subprocess
import sys
import time
import urllib.parse
from dataclasses import dataclass

from tests.benchmarks.ratios import told
from tests.servers.builtin import MODEL
from twohalves.server.builtin.options import read_options

QUIET_S = 0.03  # connected, and the engine's threads at rest: as with a client's kept connection
OPTIONS = {"num_ctx": 2048, "num_predict": 64, "temperature": 0}
WORDS = ["the", "old", "harbor", "lay", "quiet", "and", "a", "boat", "came", "with", "fish"] * 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """One request, from outside."""

    first_ms: float
    """From sending to the first chunk, without the engine's own prompt time."""
    rate: float
    """Chunks a second after the first."""


def main():
    """Compare with every core for the engine, then with one left free."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=40)
    pairs = parser.parse_args().pairs
    cores = os.cpu_count() or 1
    sys.stdout.write(
        f"{pairs} pairs, {OPTIONS['num_predict']} tokens each, {cores} cores; "
        "medians [95% interval]\n\n"
    )
    sys.stdout.write(
        "| engine threads | first chunk later by, ms | decode ratio |\n|---|---|---|\n"
    )
    for threads in sorted({cores, max(1, cores - 1)}, reverse=True):
        later, ratio = compare(threads, pairs)
        sys.stdout.write(f"| {threads} of {cores} | {later} | {ratio} |\n")
        sys.stdout.flush()


def compare(threads, pairs):
    """Delay and ratio with so many threads, as texts."""
    command = [sys.executable, "-X", "utf8", "-m", "tests.benchmarks.open_server"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as server:
        through = Through(server.stdout.readline().decode().strip(), threads)
        through.time()  # loads the engine, which then tells where it is
        past = Past(**json.loads(server.stdout.readline()))
        pairs = [_pair(through, past) for _ in range(pairs + 2)][2:]  # two warm up
        server.stdin.close()
    later = [ours.first_ms - engines.first_ms for ours, engines in pairs]
    ratios = [ours.rate / engines.rate for ours, engines in pairs]
    return told(later, 1), told(ratios, 3)


def _pair(through, past):
    timed = {way: way.time() for way in random.sample([through, past], 2)}
    return timed[through], timed[past]


class Way:
    """A way to the engine."""

    def __init__(self, netloc, path, headers):
        self.netloc, self.path, self.headers = netloc, path, headers

    def time(self):
        """One request with a fresh prompt, from the first byte sent to the last record."""
        arrivals, last = [], {}
        body = json.dumps(self.body())
        connection = http.client.HTTPConnection(self.netloc, timeout=120)
        connection.connect()
        time.sleep(QUIET_S)
        sent = time.perf_counter()
        connection.request("POST", self.path, body, self.headers)
        for line in connection.getresponse():
            if line.strip():
                arrivals.append(time.perf_counter())
                last = json.loads(line.removeprefix(b"data: "))
        connection.close()
        first, end = arrivals[0], arrivals[-2]  # the last record carries no text
        return Timed(
            first_ms=(first - sent) * 1e3 - self.prompt_ms(last),
            rate=(len(arrivals) - 2) / (end - first),
        )


class Through(Way):
    """By the built-in server."""

    def __init__(self, url, threads):
        super().__init__(urllib.parse.urlsplit(url).netloc, "/api/generate", {})
        self.options = OPTIONS | {"num_thread": threads}

    def body(self):
        """As a reader's notebook asks."""
        return {"model": MODEL, "prompt": _fresh(), "raw": True, "options": self.options}

    def prompt_ms(self, last):
        """The engine's own time for the prompt."""
        return last["prompt_eval_duration"] / 1e6


class Past(Way):
    """Straight to the engine's port."""

    def __init__(self, netloc, key):
        super().__init__(netloc, "/completion", {"Authorization": f"Bearer {key}"})

    def body(self):
        """The same sampling: penalties cost time, too."""
        sampling = read_options(OPTIONS).sampling
        return {"prompt": _fresh(), "n_predict": OPTIONS["num_predict"], "stream": True, **sampling}

    def prompt_ms(self, last):
        """The engine's own time for the prompt."""
        return last["timings"]["prompt_ms"]


def _fresh():
    return " ".join([secrets.token_hex(4), *random.sample(WORDS, 90)])


if __name__ == "__main__":
    main()
