"""From rows to one line a condition: medians, each quantity on its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from twohalves.errors import RunHasNoRows
from twohalves.runs import derive
from twohalves.runs.load import Run
from twohalves.runs.schema import Timing
from twohalves.stats import Summary, summarize


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """The valid repeats of one prompt length."""

    asked: int
    """Prompt length asked for, tokens."""
    prompt_tokens: Summary
    """Prompt length achieved, tokens."""
    processed_tokens: Summary
    """Prompt tokens that prefill worked on: all but those from cache."""
    prefill_s: Summary
    """Seconds of prefill."""
    prefill_rate: Summary
    """Prompt tokens per second."""
    decode_s: Summary
    """Seconds of decode, by the server's clock."""
    decode_rate: Summary
    """Answer tokens per second, N - 1 steps for N tokens."""
    decode_rate_raw: Summary
    """Answer tokens per second, N steps for N tokens, as the chapter counts."""
    total_s: Summary
    """Seconds of the whole request, by the client's clock."""
    output_tokens: Summary
    """Answer tokens."""
    decode_rates: tuple[float, ...]
    """Each row's corrected decode rate, in the order they were measured."""
    rows: tuple[Timing, ...]
    """The rows themselves, in the order they were measured."""

    @property
    def ratio(self) -> float:
        """How many times longer a token takes to write than to read: both medians of this row."""
        return self.prefill_rate.median / self.decode_rate.median


def conditions(run: Run, experiment: str) -> tuple[Condition, ...]:
    """One line a prompt length, of the experiment's cold rows, shortest first.

    Raises:
        RunHasNoRows: no valid row of the experiment.
    """
    lengths = by_length(run.measured(experiment, "cold"))
    if not lengths:
        raise RunHasNoRows(run.id, experiment)
    free = tokens_outside_the_clock(run)
    return tuple(condition_of(asked, rows, free) for asked, rows in lengths)


def by_length(rows: Iterable[Timing]) -> list[tuple[int, list[Timing]]]:
    """Rows by the prompt length asked for, tokens, shortest first."""
    found: dict[int, list[Timing]] = {}
    for row in rows:
        found.setdefault(int(row.condition), []).append(row)
    return sorted(found.items())


def tokens_outside_the_clock(run: Run) -> int:
    """Answer tokens that the decode clock of the run's server leaves out: 1 on GGUF engines."""
    return int(run.session.get("counters", {}).get("steps_less", 1))


def condition_of(asked: int, valid: Iterable[Timing], free: int = 1) -> Condition:
    """The line of some valid rows, for example the controls.

    Args:
        asked: prompt length asked for, tokens.
        valid: the rows.
        free: see `tokens_outside_the_clock`.

    Raises:
        ValueError: no row, or a row without counters: such rows are not valid.
    """
    rows = list(valid)

    def over(quantity: Callable[[Timing], float | None]) -> Summary:
        return summarize([derive.known(quantity(row), row) for row in rows])

    return Condition(
        asked=asked,
        prompt_tokens=over(lambda row: row.prompt_eval_count),
        processed_tokens=over(derive.processed_tokens),
        prefill_s=over(derive.prefill_s),
        prefill_rate=over(derive.prefill_rate),
        decode_s=over(derive.decode_s),
        decode_rate=over(lambda row: derive.decode_rate(row, free)),
        decode_rate_raw=over(derive.decode_rate_raw),
        total_s=over(derive.total_s),
        output_tokens=over(lambda row: row.eval_count),
        decode_rates=tuple(derive.known(derive.decode_rate(row, free), row) for row in rows),
        rows=tuple(rows),
    )
