"""The engine without any server: its library, called in a process of its own.

A line of JSON on standard input says what to load, each further one what to complete. For each
a line goes back: the engine's own timings, and what another clock says around the same call.
Loading is that of the built-in server, so that both engines are laid out alike.
"""

import json
import os
import sys
import time

from twohalves.server.builtin.engine_process import _load


def main():
    """Load, and answer until standard input ends."""
    answers = os.dup(1)
    os.dup2(2, 1)  # whatever the engine prints
    engine, _ = _load(json.loads(sys.stdin.readline()))
    try:
        for line in sys.stdin:
            told = complete(engine, json.loads(line))
            os.write(answers, json.dumps(told).encode("ascii") + b"\n")
    finally:
        os._exit(0)  # with a model loaded the engine does not survive an ordinary exit


def complete(engine, body):
    """One completion: timings, and seconds from the call to its first and its last token."""
    stamps, last = [], {}

    def hear(event):
        nonlocal last
        stamps.append(time.perf_counter())
        last = event
        return False  # which lets it go on

    called = time.perf_counter()
    engine.handle_completions(body | {"stream": True}, hear)
    # the last event carries no token
    return last["timings"] | {"first_s": stamps[0] - called, "last_s": stamps[-2] - called}


if __name__ == "__main__":
    main()
