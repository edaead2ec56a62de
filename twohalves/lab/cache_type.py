"""How the reader's own server keeps its cache: asked of its memory, once the reader agrees."""

from __future__ import annotations

from IPython.display import Markdown

from twohalves import server
from twohalves.errors import KvShapeUnknown, ReloadNotAgreed
from twohalves.lab.unasked import replayed
from twohalves.measure import Book, open_book
from twohalves.runs import claim_server
from twohalves.show import allocated
from twohalves.show.markdown import say


def cache_type(book: Book | None = None, *, agreed: bool = False) -> Markdown:
    """The type of the server's cache, which no API tells, in a sentence or two.

    In replay nobody is asked. Of a server that this program started the type is known. Else the
    model is loaded with three windows and then as it was; only a reader who agreed has that done.

    Args:
        book: from `ready`; None = whoever answers now.
        agreed: True if the model may be loaded anew.

    Raises:
        TwoHalvesError: nobody answers, or another run asks the server just now.
    """
    if replayed():
        return say("> **Note** — In replay nobody is asked. Run this cell with a server of yours.")
    book = book or open_book()
    if book.server is None or book.facts is None:
        return say("> **Note** — A run is replayed, and it cannot be asked.")
    if book.server.settings is not None:
        kv_type = book.server.settings.kv_type
        return say(f"This server was started by this program, with a cache of type {kv_type}.")
    try:
        if not agreed:
            return allocated.slope(server.cache_type(book.server, book.facts))
        with claim_server(book.server.url):
            return allocated.slope(server.cache_type(book.server, book.facts, agreed=True))
    except (KvShapeUnknown, ReloadNotAgreed) as refused:
        return say(f"> **Note** — {refused.what} {refused.next_step}")
