"""Which model, asked on the command line when the server has several and none was named."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from twohalves import terminal
from twohalves.errors import SeveralModels
from twohalves.server import Model, choose


def pick(
    models: Sequence[Model],
    wanted: str | None,
    *,
    read: Callable[[str], str] = input,
    asked: bool | None = None,
) -> Model:
    """Choose by the rules; where they leave several, let the reader choose from a list.

    Args:
        models: What the server has.
        wanted: The name that was asked for; None = none was.
        read: Shows a prompt and returns the reader's answer.
        asked: Whether somebody is there to answer; None = if stdin is a terminal.

    Raises:
        SeveralModels: There are several and nobody is there to be asked.
    """
    try:
        return choose(tuple(models), wanted=wanted)
    except SeveralModels as several:
        if not (sys.stdin.isatty() if asked is None else asked):
            raise
        return choose(tuple(models), wanted=_ask(several.names, read))


def _ask(names: Sequence[str], read: Callable[[str], str]) -> str:
    terminal.step("The server has several models:")
    for number, name in enumerate(names, start=1):
        terminal.note(f"{number}  {name}")
    while True:
        answer = read(f"Which one? (1 to {len(names)}) ").strip()
        if answer in names:
            return answer
        if answer.isdecimal() and 1 <= int(answer) <= len(names):
            return names[int(answer) - 1]
        terminal.note(f"{answer or 'Nothing'} is not in the list.")
