"""The one voice on the terminal: steps and progress to stderr, results to stdout.

Nothing here colors, so that ``NO_COLOR`` and pipes need no care, and nothing fails on a console
that cannot print a character: what it cannot show is replaced by something readable.
Standard library only.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import shutil
import sys
import time
import unicodedata
from typing import TextIO

_GONE = (errno.EPIPE, errno.EINVAL, errno.EIO)
"""A pipe that nobody reads, on Windows too, and a window that was closed."""
READABLE = {
    "µ": "u",
    "μ": "u",
    "×": "x",
    "ß": "ss",
    "≤": "<=",
    "≥": ">=",
    "≈": "~",
    "−": "-",
    "–": "-",
    "—": "-",
    "…": "...",
    "→": "->",
    "·": "-",
    "’": "'",
    "‘": "'",
    "“": '"',
    "”": '"',
    "█": "#",
    "░": ".",
}


def readable(text: str) -> str:
    """Say ``text`` in ASCII: ``≤`` as ``<=``, ``Ž`` as ``Z``, and ``?`` only as the last resort."""
    return "".join(_in_ascii(character) for character in text)


def legible(text: str) -> str:
    """A name from the system, whose letters this process could not read, as it was meant.

    In the locale C every byte beyond ASCII of a path or an argument arrives as a surrogate.
    """
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    except UnicodeEncodeError:  # other surrogates: Windows has such names
        return text


def _in_ascii(character: str) -> str:
    if character in READABLE:
        return READABLE[character]
    bare = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode("ascii")
    return bare or "?"


def _replace(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return readable(legible(error.object[error.start : error.end])), error.end


def prepare() -> None:
    """Let every stream print every text, whatever the console's encoding."""
    codecs.register_error("twohalves.readable", _replace)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="twohalves.readable")


def say(text: str) -> None:
    """Print a result to stdout."""
    _write(sys.stdout, f"{text}\n")


def _write(stream: TextIO, text: str) -> None:
    """Write at once; where nobody reads any more, as behind `head`, go on in silence."""
    try:
        stream.write(text)
        stream.flush()
    except OSError as error:
        if error.errno not in _GONE:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def step(text: str) -> None:
    """Say on stderr what is being done."""
    _write(sys.stderr, f"* {text}\n")


def note(text: str) -> None:
    """Say on stderr what a reader may want to know but need not act on."""
    _write(sys.stderr, f"  {text}\n")


def fail(text: str) -> None:
    """Say on stderr what went wrong."""
    _write(sys.stderr, f"ERROR {text}\n")


class Status:
    """One line on stderr that tells what goes on and since when.

    On a terminal the line is rewritten in place; elsewhere it is printed once at the start and
    once at the end, so that a log stays short.
    """

    def __init__(self, words: str) -> None:
        self._words = words
        self._began = time.monotonic()
        self.live = sys.stderr.isatty()
        """Whether the line is rewritten in place."""
        if not self.live:
            step(f"{words} …")

    @property
    def elapsed_s(self) -> float:
        """Seconds since the line first appeared."""
        return time.monotonic() - self._began

    def tick(self, more: str = "") -> None:
        """Rewrite the line with the time so far and ``more``, if this is a terminal."""
        if self.live:
            self._rewrite(f"* {self._words} … {self.elapsed_s:.0f} s {more}".rstrip())

    def done(self, outcome: str = "done") -> None:
        """Leave the line with how it ended and how many seconds it took."""
        last = f"* {self._words}: {outcome} ({self.elapsed_s:.0f} s)"
        if self.live:
            self._rewrite(last)
        _write(sys.stderr, "\n" if self.live else f"{last}\n")

    def _rewrite(self, line: str) -> None:
        width = shutil.get_terminal_size().columns - 1
        _write(sys.stderr, f"\r{line[:width]:<{width}}")
