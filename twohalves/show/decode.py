"""Section 31.2, the steps: what a token costs as the context behind it grows."""

from __future__ import annotations

from IPython.display import Markdown

from twohalves.runs import Condition, Run, conditions, reference
from twohalves.runs.reference import PrintedDecode
from twohalves.show.lengths import ALIKE, beside, both, factor, said_of
from twohalves.show.markdown import say, table
from twohalves.show.needs import needs
from twohalves.show.numbers import counted, fixed, percent, seconds, significant
from twohalves.show.rates import NOTICEABLE
from twohalves.show.rates import lines as rows_of_31_1

DECODE = "decode_vs_context"


def lines(run: Run) -> tuple[Condition, ...]:
    """The run's rows of decode against context, shortest context first."""
    return conditions(run, DECODE)


def times_as_long(run: Run) -> float | None:
    """How many times as long a token takes after the longest context; None = not measured."""
    if not run.measured(DECODE):
        return None
    return lines(run)[0].decode_rate.median / lines(run)[-1].decode_rate.median


@needs(DECODE)
def own_table(run: Run) -> Markdown:
    """Rate and time per token, and what both lost since the shortest context."""
    found = lines(run)
    rows = [
        [
            fixed(line.prompt_tokens.median),
            significant(line.decode_rate.median),
            fixed(1000 / line.decode_rate.median, 2),
            _change(line.decode_rate.median / found[0].decode_rate.median),
            _change(found[0].decode_rate.median / line.decode_rate.median),
            fixed(line.decode_rate.n),
        ]
        for line in found
    ]
    header = ["context tokens", "decode tok/s", "ms per token", "rate, change", "time, change"]
    header += ["asked"]
    return table(header, rows, f"Run {run.id}: {_how(run)}")


def _how(run: Run) -> str:
    """What the numbers of the table are, in one sentence or two."""
    found = lines(run)
    written = counted(found[0].output_tokens.median, "token")
    single = all(line.decode_rate.n == 1 for line in found)
    shared = any(";" in row.experiments for row in run.measured(DECODE))
    said = (
        f"{'single answers' if single else 'medians'} over answers of {written}, counted by steps."
    )
    if shared:
        said += " Shared timings: the requests of section 31.1 serve this table too."
    return f"{said} Changes are against the first row."


def _change(ratio: float) -> str:
    """A change against the first row, with its sign; a dash for the row itself."""
    if ratio == 1:
        return "–"
    return f"{'−' if ratio < 1 else '+'}{percent(abs(ratio - 1))}"


@needs(DECODE)
def beside_the_chapter(run: Run) -> Markdown:
    """The run beside the printed table, changes first, decode counted as the chapter counts."""
    pairs = _paired(run)
    if not pairs:
        return say("None of your run's lengths is near one of the chapter's four.")
    own_first, printed_first = lines(run)[0], reference.decode_vs_context()[0]
    rows = [
        [
            both(line.prompt_tokens.median, printed.context_tokens),
            _change(line.decode_rate_raw.median / own_first.decode_rate_raw.median),
            _change(printed.decode_tok_s / printed_first.decode_tok_s),
            significant(line.decode_rate_raw.median),
            fixed(printed.decode_tok_s, 1),
            fixed(1000 / line.decode_rate_raw.median, 2),
            fixed(printed.ms_per_token, 2),
        ]
        for line, printed in pairs
    ]
    header = ["context tokens", "rate, yours", "chapter"]
    header += ["decode tok/s, yours", "chapter", "ms per token, yours", "chapter"]
    caption = (
        f"Run {run.id} beside the chapter's run, all tokens over the time of all but one, as the "
        "chapter counts. Changes are against each run's shortest context."
    )
    caption += said_of([(line.prompt_tokens.median, row.context_tokens) for line, row in pairs])
    return table(header, rows, caption)


def _paired(run: Run) -> list[tuple[Condition, PrintedDecode]]:
    return beside(
        lines(run),
        reference.decode_vs_context(),
        lambda line: line.prompt_tokens.median,
        lambda row: row.context_tokens,
    )


