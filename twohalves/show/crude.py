"""The crude latency model: two rates, two divisions, and what it leaves out."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from IPython.display import Markdown

from twohalves.formulas import Latency, constant_rates, crude_latency
from twohalves.runs import Condition, Run, reference
from twohalves.runs.reference import claim
from twohalves.show.calculator import RateSet
from twohalves.show.markdown import say, table
from twohalves.show.numbers import fixed, percent, seconds, significant
from twohalves.show.rates import lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """The model's two constants, and where they come from."""

    prefill_tok_s: float
    """Prompt tokens per second."""
    decode_tok_s: float
    """Output tokens per second."""
    source: str
    """Which run, in a few words."""
    shortest: int | None = None
    """Tokens of the shortest prompt that they were taken from."""
    longest: int | None = None
    """Tokens of the longest."""

    def predict(self, prompt_tokens: float, output_tokens: float) -> Latency:
        """The model's answer for one request."""
        return crude_latency(prompt_tokens, output_tokens, self.prefill_tok_s, self.decode_tok_s)

    def to_choose(self, name: str, label: str) -> RateSet:
        """The constants as a calculator offers them."""
        return RateSet(
            id=name,
            label=label,
            source=self.source,
            curve=constant_rates(self.prefill_tok_s, self.decode_tok_s),
            shortest=self.shortest,
            longest=self.longest,
        )


def own_rates(run: Run) -> Rates:
    """The run's constants: the median over its rows of each row's median rate."""
    rows = lines(run)
    return Rates(
        prefill_tok_s=statistics.median(line.prefill_rate.median for line in rows),
        decode_tok_s=statistics.median(line.decode_rate.median for line in rows),
        source=f"run {run.id}",
        shortest=round(rows[0].prompt_tokens.median),
        longest=round(rows[-1].prompt_tokens.median),
    )


def chapter_rates() -> Rates:
    """The chapter's constants, as it rounds them."""
    return Rates(
        prefill_tok_s=claim("prefill_rate_round"),
        decode_tok_s=claim("decode_rate_round"),
        source="the chapter",
        shortest=reference.prefill_decode()[0].prompt_tokens,
        longest=reference.prefill_decode()[-1].prompt_tokens,
    )


def choices(run: Run) -> list[RateSet]:
    """The reader's constants and the chapter's, for the sliders."""
    return [
        own_rates(run).to_choose("own", "your run"),
        chapter_rates().to_choose("chapter", "the chapter's round figures"),
    ]


def formula(rates: Rates) -> Markdown:
    """The model with its constants in it; the first fraction is prefill, the second decode."""
    prefill, decode = significant(rates.prefill_tok_s), significant(rates.decode_tok_s)
    return say(
        "$$\\text{seconds} \\approx "
        f"\\frac{{\\text{{prompt tokens}}}}{{\\text{{{prefill}}}}} + "
        f"\\frac{{\\text{{output tokens}}}}{{\\text{{{decode}}}}}$$"
    )


def predicted(line: Condition, rates: Rates) -> Latency:
    """The model's answer for one measured condition."""
    return rates.predict(line.prompt_tokens.median, line.output_tokens.median)


def against_measured(run: Run) -> Markdown:
    """Predicted against measured totals, one line a prompt length."""
    rates = own_rates(run)
    rows = []
    for line in lines(run):
        guess, truth = predicted(line, rates).total_s, line.total_s.median
        rows.append(
            [
                fixed(line.prompt_tokens.median),
                fixed(line.output_tokens.median),
                seconds(guess),
                seconds(truth),
                f"{_sign(guess - truth)}{seconds(abs(guess - truth))}",
                f"{_sign(guess - truth)}{percent(abs(guess / truth - 1), 1)}",
            ]
        )
    header = ["tokens in", "tokens out", "model", "measured", "off by", "in percent"]
    return table(header, rows, f"Run {run.id}: the crude model on its own rates, whole requests.")


def _sign(difference: float) -> str:
    return "−" if difference < 0 else "+"


def error(run: Run) -> Markdown:
    """Where the model errs most on the reader's rows, and on the chapter's."""
    rates = own_rates(run)
    worst = max(lines(run), key=lambda line: abs(_off(line, rates)))
    direction = "too low" if _off(worst, rates) < 0 else "too high"
    row = reference.ttft()[-1]
    total = chapter_rates().predict(row.context_tokens, claim("bar_output")).total_s
    return say(
        f"On your rows the model is furthest off at {fixed(worst.prompt_tokens.median)} tokens: "
        f"{percent(abs(_off(worst, rates)), 1)} {direction}. On the chapter's own figures it says "
        f"{fixed(total, 2)} s for {fixed(row.context_tokens)} tokens in and "
        f"{fixed(claim('bar_output'))} out, where {fixed(row.total_s, 2)} s were measured: "
        f"{percent(1 - total / row.total_s)} too low."
    )


def _off(line: Condition, rates: Rates) -> float:
    return predicted(line, rates).total_s / line.total_s.median - 1
