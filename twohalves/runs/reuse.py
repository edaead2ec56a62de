"""What a prompt cache saved: pairs of a cold request and a later one, and the hit rate.

Processed tokens are counted where the server tells how many came from cache. Where it does not,
they are estimated from the time of prefill and the run's own cold line, and said to be.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from twohalves.runs import derive
from twohalves.runs.coldline import ColdLine, cold_line
from twohalves.runs.load import Run
from twohalves.runs.schema import Timing
from twohalves.stats import Summary, summarize

How = Literal["told", "left out", "timed", "unknown"]
"""From where the cached tokens are known: the server tells them; its count leaves them out;
estimated from the time of prefill; not at all."""
Layout = Literal["volatile_top", "stable_top"]
"""Prompts with what changes in front, and with what stays in front."""
LAYOUTS: tuple[Layout, ...] = typing.get_args(Layout)
"""In the order in which they are asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The prompt of one request, taken apart."""

    prompt_tokens: int
    """Tokens of the whole prompt."""
    cached_tokens: float | None
    """Those that came from cache; None = not known."""
    how: How
    """From where that is known."""

    @property
    def processed_tokens(self) -> float | None:
        """Tokens that prefill worked on; None = not known."""
        return None if self.cached_tokens is None else self.prompt_tokens - self.cached_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Twins:
    """A cold request, and a later one of the same pair."""

    cold: Timing
    """Nothing of it was cached."""
    later: Timing
    """Its variant says what it shares with the cold one."""

    @property
    def speedup(self) -> float:
        """Cold prefill over later prefill."""
        return _over(derive.prefill_s, self)

    @property
    def total_speedup(self) -> float:
        """Cold whole request over later whole request, by the client's clock."""
        return _over(derive.total_s, self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reuse:
    """The pairs of one condition, setup and variant."""

    asked: int
    """Prompt length asked for in the cold request, tokens."""
    setup: str
    """Which private server answered; empty = the run's own."""
    variant: str
    """What the later request shares with the cold one."""
    twins: tuple[Twins, ...]
    """The pairs, in the order they were measured."""
    prompt_tokens: Summary
    """Tokens of the later prompt."""
    processed_tokens: Summary | None
    """Those that prefill worked on; None = not known."""
    how: How
    """From where that is known."""
    cold_s: Summary
    """Seconds of the cold prefill."""
    later_s: Summary
    """Seconds of the later prefill."""
    cold_total_s: Summary
    """Seconds of the whole cold request, by the client's clock."""
    later_total_s: Summary
    """Seconds of the whole later request, by the client's clock."""
    speedup: Summary
    """Cold prefill over later prefill, one ratio a pair."""
    total_speedup: Summary
    """Cold whole request over later whole request, one ratio a pair."""

    @property
    def speedups(self) -> tuple[float, ...]:
        """The ratio of each pair, in the order they were measured."""
        return tuple(pair.speedup for pair in self.twins)

    @property
    def reused(self) -> bool | None:
        """Whether most of the prompt came from cache, in the median; None = not known."""
        if self.processed_tokens is None:
            return None
        return self.processed_tokens.median < self.prompt_tokens.median / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class HitRate:
    """How much of the prompts of some traffic came from cache."""

    layout: Layout
    """How the prompts were laid out."""
    requests: tuple[Reading, ...]
    """The requests in the order they were asked, the first and cold one among them."""
    how: How
    """From where the cached tokens are known."""

    @property
    def prompt_tokens(self) -> int:
        """Prompt tokens of all requests."""
        return sum(each.prompt_tokens for each in self.requests)

    @property
    def cached_tokens(self) -> float:
        """Those that came from cache."""
        return sum(each.cached_tokens or 0.0 for each in self.requests)

    @property
    def share(self) -> float:
        """Cached over all prompt tokens, a fraction: the hit rate that a worksheet asks for."""
        return self.cached_tokens / self.prompt_tokens


def twins(run: Run, experiment: str) -> tuple[Twins, ...]:
    """The pairs of an experiment, in the order they were measured.

    A group may hold several pairs, as when two users take turns: their first requests in order
    go with their second ones.
    """
    groups: dict[str, list[Timing]] = {}
    for row in run.measured(experiment):
        if row.pair:
            groups.setdefault(row.pair, []).append(row)
    found: list[Twins] = []
    for rows in groups.values():
        last = [row for row in rows if row.attempt == max(each.attempt for each in rows)]
        cold = [row for row in last if row.variant == "cold"]
        later = [row for row in last if row.variant != "cold"]
        if len(cold) == len(later):  # else a part of the group does not count
            pairs = zip(cold, later, strict=True)
            found += [Twins(cold=first, later=second) for first, second in pairs]
    return tuple(found)


def reuses(run: Run, experiment: str) -> tuple[Reuse, ...]:
    """One line a length, setup and variant, shortest length first; none if nothing was measured."""
    groups: dict[tuple[int, str, str], list[Twins]] = {}
    for pair in twins(run, experiment):
        key = (int(pair.cold.condition), pair.later.setup, pair.later.variant)
        groups.setdefault(key, []).append(pair)
    line = cold_line(run)
    by_length = sorted(groups.items(), key=lambda item: item[0][0])
    return tuple(_reuse(run, line, key, pairs) for key, pairs in by_length)


def hit_rate(run: Run, layout: Layout) -> HitRate | None:
    """The hit rate of the run's traffic in one layout; None if it cannot be told.

    Every request counts, the first one too, for somebody pays for it.
    """
    rows = [row for row in run.measured("traffic") if row.variant == layout]
    line = cold_line(run)
    requests = tuple(reading(run, row, line) for row in rows)
    how = _common(requests)
    return None if how == "unknown" else HitRate(layout=layout, requests=requests, how=how)


def reading(run: Run, row: Timing, line: ColdLine | None) -> Reading:
    """Prompt tokens of a valid row, and how many of them came from cache."""
    counters = run.session.get("counters", {})
    count, cached = row.prompt_eval_count, row.prompt_eval_cached_count
    if cached is None and not counters.get("counts_cached", True):
        read = count or 0  # such a server leaves a 0 out
        whole = max(int(row.condition), read)
        return Reading(prompt_tokens=whole, cached_tokens=whole - read, how="left out")
    whole, seconds = derive.known(count, row), derive.known(derive.prefill_s(row), row)
    if cached is not None:
        return Reading(prompt_tokens=whole, cached_tokens=cached, how="told")
    if line is None or not counters.get("prefill_is_whole", True):
        return Reading(prompt_tokens=whole, cached_tokens=None, how="unknown")
    return Reading(prompt_tokens=whole, cached_tokens=line.cached(whole, seconds), how="timed")


def _reuse(
    run: Run, line: ColdLine | None, key: tuple[int, str, str], pairs: Sequence[Twins]
) -> Reuse:
    requests = [reading(run, pair.later, line) for pair in pairs]
    processed = [each.processed_tokens for each in requests if each.processed_tokens is not None]
    how = _common(requests)

    cold, later = [pair.cold for pair in pairs], [pair.later for pair in pairs]

    def over(quantity: Callable[[Timing], float | None], rows: list[Timing]) -> Summary:
        return summarize([derive.known(quantity(row), row) for row in rows])

    return Reuse(
        asked=key[0],
        setup=key[1],
        variant=key[2],
        twins=tuple(pairs),
        prompt_tokens=summarize([each.prompt_tokens for each in requests]),
        processed_tokens=None if how == "unknown" else summarize(processed),
        how=how,
        cold_s=over(derive.prefill_s, cold),
        later_s=over(derive.prefill_s, later),
        cold_total_s=over(derive.total_s, cold),
        later_total_s=over(derive.total_s, later),
        speedup=summarize([pair.speedup for pair in pairs]),
        total_speedup=summarize([pair.total_speedup for pair in pairs]),
    )


def _common(requests: Sequence[Reading]) -> How:
    """The weakest way by which any of them is known."""
    ways: tuple[How, ...] = ("unknown", "timed", "left out", "told")
    found = {each.how for each in requests}
    return next((way for way in ways if way in found), "unknown")


def _over(quantity: Callable[[Timing], float | None], pair: Twins) -> float:
    cold, later = quantity(pair.cold), quantity(pair.later)
    return derive.known(cold, pair.cold) / derive.known(later, pair.later)
