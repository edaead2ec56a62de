"""Runs a program that does not know us, and ends it when our standard input ends.

Started by its path, with the command as its arguments: a server that outlives who started it
would keep its port and its memory for ever.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import threading


def main(arguments: list[str]) -> int:
    """Run `COMMAND... --log FILE`; the log is removed when standard input has ended."""
    *command, _, log = arguments
    program = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)

    def end_with_input() -> None:
        while os.read(0, 4096):
            pass
        with contextlib.suppress(OSError):  # Windows keeps what is still open
            pathlib.Path(log).unlink(missing_ok=True)
        _end(program)

    threading.Thread(target=end_with_input, daemon=True).start()
    code = program.wait()
    _end(program)  # what it has started goes too, also if it crashed
    return code


def _end(program: subprocess.Popen[bytes]) -> None:
    """End it and what it has started; a model's process is a child of the server's."""
    if sys.platform == "win32":
        command = ["taskkill", "/F", "/T", "/PID", str(program.pid)]
        subprocess.run(command, capture_output=True, check=False)
        return
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(program.pid, number)
            program.wait(3)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
