"""``doctor``: what this machine brings and what is missing. It needs nothing installed.

It runs inside ``.venv`` where there is a usable one, else with the Python at hand, and changes
nothing.
"""

from __future__ import annotations

import os
import sys

from twohalves import doctor, terminal
from twohalves.bootstrap import Environment
from twohalves.commands.exits import Exit
from twohalves.commands.parser import Options

PATIENCE_S = 1.5
"""Seconds that the environment's Python may take to say that it works."""


def run(options: Options) -> Exit:
    """Look at everything, report, and say with the exit code whether something fails."""
    if options.page:
        from twohalves.doctor.page import page  # noqa: PLC0415 — it needs the packages

        terminal.say(page().rstrip())
        return Exit.DONE
    environment = Environment()
    if not environment.inside() and environment.broken(PATIENCE_S) is None:
        words = ["doctor", *(["--json"] if options.json else [])]
        return Exit.DONE if environment.restart(words) == 0 else Exit.FAILED
    examined = doctor.examine()
    if options.json:
        terminal.say(doctor.as_json(examined))
    else:
        for line in [*doctor.lines(examined), doctor.closing(examined)]:
            terminal.say(line)
    code = Exit.FAILED if doctor.failed(examined) else Exit.DONE
    if any(each.is_silent for each in examined):
        # What hangs must not be waited for, and ending the interpreter below a thread that is
        # inside a compiled module can abort it: leave at once, all is said.
        sys.stdout.flush()
        os._exit(code)
    return code
