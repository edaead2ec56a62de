"""One timed request: sent through the official client, turned into one row."""

from __future__ import annotations

import dataclasses
import datetime
import gc
import hashlib
import re
from http import HTTPStatus
from typing import Any

from twohalves.errors import (
    AnswerUnreadable,
    ServerBroke,
    ServerBusy,
    ServerRefused,
    ServerSilent,
    TwoHalvesError,
)
from twohalves.measure.connection import Connection
from twohalves.measure.transport import Exchange
from twohalves.runs.loops import loop_chunks
from twohalves.runs.schema import COUNTERS, Timing
from twohalves.server import translated

KEEP_ALIVE = "30m"
OPTIONS: dict[str, Any] = {"temperature": 0, "seed": 1}
"""Same in every request, so that nothing reloads the model or changes the sampling."""

TOO_LONG = re.compile("exceeds the .*context")
"""Ollama, and llama.cpp behind it, word it so."""
_FAILURES = (AnswerUnreadable, ServerBroke, ServerBusy, ServerSilent)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A row and the last record of the answer it was read from."""

    row: Timing
    """Counters and clocks."""
    record: dict[str, Any]
    """The last record as received; {"error": ...} when the request failed."""
    failure: TwoHalvesError | None = None
    """Why the answer did not come to its end; None = it did."""
    noticed: tuple[str, ...] = ()
    """Flags that only the exchange itself can tell."""
    reply: str = ""
    """The whole text of the answer, thinking included."""


def ask(line: Connection, row: Timing, prompt: str, began_ns: int) -> Answered:
    """Send one prompt and read the answer to its end.

    Args:
        line: the way to the server.
        row: the request as planned, `streamed` or not; comes back with counters and clocks.
        prompt: sent raw, without a template.
        began_ns: the clock at the beginning of the run.

    Returns:
        What came. A request that the server took and did not answer to the end is worth a row,
        too: it says why in `failure`.

    Raises:
        TwoHalvesError: nobody took the request, or it was refused for what it asks.
    """
    started_at = datetime.datetime.now().astimezone().isoformat(timespec="milliseconds")
    failed = _send(line, row, prompt)
    too_long = isinstance(failed, ServerRefused) and bool(TOO_LONG.search(failed.args[2]))
    exchange = line.transport.newest()
    if failed is not None and not (too_long or _taken(failed, exchange)):
        raise failed
    row = dataclasses.replace(row, started_at=started_at, prompt_hash=digest(prompt))
    answered = read_exchange(row, exchange, began_ns)
    if failed is None:
        return answered
    return dataclasses.replace(
        answered,
        record=answered.record | {"error": failed.what},
        failure=None if too_long else failed,
        noticed=("refused",) if too_long else (),
    )


def _send(line: Connection, row: Timing, prompt: str) -> TwoHalvesError | None:
    """Send the request and read the answer to its end; the error, if it did not end well."""
    wanted: dict[str, Any] = {
        "model": row.model,
        "prompt": prompt,
        "raw": True,
        "options": OPTIONS | {"num_ctx": row.num_ctx, "num_predict": row.num_predict},
        "keep_alive": KEEP_ALIVE,
    }
    gc.disable()  # a collection in the timed span would be counted as the server's time
    try:
        with translated(line.server):
            if row.streamed:
                for _ in line.client.generate(**wanted, stream=True):
                    pass
            else:
                line.client.generate(**wanted, stream=False)
    except TwoHalvesError as error:
        return error
    finally:
        gc.enable()
    return None


def read_exchange(row: Timing, exchange: Exchange, began_ns: int) -> Answered:
    """Fill a row from a recorded exchange."""
    records = exchange.records()
    last = records[-1][1] if records else {}
    spoken = [(clock, record) for clock, record in records if _text(record)]
    texts = [_text(record) for _, record in spoken]
    final = last if last.get("done") is True else {}
    counters = {name: _count(final.get(name)) for name in COUNTERS}
    first, end = (spoken[0], spoken[-1]) if spoken else ((None, {}), (None, {}))
    only_thinking = bool(spoken) and not any(record.get("response") for _, record in spoken)
    return Answered(
        record=last,
        noticed=("only_thinking",) if only_thinking else (),
        reply="".join(texts),
        row=dataclasses.replace(
            row,
            **counters,  # type: ignore[arg-type]  # every counter is int or None
            done_reason=str(final.get("done_reason", "stop")) if final else "",
            sent_ns=exchange.sent_ns - began_ns,
            first_any_ns=_since(exchange.pieces[0][0] if exchange.pieces else None, began_ns),
            first_text_ns=_since(first[0], began_ns),
            last_text_ns=_since(end[0], began_ns),
            done_ns=_since(exchange.done_ns, began_ns),
            server_first_at=_stamp(first[1]),
            server_last_at=_stamp(end[1]),
            server_done_at=_stamp(final),
            n_chunks=len(texts),
            loop_chunks=loop_chunks(texts) if row.streamed else None,
        ),
    )


def digest(text: str) -> str:
    """First 16 hex digits of a text's SHA-256."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


def _taken(failed: TwoHalvesError, exchange: Exchange) -> bool:
    """True when the server took a request and failed at it, not when it refused what it asks."""
    if isinstance(failed, ServerRefused):
        return failed.status >= HTTPStatus.INTERNAL_SERVER_ERROR
    begun = exchange.status == HTTPStatus.OK and bool(exchange.pieces)
    return begun or isinstance(failed, _FAILURES)


def _text(record: dict[str, Any]) -> str:
    """Thinking is generated text too: the first token may come in that field."""
    return "".join(str(record.get(field) or "") for field in ("thinking", "response"))


def _stamp(record: dict[str, Any]) -> str:
    return str(record.get("created_at") or "")


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _since(clock: int | None, began_ns: int) -> int | None:
    return None if clock is None else clock - began_ns
