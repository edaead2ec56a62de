"""Section 31.2, the trial: one request streamed, its twin in one piece."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from IPython.display import Markdown

from twohalves.runs import Run, Timing, derive, reference
from twohalves.show.markdown import say, table
from twohalves.show.needs import needs, not_held
from twohalves.show.numbers import counted, fixed, percent, seconds
from twohalves.stats import Summary, summarize

STREAMING = "streaming"
BY_CHANCE = 0.1
"""Two requests of one shape may differ by a tenth on a machine that does other things too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """The requests that were asked in one of the two ways."""

    tokens: Summary
    """Prompt length achieved, tokens."""
    prefill_s: Summary
    """Seconds of prefill, by the server's clock."""
    first_s: Summary
    """Seconds until the first text is there; in one piece, until all of it is."""
    total_s: Summary
    """Seconds of the whole request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """All pairs of which both requests are valid."""

    streamed: Way
    """Asked for token by token."""
    whole: Way
    """Asked for in one piece."""


def trial(run: Run) -> Trial | None:
    """The run's pairs; None where no pair is whole."""
    pairs: dict[str, dict[bool, Timing]] = {}
    for row in run.measured(STREAMING):
        pairs.setdefault(row.pair, {})[row.streamed] = row
    whole = [pair for pair in pairs.values() if len(pair) == 2]
    if not whole:
        return None
    return Trial(
        streamed=_way([pair[True] for pair in whole]), whole=_way([pair[False] for pair in whole])
    )


def _way(rows: list[Timing]) -> Way:
    def over(quantity: Callable[[Timing], float | None]) -> Summary:
        return summarize([value for row in rows if (value := quantity(row)) is not None])

    return Way(
        tokens=over(lambda row: row.prompt_eval_count),
        prefill_s=over(derive.prefill_s),
        first_s=over(lambda row: derive.ttft_s(row) if row.streamed else derive.total_s(row)),
        total_s=over(derive.total_s),
    )


@needs(STREAMING)
def own_table(run: Run) -> Markdown:
    """Both ways, one under the other."""
    found = trial(run)
    if found is None:
        return not_held(run, STREAMING)
    rows = [
        [
            name,
            seconds(way.prefill_s.median),
            seconds(way.first_s.median),
            seconds(way.total_s.median),
        ]
        for name, way in (("streamed", found.streamed), ("in one piece", found.whole))
    ]
    pairs = counted(found.whole.total_s.n, "pair")
    what = "medians" if found.whole.total_s.n > 1 else "single answers"
    caption = (
        f"Run {run.id}: {pairs} of requests of {fixed(found.streamed.tokens.median)} prompt "
        f"tokens, each with text of its own; {what}."
    )
    return table(["asked for", "prefill", "first text after", "all text after"], rows, caption)


@needs(STREAMING)
def verdict(run: Run) -> Markdown:
    """What streaming gave on the reader's server and what it left; the chapter's, computed."""
    found = trial(run)
    if found is None:
        return not_held(run, STREAMING)
    first, rest = found.streamed.first_s.median, found.whole.total_s.median
    return say(
        f"On your server streaming turned a wait of {seconds(rest)} into a wait of "
        f"{seconds(first)}, and text after it: it took {percent(1 - first / rest)} off the wait. "
        f"{_untouched(found)}",
        _chapter(),
    )


def _untouched(found: Trial) -> str:
    """How prefill and the whole request differ between the two ways."""
    prefill = found.streamed.prefill_s.median / found.whole.prefill_s.median - 1
    total = found.streamed.total_s.median / found.whole.total_s.median - 1
    chance = (
        "Two requests with different text differ by so much from chance alone."
        if max(abs(prefill), abs(total)) < BY_CHANCE
        else "That is more than chance usually does: look at the run's control."
    )
    return (
        f"The reading in front of the text took {seconds(found.streamed.prefill_s.median)} with "
        f"streaming and {seconds(found.whole.prefill_s.median)} without, {_apart(prefill)}; the "
        f"whole request {seconds(found.streamed.total_s.median)} and "
        f"{seconds(found.whole.total_s.median)}, {_apart(total)}. {chance}"
    )


def _apart(difference: float) -> str:
    if abs(difference) < 0.001:
        return "the same to a tenth of a percent"
    return f"{percent(abs(difference), 1)} {'more' if difference > 0 else 'less'}"


def _chapter() -> str:
    row = reference.ttft()[-1]
    return (
        f"In the chapter's longest request a wait of {fixed(row.total_s, 1)} s became one of "
        f"{fixed(row.ttft_s, 1)} s: streaming took {percent(1 - row.ttft_s / row.total_s)} off "
        "it and left the rest."
    )
