"""Does the line of progress on a terminal change what is measured?

Pairs of requests with fresh prompts, in random order: before one of them the line is drawn, as
the verb `measure` draws it, before the other it is not. The terminal is a real one with a
program behind it that reads what is drawn.

    python -m tests.benchmarks.terminal_line --pairs 20
"""

import argparse
import contextlib
import os
import random
import subprocess
import sys

from tests.benchmarks.asking import WINDOW, Harness, first_whole, is_whole
from tests.benchmarks.ratios import told
from twohalves.commands.measure import Line
from twohalves.measure import Progress
from twohalves.runs import derive
from twohalves.server import start

PROMPT_TOKENS, NUM_PREDICT = 298, 32
_READER = [sys.executable, "-c", "import os\nwhile os.read(0, 4096): pass"]


class Terminal(contextlib.AbstractContextManager):
    """For a while stderr is a terminal, and another program reads it."""

    def __enter__(self):
        ours, theirs = os.openpty()
        self._reader = subprocess.Popen(
            _READER, stdin=ours, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(ours)
        self._before, sys.stderr = sys.stderr, os.fdopen(theirs, "w", encoding="utf-8")
        return self

    def __exit__(self, *_):
        sys.stderr.close()  # which ends the reader, too
        sys.stderr = self._before
        self._reader.wait(20)


def main():
    """Compare, and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=20)
    pairs = parser.parse_args().pairs
    sys.stdout.write(
        f"{pairs} pairs, {PROMPT_TOKENS} prompt tokens, {NUM_PREDICT} tokens each; "
        "median of shown ÷ not shown [95% interval]\n\n| prefill | decode |\n|---|---|\n"
    )
    sys.stdout.write(f"| {' | '.join(map(told, compare(pairs)))} |\n")


def compare(pairs):
    """Paired ratios of the rates of prefill and of decode."""
    with start(window=WINDOW) as server, Terminal(), Line() as line:
        harness = Harness(server)
        _rates(harness)  # loads the model
        found = [_pair(harness, line, number, pairs) for number in range(pairs)]
        harness.close()
    return [[shown[n] / plain[n] for shown, plain in found] for n in (0, 1)]


def _pair(harness, line, done, total):
    rates = {}
    for is_shown in random.sample([True, False], 2):
        if is_shown:
            line(Progress(done=done, total=total, seconds_left=60.0))
        rates[is_shown] = _rates(harness)
    return rates[True], rates[False]


def _rates(harness):
    row = first_whole(lambda: _whole(harness))
    return derive.prefill_rate(row), derive.decode_rate(row)


def _whole(harness):
    row = harness.time(harness.prompt(PROMPT_TOKENS), NUM_PREDICT)
    return row if is_whole(row) else None


if __name__ == "__main__":
    main()
