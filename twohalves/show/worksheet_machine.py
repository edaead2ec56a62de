"""Seconds as hours of a machine: the chapter's figure, and a machine of one's own beside a bill."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from IPython.display import Markdown

from twohalves.formulas import machine_hours
from twohalves.runs.reference import claim
from twohalves.show.calculator import RateSet, Start, outcome
from twohalves.show.calculator.spec import Values, spec
from twohalves.show.calculator.words import amount, dollars, number
from twohalves.show.markdown import say, table
from twohalves.show.numbers import fixed, percent, seconds
from twohalves.show.worksheet_own import values
from twohalves.show.worksheet_rates import widget_curve

MONTH_HOURS = 365.25 * 24 / 12
"""Hours of a mean month."""
_AT_ONCE = (1, 4, 16)
"""Throughputs to compare, chosen here; the reader's own joins them."""


def widget_request() -> tuple[float, float, float]:
    """The request that the chapter's widget begins with: tokens in, tokens out, tokens cached."""
    presets = spec("worksheet")["presets"]
    [given] = [each["values"] for each in presets if "rates" in each["values"]]
    return (
        given["prompt_tokens"],
        given["output_tokens"],
        given["prompt_tokens"] * given["hit_rate"],
    )


def of_the_widget() -> Markdown:
    """The chapter's sentence under its widget, computed."""
    curve, (read, written, cached) = widget_curve(), widget_request()
    total = curve.total_s(read, written, cached)
    hours = machine_hours(total, claim("ws_requests"))
    return say(
        f"The chapter's widget, {fixed(read)} tokens in and {fixed(written)} out with "
        f"{percent(cached / read)} from cache, says {fixed(total, 2)} s a request, "
        f"{percent(curve.ttft_s(read, cached) / total)} of it prefill. The cache saves "
        f"{fixed(curve.saved_s(cached), 2)} s by skipping {fixed(cached)} tokens. "
        f"{fixed(claim('ws_requests'))} such requests, one at a time, keep a machine busy for "
        f"**{fixed(hours)} hours**. A month has {fixed(MONTH_HOURS)}: so it takes more than one "
        "machine, or more than one request at a time."
    )


def own(rates: Sequence[RateSet], start: Mapping[str, Start]) -> Markdown:
    """Hours, machines and dollars of the reader's month, by how many users are served at once."""
    given = values(rates, start)
    price = float(given["machine_price"])
    rows = []
    for at_once in sorted({*_AT_ONCE, float(given["at_once"])}):
        results = outcome("worksheet", {**given, "at_once": at_once}, rates).results
        hours, cost = results["own_hours"] or 0.0, results["own_cost"] or 0.0
        machines = math.ceil(hours / MONTH_HOURS)
        whole = machines * MONTH_HOURS
        rows.append(
            [
                number(at_once),
                amount(hours),
                dollars(cost),
                fixed(machines),
                dollars(whole * price),
                _busy(hours / whole) if whole else "–",
            ]
        )
    caption = (
        f"Your request and month at {seconds(_total(given, rates))} each, {dollars(price)} an "
        f"hour. A whole month is {fixed(MONTH_HOURS)} hours. “Busy” is the part of the paid hours "
        "in which something is computed, if the load never varied."
    )
    header = ["at once", "hours used", "they cost", "machines", "whole months cost", "busy"]
    return table(header, rows, caption)


def beside_the_bill(rates: Sequence[RateSet], start: Mapping[str, Start]) -> Markdown:
    """How many must be served at once for the hours to cost what the tokens do."""
    results = outcome("worksheet", {**values(rates, start), "at_once": 1.0}, rates).results
    own_cost, tokens = results["own_cost"] or 0.0, results["cost_total"] or 0.0
    if not tokens:
        return say("At these prices tokens are free, and no machine can be cheaper than that.")
    needed = own_cost / tokens
    if needed <= 1:
        return say(
            f"Your tokens cost {dollars(tokens)} a month, the hours used {dollars(own_cost)}, "
            "even one request at a time."
        )
    return say(
        f"Your tokens cost {dollars(tokens)} a month, the hours {dollars(own_cost)} if requests "
        f"are served one at a time. They cost the same once the machine's throughput is "
        f"**{number(needed)} times** that of one user."
    )


def _busy(part: float) -> str:
    """Never none of something that is little."""
    return "&lt;1%" if 0 < part < 0.005 else percent(part)


def _total(given: Values, rates: Sequence[RateSet]) -> float | None:
    return outcome("worksheet", given, rates).results["total_s"]
