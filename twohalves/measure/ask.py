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
from twohalves.runs.schema import COUNTERS, Timing
from twohalves.server import translated

KEEP_ALIVE = "30m"
OPTIONS: dict[str, Any] = {"temperature": 0, "seed": 1}
"""Same in every request, so that nothing reloads the model or changes the sampling."""

_TOO_LONG = re.compile("exceeds the .*context")  # Ollama, and llama.cpp behind it, word it so
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


def ask(line: Connection, row: Timing, prompt: str, began_ns: int) -> Answered:
    """Send one prompt and read the answer to its end.

    Args:
        line: the way to the server.
        row: the request as planned; comes back with counters and clocks.
        prompt: sent raw, without a template, and streamed.
        began_ns: the clock at the beginning of the run.

    Returns:
        What came. A request that the server took and did not answer to the end is worth a row,
        too: it says why in `failure`.

    Raises:
        TwoHalvesError: nobody took the request, or it was refused for what it asks.
    """
    started_at = datetime.datetime.now().astimezone().isoformat(timespec="milliseconds")
    failed = _send(line, row, prompt)
    too_long = isinstance(failed, ServerRefused) and bool(_TOO_LONG.search(failed.args[2]))
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
    """Send the request and read the stream to its end; the error, if it did not end well."""
    gc.disable()  # a collection in the timed span would be counted as the server's time
    try:
        with translated(line.server):
            for _ in line.client.generate(
                model=row.model,
                prompt=prompt,
                raw=True,
                stream=True,
                options=OPTIONS | {"num_ctx": row.num_ctx, "num_predict": row.num_predict},
                keep_alive=KEEP_ALIVE,
            ):
                pass
    except TwoHalvesError as error:
        return error
    finally:
        gc.enable()
    return None


def read_exchange(row: Timing, exchange: Exchange, began_ns: int) -> Answered:
    """Fill a row from a recorded exchange."""
    records = exchange.records()
    last = records[-1][1] if records else {}
    texts = [(clock, record) for clock, record in records if _has_text(record)]
    final = last if last.get("done") is True else {}
    counters = {name: _count(final.get(name)) for name in COUNTERS}
    first, end = (texts[0], texts[-1]) if texts else ((None, {}), (None, {}))
    return Answered(
        record=last,
        noticed=("only_thinking",)
        if texts and not any(r.get("response") for _, r in texts)
        else (),
        row=dataclasses.replace(
            row,
            **counters,  # type: ignore[arg-type]  # every counter is int or None
            done_reason=str(final.get("done_reason", "stop")) if final else "",
            sent_ns=exchange.sent_ns - began_ns,
            first_any_ns=_since(exchange.pieces[0][0] if exchange.pieces else None, began_ns),
            first_text_ns=_since(first[0], began_ns),
            last_text_ns=_since(end[0], began_ns),
            done_ns=_since(exchange.done_ns, began_ns),
            server_first_at=str(first[1].get("created_at", "")),
            server_last_at=str(end[1].get("created_at", "")),
            n_chunks=len(texts),
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


def _has_text(record: dict[str, Any]) -> bool:
    """Thinking is generated text too: the first token may come in that field."""
    return bool(record.get("response") or record.get("thinking"))


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _since(clock: int | None, began_ns: int) -> int | None:
    return None if clock is None else clock - began_ns
