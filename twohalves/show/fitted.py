"""The fitted latency in words and tables: its numbers, its errors, and where it may be used."""

from __future__ import annotations

from collections.abc import Sequence

from IPython.display import Markdown

from twohalves.formulas import FittedLatency
from twohalves.runs import Run, fitting
from twohalves.runs.fitting import Compared, HeldOut
from twohalves.runs.material import Material, of_chapter, of_run
from twohalves.show.markdown import say, table
from twohalves.show.numbers import counted, fixed, from_to, percent, seconds, significant
from twohalves.stats import Interval
from twohalves.stats.bootstrap import LEAST_BLOCKS
from twohalves.stats.fit import BATCH

_THOUSAND = 1000
_MEANING = (
    ("t0_s", "once a request", 1),
    ("a_s", "each 1,000 prompt tokens", _THOUSAND),
    ("b_s", "the square of 1,000 prompt tokens", _THOUSAND**2),
    ("c_s", "each step of decode", 1),
    ("d_s", "each step, for 1,000 tokens of context", _THOUSAND),
)
"""Coefficient, what is paid for, and for how many of its units."""


def formulas(run: Run) -> Markdown:
    """Both curves with the run's numbers in them; k counts thousands of tokens."""
    found = fitting.fit(of_run(run))
    if found is None:
        return _no_curve(run)
    return say(
        "With $k$ for thousands of tokens, of the prompt in the first line and of the context "
        "in the second, your run says:",
        f"$$\\text{{seconds to the first token}} \\approx {_number(found.t0_s)} + "
        f"{_number(found.a_s * _THOUSAND)}\\,k + {_number(found.b_s * _THOUSAND**2)}\\,k^2$$",
        f"$$\\text{{milliseconds a step}} \\approx {_number(found.c_s * _THOUSAND)} + "
        f"{_number(found.d_s * _THOUSAND**2)}\\,k$$",
    )


def coefficients(run: Run) -> Markdown:
    """What each coefficient pays for, with its interval, beside the chapter's."""
    material = of_run(run)
    own, printed = fitting.fit(material), fitting.fit(of_chapter())
    if own is None:
        return _no_curve(run)
    between = fitting.intervals(material)
    rows = [
        [
            meaning,
            _cost(own, name, scale),
            _between(between[name], scale) if between else "–",
            "–" if printed is None else _cost(printed, name, scale),
        ]
        for name, meaning, scale in _MEANING
    ]
    caption = f"Run {run.id}. {_claimed(material, between)}{_stand_in(material)}"
    return table(["what is paid for", "yours", "95% interval", "chapter"], rows, caption)


def against_measured(run: Run) -> Markdown:
    """Measured totals of the run beside the crude model and the fitted curves."""
    material = of_run(run)
    found = fitting.compare(material)
    if not found:
        return _no_curve(run)
    return _compared(
        found,
        f"Run {run.id}: whole requests, medians. Both models took their numbers from these "
        f"lengths, so a small error proves little.{_stand_in(material)}",
    )


def chapter_against_measured() -> Markdown:
    """The same on the chapter's four streamed requests."""
    return _compared(
        fitting.compare(of_chapter()),
        "The chapter's streamed requests: its crude model with its two constants, and curves "
        "fitted on its two tables of this section.",
    )


def held_out(run: Run) -> Markdown:
    """How far both models miss lengths that they have not seen, between and beyond."""
    paragraphs = [
        _missed(whose, found)
        for whose, found in (
            ("your run", fitting.hold_out(of_run(run))),
            ("the chapter's tables", fitting.hold_out(of_chapter())),
        )
        if found is not None
    ]
    if len(paragraphs) < 2:
        few = "Your run holds too few lengths to leave one out: a curve needs three, and one more."
        paragraphs.insert(0, few)
    return say(
        *paragraphs,
        "Between lengths that were measured a curve may be read. Beyond the longest it is a guess.",
    )


def staircase(run: Run) -> Markdown:
    """Whether whole batches of 512 tokens show in the time to the first token."""
    own, printed = fitting.stairs(of_run(run)), fitting.stairs(of_chapter())
    batches = f"Prompts are read in batches of up to {fixed(BATCH)} tokens."
    if own is None:
        return say(f"{batches} Your run holds too few lengths to see whether whole ones are paid.")
    said = (
        f"{batches} If each were paid for whole, the time to the first token would climb in "
        f"stairs. Inner lengths left out are missed by {percent(own.smooth, 1)} with a smooth "
        f"curve and by {percent(own.stairs, 1)} with stairs, in the median."
    )
    return say(f"{said} {_verdict(own)}{_chapter_stairs(printed)}")


