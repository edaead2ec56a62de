"""A verb as the reader gives it, in a process of its own, with this Python for its environment.

Like the real way in, it starts again in UTF-8 where the locale is another one.
"""

import os
import pathlib
import subprocess
import sys

PROJECT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = """\
import os, sys
from twohalves import bootstrap, commands

def restart(_, words):
    command = [sys.executable, "-c", os.environ["TESTED_PROGRAM"], *words]
    os.execve(sys.executable, command, os.environ | {"PYTHONUTF8": "1"})

bootstrap.Environment.prepare = lambda _: None
bootstrap.Environment.inside = lambda _: sys.getfilesystemencoding() == "utf-8"
bootstrap.Environment.restart = restart
sys.exit(commands.main(sys.argv[1:]))
"""


def give(*words, variables=None, before=None):
    """Run `python3 -m twohalves WORDS`; what it says comes as bytes.

    Args:
        words: the verb and its options.
        variables: beside those of this process.
        before: called in the new process before anything else; POSIX only.
    """
    command = begin(*words, variables=variables, before=before)
    said, errors = command.communicate()
    return subprocess.CompletedProcess(words, command.returncode, said, errors)


def begin(*words, variables=None, before=None):
    """Begin it like `give`, and go on; its output is read with `communicate`."""
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *words],
        cwd=PROJECT,
        env=os.environ | {"TESTED_PROGRAM": PROGRAM} | (variables or {}),
        preexec_fn=before,  # noqa: PLW1509  # nothing runs beside it in the child
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
