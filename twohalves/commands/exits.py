"""What an exit code of ``python3 -m twohalves`` means; there is no other."""

from __future__ import annotations

import enum


class Exit(enum.IntEnum):
    """The exit codes, each with its meaning below it."""

    DONE = 0
    """What was asked for was done."""
    FAILED = 1
    """It ran, and what ran failed: a test, a cell of a notebook, a request."""
    USAGE = 2
    """The command line was not understood; nothing was done."""
    BLOCKED = 3
    """It could not be run; the message says what to do next."""
    INTERRUPTED = 130
    """Ctrl-C; what was kept until then stays, as shells report it (128 + SIGINT)."""
