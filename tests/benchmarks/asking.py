"""One request as the harness sends it, with a prompt that nobody has seen, and its row."""

import time

from tests.servers.builtin import MODEL
from twohalves.measure.ask import ask
from twohalves.measure.connection import Connection
from twohalves.measure.prompts import Calibration, fresh
from twohalves.runs import Timing

WINDOW = 8192
"""Tokens, as in a run."""
QUIET_S = 0.03
"""Before each request: an engine's threads go on spinning for a moment."""

TRIES = 5


class Harness:
    """Our own way to a server: the official client, the recording transport, a row a request."""

    def __init__(self, server):
        self._line = Connection(server)
        self._nonce = ""

    def prompt(self, tokens):
        """Fresh prose of about so many tokens."""
        written = fresh(tokens, Calibration(), self._nonce)
        self._nonce = written.nonce
        return written.text

    def time(self, prompt, num_predict):
        """Ask once."""
        row = Timing(run_id="", seq=1, model=MODEL, num_ctx=WINDOW, num_predict=num_predict)
        time.sleep(QUIET_S)
        answered = ask(self._line, row, prompt, 0)
        if answered.failure is not None:
            raise answered.failure
        return answered.row

    def close(self):
        """End both connections."""
        self._line.close()


def is_whole(row):
    """Whether the answer has its full length, and each of its tokens came as a chunk."""
    return row.num_predict == row.eval_count == row.n_chunks


def first_whole(attempt):
    """What the first attempt gives that gives anything: a greedy answer may end early."""
    for _ in range(TRIES):
        given = attempt()
        if given is not None:
            return given
    raise RuntimeError(f"{TRIES} answers in a row were shorter than asked for")
