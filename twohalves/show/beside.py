"""A run beside the chapter, for a terminal: its four tables, and how often its claims hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from twohalves.runs import Run, Timing, derive, reference, reuse
from twohalves.runs.claims import Claim, claims
from twohalves.show.lengths import factor
from twohalves.show.numbers import counted, fixed, significant
from twohalves.show.plain import NOTHING, paragraph, table
from twohalves.stats import summarize

SAME_ROW = 1.1
"""Rows whose lengths differ by no larger factor stand on one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One quantity of the chapter's table and of the run's."""

    head: str
    """What it is."""
    printed: dict[int, float]
    """The chapter's, by prompt length."""
    own: dict[int, float]
    """The run's medians, by prompt length asked for."""
    decimals: int
    """Decimals with which the chapter prints it."""
    shown: Callable[[float], str] = significant
    """How the run's numbers are written."""
    unit: str = ""
    """What follows the number: × or nothing."""


def beside(run: Run, width: int) -> list[str]:
    """The chapter's tables beside the run's, ratios first, and the sign test of its claims."""
    lines = paragraph(
        f"The chapter beside {run.id}. Its seconds are those of another machine, another model "
        "and another server: compare ratios and signs. Decode is counted as the chapter counts "
        "it, all tokens over the time of all but one. In each pair of columns the chapter's comes "
        "first.",
        width,
    )
    for experiment, columns in _COLUMNS.items():
        lines += ["", *_table(run, experiment, columns(run), width)]
    return [*lines, "", *_signs(run, width)]


def _table(run: Run, experiment: str, columns: list[Column], width: int) -> list[str]:
    known = bool(run.measured(experiment))
    title = experiment if known else f"{experiment}: {run.id} holds no valid row of it."
    header = ["tokens", "yours"]
    for column in columns:
        header += [column.head, "yours"]
    pairs = _aligned(columns[0].printed, columns[0].own)
    rows = [
        [_or_nothing(theirs), _or_nothing(own)]
        + [cell for each in columns for cell in _cells(each, theirs, own)]
        for theirs, own in pairs
    ]
    return [*paragraph(title, width), *table(header, rows, width)]


def _aligned(printed: Iterable[int], own: Iterable[int]) -> list[tuple[int | None, int | None]]:
    """The chapter's lengths and the run's on common lines where they are near, shortest first."""
    pairs: list[tuple[int | None, int | None]] = []
    left = sorted(own)
    for length in sorted(printed):
        near = min(left, key=lambda other: factor(other, length), default=None)
        if near is not None and factor(near, length) <= SAME_ROW:
            left.remove(near)
        else:
            near = None
        pairs.append((length, near))
    pairs += [(None, length) for length in left]
    return sorted(pairs, key=lambda pair: pair[0] or pair[1] or 0)


def _cells(column: Column, theirs: int | None, own: int | None) -> list[str]:
    printed, measured = column.printed.get(theirs or 0), column.own.get(own or 0)
    return [
        NOTHING if printed is None else f"{fixed(printed, column.decimals)}{column.unit}",
        NOTHING if measured is None else f"{column.shown(measured)}{column.unit}",
    ]


def _or_nothing(value: int | None) -> str:
    return NOTHING if value is None else fixed(value)


def _medians(rows: Iterable[Timing], value: Callable[[Timing], float | None]) -> dict[int, float]:
    found: dict[int, list[float]] = {}
    for row in rows:
        if (known := value(row)) is not None:
            found.setdefault(int(row.condition), []).append(known)
    return {at: summarize(values).median for at, values in found.items()}


def _rates(run: Run) -> list[Column]:
    rows = run.measured("prefill_decode")

    def column(
        head: str,
        theirs: Callable[[reference.PrintedRates], float],
        own: Callable[[Timing], float | None],
        decimals: int,
        unit: str = "",
    ) -> Column:
        printed = {row.prompt_tokens: theirs(row) for row in reference.prefill_decode()}
        return Column(
            head=head, printed=printed, own=_medians(rows, own), decimals=decimals, unit=unit
        )

    return [
        column("ratio", lambda row: row.ratio, lambda row: derive.rate_ratio(row, 0), 1, "×"),
        column("prefill tok/s", lambda row: row.prefill_tok_s, derive.prefill_rate, 0),
        column("decode tok/s", lambda row: row.decode_tok_s, derive.decode_rate_raw, 1),
    ]


