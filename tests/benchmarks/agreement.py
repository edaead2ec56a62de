"""Do the clocks agree: the client's, the server's counters, and the engine called directly?

A pair asks the same fresh prompt twice: through the harness, of a private built-in server, and
of the same engine in another process with nothing between. Of the first request there are two
clocks (the client's chunks, the server's counters), of the second two more (the engine's own
timings, and a clock around the call). Then the same prompt is asked again a few times: both
hold it in their caches, so decode, which varies more, is compared more often at little cost.
Lengths are interleaved, and the order within a pair alternates.

With a core left free (--threads) what client and server compute between two tokens takes
nothing from the engine; without, the difference from the engine alone holds that, too.

    python -m tests.benchmarks.agreement --prompts 10
"""

import argparse
import contextlib
import itertools
import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from unittest.mock import patch

from tests.benchmarks.asking import QUIET_S, WINDOW, Harness, first_whole, is_whole
from tests.benchmarks.ratios import told
from twohalves.measure.ask import OPTIONS
from twohalves.runs import derive
from twohalves.server import start
from twohalves.server.builtin.options import read_options
from twohalves.server.builtin.weights import installed_weights

LENGTHS = (128, 2048)
"""Prompt tokens: decode is compared at all of them, prefill at all but the shortest."""
NUM_PREDICT = 64
TARGETS = {"prefill": 0.02, "decode": 0.01}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """Tokens a second by one clock."""

    prefill: float
    """Prompt tokens."""
    decode: float
    """Answer tokens after the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One prompt by four clocks, and the rate as most tools print it."""

    client: Rates
    """Chunks as they arrive; the prompt's time ends with the first of them."""
    server: Rates
    """Counters of the last record."""
    engine: Rates
    """The engine's own timings, in the other process."""
    wall: Rates
    """A clock around that call."""
    raw_decode: float
    """eval_count over eval_duration: one step too many."""
    is_cold: bool
    """Whether the prompt was new; else its prefill says nothing."""