@needs(DECODE)
def slowdown(run: Run) -> Markdown:
    """How much slower, said both ways: of the rate, and in time per token."""
    found, printed = lines(run), reference.decode_vs_context()
    theirs = printed[0].decode_tok_s / printed[-1].decode_tok_s
    chapter = (
        f"The chapter's: {percent(1 - 1 / theirs)} of the rate or {percent(theirs - 1)} more time, "
        f"between {fixed(printed[0].context_tokens)} and {fixed(printed[-1].context_tokens)} "
        "tokens. It prints the first."
    )
    short, long = found[0], found[-1]
    times = times_as_long(run) or 1.0
    if len(found) == 1:
        return say(f"Your run holds one length, so it cannot tell. {chapter}")
    if times < 1 + NOTICEABLE:
        return say(
            f"In your run a token costs no more after {fixed(long.prompt_tokens.median)} prompt "
            f"tokens than after {fixed(short.prompt_tokens.median)}. {chapter}"
        )
    return say(
        f"**Between {fixed(short.prompt_tokens.median)} and {fixed(long.prompt_tokens.median)} "
        f"tokens of context your decode lost {percent(1 - 1 / times)} of its rate.** Each token "
        f"took {_longer(times)}: {seconds(1 / long.decode_rate.median)} instead of "
        f"{seconds(1 / short.decode_rate.median)}. Both say the same, so always say which of them "
        f"you mean. {chapter}"
    )


def _longer(times: float) -> str:
    """A duration against a shorter one, in the form that is easier to read."""
    return f"{percent(times - 1)} more time" if times < 2 else f"{fixed(times, 1)} times as long"


@needs(DECODE)
def paid_twice(run: Run) -> Markdown:
    """What a long prompt costs: once when it is read, then with every token."""
    found = lines(run)
    short, long = found[0], found[-1]
    extra = 1 / long.decode_rate.median - 1 / short.decode_rate.median
    if extra <= 0:
        return say("In your run the second part of that price does not show.")
    return say(
        f"In your run {fixed(long.prompt_tokens.median)} prompt tokens cost "
        f"{seconds(long.prefill_s.median)} once, and then {seconds(extra)} on top of every "
        f"token. After {fixed(long.prefill_s.median / extra)} tokens of answer the second price "
        "has caught up with the first."
    )


@needs(DECODE)
def at_matching_context(run: Run) -> Markdown:
    """Which row of this table the longest row of the first one may be compared with."""
    return say(_chapter_match(), _own_match(run))


def _chapter_match() -> str:
    first, rows = reference.prefill_decode()[-1], reference.decode_vs_context()
    near = min(rows, key=lambda row: factor(row.context_tokens, first.prompt_tokens))
    far = rows[-1]
    return (
        f"The chapter's first table ends at {fixed(first.prompt_tokens)} tokens with "
        f"{fixed(first.decode_tok_s)} tok/s. In its second table the row to look at is that of "
        f"{fixed(near.context_tokens)} tokens, which has {fixed(near.decode_tok_s)}, and not the "
        f"last one, of {fixed(far.context_tokens)}, which has {fixed(far.decode_tok_s)}."
    )


def _own_match(run: Run) -> str:
    found = lines(run)
    served = {row.seq for line in found for row in line.rows}
    first = _longest_of_31_1(run)
    if first is None:
        return "Your run lacks the first table, so there is nothing to match."
    if any(row.seq in served for row in first.rows):
        return "In your run both tables come from the same requests, so they must agree."
    at = first.prompt_tokens.median
    ends = (
        f"In your run the first table ends at {fixed(at)} tokens with "
        f"{significant(first.decode_rate.median)} tok/s."
    )
    near = min(found, key=lambda line: factor(line.prompt_tokens.median, at))
    if factor(near.prompt_tokens.median, at) > ALIKE:
        return f"{ends} No row here is near enough to that length to stand beside it."
    far = max(found, key=lambda line: line.prompt_tokens.median)
    if far is near:
        return f"{ends} The row to look at here is the last one: {_beside(near, first)}."
    return (
        f"{ends} The row to look at here: {_beside(near, first)}. The last one is not: "
        f"{_beside(far, first)}."
    )


def _beside(line: Condition, other: Condition) -> str:
    apart = abs(line.decode_rate.median / other.decode_rate.median - 1)
    return (
        f"{fixed(line.prompt_tokens.median)} tokens, {significant(line.decode_rate.median)} "
        f"tok/s, {percent(apart)} apart"
    )


def _longest_of_31_1(run: Run) -> Condition | None:
    return rows_of_31_1(run)[-1] if run.measured("prefill_decode") else None
