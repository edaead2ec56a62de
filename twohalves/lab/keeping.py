"""Carrying a run away from a machine that forgets its files."""

from __future__ import annotations

import base64
import html
import importlib
import pathlib
import sys

from IPython.display import display

from twohalves import hosted
from twohalves.errors import CannotKeep
from twohalves.measure import Book
from twohalves.runs import Run
from twohalves.runs.pack import pack


def download(run: Run) -> None:
    """Offer a run as a zip file: a link, a file beside the notebook, in Colab a download.

    The link holds the file itself, so that it works wherever the notebook is shown, also where
    no widget does, and it is saved with the notebook. ``python3 -m zipfile -e FILE data/runs``
    makes it a run again.

    Raises:
        CannotKeep: the notebook's folder cannot be written to.
    """
    content = pack(run.folder)
    path = pathlib.Path.cwd() / f"{run.id}.zip"
    try:
        path.write_bytes(content)
    except OSError as error:
        raise CannotKeep(str(path.parent), error.strerror or str(error)) from error
    display(_link(path.name, content), raw=True)
    if "google.colab" in sys.modules:
        importlib.import_module("google.colab.files").download(str(path))


def offer(book: Book, run: Run) -> None:
    """After a measurement: offer the run where the machine will forget it; else do nothing."""
    here = hosted.where()
    if book.replayed is None and here is not None and here.loses_files:
        display({"text/plain": f"{here.name}: {here.files}"}, raw=True)
        download(run)


def _link(name: str, content: bytes) -> dict[str, str]:
    size = f"{max(1, len(content) // 1000):,} kB"
    data = base64.b64encode(content).decode("ascii")
    shown = html.escape(name)
    link = f'<a download="{shown}" href="data:application/zip;base64,{data}">{shown}</a>'
    command = "python3 -m zipfile -e"
    return {
        "text/html": (
            f"<blockquote><strong>Keep it</strong> — {link} ({size}): the run, which "
            f"<code>{command}</code> unpacks into <code>data/runs</code>.</blockquote>"
        ),
        "text/plain": f"Keep it: {name} ({size}): `{command} {name} data/runs` unpacks it.",
    }
