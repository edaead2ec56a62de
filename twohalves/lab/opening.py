"""The first cell of a notebook: who answers, and what to do when nobody does."""

from __future__ import annotations

import os

import httpx
import ipywidgets as widgets
from IPython.core.getipython import get_ipython
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import Markdown, display

from twohalves import doctor
from twohalves.errors import NoModelInstalled, SeveralModels, TwoHalvesError
from twohalves.measure import Book, open_book
from twohalves.server import ModelFacts, Server, find, pull, translated
from twohalves.server.official import ollama

RECOMMENDED = "llama3.2:3b"
"""The chapter's model."""


def ready() -> Book:
    """Open the book and say in one line who answers.

    With several models a list to choose from is shown, with none a button that fetches the
    chapter's; after either, run the cell again.

    Raises:
        TwoHalvesError: nobody answers yet, with what to do next.
    """
    try:
        book = open_book()
    except SeveralModels as error:
        display(_choice(error.names))
        raise
    except NoModelInstalled:
        display(_pull_button(find()))
        raise
    if book.server is not None:
        _explain_errors(book.server)
    display(Markdown(f"> **Who answers** — {book.says}"))
    if book.server is not None and book.facts is not None:
        display(Markdown(_doctor(book.server, book.facts)))
    return book


def _doctor(server: Server, model: ModelFacts) -> str:
    """One line on this machine; below it only what is amiss."""
    asked = {"TWOHALVES_SERVER": server.url, "TWOHALVES_MODEL": model.name}
    examined = doctor.examine(doctor.Here(environ={**os.environ, **asked}))
    said = [f"> **This machine** — {doctor.line(model.context_length)}"]
    for each in doctor.troubled(examined):
        status, says = each.finding.status.upper(), each.finding.says.rstrip(".")
        step = each.finding.next_step(doctor.this_system())
        said.append(f"> **{status}** {each.check.name}: {says}. {step}")
    return "\n>\n".join(said)


def _explain_errors(server: Server) -> None:
    """From now on an error of a bare call is shown as one sentence and what to do.

    The calls themselves stay those of the official client, which raises errors of four
    libraries with tracebacks through all of them.
    """
    shell = get_ipython()
    if shell is None:
        return

    def explain(
        shell: InteractiveShell, _kind: type, error: Exception, _trace: object, **_: object
    ) -> None:
        try:
            with translated(server):
                raise error
        except TwoHalvesError as ours:
            shell.showtraceback((type(ours), ours, None))

    outside = (ollama.ResponseError, ollama.RequestError, httpx.HTTPError, ConnectionError)
    shell.set_custom_exc(outside, explain)


def _choice(names: tuple[str, ...]) -> widgets.Widget:
    chosen = widgets.Dropdown(options=names, description="Model")
    use = widgets.Button(description="Use this model", button_style="primary")
    said = widgets.HTML()

    def take(_: object) -> None:
        os.environ["TWOHALVES_MODEL"] = chosen.value
        said.value = f"{chosen.value} it is. Now run this cell again."

    use.on_click(take)
    return widgets.VBox([widgets.HBox([chosen, use]), said])


def _pull_button(server: Server) -> widgets.Widget:
    start = widgets.Button(description=f"Pull {RECOMMENDED}", button_style="primary")
    bar = widgets.IntProgress(min=0, max=1000, layout={"width": "20em"})
    said = widgets.HTML("About 2 GB are downloaded by your own Ollama, once you say so.")

    def fetch(_: object) -> None:
        start.disabled = True
        try:
            for step in pull(server, RECOMMENDED):
                if step.completed_bytes is not None and step.total_bytes:
                    bar.value = int(1000 * step.completed_bytes / step.total_bytes)
                said.value = step.status
        except TwoHalvesError as error:
            said.value = str(error)
            start.disabled = False
            return
        said.value = "It is here. Now run this cell again."

    start.on_click(fetch)
    return widgets.VBox([widgets.HBox([start, bar]), said])
