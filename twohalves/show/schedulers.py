"""Section 31.4, who waits for whom: three ways to share slots, drawn and counted in steps.

Nothing here was measured. A step is a step, whatever it takes; what the literature reports of
real servers is cited, and stands apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from IPython.display import SVG, Markdown

from twohalves.formulas import Stay, continuous, one_at_a_time, static
from twohalves.runs import reference
from twohalves.runs.reference import claim
from twohalves.show import svg
from twohalves.show.given import whole
from twohalves.show.markdown import say, table
from twohalves.show.numbers import counted, fixed, percent, times

_LEFT, _WIDTH, _ROW, _GAP = 8.0, 600, 22.0, 34.0


def _ways(answers: Sequence[int], slots: int) -> dict[str, tuple[Stay, ...]]:
    return {
        "none": one_at_a_time(answers),
        "static": static(answers, slots),
        "continuous": continuous(answers, slots),
    }


def _check(answers: Sequence[int], slots: int) -> None:
    whole("slots", slots, most=10_000)
    whole("the number of answers", len(answers))
    for answer in answers:
        whole("an answer", answer)


def _steps(stays: Sequence[Stay]) -> int:
    return max(stay.left for stay in stays)


def picture(answers: Sequence[int], slots: int) -> SVG:
    """Slots over steps, static above continuous: who sits where, and which steps serve nobody.

    Args:
        answers: tokens of each answer, in the order of arrival.
        slots: requests that share a step.
    """
    _check(answers, slots)
    ways = {name: way for name, way in _ways(answers, slots).items() if name != "none"}
    scale = (_WIDTH - 2 * _LEFT) / max(_steps(stays) for stays in ways.values())
    parts: list[str] = []
    told = []
    top = 0.0
    for name, stays in ways.items():
        said = f"{name}: {fixed(_steps(stays))} steps, {percent(_busy(answers, stays, slots))} used"
        parts += [svg.label(_LEFT, top + 20, said), *_drawn(stays, top + 28, scale)]
        told.append(said)
        top += _GAP + slots * _ROW
    title = f"{counted(len(answers), 'answer')} in {counted(slots, 'slot')}. {'; '.join(told)}."
    return SVG(svg.drawing(_WIDTH, round(top), title, parts))


def _drawn(stays: Sequence[Stay], top: float, scale: float) -> list[str]:
    """A box for each answer, its length on it, and a line while its slot only waits."""
    parts = []
    for stay in stays:
        left, y = _LEFT + stay.start * scale, top + stay.slot * _ROW
        width = (stay.written - stay.start) * scale
        parts.append(svg.box(left, y, max(1.0, width - 1), _ROW - 4, svg.DECODE))
        length = fixed(stay.written - stay.start)
        if width > 12 * len(length):
            parts.append(
                svg.label(left + width / 2, y + 14, length, fill=svg.ON_COLOR, anchor="middle")
            )
        if stay.left > stay.written:
            middle = y + (_ROW - 4) / 2
            parts.append(svg.stroke([(left + width, middle), (_LEFT + stay.left * scale, middle)]))
    return parts


def _busy(answers: Sequence[int], stays: Sequence[Stay], slots: int) -> float:
    """The part of all places in all steps in which a token was written."""
    return sum(answers) / (_steps(stays) * slots)


def in_steps(answers: Sequence[int], slots: int) -> Markdown:
    """What each way does to throughput, to an answer once it is its turn, and to the wait."""
    _check(answers, slots)
    rows = []
    for name, stays in _ways(answers, slots).items():
        rows.append(
            [
                name,
                fixed(_steps(stays)),
                fixed(sum(answers) / _steps(stays), 2),
                fixed(fmean(stay.left - stay.start for stay in stays), 1),
                fixed(fmean(stay.left for stay in stays), 1),
            ]
        )
    header = ["batching", "steps for all", "tokens a step", "in its slot", "waiting included"]
    shortest = f"{fixed(min(answers))} to " if min(answers) < max(answers) else ""
    caption = (
        f"{counted(len(answers), 'answer')} of {shortest}{counted(max(answers), 'token')}, "
        f"{counted(slots, 'slot')}, all there at the start. The last two columns are the "
        "mean of an answer, in steps. Counted, not measured."
    )
    return table(header, rows, caption)


def hostage(answers: Sequence[int], slots: int) -> Markdown:
    """How long the shortest answer of a batch is held by the longest, and what ends that."""
    _check(answers, slots)
    stays = static(answers, slots)
    held = max(stays, key=lambda stay: stay.left - stay.written)
    written, waited = held.written - held.start, held.left - held.written
    if not waited:
        return say(_nobody_held(answers, slots))
    return say(
        f"With static batching an answer of {counted(written, 'token')} was finished and then "
        f"stayed for {counted(waited, 'step')} more, because another of its batch was still being "
        f"written. With continuous batching it leaves, and "
        f"{_gained(_steps(stays), _steps(continuous(answers, slots)))}"
    )


def _nobody_held(answers: Sequence[int], slots: int) -> str:
    if slots == 1:
        return "With one slot nobody shares a step, so nobody is held. Give more slots."
    if len(set(answers)) > 1:
        return "Each batch has answers of one length, so nobody is held. Change one of them."
    return "These answers are all of one length, so nobody is held. Change one of them."


def _gained(before: int, after: int) -> str:
    if after == before:
        return (
            f"yet all are done after the same {counted(after, 'step')}: nobody waited for its "
            "place, or the last answer is what takes so long."
        )
    return (
        f"the same answers are done in {fixed(after)} steps instead of {fixed(before)}: "
        f"{times(before / after)} the throughput, with the same slots and the same steps."
    )


def ranks() -> Markdown:
    """The chapter's table in ranks, 1 the best; no figure in it was measured."""
    rows = [
        [
            row.scheduler,
            f"{fixed(row.throughput_rank)}: {row.throughput}",
            f"{fixed(row.latency_rank)}: {row.latency}",
        ]
        for row in reference.batching()
    ]
    caption = (
        "Ranks as the chapter gives them, 1 is best. Close to best: a little worse than without "
        "batching, and far better than static."
    )
    return table(["batching", "throughput", "latency of a request"], rows, caption)


def cited() -> Markdown:
    """What two papers report, with their names: the chapter measured neither."""
    low, high = claim("vllm_gain_low"), claim("vllm_gain_high")
    return say(
        "> **Note** — Nobody measured this here, nor did the chapter: a laptop that serves one "
        "user at a time is the wrong instrument. What the chapter cites: "
        f"{_paper('yu2022')} report for Orca a throughput higher by an order of magnitude, some "
        f"{fixed(claim('orca_gain'))} times, than with naive batching at the same latency. "
        f"{_paper('kwon2023')} report for vLLM {fixed(low)} to {fixed(high)} times the throughput "
        "of the systems before it, by continuous batching and a cache in pages together. These are "
        "their authors' figures on their machines; the papers stand among the "
        "[references](../chapters/references.qmd)."
    )


def _paper(key: str) -> str:
    """First author and year, led to the page of references."""
    paper = reference.papers()[key]
    return f"{paper.authors.split(',')[0]} and others ({paper.year})"
