"""What two clocks say of the same request: the missing milliseconds, and the pace of decode."""

from __future__ import annotations

import statistics

from IPython.display import Markdown

from twohalves.runs import Run
from twohalves.runs.conditions import by_length, tokens_outside_the_clock
from twohalves.runs.derive import NS
from twohalves.runs.material import cold
from twohalves.runs.parts import CLOCKS_AGREE, chapter_outside_both, middle, parts, two_clocks
from twohalves.show.markdown import say
from twohalves.show.numbers import fixed, from_to, percent, seconds

_TABLES = ("prompt_cache", "ttft", "prefill_decode")


def missing(run: Run) -> Markdown:
    """The time that the chapter's tables hold in neither half, beside the run's own."""
    printed = chapter_outside_both()
    colds, warms = [row.cold_s for row in printed], [row.warm_s for row in printed]
    return say(
        "Take from each cold total of the chapter its prefill and its decode, and "
        f"{from_to(min(colds), max(colds))} are left; from each warm one "
        f"{from_to(min(warms), max(warms))}. They hardly grow with the prompt, and "
        "the chapter does not speak of them.",
        _own_missing(run),
    )


def _own_missing(run: Run) -> str:
    lengths = by_length(cold(run, *_TABLES))
    left = [
        statistics.median(found)
        for _, rows in lengths
        if (found := [each.outside_both_ns / NS for row in rows if (each := parts(row))])
    ]
    if not left:
        return "Your server does not tell enough to say what its requests leave over."
    short = middle(lengths[0][1])
    account = parts(short)
    named = "" if account is None else f" {_named(short.prompt_eval_count or 0, account.named())}"
    return (
        "In your run the requests of each length leave, in the median, "
        f"{from_to(min(left), max(left))} in neither half.{named}"
    )


def _named(tokens: int, account: dict[str, int]) -> str:
    others = ", ".join(
        f"{name} {seconds(ns / NS)}"
        for name, ns in account.items()
        if name not in {"prefill", "decode"}
    )
    return f"The middle one of your {fixed(tokens)}-token requests spent there: {others}."


def pace(run: Run) -> Markdown:
    """Decode by the server's counters and by its time stamps, and whether they agree."""
    free = tokens_outside_the_clock(run)
    rows = cold(run, "decode_vs_context", "ttft", "prefill_decode")
    found = [clocks for row in rows if (clocks := two_clocks(row, free))]
    if not found:
        return say("The records of this run carry no time stamps, so decode has one clock only.")
    worst = max(found, key=lambda clocks: abs(clocks.off))
    said = (
        f"A second clock: each record of an answer carries the server's time. In "
        f"{fixed(len(found))} answers the records came at a pace of "
        f"{seconds(statistics.median(clocks.stamps_s for clocks in found))}, and the counters "
        f"say {seconds(statistics.median(clocks.counters_s for clocks in found))} a step. "
        f"The two are furthest apart by {percent(abs(worst.off), 1)}."
    )
    apart = sum(not clocks.agree for clocks in found)
    if apart:
        return say(
            f"{said} In {fixed(apart)} of them they differ by more than {percent(CLOCKS_AGREE)}: "
            "records that hold several tokens, a draft model, or a machine that stood still."
        )
    return say(said)