def _verdict(own: fitting.Stairs) -> str:
    if own.show and own.spread is not None:
        return (
            "**The staircase shows**: it predicts better by more than repeats differ, "
            f"which is {percent(own.spread, 1)}."
        )
    if own.stairs >= own.smooth:
        return "No stairs in your run: the smooth curve predicts at least as well."
    if own.spread is None:
        return "No length was repeated, so nobody can say whether that difference means anything."
    return (
        f"Repeats of one length differ by {percent(own.spread, 1)}, more than the stairs gain: "
        "they cannot be told from noise."
    )


def _chapter_stairs(printed: fitting.Stairs | None) -> str:
    if printed is None:
        return ""
    said = (
        f" On the chapter's table it is {percent(printed.smooth, 1)} smooth and "
        f"{percent(printed.stairs, 1)} with stairs"
    )
    if printed.stairs >= printed.smooth:
        return f"{said}."
    return f"{said}; it prints no spread of these rows, so nothing is claimed."


def _compared(found: Sequence[Compared], caption: str) -> Markdown:
    header = ["tokens in", "tokens out", "measured", "crude", "off by", "fitted", "off by"]
    rows = [
        [
            fixed(each.total.prompt_tokens),
            fixed(each.total.output_tokens),
            seconds(each.total.seconds),
            seconds(each.crude_s),
            off(each.crude_off),
            seconds(each.fitted_s),
            off(each.fitted_off),
        ]
        for each in found
    ]
    return table(header, rows, caption)


def _missed(whose: str, found: HeldOut) -> str:
    """One paragraph on lengths left out."""
    crude = max((each.crude_off for each in found.inner), key=abs)
    fitted = max((each.fitted_off for each in found.inner), key=abs)
    longest = found.longest
    return (
        f"**On {whose}** each of {counted(len(found.inner), 'inner length')}, left out and "
        f"predicted from the others, is missed by at most {percent(abs(fitted), 1)} with the "
        f"fitted curves and {percent(abs(crude), 1)} with the crude model. The longest, "
        f"{fixed(longest.total.prompt_tokens)} tokens, predicted from the shorter ones: fitted "
        f"{_direction(longest.fitted_off)}, crude {_direction(longest.crude_off)}."
    )


def _direction(off: float) -> str:
    return f"{percent(abs(off), 1)} too {'low' if off < 0 else 'high'}"


def off(fraction: float) -> str:
    """An error as a percentage with its sign, with a decimal where it is small."""
    size = percent(abs(fraction), 0 if abs(fraction) >= 0.1 else 1)
    if size == percent(0, 1):
        return size
    return f"{'−' if fraction < 0 else '+'}{size}"


def _number(value: float) -> str:
    return significant(value).replace(",", "{,}")


def _cost(fitted: FittedLatency, name: str, scale: float) -> str:
    return seconds(float(getattr(fitted, name)) * scale)


def _between(interval: Interval, scale: float) -> str:
    return from_to(interval.low * scale, interval.high * scale)


def _claimed(material: Material, between: dict[str, Interval] | None) -> str:
    """What stands behind the intervals, or why there are none."""
    count = len(material.blocks())
    blocks = counted(count, "block")
    if between is None:
        few = f"it takes {fixed(LEAST_BLOCKS)}"
        why = few if count < LEAST_BLOCKS else "drawn anew, too many lack a length"
        return f"From {blocks} no interval can be claimed: {why}."
    return (
        f"The intervals come from drawing the {blocks} again and again, each as a whole. With so "
        "few they are too narrow: the truth lies outside more often than 5% of the time."
    )


def _stand_in(material: Material) -> str:
    if not material.stands_in:
        return ""
    return " The run lacks a table of this section: rows of another one stand in for it."


def _no_curve(run: Run) -> Markdown:
    material = of_run(run)
    first = len({point.asked for point in material.first})
    steps = len({point.asked for point in material.steps})
    return say(
        f"Run {run.id} has times to the first token at {counted(first, 'prompt length')} and "
        f"decode at {counted(steps, 'length')}. The curves need three and two, so nothing is "
        "fitted."
    )
