"""Which letters the console and the file names can hold."""

from __future__ import annotations

import codecs
import locale
import sys
from dataclasses import dataclass

from twohalves.doctor.check import Here
from twohalves.doctor.findings import Finding, Steps, Trouble, ok, warn

NOT_UTF8 = Trouble(
    title="The console or the locale is not UTF-8",
    symptoms=(
        "UnicodeEncodeError: 'charmap' codec can't encode character",
        "UnicodeEncodeError: 'ascii' codec can't encode character",
        "UnicodeDecodeError: 'charmap' codec can't decode byte",
        "UnicodeDecodeError: 'utf-8' codec can't decode byte",
    ),
    meaning="What the console cannot show is replaced by something readable, and all files are "
    "UTF-8 all the same; a program of your own may still fail over a letter.",
    steps=Steps(
        linux="`export LC_ALL=C.UTF-8` for this window, `sudo localectl set-locale C.UTF-8` for "
        "good.",
        macos="`export LC_ALL=en_US.UTF-8` for this window, the same line in ~/.zshrc for good.",
        windows="`chcp 65001; $env:PYTHONUTF8 = 1` for this window, `setx PYTHONUTF8 1` for good.",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFacts:
    """Encodings, in Python's names; None = not told."""

    console: str | None
    """Of the standard output."""
    files: str
    """Of file names."""
    preferred: str
    """Of files that are opened without naming one."""


def text(_: Here) -> TextFacts:
    """Ask Python for the encodings it uses."""
    return TextFacts(
        console=getattr(sys.stdout, "encoding", None),
        files=sys.getfilesystemencoding(),
        preferred=locale.getpreferredencoding(do_setlocale=False),
    )


def judge_text(facts: TextFacts) -> Finding:
    """UTF-8 everywhere."""
    parts = {
        "console": facts.console,
        "file names": facts.files,
        "files": facts.preferred,
    }
    said = ", ".join(f"{name} {encoding}" for name, encoding in parts.items() if encoding)
    others = [encoding for encoding in parts.values() if encoding and not _is_utf8(encoding)]
    return warn(said, NOT_UTF8) if others else ok(said)


def _is_utf8(encoding: str) -> bool:
    try:
        return codecs.lookup(encoding).name == "utf-8"
    except LookupError:
        return False
