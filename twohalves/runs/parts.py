"""Where the seconds of one streamed request went, from two clocks.

The client's clock gives the whole, from sending to the end. The server's counters give load,
prefill and decode. What they leave over is told apart by the server's time stamps: the stamp of
its last record less `total_duration` is when the server began, and from there to the stamp of
the first text go load, prefill and the first step. Everything is kept in whole nanoseconds, so
that the parts add up to the client's time exactly.

A part may be slightly negative where two clocks meet: a record is stamped a little after the
engine counted its token. It is shown as it is, because cutting it off would break the sum. A
part that is negative by more than one step of decode tells something else: the first text was
not the first token, or the server's clock was set. Then the stamps are not trusted and the two
parts they tell apart stay one.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass

from twohalves.formulas import decode_steps
from twohalves.runs import derive, reference
from twohalves.runs.schema import Timing

CLOCKS_AGREE = 0.03
"""Up to here, a fraction, two clocks of one decode agree."""
_STAMP = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d)", re.ASCII
)
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_SECOND = datetime.timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """One request's time; the parts add up to the client's wall time."""

    load_ns: int
    """Nanoseconds until the model was ready."""
    prefill_ns: int
    """Nanoseconds of reading the prompt."""
    first_step_ns: int | None
    """Nanoseconds from there to the first text: a queue, choosing the first token, making the
    record; None = not told apart, `rest_ns` holds it too."""
    decode_ns: int
    """Nanoseconds from the first token of the answer to its last."""
    rest_ns: int
    """Nanoseconds of the server that no other part explains: its records of each token, the end."""
    transport_ns: int
    """Nanoseconds of which the server knows nothing: sending, receiving, this program."""

    @property
    def wall_ns(self) -> int:
        """Nanoseconds from sending to the end, by the client's clock: the sum of the parts."""
        return sum(self.named().values())

    @property
    def outside_both_ns(self) -> int:
        """Nanoseconds that are in neither half: all but prefill and decode."""
        return self.wall_ns - self.prefill_ns - self.decode_ns

    def named(self) -> dict[str, int]:
        """The parts in the order they happen, name to nanoseconds.

        Where the first step is not told apart, the last but one is called "first step and rest".
        """
        begin = {"load": self.load_ns, "prefill": self.prefill_ns}
        end = {"transport": self.transport_ns}
        if self.first_step_ns is None:
            both = "first step and rest"
            return begin | {"decode": self.decode_ns, both: self.rest_ns} | end
        first = {"first step": self.first_step_ns}
        return begin | first | {"decode": self.decode_ns, "rest": self.rest_ns} | end


def parts(row: Timing) -> Parts | None:
    """Where one request's time went; None where the server or the client did not say enough."""
    load, prefill, decode = row.load_duration, row.prompt_eval_duration, _decode_ns(row)
    total = row.total_duration
    if load is None or prefill is None or decode is None or total is None:
        return None
    if row.sent_ns is None or row.done_ns is None:
        return None
    left = total - load - prefill - decode
    first_step = _first_step_ns(row, total, load + prefill)
    if first_step is not None and min(first_step, left - first_step) < -_step_ns(row, decode):
        first_step = None
    return Parts(
        load_ns=load,
        prefill_ns=prefill,
        first_step_ns=first_step,
        decode_ns=decode,
        rest_ns=left - (first_step or 0),
        transport_ns=row.done_ns - row.sent_ns - total,
    )