def _waits(run: Run) -> list[Column]:
    rows = run.measured("ttft")

    def column(
        head: str,
        theirs: Callable[[reference.PrintedTtft], float],
        own: Callable[[Timing], float | None],
        decimals: int = 3,
    ) -> Column:
        printed = {row.context_tokens: theirs(row) for row in reference.ttft()}
        return Column(head=head, printed=printed, own=_medians(rows, own), decimals=decimals)

    return [
        column("share, %", lambda row: row.share_pct, _share, 1),
        column("first token, s", lambda row: row.ttft_s, derive.ttft_s),
        column("whole, s", lambda row: row.total_s, derive.total_s),
    ]


def _share(row: Timing) -> float | None:
    share = derive.ttft_share(row)
    return None if share is None else 100 * share


def _decodes(run: Run) -> list[Column]:
    printed = {row.context_tokens: row.decode_tok_s for row in reference.decode_vs_context()}
    own = _medians(run.measured("decode_vs_context"), derive.decode_rate_raw)
    return [
        Column(
            head="of the shortest, %",
            printed=_of_the_shortest(printed),
            own=_of_the_shortest(own),
            decimals=1,
        ),
        Column(head="decode tok/s", printed=printed, own=own, decimals=1),
    ]


def _of_the_shortest(rates: dict[int, float]) -> dict[int, float]:
    return {at: 100 * rate / rates[min(rates)] for at, rate in rates.items()}


def _caches(run: Run) -> list[Column]:
    pairs = {pair.cold.seq: pair for pair in reuse.twins(run, "prompt_cache")}
    cold, warm = [each.cold for each in pairs.values()], [each.later for each in pairs.values()]

    def column(
        head: str,
        theirs: Callable[[reference.PrintedCache], float],
        own: dict[int, float],
        decimals: int,
        unit: str = "",
    ) -> Column:
        printed = {row.prompt_tokens: theirs(row) for row in reference.prompt_cache()}
        return Column(head=head, printed=printed, own=own, decimals=decimals, unit=unit)

    gains = _medians(cold, lambda row: pairs[row.seq].speedup)
    wholes = _medians(cold, lambda row: pairs[row.seq].total_speedup)
    return [
        column("prefill gain", lambda row: row.prefill_speedup_x, gains, 0, "×"),
        column("whole", lambda row: row.total_speedup, wholes, 1, "×"),
        column("cold, s", lambda row: row.cold_prefill_s, _medians(cold, derive.prefill_s), 3),
        column("warm, s", lambda row: row.warm_prefill_s, _medians(warm, derive.prefill_s), 3),
    ]


_COLUMNS: dict[str, Callable[[Run], list[Column]]] = {
    "prefill_decode": _rates,
    "ttft": _waits,
    "decode_vs_context": _decodes,
    "prompt_cache": _caches,
}


def _signs(run: Run, width: int) -> list[str]:
    """The sign test: how often each of the chapter's claims held, and how a coin would do."""
    start = (
        "Do the chapter's claims hold here? k of n, and the probability that a fair coin does as "
        "well. Five of five happen to a coin once in 32 times; fewer cannot go below 5%."
    )
    lines = paragraph(start, width)
    for claim in claims(run):
        lines += [*paragraph(f"- {claim.says}: {_held(claim)}", width)]
    return lines


def _held(claim: Claim) -> str:
    if not claim.signs.of:
        return f"not tested, for lack of valid rows of {claim.experiment}."
    return (
        f"{fixed(claim.signs.holds)} of {counted(claim.signs.of, claim.unit)}, "
        f"p {_probability(claim.signs.p)}."
    )


def _probability(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"= {fixed(p, 3)}"
