"""What a reader types: one module a verb, the command line, and the exit codes.

A verb's module has ``run(options) -> Exit`` and calls the other parts; nothing is computed here.
This file, ``parser`` and ``exits`` are read before anything is installed and keep to the standard
library; the verbs' modules are read inside ``.venv``.
"""

from __future__ import annotations

import importlib
from typing import Protocol, cast

from twohalves import bootstrap, terminal
from twohalves.commands.exits import Exit
from twohalves.commands.parser import ALONE, VERBS, Options, help_text, parse
from twohalves.errors import Interrupted, RunsNotNamed, TwoHalvesError, UnknownName, WordsLeft

__all__ = ["VERBS", "Exit", "Options", "main"]


class Verb(Protocol):
    """What every verb's module offers."""

    def run(self, options: Options) -> Exit:
        """Do what was asked for."""


def main(arguments: list[str]) -> int:
    """Read the command line, set up what the verb needs, hand over, and turn errors into words.

    Args:
        arguments: The command line without the program's name.

    Returns:
        An exit code with the meaning that ``Exit`` gives it.
    """
    terminal.prepare()
    if not arguments:
        terminal.fail(f"a verb is missing.\n\n{help_text()}")
        return Exit.USAGE
    try:
        return _obey(parse(arguments), arguments)
    except (UnknownName, WordsLeft, RunsNotNamed) as error:
        terminal.fail(str(error))
        return Exit.USAGE
    except Interrupted as error:
        terminal.note(str(error))
        return Exit.INTERRUPTED
    except TwoHalvesError as error:
        terminal.fail(str(error))
        return Exit.BLOCKED
    except KeyboardInterrupt:
        terminal.fail("stopped by Ctrl-C; what was finished is kept.")
        return Exit.INTERRUPTED


def _obey(options: Options, arguments: list[str]) -> int:
    if options.verb not in ALONE or options.page:
        environment = bootstrap.Environment()
        environment.prepare()
        if not environment.inside():
            return environment.restart(arguments)
    # By name, so that `serve` does not wait for the drawing library that `site` needs.
    verb = cast("Verb", importlib.import_module(f"twohalves.commands.{options.verb}"))
    return verb.run(options)