def main():
    """Compare, and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--prompts", type=int, default=10)
    parser.add_argument("--again", type=int, default=2, help="times that decode is repeated")
    parser.add_argument("--lengths", type=int, nargs="+", default=LENGTHS)
    parser.add_argument("--threads", type=int, help="of the engine; all cores unless said")
    asked = parser.parse_args()
    threads, cores = asked.threads or os.cpu_count(), os.cpu_count()
    sys.stdout.write(
        f"{asked.prompts} prompts a length, {1 + asked.again} pairs each, {NUM_PREDICT} tokens; "
        f"{threads} engine threads, {cores} cores; medians of paired ratios [95% interval]\n\n"
    )
    chosen = {"num_thread": asked.threads} if asked.threads else {}
    with patch.dict(OPTIONS, chosen):
        found = measure(asked.lengths, asked.prompts, asked.again)
    for line in table(found):
        sys.stdout.write(f"{line}\n")


def measure(lengths, prompts, again):
    """For each length its pairs."""
    found = {length: [] for length in lengths}
    with (
        start(window=WINDOW) as server,
        Alone(server) as alone,
        contextlib.closing(Harness(server)) as harness,
    ):
        _pair(harness, alone, harness.prompt(min(lengths)), 0)  # loads the one, wakes the other
        for number, length in itertools.product(range(prompts), lengths):
            found[length] += first_whole(
                lambda at=length, turn=number: _pairs(harness, alone, at, turn, again)
            )
    return found


class Alone:
    """The engine in its own process."""

    def __init__(self, server):
        options = read_options(OPTIONS)
        self._first = asdict(server.settings) | {
            "model": str(installed_weights()),
            "key": "",
            "num_ctx": WINDOW,
            "num_batch": options.num_batch,
            "num_thread": options.num_thread,
        }

    def __enter__(self):
        self._process = subprocess.Popen(
            [sys.executable, "-X", "utf8", "-m", "tests.benchmarks.engine_alone"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._say(self._first)
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.wait(20)
        self._process.stdout.close()

    def time(self, prompt, num_predict):
        """Complete once, with the sampling that the server would choose."""
        options = read_options(OPTIONS)
        body = {"prompt": prompt, "n_predict": num_predict, "n_keep": options.num_keep,
                "seed": options.seed, "cache_prompt": True, **options.sampling}  # fmt: skip
        time.sleep(QUIET_S)
        self._say(body)
        return json.loads(self._process.stdout.readline())

    def _say(self, record):
        self._process.stdin.write(json.dumps(record).encode("ascii") + b"\n")
        self._process.stdin.flush()


def _pairs(harness, alone, length, turn, again):
    """What a fresh prompt gives, and the same prompt some more times; None if it gives little."""
    prompt = harness.prompt(length)
    new, *repeated = (_pair(harness, alone, prompt, turn + more) for more in range(1 + again))
    return new and [new, *filter(None, repeated)]


def _pair(harness, alone, prompt, turn):
    """One prompt by all clocks; None if an answer was short."""
    answers = {}
    for way in (harness, alone) if turn % 2 else (alone, harness):
        answers[way] = way.time(prompt, NUM_PREDICT)
    row, timings = answers[harness], answers[alone]
    whole = is_whole(row) and timings["predicted_n"] == NUM_PREDICT
    return _compared(row, timings) if whole else None


def _compared(row, timings):
    steps, read = NUM_PREDICT - 1, timings["prompt_n"]
    asked, first, last = row.sent_ns / 1e9, row.first_text_ns / 1e9, row.last_text_ns / 1e9
    return Pair(
        client=Rates(
            prefill=derive.processed_tokens(row) / (first - asked), decode=steps / (last - first)
        ),
        server=Rates(prefill=derive.prefill_rate(row), decode=derive.decode_rate(row)),
        engine=Rates(
            prefill=1e3 * read / timings["prompt_ms"], decode=1e3 * steps / timings["predicted_ms"]
        ),
        wall=Rates(
            prefill=read / timings["first_s"],
            decode=steps / (timings["last_s"] - timings["first_s"]),
        ),
        raw_decode=derive.decode_rate_raw(row),
        is_cold=read > timings["cache_n"],
    )


COMPARED = {
    "client ÷ counters": ("client", "server"),
    "counters ÷ engine": ("server", "engine"),
    "client ÷ clock around the engine": ("client", "wall"),
    "engine ÷ clock around it": ("engine", "wall"),
}


def table(found):
    """The lines of a Markdown table, and the raw rate below it."""
    yield f"| tokens/s | prompt tokens | median | {' | '.join(COMPARED)} | within |"
    yield "|---|---|---|" + "---|" * len(COMPARED) + "---|"
    lengths = sorted(found)
    for quantity, shown in {"prefill": lengths[1:] or lengths, "decode": lengths}.items():
        for length in shown:
            telling = [pair for pair in found[length] if pair.is_cold or quantity == "decode"]
            yield _line(quantity, length, telling)
    yield ""
    for length in lengths:
        raw = told([pair.raw_decode / pair.wall.decode for pair in found[length]])
        yield f"Decode at {length:,}, raw counters ÷ clock around the engine: {raw}; "
        yield f"{NUM_PREDICT} tokens for {NUM_PREDICT - 1} steps make {_too_many():.3f}."


def _too_many():
    return NUM_PREDICT / (NUM_PREDICT - 1)


def _line(quantity, length, pairs):
    rates = {
        clock: [getattr(getattr(pair, clock), quantity) for pair in pairs]
        for clock in ("client", "server", "engine", "wall")
    }
    ratios = [
        [a / b for a, b in zip(rates[above], rates[below], strict=True)]
        for above, below in COMPARED.values()
    ]
    target = TARGETS[quantity]
    worst = max(abs(statistics.median(each) - 1) for each in ratios)
    held = f"{worst:.1%}, target {target:.0%}"
    middle = f"{statistics.median(rates['server']):.1f}"
    return f"| {quantity} | {length:,} | {middle} | {' | '.join(map(told, ratios))} | {held} |"


if __name__ == "__main__":
    main()
