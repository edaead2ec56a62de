"""The way that a page's own calls take: recorded when live, in replay answered from the run.

Every call has the options of the measured ones, so that none of them reloads the model.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from twohalves.errors import RequestTooLong, ServerRefused
from twohalves.measure.ask import KEEP_ALIVE, OPTIONS, TOO_LONG
from twohalves.measure.book import PLAIN_URL, Book, live_parts
from twohalves.measure.connection import Connection
from twohalves.measure.journal import window_held
from twohalves.measure.profiles import NUM_CTX
from twohalves.measure.transport import RecordingTransport
from twohalves.server import Server, meaning, translated
from twohalves.server.counters import Cut, cut_counts
from twohalves.server.official import ollama


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """To one model, with one window."""

    client: ollama.Client
    """Asks it, or the run that is replayed."""
    model: str
    """Its name."""
    window: int
    """Context window asked for, tokens."""
    cut: Cut | None
    """Where it cuts a prompt that is too long; None = not known."""
    server: Server | str
    """Who answers, for errors: in replay only an address."""
    transport: RecordingTransport | None
    """Keeps the clock of each piece of an answer; None in replay."""

    def asked(self, num_predict: int) -> dict[str, Any]:
        """What every call says beside its text."""
        options = OPTIONS | {"num_ctx": self.window, "num_predict": num_predict}
        return {"model": self.model, "options": options, "keep_alive": KEEP_ALIVE}

    def demand_whole(self, tokens: int, text: str) -> None:
        """Refuse a count that tells of the window, not of the text.

        A word is at least one token, so fewer tokens than words cannot be the whole text.

        Args:
            tokens: as the server counted.
            text: everything that was sent.

        Raises:
            RequestTooLong: the text was cut.
        """
        cut = tokens in cut_counts(self.window, self.cut) or tokens < len(text.split())
        if cut or tokens >= self.window:
            raise RequestTooLong(self.window, tokens)

    @contextlib.contextmanager
    def errors(self) -> Iterator[None]:
        """Turn what a call raises into errors of ours.

        Raises:
            RequestTooLong: the server refused the prompt for its length.
            TwoHalvesError: whatever else went wrong.
        """
        try:
            with translated(self.server):
                yield
        except ServerRefused as error:
            if TOO_LONG.search(error.args[2]):
                raise RequestTooLong(self.window) from error
            raise


@contextlib.contextmanager
def way(book: Book, num_ctx: int | None) -> Iterator[Way]:
    """Open a way for a few calls, and close it.

    Args:
        book: an open book.
        num_ctx: window to ask for, tokens; None = that of the measured requests.
    """
    if book.replayed is not None:
        session = book.replayed.session
        yield Way(
            client=book.client,
            model=book.model,
            window=num_ctx or window_held(session),
            cut=_cut(session.get("counters", {})),
            server=PLAIN_URL,
            transport=None,
        )
        return
    server, facts = live_parts(book)
    held = facts.context_length or num_ctx or NUM_CTX
    meant = meaning(server, facts.format)
    with contextlib.closing(Connection(server)) as line:
        yield Way(
            client=line.client,
            model=book.model,
            window=min(num_ctx or NUM_CTX, held),
            cut=_cut({"cut": meant.cut, "obeys_truncate": meant.obeys_truncate}),
            server=server,
            transport=line.transport,
        )


def _cut(counters: dict[str, Any]) -> Cut | None:
    """Where a prompt may be cut that was asked not to be."""
    cut: Cut | None = "window" if counters.get("obeys_truncate") else counters.get("cut")
    return cut
