"""The built-in server as a process of its own: `python -m twohalves.server.builtin`."""

from __future__ import annotations

import argparse
import logging
import pathlib
import sys
import threading

from twohalves.errors import TwoHalvesError
from twohalves.server.builtin.launch import serve, stop_at_end_of_input

READY = "ready"


def main() -> int:
    """Serve until told to stop; 1 if it could not start."""
    parser = argparse.ArgumentParser(prog="python -m twohalves.server.builtin")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--model", type=pathlib.Path)
    parser.add_argument("--stop-at-end-of-input", action="store_true")
    parser.add_argument("--log", type=pathlib.Path, help="removed at the end of input")
    given = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stderr)
    stop = threading.Event()
    if given.stop_at_end_of_input:
        stop_at_end_of_input(stop, given.log)
    try:
        serve(given.host, given.port, given.model, ready=_announce, stop=stop)
    except TwoHalvesError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _announce(url: str) -> None:
    sys.stdout.write(f"{READY} {url}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
