"""Where filling the cache costs extra: from which hit rate on a cache saves anything at all."""

from __future__ import annotations

from dataclasses import replace

from IPython.display import Markdown

from twohalves.formulas import Prices, Traffic, bill, hit_rate_that_pays, saved_by_cache
from twohalves.show.calculator.spec import spec
from twohalves.show.calculator.words import dollars, exact_percent, number
from twohalves.show.calculator.worksheet import prices_of
from twohalves.show.markdown import say, table
from twohalves.show.numbers import percent
from twohalves.show.worksheet_bill import month

_SHEET = "With a charge for writes"


def by_hit_rate() -> Markdown:
    """The chapter's month with every miss written at a quarter more, by hit rate."""
    sheet, share = charged()
    pays = _pays()
    rows = []
    for rate in sorted({0.0, pays, month().hit_rate}):
        traffic = _month(rate)
        made, saved = bill(traffic, sheet), saved_by_cache(traffic, sheet)
        rows.append(
            [
                percent(rate, 0 if rate != pays else 1),
                dollars(made.cached),
                dollars(made.written),
                dollars(made.output),
                dollars(made.total),
                dollars(0.0 if rate == pays else saved),
            ]
        )
    caption = (
        f"The chapter's month, {exact_percent(share)} of the tokens not found written at "
        f"{number(sheet.written / sheet.uncached)} times the price of reading them. Chosen here, "
        f"no provider's prices. Without a cache: {dollars(bill(month().uncached, sheet).total)}."
    )
    header = ["hit rate", "cached", "written", "output", "bill", "saved by the cache"]
    return table(header, rows, caption)


def when_it_pays() -> Markdown:
    """The lowest hit rate that pays, as a rate and in tokens written for one that is found."""
    sheet, _ = charged()
    pays = _pays()
    gain = saved_by_cache(_month(0), sheet)
    return say(
        f"**With such prices a cache that is never hit costs {dollars(-gain)} a month.** It pays "
        f"from a hit rate of {percent(pays, 1)}, which is one token found for every "
        f"{number(round((1 - pays) / pays, 1))} written."
    )


def charged() -> tuple[Prices, float]:
    """The price sheet of data/worksheet.json that charges writes, and the share it charges."""
    sheets = spec("worksheet")["price_sheets"]
    values = next(each["values"] for each in sheets if each["label"] == _SHEET)
    return prices_of(values), values["write_share"]


def _month(hit_rate: float) -> Traffic:
    _, share = charged()
    return replace(month(hit_rate), write_share=share)


def _pays() -> float:
    """The lowest hit rate that pays; on this sheet, where a hit costs a tenth, there is one."""
    return hit_rate_that_pays(*charged()) or 0.0
