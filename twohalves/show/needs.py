"""Where a run does not hold what a page shows, a note stands in its place: nothing is made up."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TypeVar

from IPython.display import Markdown

from twohalves.runs import Run

Shown = TypeVar("Shown")
ShowsRun = Callable[[Run], Shown]

IN_WORDS = {
    "ttft": "The time to the first token",
    "decode_vs_context": "Decode at several lengths of context",
    "prompt_cache": "The same prompt sent twice",
    "streaming": "The trial with and without streaming",
    "cache_broken": "The cache broken on purpose",
    "traffic": "The small traffic",
}
"""Experiments as the subject of a sentence."""


def not_held(run: Run, what: str) -> Markdown:
    """The note in place of a table or a sentence.

    Args:
        run: the run that lacks it.
        what: an experiment of IN_WORDS, or in words what is lacking, as the subject of a sentence.
    """
    return Markdown(
        f"> **Note** — {IN_WORDS.get(what, what)} is not in run {run.id}, or none of its rows "
        "count. `lab.measured(book, again=True)` measures anew."
    )


def needs(experiment: str) -> Callable[[ShowsRun[Shown]], ShowsRun[Shown | Markdown]]:
    """Show a run only if it holds valid rows of an experiment; else say how to measure them.

    Args:
        experiment: a name in IN_WORDS.
    """

    def wrap(shows: ShowsRun[Shown]) -> ShowsRun[Shown | Markdown]:
        @functools.wraps(shows)
        def shown(run: Run) -> Shown | Markdown:
            return shows(run) if run.measured(experiment) else not_held(run, experiment)

        return shown

    return wrap
