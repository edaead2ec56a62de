"""What repeats are for: the noisy row, the single shot, the control, the N - 1 steps."""

from __future__ import annotations

from IPython.display import Markdown

from twohalves.formulas import decode_steps
from twohalves.measure.trust import drift_note
from twohalves.runs import Condition, Run, condition_of, reference
from twohalves.runs.conditions import tokens_outside_the_clock
from twohalves.runs.drift import drifts
from twohalves.runs.reference import claim
from twohalves.show.markdown import fold, say, table
from twohalves.show.numbers import counted, fixed, percent, seconds, significant
from twohalves.show.rates import NOTICEABLE, lines
from twohalves.stats import median_interval


def shortest_row(run: Run) -> Markdown:
    """Whether the shortest prompt looks slow: a fixed cost that few tokens must carry."""
    printed = reference.prefill_decode()
    short = printed[0]
    pace = max(row.prefill_tok_s for row in printed)
    once = short.prefill_s - short.prompt_tokens / pace
    return say(
        f"The chapter's shortest row reads at {fixed(short.prefill_tok_s)} tok/s where its best "
        f"does {fixed(pace)}. At that pace {fixed(short.prompt_tokens)} tokens would take "
        f"{seconds(short.prompt_tokens / pace)}; they took {seconds(short.prefill_s)}. The "
        f"missing {seconds(once)} are not spent on tokens. They are paid once a request, and a "
        f"long prompt hides them. They also make the shortest row the noisiest: its spread is "
        f"{fixed(claim('spread_first_row_pct'), 1)}%, that of the others "
        f"{fixed(claim('spread_other_low_pct'))} to {fixed(claim('spread_other_high_pct'))}%.",
        _own_shortest_row(run),
    )


def _own_shortest_row(run: Run) -> str:
    short, best = lines(run)[0], max(lines(run), key=lambda line: line.prefill_rate.median)
    if short.prefill_rate.median > (1 - NOTICEABLE) * best.prefill_rate.median:
        return (
            f"In your run the shortest prompt is read as fast as any, at "
            f"{significant(short.prefill_rate.median)} tok/s: what your server spends once a "
            f"request does not show beside {seconds(short.prefill_s.median)} of prefill."
        )
    pace = short.processed_tokens.median / best.prefill_rate.median
    return (
        f"Your {fixed(short.prompt_tokens.median)}-token row reads at "
        f"{significant(short.prefill_rate.median)} tok/s, your "
        f"{fixed(best.prompt_tokens.median)}-token row at "
        f"{significant(best.prefill_rate.median)}. At that pace the short prompt would have "
        f"taken {seconds(pace)}; it took {seconds(short.prefill_s.median)}. The difference is "
        f"{seconds(short.prefill_s.median - pace)}."
    )


def spreads(run: Run) -> Markdown:
    """Spread of each row, prefill and decode apart."""
    header = [
        "prompt tokens",
        "repeats",
        "prefill spread",
        "decode spread",
        "lowest tok/s",
        "highest tok/s",
    ]
    rows = [
        [
            fixed(line.prompt_tokens.median),
            fixed(line.prefill_rate.n),
            percent(line.prefill_s.spread, 1) if line.prefill_s.n > 1 else "–",
            percent(line.decode_rate.spread, 1) if line.decode_rate.n > 1 else "–",
            significant(line.prefill_rate.low),
            significant(line.prefill_rate.high),
        ]
        for line in lines(run)
    ]
    caption = (
        f"Run {run.id}. Spread is range over median, (largest − smallest) / median; lowest and "
        f"highest are prefill rates. {_claimable(run)}"
    )
    return table(header, rows, caption)


def _claimable(run: Run) -> str:
    """What an interval for the median could claim with so many repeats."""
    most = max(line.prefill_rate.n for line in lines(run))
    found = median_interval(list(range(most)))
    if found is None:
        return f"With {counted(most, 'repeat')} no 95% interval for a median can be claimed."
    return f"With {counted(most, 'repeat')} a 95% interval can be had from `twohalves.stats`."


