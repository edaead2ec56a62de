"""What a page says where its run does not hold an experiment."""

from __future__ import annotations

from IPython.display import Markdown

from twohalves.runs import Run


def not_held(run: Run, what: str) -> Markdown:
    """A note in place of a table: nothing is made up.

    Args:
        run: the run that lacks it.
        what: the experiment in words, as the subject of a sentence.
    """
    return Markdown(
        f"> **Note** — {what} is not in run {run.id}, or none of its rows count. "
        "`lab.measured(book, again=True)` measures anew."
    )
