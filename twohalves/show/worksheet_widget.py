"""Where the chapter's widget parts from the chapter's own figures, computed one by one."""

from __future__ import annotations

import statistics
from dataclasses import replace

from IPython.display import Markdown

from twohalves.formulas import bill, machine_hours
from twohalves.runs import reference
from twohalves.runs.reference import claim
from twohalves.show.calculator.words import dollars
from twohalves.show.markdown import fold
from twohalves.show.numbers import fixed, percent, seconds
from twohalves.show.worksheet_bill import month, prices
from twohalves.show.worksheet_machine import widget_request
from twohalves.show.worksheet_rates import widget_curve

_PROMPT_STEP, _OUTPUT_STEP = 100, 16
"""Tokens from one place of the widget's sliders to the next; each begins at one step."""


def disagreements() -> Markdown:
    """A fold with all of them."""
    items = [_constants(), _places(), _example(), _nothing_cached(), _measured(), _numbers()]
    return fold(
        "Where the chapter's widget and its figures part",
        "The chapter's page has a widget for the time, with sliders of its own. This worksheet "
        "departs from it where it departs from the chapter:",
        "\n".join(f"- {item}" for item in items),
    )


def _constants() -> str:
    rows = reference.prefill_decode()
    read = statistics.median(row.prefill_tok_s for row in rows)
    written = statistics.median(row.decode_tok_s for row in rows)
    return (
        f"**Constants.** The crude model of 31.1 reads {fixed(claim('prefill_rate_round'))} "
        f"tokens a second, the widget {fixed(claim('widget_prefill_rate'))}. The second is the "
        f"median of the six printed rates, {fixed(read)}. The {fixed(claim('widget_decode_rate'))} "
        f"tokens that both write are the pace after a short prompt; that median is "
        f"{fixed(written)}."
    )


def _places() -> str:
    read, written, cached = widget_request()
    low, high = _neighbors(written, _OUTPUT_STEP)
    begun, snapped = (_hours(read, each, cached) for each in (written, high))
    return (
        f"**Where it begins.** At {fixed(written)} tokens out, on a slider that knows "
        f"{fixed(low)} and {fixed(high)}. At {fixed(high)} the {fixed(begun)} machine-hours "
        f"become {fixed(snapped)}."
    )


def _example() -> str:
    traffic = month()
    read = round(traffic.prompt_tokens / _PROMPT_STEP) * _PROMPT_STEP
    near = [
        bill(replace(traffic, prompt_tokens=read, output_tokens=written), prices()).total
        for written in _neighbors(traffic.output_tokens, _OUTPUT_STEP)
    ]
    return (
        f"**Its own example.** {fixed(traffic.prompt_tokens)} in and "
        f"{fixed(traffic.output_tokens)} out cannot be set. The nearest are {fixed(read)} in with "
        f"{' or '.join(map(fixed, _neighbors(traffic.output_tokens, _OUTPUT_STEP)))} out, which "
        f"would cost {' or '.join(map(dollars, near))} instead of "
        f"{dollars(bill(traffic, prices()).total)}."
    )


def _nothing_cached() -> str:
    warm = claim("widget_warm_s")
    return (
        f"**A hit rate of zero.** It still adds the {seconds(warm)} of a warm prefill, so a cache "
        "that finds nothing is slower than none, and the sentence below the bars keeps silent on "
        "the loss. Here nothing cached costs nothing."
    )


def _measured() -> str:
    curve = widget_curve()
    off = [
        (row, curve.total_s(row.context_tokens, claim("bar_output")) / row.total_s - 1)
        for row in (reference.ttft()[0], reference.ttft()[-1])
    ]
    (short, low), (long, high) = off
    return (
        f"**A lower bound, at both ends.** The widget holds its rates fixed, and decode slows "
        f"behind a long prompt. So the chapter calls its long end a lower bound: for "
        f"{fixed(long.context_tokens)} tokens, the most that were measured, it says "
        f"{percent(-high)} less than they took, and beyond them it only extrapolates. But for "
        f"{fixed(short.context_tokens)} tokens it says {percent(-low)} less as well, since each "
        "request pays for something besides its tokens."
    )


def _numbers() -> str:
    return (
        f"**How many numbers.** 31.1 promises {fixed(claim('worksheet_numbers'))} of them and one "
        f"multiplication. It takes {fixed(claim('price_count'))} prices besides, "
        f"{fixed(claim('price_count'))} products and a sum."
    )


def _neighbors(value: float, step: int) -> tuple[int, int]:
    low = int(value // step) * step
    return low, low + step


def _hours(read: float, written: float, cached: float) -> float:
    return machine_hours(widget_curve().total_s(read, written, cached), claim("ws_requests"))
