"""A month as its reader sets it in one cell: requests and prices, and whose prices they are."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from IPython.display import Markdown

from twohalves.formulas.ranges import fraction, not_negative
from twohalves.show.calculator import Start, spec
from twohalves.show.calculator.start import begin
from twohalves.show.calculator.words import dollars, exact_percent
from twohalves.show.markdown import say
from twohalves.show.numbers import counted

_MADE_UP = "illustrative, no provider's price"
_NUMBERS = ("requests", "uncached", "cached", "written", "write_share", "output", "machine_hour")


@dataclass(frozen=True, slots=True, kw_only=True)
class Month:
    """Requests and prices. Prices are illustrative unless both `source` and `date` are given."""

    requests: float
    """Requests a month, at least 0."""
    uncached: float
    """Dollars per million prompt tokens that are read in full."""
    cached: float
    """Dollars per million prompt tokens that come from cache."""
    written: float
    """Dollars per million that are read and written to the cache: instead, not on top."""
    write_share: float
    """Part of the tokens not found that is charged as written, a fraction."""
    output: float
    """Dollars per million tokens of answers, hidden reasoning included."""
    machine_hour: float
    """Dollars an hour of a machine of your own, used or idle."""
    source: str = ""
    """Whose prices, or the address of the page that lists them."""
    date: str = ""
    """When they were read there, as 2026-01-31."""

    def __post_init__(self) -> None:
        """Check what is no price, no count, no share, no date."""
        for name in _NUMBERS:
            value = getattr(self, name)
            if not isinstance(value, int | float):
                msg = f"{name} must be a number, got {value!r}"
                raise TypeError(msg)
            not_negative(**{name: value})
        fraction(write_share=self.write_share)
        if self.date and not _is_date(self.date):
            msg = f"date must be like 2026-01-31, got {self.date!r}"
            raise ValueError(msg)

    @property
    def whose(self) -> str:
        """Source and date, or that the prices are made up."""
        return f"{self.source}, {self.date}" if self.source and self.date else _MADE_UP

    def start(self) -> dict[str, Start]:
        """The month as the worksheet takes it, by the ids of its inputs."""
        return {
            "requests": Start(self.requests, "your month"),
            "price_uncached": Start(self.uncached, self.whose),
            "price_cached": Start(self.cached, self.whose),
            "price_written": Start(self.written, self.whose),
            "write_share": Start(self.write_share, self.whose),
            "price_output": Start(self.output, self.whose),
            "machine_price": Start(self.machine_hour, self.whose),
        }


def told(month: Month) -> Markdown:
    """What was set, in a few sentences, and what of it the worksheet questions or cannot use."""
    if month.source and month.date:
        whose = f"Prices of {month.source}, as of {month.date}."
    elif month.source or month.date:
        whose = "Illustrative prices: a price needs a source and a date, and one of them is empty."
    else:
        whose = "Illustrative prices, no provider's: no source, no date."
    written = "Writing to the cache costs nothing extra."
    if month.write_share:
        written = (
            f"Of the tokens not found {exact_percent(month.write_share)} are charged as written, "
            f"{dollars(month.written)} a million."
        )
    return say(
        f"{counted(month.requests, 'request')} a month. A million tokens: "
        f"{dollars(month.uncached)} read, {dollars(month.cached)} from cache, "
        f"{dollars(month.output)} written as answers. {written} A machine: "
        f"{dollars(month.machine_hour)} an hour. {whose}",
        *(f"> **Note** — {note}" for note in begin(spec("worksheet"), month.start(), ()).notes),
    )


def _is_date(text: str) -> bool:
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return True
