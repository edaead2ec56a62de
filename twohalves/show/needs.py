"""A function that shows an experiment answers with a note where the run does not hold it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TypeVar

from IPython.display import Markdown

from twohalves.runs import Run
from twohalves.show.lacking import not_held

Shown = TypeVar("Shown")
ShowsRun = Callable[[Run], Shown]

IN_WORDS = {
    "ttft": "The time to the first token",
    "decode_vs_context": "Decode at several lengths of context",
    "streaming": "The trial with and without streaming",
}
"""Experiments as the subject of a sentence."""


def needs(experiment: str) -> Callable[[ShowsRun[Shown]], ShowsRun[Shown | Markdown]]:
    """Show a run only if it holds valid rows of an experiment; else say how to measure them.

    Args:
        experiment: a name in IN_WORDS.
    """
    what = IN_WORDS[experiment]

    def wrap(shows: ShowsRun[Shown]) -> ShowsRun[Shown | Markdown]:
        @functools.wraps(shows)
        def shown(run: Run) -> Shown | Markdown:
            return shows(run) if run.measured(experiment) else not_held(run, what)

        return shown

    return wrap