def single_shot(run: Run) -> Markdown:
    """What stopping after the first run would have printed, from the reader's own rows."""
    repeated = [line for line in lines(run) if line.decode_rate.n > 1]
    if not repeated:
        return say("Your run asked each length once, so there is no second answer to compare.")
    furthest = max(repeated, key=lambda line: abs(_first_off(line)))
    if abs(_first_off(furthest)) < NOTICEABLE:
        return say(
            "Had you stopped after one run you would have been lucky: none of your first answers "
            f"is {percent(NOTICEABLE)} off its median."
        )
    first = furthest.decode_rates[0]
    once, repeats = claim("single_shot_decode"), claim("repeated_decode")
    return say(
        f"**Had you stopped after one run** you would have printed {significant(first)} decode "
        f"tok/s on the {fixed(furthest.prompt_tokens.median)}-token row. "
        f"The median of {fixed(furthest.decode_rate.n)} runs is "
        f"{significant(furthest.decode_rate.median)}, so the first was off by "
        f"{percent(abs(_first_off(furthest)), 1)}. That is the worst of your first answers. "
        f"The chapter's was off by {percent(1 - once / repeats, 0)}: {fixed(once)} once, "
        f"{fixed(repeats)} as the median of {fixed(claim('repeats'))}."
    )


def _first_off(line: Condition) -> float:
    return line.decode_rates[0] / line.decode_rate.median - 1


def separate_medians(run: Run) -> Markdown:
    """Dividing one median by another need not give the third."""
    printed = reference.prefill_decode()[0]
    quotient = printed.prompt_tokens / printed.prefill_s
    return say(
        f"Each column is a median of its own, so one printed column divided by another need not "
        f"give the third. The chapter's first row: {fixed(printed.prompt_tokens)} over "
        f"{fixed(printed.prefill_s, 3)} s is {fixed(quotient)}, and "
        f"{fixed(printed.prefill_tok_s)} is printed. With an odd number of repeats that can only "
        f"happen if their token counts differ. {_own_quotient(run)}"
    )


def _own_quotient(run: Run) -> str:
    off = {abs(_divided(line) / line.prefill_rate.median - 1): line for line in lines(run)}
    widest = off[max(off)]
    if max(off) < NOTICEABLE:
        return (
            "In your run tokens read over seconds gives the median rate to within "
            f"{percent(NOTICEABLE)} on every row."
        )
    return (
        f"On your {fixed(widest.asked)}-token row, where it shows most, the division gives "
        f"{significant(_divided(widest))} and the median rate is "
        f"{significant(widest.prefill_rate.median)}."
    )


def _divided(line: Condition) -> float:
    return line.processed_tokens.median / line.prefill_s.median


def control(run: Run) -> Markdown:
    """How steady the machine was: one request shape, asked from start to end."""
    rows = run.controls()
    if len(rows) < 2:
        return say("This run holds fewer than two controls, so it cannot tell whether it drifted.")
    line = condition_of(int(rows[0].condition), rows, tokens_outside_the_clock(run))
    return say(
        f"**The control**, about {fixed(line.asked)} tokens in and "
        f"{fixed(line.output_tokens.median)} out with new text each time, was asked "
        f"{fixed(len(rows))} times from start to end. Prefill held to "
        f"{percent(line.prefill_rate.spread, 1)} and decode to "
        f"{percent(line.decode_rate.spread, 1)}, range over median. The chapter's control held "
        f"to {fixed(claim('canary_drift_pct'), 1)}% over {fixed(claim('canary_count'))} calls; "
        "it does not say of which timing.",
        _drift(run),
    )


def _drift(run: Run) -> str:
    """Spread says how far the control scattered; drift, whether it went one way."""
    told = drift_note(run)
    if told:
        return told
    bounds = [each.interval for each in drifts(run) if each.interval]
    widest = max(abs(end) for bound in bounds for end in (bound.low, bound.high))
    return (
        "It did not go one way either: from start to end neither half became slower or faster "
        f"by more than {percent(widest, 1)}, the far end of two 95% intervals. Seconds of this "
        "run may be compared with another run's, if the machine and the server are the same."
    )


def one_step_fewer(run: Run) -> Markdown:
    """N tokens are N - 1 steps, and what counting N does to a rate. In a fold."""
    line = lines(run)[0]
    tokens = int(line.output_tokens.median)
    steps = decode_steps(tokens, tokens_outside_the_clock(run))
    return fold(
        "Why this book's decode rate is a little lower than your tool's",
        f"Prefill ends with the probabilities of the next token. So the first of "
        f"{fixed(tokens)} tokens is there when decode begins, and decode takes {fixed(steps)} "
        f"steps. Tools that divide all {fixed(tokens)} tokens by the time of {fixed(steps)} "
        f"steps print a rate {percent(tokens / steps - 1, 1)} too high.",
        f"On your {fixed(line.prompt_tokens.median)}-token row: "
        f"{significant(line.decode_rate_raw.median)} tok/s counted that way, "
        f"{significant(line.decode_rate.median)} tok/s by steps. This book shows the second, "
        "and the first only where it stands beside the chapter's table.",
    )
