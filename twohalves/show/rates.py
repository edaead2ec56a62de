"""Section 31.1 in words and tables: two rates, and their ratio from one row."""

from __future__ import annotations

from IPython.display import Markdown

from twohalves.runs import Condition, Run, conditions, reference
from twohalves.runs.reference import PrintedRates
from twohalves.show.markdown import say, table
from twohalves.show.numbers import counted, fixed, percent, seconds, significant

NOTICEABLE = 0.01
"""Differences below one percent are not talked about."""


def lines(run: Run) -> tuple[Condition, ...]:
    """The run's conditions of section 31.1, shortest prompt first."""
    return conditions(run, "prefill_decode")


def design(run: Run) -> Markdown:
    """How this run was measured, in one paragraph."""
    rows = lines(run)
    asked = sorted({line.prefill_s.n for line in rows})
    times = "once" if asked == [1] else " or ".join(fixed(count) for count in asked) + " times"
    warmups = sum(row.role == "warmup" for row in run.timings)
    return say(
        f"This run holds {counted(len(rows), 'prompt length')} from {fixed(rows[0].asked)} to "
        f"{fixed(rows[-1].asked)} tokens, each asked {times} for "
        f"{counted(rows[0].output_tokens.median, 'token')} of answer. Beside them "
        f"{counted(len(run.controls()), 'control')}, and {counted(warmups, 'warm-up')} that did "
        "not count.",
        _layout(run),
    )


def _layout(run: Run) -> str:
    """What the server was started with; said to be unknown where this program did not start it."""
    server = run.session["server"]
    slots = server.get("slots", "unknown")
    if slots == "unknown":
        return (
            "Unknown of its server: the slots, the type of the KV cache, flash attention and the "
            "cache in main memory. No API tells them; they are known only where this book "
            "started the server."
        )
    flash = {"auto": "flash attention as the engine decides", False: "no flash attention"}
    host = server["host_cache_mib"]
    return (
        f"Its server was started with {counted(slots, 'slot')}, a KV cache of type "
        f"{server['kv_type']}, {flash.get(server['flash_attention'], 'flash attention')} and "
        f"{f'{fixed(host)} MiB of' if host else 'no'} main memory for prompts that left their slot."
    )


def own_table(run: Run) -> Markdown:
    """The run's own rates: corrected decode, the ratio of its two rates, repeats."""
    header = ["prompt tokens", "repeats", "prefill", "prefill tok/s", "decode tok/s", "ratio"]
    rows = [
        [
            fixed(line.prompt_tokens.median),
            fixed(line.prefill_s.n),
            seconds(line.prefill_s.median),
            significant(line.prefill_rate.median),
            significant(line.decode_rate.median),
            f"{fixed(line.ratio, 1)}×",
        ]
        for line in lines(run)
    ]
    single = all(line.prefill_s.n == 1 for line in lines(run))
    what = (
        "Each length was asked once: these are single answers, and no medians."
        if single
        else "Each cell is a median, each column taken on its own; the ratio divides the two rates."
    )
    caption = f"Run {run.id}. {what}{_not_read(run)}"
    return table(header, rows, caption)


def _not_read(run: Run) -> str:
    """What came from cache, if anything: what the server puts in front of every prompt may."""
    line = lines(run)[0]
    cached = line.prompt_tokens.median - line.processed_tokens.median
    if cached <= 0:
        return ""
    return (
        f" The server had the first {counted(cached, 'token')} of each prompt, which are the same "
        "in all, in its cache: they are not counted as read."
    )


def beside_the_chapter(run: Run) -> Markdown:
    """The run beside the printed table, ratios first, decode counted as the chapter counts."""
    header = [
        "prompt tokens",
        "ratio, yours",
        "chapter",
        "prefill tok/s, yours",
        "chapter",
        "decode tok/s, yours",
        "chapter",
    ]
    rows = [
        [
            fixed(line.asked),
            f"{fixed(_ratio_as_printed(line), 1)}×",
            f"{fixed(printed.ratio, 1)}×",
            significant(line.prefill_rate.median),
            fixed(printed.prefill_tok_s),
            significant(line.decode_rate_raw.median),
            fixed(printed.decode_tok_s, 1),
        ]
        for line, printed in _paired(run)
    ]
    caption = (
        f"Run {run.id} beside the chapter's run. Here decode is counted as the chapter counts it "
        "(all tokens over the time of all but one), so that like stands beside like."
    )
    return table(header, rows, caption)


def headline_row(run: Run) -> Condition:
    """The longest row that was asked more than once; the longest of all if none was."""
    repeated = [line for line in lines(run) if line.prefill_rate.n > 1]
    return (repeated or lines(run))[-1]


