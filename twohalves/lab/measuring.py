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


def measured(
    book: Book,
    *experiments: str,
    profile: str = "quick",
    again: bool = False,
    private: bool = False,
) -> Run:
    """The run that a page computes from: replayed, the newest kept, or measured now.

    Args:
        book: from `ready`.
        experiments: what it must hold; none = everything.
        profile: quick, chapter or thorough, if it must be measured.
        again: measure anew although a run is there.
        private: True if a second Ollama may be started where an experiment needs one.

    Raises:
        TwoHalvesError: it cannot be measured; what was measured so far is kept.
    """
    run = book.replayed
    if run is None and not again:
        run = measure.kept_run(book, experiments or measure.EXPERIMENTS)
    if run is None:
        with contextlib.closing(_Bar()) as bar:
            run = measure.measure(book, profile_name=profile, agreed=private, report=bar.show)
        keeping.offer(book, run)
    replayed = "replayed" if book.replayed else "yours"
    display(Markdown(f"> **Rows** — run {run.id} ({replayed}): {run_line(run.session)}."))
    for note in notes(run):
        display(Markdown(f"> **Note** — {note}"))
    return run


class _Bar:
    """A progress bar that appears with the first report."""

    def __init__(self) -> None:
        self._shown = False
        self._bar = widgets.IntProgress(min=0, layout={"width": "24em"})
        self._said = widgets.HTML()
        self._box = widgets.HBox([self._bar, self._said])

    def show(self, progress: Progress) -> None:
        if not self._shown:
            display(self._box)
            self._shown = True
        self._bar.max, self._bar.value = progress.total, progress.done
        self._said.value = str(progress)

    def close(self) -> None:
        self._box.close()
