"""Section 31.6: whose rates the worksheet computes with, how far off they are, where it begins."""

from __future__ import annotations

from collections.abc import Sequence

from IPython.display import Markdown

from twohalves.formulas import FittedLatency, constant_rates
from twohalves.measure.counting import Counted
from twohalves.measure.reply import Answered
from twohalves.runs import Run, fitting, reuse
from twohalves.runs.material import Total, of_chapter, of_run
from twohalves.runs.reference import claim
from twohalves.show.calculator import RateSet, Start
from twohalves.show.fitted import off
from twohalves.show.markdown import fold, say, table
from twohalves.show.numbers import counted as with_noun
from twohalves.show.numbers import fixed, seconds

OWN, FITTED, CONSTANTS = "own", "chapter_fitted", "chapter_constants"
"""Ids of the three sets of rates."""

_HOW = {
    "told": "counted: the traffic of section 31.5 with the stable part on top",
    "left out": "counted: the traffic of section 31.5 with the stable part on top",
    "timed": "estimated from the times of the traffic of section 31.5, the stable part on top",
}
"""From where the hit rate is known."""


def widget_curve() -> FittedLatency:
    """The three constants that the chapter's widget holds fixed."""
    return constant_rates(
        claim("widget_prefill_rate"), claim("widget_decode_rate"), claim("widget_warm_s")
    )


def choices(run: Run) -> list[RateSet]:
    """The run fitted, the chapter's tables fitted, the chapter's constants.

    A run of too few lengths cannot be fitted and is left out.
    """
    return [rates for rates, _ in _sets(run)]


def start(counted: Counted, answered: Answered, run: Run) -> dict[str, Start]:
    """What was counted and measured, in place of the worksheet's defaults.

    The hit rate is left out where the run cannot tell it.

    Args:
        counted: the reader's request.
        answered: the one answer to it.
        run: whose traffic gives the hit rate, and whose rates are chosen.
    """
    parts = with_noun(len(counted.parts), "part")
    cut = ", cut at its limit" if answered.done_reason == "length" else ""
    found = {
        "prompt_tokens": Start(
            counted.prompt_tokens,
            f"counted by {counted.model}: your request in {parts}, and its template",
        ),
        "output_tokens": Start(
            answered.output_tokens, f"counted by {answered.model}: the one answer above{cut}"
        ),
    }
    hit_rate = reuse.hit_rate(run, "stable_top")
    if hit_rate is not None:
        found["hit_rate"] = Start(round(hit_rate.share, 4), f"{_HOW[hit_rate.how]}, run {run.id}")
    if fitting.fit(of_run(run)) is None:
        why = "the chapter's widget, since your run has too few lengths to be fitted"
        return found | {"rates": Start(CONSTANTS, why)}
    return found | {"rates": Start(OWN, f"fitted to the run {run.id}")}


def errors(run: Run) -> Markdown:
    """How far off each set of rates is at its ends, and on every request of its source in a fold.

    Args:
        run: whose requests the reader's own rates are held against.
    """
    header = ["rates", "shortest, tokens", "off by", "longest, tokens", "off by"]
    caption = (
        "Each set of rates on whole requests of its own source, without a cache. What was fitted "
        "to a request is near it; that proves little."
    )
    return say(
        table(header, [_ends(*each) for each in _sets(run)], caption).data,
        fold("On every request", _every_request(run).data).data,
    )


def _ends(rates: RateSet, totals: Sequence[Total]) -> list[str]:
    """The shortest and the longest request, each with how far the rates are off there."""
    ordered = sorted(totals, key=lambda total: total.prompt_tokens)
    told = [
        (fixed(total.prompt_tokens), off(fitting.off(rates.curve, total)))
        for total in (ordered[0], ordered[-1])
    ]
    return [rates.label, *told[0], *told[1]]


def _every_request(run: Run) -> Markdown:
    rows = [
        [
            rates.label,
            fixed(total.prompt_tokens),
            fixed(total.output_tokens),
            seconds(total.seconds),
            seconds(rates.curve.total_s(total.prompt_tokens, total.output_tokens)),
            off(fitting.off(rates.curve, total)),
        ]
        for rates, totals in _sets(run)
        for total in totals
    ]
    header = ["rates", "tokens in", "tokens out", "measured", "by these rates", "off by"]
    caption = f"Those of the run {run.id}, and the chapter's four streamed ones."
    return table(header, rows, caption)


def _sets(run: Run) -> list[tuple[RateSet, Sequence[Total]]]:
    """Each set of rates, and what its source measured."""
    own, printed = of_run(run), of_chapter()
    given = (
        (OWN, "your run", f"fitted, run {run.id}", fitting.fit(own), own.totals),
        (
            FITTED,
            "the chapter's tables",
            "fitted, section 31.2",
            fitting.fit(printed),
            printed.totals,
        ),
        (CONSTANTS, "the chapter's widget", _constants(), widget_curve(), printed.totals),
    )
    return [
        (_rates(name, label, source, curve, totals), totals)
        for name, label, source, curve, totals in given
        if curve is not None
    ]


def _constants() -> str:
    prefill, decode = fixed(claim("widget_prefill_rate")), fixed(claim("widget_decode_rate"))
    return (
        f"{prefill} tokens a second in, {decode} out, {seconds(claim('widget_warm_s'))} for a "
        "cached prompt"
    )


def _rates(
    name: str, label: str, source: str, curve: FittedLatency, totals: Sequence[Total]
) -> RateSet:
    trust = fitting.trust(curve, totals)
    return RateSet(
        id=name,
        label=label,
        source=source,
        curve=curve,
        shortest=trust.shortest,
        longest=trust.longest,
        off=trust.off,
        requests=trust.requests,
    )