def headline(run: Run) -> Markdown:
    """Both rates and their ratio from one row, the longest that was repeated."""
    line = headline_row(run)
    printed = reference.prefill_decode()[-1]
    return say(
        f"**On your longest repeated row** ({fixed(line.prompt_tokens.median)} prompt tokens) "
        f"reading ran at **{significant(line.prefill_rate.median)} tokens per second** and "
        f"writing at **{significant(line.decode_rate.median)}**. One token took "
        f"{seconds(1 / line.prefill_rate.median)} to read and "
        f"{seconds(1 / line.decode_rate.median)} to write: "
        f"**{fixed(line.ratio, 1)} times** as long. The chapter's laptop, at "
        f"{fixed(printed.prompt_tokens)} tokens: {fixed(printed.ratio, 1)} times."
    )


def same_row(run: Run) -> Markdown:
    """Why both rates must come from one row: what mixing rows would have printed."""
    rows = lines(run)
    best = max(rows, key=lambda line: line.prefill_rate.median)
    worst = min(rows, key=lambda line: line.decode_rate.median)
    mixed = best.prefill_rate.median / worst.decode_rate.median
    honest = max(line.ratio for line in rows)
    short, long = rows[0], rows[-1]
    costs = (
        f"In your run a written token costs {seconds(1 / short.decode_rate.median)} after "
        f"{fixed(short.prompt_tokens.median)} prompt tokens and "
        f"{seconds(1 / long.decode_rate.median)} after {fixed(long.prompt_tokens.median)}. "
    )
    if mixed < (1 + NOTICEABLE) * honest:
        return say(
            f"{costs}Your best prefill and your worst decode happen to give the ratio of a single "
            f"row, {fixed(honest, 1)}×. That is luck: take both from one row all the same."
        )
    return say(
        f"{costs}Pair the best prefill ({significant(best.prefill_rate.median)} tok/s, at "
        f"{fixed(best.prompt_tokens.median)} tokens) with the worst decode "
        f"({significant(worst.decode_rate.median)} tok/s, at "
        f"{fixed(worst.prompt_tokens.median)}) and you print {fixed(mixed, 1)}×. "
        f"No single row of yours says more than {fixed(honest, 1)}×."
    )


def dip(run: Run) -> Markdown:
    """Whether prefill slows on the longest prompt, and by how much."""
    rows = lines(run)
    best = max(rows, key=lambda line: line.prefill_rate.median)
    long = rows[-1]
    printed = reference.prefill_decode()
    best_printed = max(printed, key=lambda row: row.prefill_tok_s)
    theirs = 1 - printed[-1].prefill_tok_s / best_printed.prefill_tok_s
    lost = 1 - long.prefill_rate.median / best.prefill_rate.median
    if lost < NOTICEABLE:
        yours = "Your prefill is as fast on your longest row as on any other."
    else:
        yours = (
            f"Your prefill peaks at {fixed(best.prompt_tokens.median)} tokens and is "
            f"{percent(lost)} lower at {fixed(long.prompt_tokens.median)}."
        )
    return say(
        f"{yours} The chapter's falls by {percent(theirs)} between "
        f"{fixed(best_printed.prompt_tokens)} and {fixed(printed[-1].prompt_tokens)}."
    )


def why_size_differs(run: Run) -> Markdown:
    """What transfers between machines and what does not, on these numbers."""
    pairs = _paired(run)
    if not pairs:
        return say("Your run holds none of the chapter's prompt lengths.")
    (short, short_printed), (long, long_printed) = pairs[0], pairs[-1]
    slower = all(line.ratio > 1 for line in lines(run))
    sign = (
        "The sign is the chapter's: on every row a token takes longer to write than to read."
        if slower
        else "Not even the sign is the chapter's on every row: look at the flags of your run."
    )
    return say(
        f"{sign} The size is your own: {fixed(short.ratio, 1)}× at {fixed(short.asked)} tokens "
        f"and {fixed(long.ratio, 1)}× at {fixed(long.asked)}, where the chapter has "
        f"{fixed(short_printed.ratio, 1)}× and {fixed(long_printed.ratio, 1)}×."
    )


def _ratio_as_printed(line: Condition) -> float:
    """The ratio formed as the chapter forms it: printed rate over printed rate."""
    return line.prefill_rate.median / line.decode_rate_raw.median


def _paired(run: Run) -> list[tuple[Condition, PrintedRates]]:
    """Conditions with the chapter's row of the same length."""
    printed = {row.prompt_tokens: row for row in reference.prefill_decode()}
    return [(line, printed[line.asked]) for line in lines(run) if line.asked in printed]
