"""Two runs side by side: what differs between them, and what both measured.

Seconds and rates of two runs may be compared only where nothing but the thing of interest
differs. Ratios taken within a request, a pair or a block carry their own yardstick and stand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields

from twohalves.runs import derive, reuse
from twohalves.runs.conditions import tokens_outside_the_clock
from twohalves.runs.load import Run
from twohalves.runs.schema import Timing
from twohalves.runs.session import Session
from twohalves.server import Started
from twohalves.stats import Ratio, ratio_of_medians

SETTINGS = tuple(field.name for field in fields(Started))
"""What a private server was started with."""
_VERSIONS = "versions"
"""Which versions count so: the server's own version says it already."""
_OF_NO_ACCOUNT = {"keep_alive", "seed"}  # options that change no timing


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One fact in which two runs differ."""

    fact: str
    """What it is, in words."""
    first: str
    """What the first run says."""
    second: str
    """What the second run says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """Something measured in every row, or pair, of an experiment."""

    name: str
    """What it is, in words, with its unit."""
    is_ratio: bool
    """True if it was taken within a request, a pair or a block, so that it stands alone."""
    values: dict[tuple[int, int], tuple[float, ...]]
    """By prompt and answer length asked for, tokens: the valid values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """One quantity at one condition that two runs hold."""

    asked: int
    """Prompt length asked for, tokens."""
    first: tuple[float, ...]
    """Values of the first run."""
    second: tuple[float, ...]
    """Values of the second run."""
    ratio: Ratio
    """Second over first."""


def differences(first: Run, second: Run) -> tuple[Difference, ...]:
    """Every fact for which the seconds of two runs may differ, other than the time of day."""
    facts = zip(_facts(first), _facts(second), strict=True)
    found = [
        Difference(fact=fact, first=one, second=other)
        for (fact, one), (_, other) in facts
        if one != other
    ]
    found += _counters(first.session.get("counters", {}), second.session.get("counters", {}))
    return (*found, *_options(first.session["options"], second.session["options"]))


def _facts(run: Run) -> Iterable[tuple[str, str]]:
    """What must agree, each as a reader would name it."""
    session = run.session
    machine, server = session["machine"], session["server"]
    identity = f"{machine.get('processor', 'a machine')} ({machine['id']})"
    yield "the machine", identity
    yield "its power", "battery" if machine.get("on_battery") else "mains, or not told"
    yield "the model", f"{session['model']['name']} ({str(session['model']['digest'])[:12]})"
    yield "the server", f"{server['kind']} {server['version'] or 'of an unknown version'}"
    yield "the engine", str(session.get("packages", {}).get("xllamacpp", "the server's own"))
    yield "how the server was started", _said({key: server.get(key) for key in SETTINGS})
    shares = any(";" in row.experiments for row in run.timings)
    yield "timings", "one serves several tables" if shares else "each serves one table"


def _said(facts: dict[str, object]) -> str:
    return ", ".join(f"{key} {value}" for key, value in sorted(facts.items())) or "not told"


def _counters(first: Session, second: Session) -> list[Difference]:
    """Where both runs say what their counters mean: an older run says less, and means the same."""
    names = sorted((first.keys() & second.keys()) - {_VERSIONS})
    return [
        Difference(
            fact=f"the counters ({name})", first=_word(first[name]), second=_word(second[name])
        )
        for name in names
        if first[name] != second[name] and None not in (first[name], second[name])
    ]


def _word(value: object) -> str:
    """A meaning of a counter, as a reader would say it."""
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _options(first: Session, second: Session) -> list[Difference]:
    names = sorted((first.keys() | second.keys()) - _OF_NO_ACCOUNT)
    return [
        Difference(
            fact=f"the option {name}",
            first=str(first.get(name, "not set")),
            second=str(second.get(name, "not set")),
        )
        for name in names
        if first.get(name) != second.get(name)
    ]


def quantities(run: Run, experiment: str) -> tuple[Quantity, ...]:
    """What an experiment of a run measured, ratios first; none for one without a table."""
    kinds: dict[str, Callable[[Run], tuple[Quantity, ...]]] = {
        "prefill_decode": _rates,
        "ttft": _waits,
        "decode_vs_context": _decodes,
        "prompt_cache": _caches,
    }
    return kinds[experiment](run) if experiment in kinds and run.measured(experiment) else ()


def shared(first: Quantity, second: Quantity) -> tuple[Shared, ...]:
    """The conditions that two runs hold, shortest first: the same lengths of prompt and answer."""
    return tuple(
        Shared(
            asked=key[0],
            first=first.values[key],
            second=second.values[key],
            ratio=ratio_of_medians(second.values[key], first.values[key]),
        )
        for key in sorted(first.values.keys() & second.values.keys())
    )


def _rates(run: Run) -> tuple[Quantity, ...]:
    rows, free = run.measured("prefill_decode"), tokens_outside_the_clock(run)
    return (
        _quantity(
            "reading over writing", rows, lambda row: derive.rate_ratio(row, free), ratio=True
        ),
        _quantity("prefill tok/s", rows, derive.prefill_rate),
        _quantity("decode tok/s", rows, lambda row: derive.decode_rate(row, free)),
    )


def _waits(run: Run) -> tuple[Quantity, ...]:
    rows = run.measured("ttft")
    return (
        _quantity(
            "part of the request before the first token", rows, derive.ttft_share, ratio=True
        ),
        _quantity("seconds to the first token", rows, derive.ttft_s),
        _quantity("seconds of the whole request", rows, derive.total_s),
    )


def _decodes(run: Run) -> tuple[Quantity, ...]:
    rows, free = run.measured("decode_vs_context"), tokens_outside_the_clock(run)

    def rate(row: Timing) -> float | None:
        return derive.decode_rate(row, free)

    by_block: dict[int | None, list[Timing]] = {}
    for row in rows:
        by_block.setdefault(row.block, []).append(row)
    shortest = {
        block: rate(min(held, key=lambda row: int(row.condition)))
        for block, held in by_block.items()
    }
    return (
        _quantity(
            "decode, of that at the block's shortest context",
            rows,
            lambda row: _over(rate(row), shortest[row.block]),
            ratio=True,
        ),
        _quantity("decode tok/s", rows, rate),
    )


def _caches(run: Run) -> tuple[Quantity, ...]:
    pairs = reuse.twins(run, "prompt_cache")
    speedups = {pair.cold.seq: pair.speedup for pair in pairs}
    cold, warm = [pair.cold for pair in pairs], [pair.later for pair in pairs]
    return (
        _quantity("cold over warm prefill", cold, lambda row: speedups[row.seq], ratio=True),
        _quantity("seconds of cold prefill", cold, derive.prefill_s),
        _quantity("seconds of warm prefill", warm, derive.prefill_s),
    )


def _over(above: float | None, below: float | None) -> float | None:
    return above / below if above and below else None


def _quantity(
    name: str,
    rows: Iterable[Timing],
    value: Callable[[Timing], float | None],
    *,
    ratio: bool = False,
) -> Quantity:
    found: dict[tuple[int, int], list[float]] = {}
    for row in rows:
        known = value(row)
        if known:
            found.setdefault((int(row.condition), row.num_predict or 0), []).append(known)
    return Quantity(
        name=name, is_ratio=ratio, values={key: tuple(each) for key, each in found.items()}
    )
