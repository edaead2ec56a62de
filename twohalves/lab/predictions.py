"""Guess first, then measure: a field for the guess, and a sentence that compares."""

from __future__ import annotations

import ipywidgets as widgets
from IPython.display import Markdown, display

from twohalves.measure import Book
from twohalves.runs import Run, predictions
from twohalves.show.numbers import fixed, significant


def predict(book: Book, question: str, asked: str, unit: str) -> None:
    """Ask for a number before it is measured. Leaving the field alone is an answer too.

    Args:
        book: from `ready`; in replay the field gives way to what the run was begun with.
        question: short name under which the guess is kept.
        asked: the question as the reader sees it.
        unit: what the number counts.
    """
    if book.replayed is not None:
        guess = predictions.of(book.replayed.session, question)
        kept = "none was left with this run" if guess is None else f"{significant(guess)} {unit}"
        display(Markdown(f"> **Prediction** — {asked} *Kept: {kept}.*"))
        return
    display(Markdown(f"> **Prediction** — {asked}"))
    display(_field(book, question, unit))


def _field(book: Book, question: str, unit: str) -> widgets.Widget:
    before = predictions.value(predictions.kept(book.runs), question)
    field = widgets.BoundedFloatText(
        value=before or 0, min=0, max=1e6, step=0.1, description="My guess", tooltip=unit
    )
    field.add_class("th-prediction")
    said = widgets.HTML(unit if before is None else f"{unit} (kept)")

    def take(change: dict[str, float]) -> None:
        if change["new"] > 0:
            predictions.keep(question, change["new"], book.runs)
            said.value = f"{unit} (kept)"

    field.observe(take, names="value")
    return widgets.HBox([field, said])


def compare(book: Book, run: Run, question: str, measured: float | None, unit: str) -> Markdown:
    """The guess beside what was measured.

    Args:
        book: from `ready`.
        run: the run that was measured.
        question: as given to `predict`.
        measured: the same quantity, measured; None = the run does not hold it.
        unit: what the number counts.
    """
    guess = predictions.of(run.session, question)
    if book.replayed is None:
        guess = predictions.value(predictions.kept(book.runs), question) or guess
    if measured is None:
        return Markdown("Your guess waits: this run did not measure it.")
    if not guess:
        return Markdown(f"No guess was kept. Measured: {significant(measured)} {unit}.")
    factor = max(guess / measured, measured / guess)
    verdict = "that is close" if factor < 1.1 else f"off by a factor of {fixed(factor, 1)}"
    return Markdown(
        f"You said {significant(guess)}; measured were {significant(measured)} {unit}: {verdict}."
    )
