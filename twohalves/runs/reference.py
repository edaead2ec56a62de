"""The reference: the run that the chapter printed, as CSV and JSON in `data/`."""

from __future__ import annotations

import csv
import functools
import json
import pathlib
from dataclasses import dataclass
from typing import Any

from twohalves.errors import UnknownName
from twohalves.places import DATA

_TABLES = DATA / "reference"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedRates:
    """One printed row of the table of section 31.1."""

    prompt_tokens: int
    """Prompt length, tokens."""
    prefill_s: float
    """Seconds of prefill."""
    prefill_tok_s: float
    """Prompt tokens per second."""
    decode_tok_s: float
    """Answer tokens per second, N steps for N tokens."""

    @property
    def ratio(self) -> float:
        """Prefill rate over decode rate, both from this row."""
        return self.prefill_tok_s / self.decode_tok_s


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedTtft:
    """One printed row of the table of section 31.2, streaming on."""

    context_tokens: int
    """Prompt length, tokens."""
    ttft_s: float
    """Seconds to the first token."""
    total_s: float
    """Seconds of the whole request."""
    share_pct: float
    """First over second as printed, percent: taken before the seconds were rounded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedDecode:
    """One printed row of the table of decode against context, section 31.2."""

    context_tokens: int
    """Prompt length, tokens."""
    decode_tok_s: float
    """Answer tokens per second, N steps for N tokens."""
    ms_per_token: float
    """Milliseconds per answer token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedCache:
    """One printed row of the table of section 31.5: the same prompt sent twice."""

    prompt_tokens: int
    """Prompt length, tokens."""
    cold_prefill_s: float
    """Seconds of prefill, the first time."""
    warm_prefill_s: float
    """Seconds of prefill, the second time."""
    prefill_speedup_x: float
    """Cold over warm prefill, as printed."""
    cold_total_s: float
    """Seconds of the whole request, the first time."""
    warm_total_s: float
    """Seconds of the whole request, the second time."""

    @property
    def total_speedup(self) -> float:
        """Cold over warm whole request."""
        return self.cold_total_s / self.warm_total_s


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedBatching:
    """One printed row of the table of section 31.4: a way to batch, in ranks."""

    scheduler: str
    """none, static or continuous."""
    throughput: str
    """In words."""
    latency: str
    """Of one request, in words."""
    throughput_rank: int
    """1 is best."""
    latency_rank: int
    """1 is best."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """What the chapter cites rather than measures."""

    key: str
    """First author and year."""
    authors: str
    """As printed in the list of references."""
    year: int
    """Of publication."""
    title: str
    """Of the paper."""
    venue: str
    """Where it appeared."""


@functools.cache
def prefill_decode() -> tuple[PrintedRates, ...]:
    """The six printed rows of prefill and decode rates, shortest prompt first."""
    return tuple(
        PrintedRates(
            prompt_tokens=int(row["prompt_tokens"]),
            prefill_s=float(row["prefill_s"]),
            prefill_tok_s=float(row["prefill_tok_s"]),
            decode_tok_s=float(row["decode_tok_s"]),
        )
        for row in _read(_TABLES / "prefill_decode.csv")
    )


@functools.cache
def ttft() -> tuple[PrintedTtft, ...]:
    """The four printed rows of time to first token, shortest context first."""
    return tuple(
        PrintedTtft(
            context_tokens=int(row["context_tokens"]),
            ttft_s=float(row["ttft_s"]),
            total_s=float(row["total_s"]),
            share_pct=float(row["ttft_share_pct"]),
        )
        for row in _read(_TABLES / "ttft.csv")
    )


@functools.cache
def decode_vs_context() -> tuple[PrintedDecode, ...]:
    """The four printed rows of decode against context, shortest context first."""
    return tuple(
        PrintedDecode(
            context_tokens=int(row["context_tokens"]),
            decode_tok_s=float(row["decode_tok_s"]),
            ms_per_token=float(row["ms_per_token"]),
        )
        for row in _read(_TABLES / "decode_vs_context.csv")
    )


@functools.cache
def prompt_cache() -> tuple[PrintedCache, ...]:
    """The six printed rows of cold and warm requests, shortest prompt first."""
    return tuple(
        PrintedCache(
            prompt_tokens=int(row["prompt_tokens"]),
            cold_prefill_s=float(row["cold_prefill_s"]),
            warm_prefill_s=float(row["warm_prefill_s"]),
            prefill_speedup_x=float(row["prefill_speedup_x"]),
            cold_total_s=float(row["cold_total_s"]),
            warm_total_s=float(row["warm_total_s"]),
        )
        for row in _read(_TABLES / "prompt_cache.csv")
    )


@functools.cache
def batching() -> tuple[PrintedBatching, ...]:
    """The three printed ways to batch; ranks, since the chapter measured none of them."""
    return tuple(
        PrintedBatching(
            scheduler=row["scheduler"],
            throughput=row["throughput"],
            latency=row["single_request_latency"],
            throughput_rank=int(row["throughput_rank_1_is_best"]),
            latency_rank=int(row["latency_rank_1_is_best"]),
        )
        for row in _read(_TABLES / "batching_tradeoff.csv")
    )


@functools.cache
def papers() -> dict[str, Paper]:
    """The papers that the chapter cites, by key."""
    return {
        row["key"]: Paper(
            key=row["key"],
            authors=row["authors"],
            year=int(row["year"]),
            title=row["title"],
            venue=row["venue"],
        )
        for row in _read(_TABLES / "papers.csv")
    }


@functools.cache
def session() -> dict[str, Any]:
    """What the chapter says of its machine, server, model and design."""
    facts: dict[str, Any] = json.loads((_TABLES / "session.json").read_text(encoding="utf-8"))
    return facts


@functools.cache
def claims() -> dict[str, float]:
    """The chapter's quantitative claims, id to printed value."""
    return {row["id"]: float(row["value"]) for row in _read(DATA / "claims.csv")}


def claim(name: str) -> float:
    """One printed value.

    Raises:
        UnknownName: no claim of that name.
    """
    if name not in claims():
        kind = "claim"
        raise UnknownName(kind, name, tuple(claims()))
    return claims()[name]


def _read(path: pathlib.Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
