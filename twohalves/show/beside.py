"""A run beside the chapter, for a terminal: its four tables, and how often its claims hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from twohalves.runs import Run, Timing, derive, reference, reuse
from twohalves.runs.conditions import by_length
from twohalves.runs.sign_tests import SignTest, sign_tests
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
        NOTHING if measured is None else f"{significant(measured)}{column.unit}",
    ]


def _or_nothing(value: int | None) -> str:
    return NOTHING if value is None else fixed(value)


def _medians(rows: Iterable[Timing], value: Callable[[Timing], float | None]) -> dict[int, float]:
    return {
        asked: summarize(values).median
        for asked, alike in by_length(rows)
        if (values := [known for row in alike if (known := value(row)) is not None])
    }


def _rates(run: Run) -> list[Column]:
    rows, printed = run.measured("prefill_decode"), reference.prefill_decode()
    reading, writing = _medians(rows, derive.prefill_rate), _medians(rows, derive.decode_rate_raw)
    return [
        Column(
            head="ratio",
            printed={row.prompt_tokens: row.ratio for row in printed},
            own={at: reading[at] / writing[at] for at in reading.keys() & writing.keys()},
            decimals=1,
            unit="×",
        ),
        Column(
            head="prefill tok/s",
            printed={row.prompt_tokens: row.prefill_tok_s for row in printed},
            own=reading,
            decimals=0,
        ),
        Column(
            head="decode tok/s",
            printed={row.prompt_tokens: row.decode_tok_s for row in printed},
            own=writing,
            decimals=1,
        ),
    ]


def _waits(run: Run) -> list[Column]:
    rows, printed = run.measured("ttft"), reference.ttft()
    return [
        Column(
            head="share, %",
            printed={row.context_tokens: row.share_pct for row in printed},
            own=_medians(rows, _share),
            decimals=1,
        ),
        Column(
            head="first token, s",
            printed={row.context_tokens: row.ttft_s for row in printed},
            own=_medians(rows, derive.ttft_s),
            decimals=3,
        ),
        Column(
            head="whole, s",
            printed={row.context_tokens: row.total_s for row in printed},
            own=_medians(rows, derive.total_s),
            decimals=3,
        ),
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
    printed = reference.prompt_cache()
    pairs = {pair.cold.seq: pair for pair in reuse.twins(run, "prompt_cache")}
    cold, warm = [each.cold for each in pairs.values()], [each.later for each in pairs.values()]
    return [
        Column(
            head="prefill gain",
            printed={row.prompt_tokens: row.prefill_speedup_x for row in printed},
            own=_medians(cold, lambda row: pairs[row.seq].speedup),
            decimals=0,
            unit="×",
        ),
        Column(
            head="whole",
            printed={row.prompt_tokens: row.total_speedup for row in printed},
            own=_medians(cold, lambda row: pairs[row.seq].total_speedup),
            decimals=1,
            unit="×",
        ),
        Column(
            head="cold, s",
            printed={row.prompt_tokens: row.cold_prefill_s for row in printed},
            own=_medians(cold, derive.prefill_s),
            decimals=3,
        ),
        Column(
            head="warm, s",
            printed={row.prompt_tokens: row.warm_prefill_s for row in printed},
            own=_medians(warm, derive.prefill_s),
            decimals=3,
        ),
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
    for test in sign_tests(run):
        lines += paragraph(f"- {test.says}: {_held(test)}", width)
    return lines


def _held(test: SignTest) -> str:
    if not test.signs.of:
        return f"not tested, for lack of valid rows of {test.experiment}."
    return (
        f"{fixed(test.signs.holds)} of {counted(test.signs.of, 'block')}, "
        f"p {_probability(test.signs.p)}."
    )


def _probability(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"= {fixed(p, 3)}"
