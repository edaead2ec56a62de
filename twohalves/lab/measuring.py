"""Measuring from a cell: a bar that moves between requests, never during one."""

from __future__ import annotations

import contextlib

import ipywidgets as widgets
from IPython.display import Markdown, display

from twohalves import measure
from twohalves.lab import keeping
from twohalves.measure import Book, Progress
from twohalves.measure.book import run_line
from twohalves.measure.notes import notes
from twohalves.runs import Run


def prefill_decode(book: Book, *, profile: str = "quick", again: bool = False) -> Run:
    """The run of section 31.1: the one that is replayed, the newest kept, or one measured now.

    Args:
        book: from `ready`.
        profile: quick or chapter, if it must be measured.
        again: measure anew although a run is there.

    Raises:
        TwoHalvesError: it cannot be measured; what was measured so far is kept.
    """
    with contextlib.closing(_Bar()) as bar:
        run = measure.prefill_decode(book, profile_name=profile, again=again, report=bar.show)
    replayed = "replayed" if book.replayed else "yours"
    display(Markdown(f"> **Rows** — run {run.id} ({replayed}): {run_line(run.session)}."))
    for note in notes(run):
        display(Markdown(f"> **Note** — {note}"))
    if bar.shown:
        keeping.offer(book, run)
    return run


class _Bar:
    """A progress bar that appears with the first report."""

    def __init__(self) -> None:
        self._bar = widgets.IntProgress(min=0, layout={"width": "24em"})
        self._said = widgets.HTML()
        self._box = widgets.HBox([self._bar, self._said])
        self.shown = False
        """Whether anything was measured."""

    def show(self, progress: Progress) -> None:
        if not self.shown:
            display(self._box)
            self.shown = True
        self._bar.max, self._bar.value = progress.total, progress.done
        self._said.value = str(progress)

    def close(self) -> None:
        self._box.close()
