"""Section 31.2, the wait: how much of a request is over when its first token appears."""

from __future__ import annotations

from dataclasses import dataclass

from IPython.display import SVG, Markdown

from twohalves.formulas import decode_steps
from twohalves.runs import Condition, Run, conditions, derive, reference
from twohalves.runs.conditions import tokens_outside_the_clock
from twohalves.runs.reference import PrintedTtft, claim
from twohalves.show import svg
from twohalves.show.lengths import beside, both, said_of
from twohalves.show.markdown import say, table
from twohalves.show.needs import needs
from twohalves.show.numbers import counted, fixed, percent, seconds
from twohalves.stats import Summary, summarize

TTFT = "ttft"
LONG_ANSWER = 500
"""Tokens of an answer that is long: about a page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """The streamed repeats of one prompt length."""

    line: Condition
    """Their counters."""
    ttft_s: Summary
    """Seconds from sending to the first text, by the client's clock."""
    share: Summary
    """Time to first token over the whole request, each within its own request."""

    @property
    def context_tokens(self) -> float:
        """Prompt length achieved, tokens."""
        return self.line.prompt_tokens.median

    @property
    def total_s(self) -> float:
        """Seconds of the whole request."""
        return self.line.total_s.median


def waits(run: Run) -> tuple[Wait, ...]:
    """The run's rows of time to first token, shortest context first.

    Raises:
        RunHasNoRows: no valid row of the experiment.
    """
    return tuple(_wait(line) for line in conditions(run, TTFT))


def _wait(line: Condition) -> Wait:
    firsts = [first for row in line.rows if (first := derive.ttft_s(row)) is not None]
    shares = [share for row in line.rows if (share := derive.ttft_share(row)) is not None]
    return Wait(line=line, ttft_s=summarize(firsts), share=summarize(shares))


def longest_share(run: Run) -> float | None:
    """Percent of the longest request that are over at its first token; None = not measured."""
    return 100 * waits(run)[-1].share.median if run.measured(TTFT) else None


@needs(TTFT)
def own_table(run: Run) -> Markdown:
    """Share, time to first token and total, one line a length."""
    rows = [
        [
            fixed(wait.context_tokens),
            percent(wait.share.median, 1),
            seconds(wait.ttft_s.median),
            seconds(wait.total_s),
            fixed(wait.share.n),
        ]
        for wait in waits(run)
    ]
    caption = (
        f"Run {run.id}: {_written(run)} of answer, streamed. Each column has its own median; "
        f"the share is formed within each request. {_whose_rows(run)}"
    )
    return table(["context tokens", "TTFT share", "TTFT", "total", "asked"], rows, caption)


def _written(run: Run) -> str:
    lengths = sorted({int(wait.line.output_tokens.median) for wait in waits(run)})
    return counted(lengths[0], "token") if len(lengths) == 1 else f"{fixed(lengths[-1])} tokens"


def _whose_rows(run: Run) -> str:
    """Whether these requests were asked for this table alone."""
    shared = any(";" in row.experiments for row in run.measured(TTFT))
    if shared:
        return "Shared timings: the requests of section 31.1 serve this table too."
    return "These requests were asked for this table alone."


@needs(TTFT)
def beside_the_chapter(run: Run) -> Markdown:
    """The run beside the printed table: shares first, lengths as near as there are."""
    pairs = _paired(run)
    if not pairs:
        return say("None of your run's lengths is near one of the chapter's four.")
    rows = [
        [
            both(wait.context_tokens, printed.context_tokens),
            percent(wait.share.median, 1),
            f"{fixed(printed.share_pct, 1)}%",
            seconds(wait.ttft_s.median),
            f"{fixed(printed.ttft_s, 3)} s",
            seconds(wait.total_s),
            f"{fixed(printed.total_s, 3)} s",
        ]
        for wait, printed in pairs
    ]
    header = ["context tokens", "TTFT share, yours", "chapter"]
    header += ["TTFT, yours", "chapter", "total, yours", "chapter"]
    differ = said_of([(wait.context_tokens, printed.context_tokens) for wait, printed in pairs])
    caption = f"Run {run.id} beside the chapter's run. {_same_answers(run)}{differ}"
    return table(header, rows, caption)