def middle(rows: Sequence[Timing]) -> Timing:
    """The row whose time by the client's clock is the median; of an even count, the lower one.

    One real request, so that its parts add up: medians of parts do not.

    Raises:
        ValueError: no row has a time.
    """
    timed = [(wall, row.seq, row) for row in rows if (wall := derive.total_s(row)) is not None]
    if not timed:
        msg = "rows must hold at least one with the client's clocks, got none"
        raise ValueError(msg)
    return sorted(timed, key=lambda each: each[:2])[(len(timed) - 1) // 2][2]


def stamp_ns(text: str) -> int | None:
    """A time stamp as nanoseconds since 1970, exactly; None if it is not one (RFC 3339).

    >>> stamp_ns("1970-01-01T01:00:00.000000007+01:00"), stamp_ns("soon")
    (7, None)
    """
    found = _STAMP.fullmatch(text)
    if found is None:
        return None
    day, clock, fraction, offset = found.groups()
    zone = "+00:00" if offset in "Zz" else offset
    try:
        whole = datetime.datetime.fromisoformat(f"{day}T{clock}{zone}")
    except ValueError:  # the 31st of February, a leap second
        return None
    return (whole - _EPOCH) // _SECOND * derive.NS + int((fraction or "").ljust(9, "0"))


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoClocks:
    """The pace of one decode, by the server's counters and by its time stamps."""

    counters_s: float
    """Seconds a step, `eval_duration` over the steps it covers."""
    stamps_s: float
    """Seconds a record with text, from the first stamp to the last."""

    @property
    def off(self) -> float:
        """How much longer a record takes by the stamps than a step by the counters, a fraction."""
        return self.stamps_s / self.counters_s - 1

    @property
    def agree(self) -> bool:
        """False: records that hold several tokens, a draft model, or a machine that stood still."""
        return abs(self.off) <= CLOCKS_AGREE


def two_clocks(row: Timing, free: int = 1) -> TwoClocks | None:
    """The pace of decode by two clocks; None where one of them is missing.

    Args:
        row: the row.
        free: tokens that the decode counter leaves out, see `derive.decode_rate`.
    """
    first, last = stamp_ns(row.server_first_at), stamp_ns(row.server_last_at)
    rate = derive.decode_rate(row, free)
    if first is None or last is None or not rate or not row.streamed:
        return None
    records = (row.n_chunks or 0) - 1
    if records < 1 or last <= first:
        return None
    return TwoClocks(counters_s=1 / rate, stamps_s=(last - first) / records / derive.NS)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideBoth:
    """What the chapter's tables say of the time that is in neither half, at one length."""

    prompt_tokens: int
    """Prompt length, tokens."""
    cold_s: float
    """Seconds of a request whose prompt is new."""
    warm_s: float
    """Seconds of the same request, sent again."""


def chapter_outside_both() -> tuple[OutsideBoth, ...]:
    """Whole request less prefill less decode, from the chapter's tables; it prints no such line.

    The table of section 31.5 has totals and prefill, that of 31.1 has decode rates at the same
    lengths but for a few tokens. Such a rate counts N tokens over the time of decode, so N over
    the rate is that time. The answers of section 31.5 are taken to be as long as those of 31.1:
    the chapter does not say so, but with them every row leaves about the same.
    """
    answer = reference.claim("out_tokens_prefill")
    tables = zip(reference.prompt_cache(), reference.prefill_decode(), strict=True)
    return tuple(
        OutsideBoth(
            prompt_tokens=cache.prompt_tokens,
            cold_s=cache.cold_total_s - cache.cold_prefill_s - decode_s,
            warm_s=cache.warm_total_s - cache.warm_prefill_s - decode_s,
        )
        for cache, rates in tables
        for decode_s in [answer / rates.decode_tok_s]
    )


def _decode_ns(row: Timing) -> int | None:
    """Nanoseconds of decode; an answer of one token has none, and Ollama then leaves it out."""
    if row.eval_duration is None and row.eval_count == 1:
        return 0
    return row.eval_duration


def _first_step_ns(row: Timing, total: int, before: int) -> int | None:
    """From the server's beginning to its first text, less what came before; None = not known."""
    first, done = stamp_ns(row.server_first_at), stamp_ns(row.server_done_at)
    if first is None or done is None or not row.streamed:
        return None
    return first - (done - total) - before


def _step_ns(row: Timing, decode: int) -> float:
    return decode / max(1, decode_steps(row.eval_count or 0))
