"""One measured call: a reader's own request in the model's template, answered once, streamed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from twohalves.errors import CountsUnusable, ServerBroke
from twohalves.measure.book import Book
from twohalves.measure.request import messages, read
from twohalves.measure.transport import Exchange
from twohalves.measure.way import Way, way
from twohalves.server.official import ollama

ENOUGH = 200
"""Tokens that an answer gets if nothing else is said."""
_NS = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """One answer, and what it took."""

    model: str
    """Who answered."""
    text: str
    """The answer; if nothing but thinking came, that."""
    prompt_tokens: int
    """Tokens read, template included."""
    output_tokens: int
    """Tokens written, the one that ends the answer and hidden thinking included."""
    ttft_s: float
    """Seconds to the first token."""
    total_s: float
    """Seconds of the whole request."""
    clock: Literal["client", "server"]
    """Whose clock that is. In replay the client's would time a file, so that the durations stand
    in that the server reported."""
    done_reason: str
    """Why it ended: stop, by itself; length, because it had as many tokens as it might."""

    @property
    def ratio(self) -> float:
        """Tokens in for one out."""
        return self.prompt_tokens / self.output_tokens


def answer(
    book: Book,
    request: Mapping[str, Any],
    *,
    num_predict: int = ENOUGH,
    num_ctx: int | None = None,
) -> Answered:
    """Have the model answer a request, once, and time it.

    Asked a second time, the server finds the prompt in its cache and is faster.

    Args:
        book: an open book.
        request: text by part, as for `count`.
        num_predict: tokens that the answer may have.
        num_ctx: window to ask for, tokens; None = that of the measured requests. Another one
            makes the server load the model anew.

    Raises:
        UnknownName: there is no such part.
        RequestUnusable: a part is no text, or there is none.
        RequestTooLong: the window does not hold it.
        CountsUnusable: the server does not count.
        ServerBroke: the answer broke off.
        NotInThisRun: the run that is replayed does not hold this request.
        TwoHalvesError: nobody answers, or not as one should.
    """
    told = messages(read(request))
    with way(book, num_ctx) as to:
        with to.errors():
            asked = to.client.chat(messages=told, stream=True, **to.asked(num_predict))
            pieces = list(asked)
        answered = _answered(to, pieces)
        to.demand_whole(answered.prompt_tokens, told[-1]["content"])
        return answered


def _answered(to: Way, pieces: list[ollama.ChatResponse]) -> Answered:
    last = pieces[-1] if pieces else None
    if last is None or not last.done:
        url = to.server if isinstance(to.server, str) else to.server.url
        reason = "the answer ended before it was done"
        raise ServerBroke(url, reason)
    if not last.prompt_eval_count or not last.eval_count:
        reason = "its answers lack prompt_eval_count or eval_count"
        raise CountsUnusable(to.model, reason)
    by_client = _by_client(to.transport.newest()) if to.transport else None
    ttft_s, total_s = by_client or _by_server(last)
    said = "".join(piece.message.content or "" for piece in pieces)
    thought = "".join(piece.message.thinking or "" for piece in pieces)
    return Answered(
        model=to.model,
        text=(said or thought).strip(),
        prompt_tokens=last.prompt_eval_count,
        output_tokens=last.eval_count,
        ttft_s=ttft_s,
        total_s=total_s,
        clock="client" if by_client else "server",
        done_reason=last.done_reason or "stop",
    )


def _by_client(exchange: Exchange) -> tuple[float, float] | None:
    """Seconds to the first text and to the end; None if no text came, or no end."""
    first = next((clock for clock, record in exchange.records() if _speaks(record)), None)
    if first is None or exchange.done_ns is None:
        return None
    return (first - exchange.sent_ns) / _NS, (exchange.done_ns - exchange.sent_ns) / _NS


def _speaks(record: dict[str, Any]) -> bool:
    message = record.get("message") or {}
    return any(message.get(field) for field in ("content", "thinking"))


def _by_server(last: ollama.ChatResponse) -> tuple[float, float]:
    """The same by the durations that the server reports."""
    load, prefill, decode = (
        duration or 0
        for duration in (last.load_duration, last.prompt_eval_duration, last.eval_duration)
    )
    first = load + prefill
    return first / _NS, max(last.total_duration or 0, first + decode) / _NS