def _same_answers(run: Run) -> str:
    theirs = claim("bar_output")
    if {wait.line.output_tokens.median for wait in waits(run)} == {theirs}:
        return f"Both write {fixed(theirs)} tokens of answer."
    return (
        f"Yours wrote {_written(run)} of answer, the chapter {fixed(theirs)}: the shorter an "
        "answer, the larger the share before it."
    )


def _paired(run: Run) -> list[tuple[Wait, PrintedTtft]]:
    return beside(
        waits(run),
        reference.ttft(),
        lambda wait: wait.context_tokens,
        lambda row: row.context_tokens,
    )


@needs(TTFT)
def headline(run: Run) -> Markdown:
    """What the longest request spent before its first token, and what that means."""
    long, short = waits(run)[-1], waits(run)[0]
    printed = reference.ttft()[-1]
    prefill = long.line.prefill_s.median / long.ttft_s.median
    said = (
        f"**At {fixed(long.context_tokens)} tokens of context {percent(long.share.median)} of "
        f"your request was over when its first token appeared**: {seconds(long.ttft_s.median)} "
        f"of {seconds(long.total_s)}. Reading the prompt took "
        f"{seconds(long.line.prefill_s.median)} of that wait. "
        f"At {fixed(short.context_tokens)} tokens the share was {percent(short.share.median)}. "
        f"The chapter's longest request, of {fixed(printed.context_tokens)} tokens: "
        f"{percent(printed.ttft_s / printed.total_s)}, {fixed(printed.ttft_s, 1)} s of "
        f"{fixed(printed.total_s, 1)} s."
    )
    return say(said, _verdict(long, prefill))


def _verdict(long: Wait, prefill: float) -> str:
    if long.share.median > 0.5 and prefill > 0.5:
        return (
            "So whoever calls this model slow at writing has it the wrong way round: for most of "
            "the wait it has not begun to write. The prompt is long, and the wait is its reading."
        )
    if long.share.median > 0.5:
        return (
            "So most of the wait is over before the model writes, but reading the prompt is not "
            "the larger part of it: look below for what is."
        )
    return (
        "So in your longest request writing still took longer than the wait for it. A longer "
        "prompt or a shorter answer turns that round."
    )


@needs(TTFT)
def with_a_long_answer(run: Run) -> Markdown:
    """The same wait before a long answer: the share belongs to a shape of request."""
    long, printed = waits(run)[-1], reference.ttft()[-1]
    steps = decode_steps(LONG_ANSWER, tokens_outside_the_clock(run))
    yours = _share(long.ttft_s.median, steps / long.line.decode_rate.median)
    theirs = _share(printed.ttft_s, LONG_ANSWER / reference.decode_vs_context()[-1].decode_tok_s)
    return say(
        f"The share belongs to the shape of the request, not to the model. Had the longest one "
        f"been answered with {fixed(LONG_ANSWER)} tokens at the same pace, "
        f"{percent(yours)} would have gone before the first of them; in the chapter's run, "
        f"{percent(theirs)} instead of {percent(printed.ttft_s / printed.total_s)}. The seconds "
        "until the first token stay the same."
    )


def _share(first_s: float, rest_s: float) -> float:
    return first_s / (first_s + rest_s)


@needs(TTFT)
def bars(run: Run) -> SVG:
    """One bar a length, to a common scale: until the first token, and after it."""
    found = waits(run)
    longest = max(wait.total_s for wait in found)
    rows = [(_said(wait), _halves(wait, longest)) for wait in found]
    return SVG(svg.bars(rows, "Until the first token, and after it, to one scale."))


def _halves(wait: Wait, longest: float) -> list[tuple[float, str]]:
    whole, share = wait.total_s / longest, wait.share.median
    return [(whole * share, svg.PREFILL), (whole * (1 - share), svg.DECODE)]


def _said(wait: Wait) -> str:
    return (
        f"{fixed(wait.context_tokens)} tokens: {percent(wait.share.median)} of "
        f"{seconds(wait.total_s)} until the first token"
    )
