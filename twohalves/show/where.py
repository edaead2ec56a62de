"""Section 31.2, the account: where the seconds of a request went, from two clocks."""

from __future__ import annotations

from dataclasses import dataclass

from IPython.display import SVG, Markdown

from twohalves.runs import Run, conditions
from twohalves.runs.derive import NS
from twohalves.runs.parts import Parts, middle, parts
from twohalves.show import svg
from twohalves.show.markdown import say, table
from twohalves.show.needs import needs
from twohalves.show.numbers import fixed, percent, seconds, significant
from twohalves.show.wall_clock import TTFT

_COLORS = {"prefill": svg.PREFILL, "decode": svg.DECODE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """One real request of a length: that of the median time, so that its parts add up."""

    tokens: int
    """Prompt length achieved."""
    parts: Parts
    """Where its time went."""


def accounts(run: Run) -> tuple[Account, ...]:
    """One request a length, shortest prompt first; lengths whose clocks do not say are left out.

    Raises:
        RunHasNoRows: no valid row of the experiment.
    """
    chosen = [middle(line.rows) for line in conditions(run, TTFT)]
    found = [(row.prompt_eval_count or 0, parts(row)) for row in chosen]
    return tuple(Account(tokens=tokens, parts=each) for tokens, each in found if each is not None)


@needs(TTFT)
def own_table(run: Run) -> Markdown:
    """Each part in its own column, in the order in which they happen, and their sum."""
    found = accounts(run)
    if not found:
        return _untold(run)
    names = list(dict.fromkeys(name for each in found for name in each.parts.named()))
    rows = [
        [
            fixed(each.tokens),
            *(_part(each.parts.named().get(name)) for name in names),
            _part(each.parts.wall_ns),
        ]
        for each in found
    ]
    caption = (
        f"Run {run.id}, milliseconds: of each length the request of median time, so that a line "
        "adds up. "
        "Load, prefill and decode are the server's counters; the first step comes from its time "
        "stamps, transport from the client's clock; the rest is what the server's total leaves."
        f"{_below_zero(found)}"
    )
    return table(["context tokens", *names, "together"], rows, caption)


def _below_zero(found: tuple[Account, ...]) -> str:
    """Why a part may be negative, if one is."""
    if any(ns < 0 for each in found for ns in each.parts.named().values()):
        return " A part a little below zero is where two clocks meet: cutting it off would lie."
    return ""


def _part(ns: int | None) -> str:
    """Milliseconds, all of one unit so that they can be added by eye."""
    if ns is None:
        return "–"
    return f"{'−' if ns < 0 else ''}{significant(1000 * abs(ns) / NS)}"


def _share(each: Account) -> float:
    return each.parts.outside_both_ns / each.parts.wall_ns


def _little(share: float) -> str:
    """A share that may be too small for its decimals."""
    return "less than 0.1%" if 0 < share < 0.0005 else percent(share, 1)


@needs(TTFT)
def bars(run: Run) -> SVG | Markdown:
    """One bar a length, each as wide as the page: the parts as shares of their own request."""
    found = accounts(run)
    if not found:
        return _untold(run)
    rows = [(_said(each), _shares(each)) for each in found]
    return SVG(svg.bars(rows, "Shares of each request, in the order they happen."))


def _shares(each: Account) -> list[tuple[float, str]]:
    """What belongs to neither half is gray. A part below 0 has no width."""
    shown = {name: max(0, ns) for name, ns in each.parts.named().items()}
    whole = sum(shown.values())
    return [(ns / whole, _COLORS.get(name, svg.FAINT)) for name, ns in shown.items()]


def _said(each: Account) -> str:
    whole = each.parts.wall_ns
    return (
        f"{fixed(each.tokens)} tokens, {seconds(whole / NS)}: "
        f"prefill {percent(each.parts.prefill_ns / whole, 1)}, "
        f"decode {percent(each.parts.decode_ns / whole, 1)}, "
        f"neither {_little(_share(each))}"
    )


def _untold(run: Run) -> Markdown:
    return say(
        f"> **Note** — The server of run {run.id} does not tell its total time, so a request "
        "cannot be taken apart."
    )
