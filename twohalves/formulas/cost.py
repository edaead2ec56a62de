"""What a month of requests costs: tokens times prices, or machine-hours times a price.

Tokens of the prompt are billed once each, at one of three prices: read from cache, written to
the cache, or neither. One flat price holds for every token of a kind; a provider's price tiers
are not modeled.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from twohalves.formulas.ranges import fraction, not_negative, positive

_MILLION = 1_000_000
_HOUR_S = 3600
_ALIKE = 1e-12
"""Prices are decimals: what binary arithmetic leaves of a difference that is none is below this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """A month of equal requests."""

    prompt_tokens: float
    """Tokens read a request, at least 0."""
    output_tokens: float
    """Tokens written a request, at least 0; hidden reasoning included."""
    hit_rate: float
    """Part of the prompt tokens that comes from cache, a fraction."""
    write_share: float
    """Part of the other prompt tokens that the provider charges as a cache write, a fraction."""
    requests: float
    """Requests a month, at least 0."""

    def __post_init__(self) -> None:
        """Check the ranges."""
        not_negative(
            prompt_tokens=self.prompt_tokens,
            output_tokens=self.output_tokens,
            requests=self.requests,
        )
        fraction(hit_rate=self.hit_rate, write_share=self.write_share)

    @property
    def uncached(self) -> Traffic:
        """The same requests without a cache: nothing is read from it, nothing written."""
        return replace(self, hit_rate=0, write_share=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Dollars per million tokens of each kind, at least 0."""

    uncached: float
    """Prompt tokens that are read and not kept."""
    cached: float
    """Prompt tokens that come from cache."""
    written: float
    """Prompt tokens that are read and written to the cache: instead of `uncached`, not on top."""
    output: float
    """Tokens of the answer."""

    def __post_init__(self) -> None:
        """Check that none is negative."""
        not_negative(**{f"the price {name}": getattr(self, name) for name in self.__slots__})

    def missed(self, write_share: float) -> float:
        """Dollars per million prompt tokens that the cache did not hold, on average."""
        return self.uncached + self.surcharge(write_share)

    def surcharge(self, write_share: float) -> float:
        """What of it is the charge for writing; below 0 where a written token is cheaper."""
        return write_share * (self.written - self.uncached)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """A month's tokens and dollars, line by line."""

    uncached_tokens: float
    """Prompt tokens read and not kept."""
    cached_tokens: float
    """Prompt tokens from cache."""
    written_tokens: float
    """Prompt tokens written to the cache."""
    output_tokens: float
    """Tokens of the answers."""
    uncached: float
    """Dollars."""
    cached: float
    """Dollars."""
    written: float
    """Dollars."""
    output: float
    """Dollars."""

    @property
    def input(self) -> float:
        """Dollars for all prompt tokens."""
        return self.uncached + self.cached + self.written

    @property
    def total(self) -> float:
        """Dollars for everything."""
        return self.input + self.output


def bill(traffic: Traffic, prices: Prices) -> Bill:
    """Multiply the worksheet out: each kind of token times its price, section 31.6.

    The chapter's example is $712 + $107 + $424:

    >>> month = Traffic(prompt_tokens=890, output_tokens=53, hit_rate=0.6, write_share=0,
    ...                 requests=2_000_000)
    >>> sheet = Prices(uncached=1.00, cached=0.10, written=1.00, output=4.00)
    >>> lines = bill(month, sheet)
    >>> [round(line) for line in (lines.uncached, lines.cached, lines.output, lines.total)]
    [712, 107, 424, 1243]
    >>> round(bill(month.uncached, sheet).total)
    2204
    """
    prompt = traffic.requests * traffic.prompt_tokens
    missed = prompt * (1 - traffic.hit_rate)
    counts = {
        "uncached": missed * (1 - traffic.write_share),
        "cached": prompt * traffic.hit_rate,
        "written": missed * traffic.write_share,
        "output": traffic.requests * traffic.output_tokens,
    }
    return Bill(
        **{f"{kind}_tokens": count for kind, count in counts.items()},
        **{kind: count / _MILLION * getattr(prices, kind) for kind, count in counts.items()},
    )


def saved_by_cache(traffic: Traffic, prices: Prices) -> float:
    """Dollars a month less than without a cache; below 0 where writes cost more than hits save.

    A prompt token costs h * cached + (1 - h) * missed instead of uncached. Exactly 0 where the
    two are one price.
    """
    missed, extra = prices.missed(traffic.write_share), prices.surcharge(traffic.write_share)
    gain = traffic.hit_rate * (missed - prices.cached) - extra
    if abs(gain) <= _ALIKE * (prices.uncached + prices.cached + prices.written):
        return 0.0
    return traffic.requests * traffic.prompt_tokens / _MILLION * gain


def saved_by_hit_rate(traffic: Traffic, prices: Prices, hit_rate: float) -> float:
    """Dollars a month less at a higher hit rate; 0 if the traffic has it already.

    Below 0 where a token from cache costs more than one that is read.

    Args:
        traffic: as it is.
        prices: of the month.
        hit_rate: to be reached, a fraction.
    """
    more = max(0.0, hit_rate - traffic.hit_rate)
    prompt = traffic.requests * traffic.prompt_tokens
    return prompt / _MILLION * more * (prices.missed(traffic.write_share) - prices.cached)


def hit_rate_that_pays(prices: Prices, write_share: float) -> float | None:
    """The hit rate from which a cache costs no more than none, a fraction.

    h * cached + (1 - h) * missed = uncached, where `missed` includes the charge for writes.

    Args:
        prices: of the month.
        write_share: part of the tokens not found that is charged as a write, a fraction.

    Returns:
        0 where writes cost nothing extra; None where no hit rate below 1 pays.

    Writes at 1.25 times the price, reads at a tenth of it, every miss written:

    >>> dear = Prices(uncached=1.00, cached=0.10, written=1.25, output=4.00)
    >>> round(hit_rate_that_pays(dear, 1), 3)
    0.217
    """
    extra = prices.surcharge(write_share)
    if extra <= 0:
        return 0.0 if prices.cached <= prices.uncached else None
    if prices.cached >= prices.uncached:
        return None
    return extra / (prices.missed(write_share) - prices.cached)


def hit_rate_worth_the_output(traffic: Traffic, prices: Prices) -> float | None:
    """The hit rate at which the cache saves as much as the whole output costs, a fraction.

    Above it no change of the answers, however large, can save as much as the cache does.

    Args:
        traffic: its own hit rate plays no part.
        prices: of the month.

    Returns:
        None if no hit rate saves so much.

    >>> month = Traffic(prompt_tokens=890, output_tokens=53, hit_rate=0, write_share=0, requests=1)
    >>> sheet = Prices(uncached=1.00, cached=0.10, written=1.00, output=4.00)
    >>> round(hit_rate_worth_the_output(month, sheet), 3)
    0.265
    """
    missed = prices.missed(traffic.write_share)
    gain = traffic.prompt_tokens * (missed - prices.cached)
    if gain <= 0:
        return None
    extra = traffic.prompt_tokens * prices.surcharge(traffic.write_share)
    rate = (traffic.output_tokens * prices.output + extra) / gain
    return min(max(0.0, rate), 1.0) if rate <= 1 + _ALIKE else None


def machine_hours(seconds: float, requests: float, at_once: float = 1) -> float:
    """Hours that a machine computes for a month of requests.

    Args:
        seconds: of one request served alone.
        requests: a month.
        at_once: throughput with many users over throughput with one, above 0; 1 = one at a time.

    Raises:
        ValueError: `at_once` is not above 0.

    >>> round(machine_hours(1.8577, 2_000_000))
    1032
    """
    positive(at_once=at_once)
    return seconds * requests / _HOUR_S / at_once
