"""A month's bill, line by line, against multiplications done by hand."""

from dataclasses import replace

import pytest

from twohalves.formulas import (
    Prices,
    Traffic,
    bill,
    hit_rate_that_pays,
    hit_rate_worth_the_output,
    machine_hours,
    saved_by_cache,
    saved_by_hit_rate,
)

MONTH = Traffic(
    prompt_tokens=890, output_tokens=53, hit_rate=0.6, write_share=0, requests=2_000_000
)
SHEET = Prices(uncached=1.00, cached=0.10, written=1.00, output=4.00)


def test_the_chapters_table_comes_out():
    """712, 1,068 and 106 million tokens cost $712, $107 and $424: $1,243 together."""
    lines = bill(MONTH, SHEET)

    tokens = (lines.uncached_tokens, lines.cached_tokens, lines.output_tokens)
    assert (712e6, 1068e6, 106e6) == pytest.approx(tokens)
    dollars = (lines.uncached, lines.cached, lines.output, lines.total)
    assert (712, 107, 424, 1243) == tuple(round(line) for line in dollars)
    assert (0, 0) == (lines.written_tokens, lines.written)


def test_what_the_chapter_reads_off_it():
    """Without the cache $2,204, input $1,780 of it; with it, input is two thirds of the bill."""
    without, lines = bill(MONTH.uncached, SHEET), bill(MONTH, SHEET)

    assert (2204, 1780) == pytest.approx((without.total, without.input))
    assert lines.input / lines.total == pytest.approx(0.659, abs=0.0005)
    assert saved_by_cache(MONTH, SHEET) == pytest.approx(2204 - 1242.8)


def test_a_written_token_is_billed_once():
    """40,000 tokens at $3 and 60,000 written at $3.75 are $0.12 + $0.225, not $0.30 + $0.225."""
    one = Traffic(prompt_tokens=100_000, output_tokens=0, hit_rate=0, write_share=0.6, requests=1)
    dear = Prices(uncached=3, cached=0.3, written=3.75, output=15)
    lines = bill(one, dear)

    assert (0.12, 0.225, 0.345) == pytest.approx((lines.uncached, lines.written, lines.total))
    assert saved_by_cache(one, dear) == pytest.approx(-0.045)


def test_cached_tokens_are_counted_apart_from_the_rest():
    """538 + 2,208 from cache + 197 out: 134.5 + 55.2 + 394 millionths of a dollar."""
    one = Traffic(
        prompt_tokens=2746, output_tokens=197, hit_rate=2208 / 2746, write_share=0, requests=1
    )
    lines = bill(one, Prices(uncached=0.25, cached=0.025, written=0.25, output=2))

    assert (134.5e-6, 55.2e-6, 394e-6) == pytest.approx(
        (lines.uncached, lines.cached, lines.output)
    )
    assert lines.total == pytest.approx(0.0005837)


def test_small_bills_add_up_before_they_are_rounded():
    """25 tokens at $0.30 a million cost 7.5 millionths; ten thousand of them 7.5 cents."""
    one = Traffic(prompt_tokens=25, output_tokens=0, hit_rate=0, write_share=0, requests=1)
    cheap = Prices(uncached=0.3, cached=0.03, written=0.3, output=1)

    assert bill(one, cheap).total == pytest.approx(0.0000075)
    assert bill(replace(one, requests=10_000), cheap).total == pytest.approx(0.075)


def test_one_price_holds_for_every_token():
    """272,001 tokens cost one token more than 272,000: there are no tiers, and no half of one."""
    one = Traffic(prompt_tokens=272_000, output_tokens=0, hit_rate=0, write_share=0, requests=1)
    more = replace(one, prompt_tokens=272_001)

    assert bill(one, SHEET).total == pytest.approx(0.272)
    assert bill(more, SHEET).total == pytest.approx(0.272001)


def test_the_hit_rate_that_pays_for_the_writes():
    """Every miss costs 0.25 more and every hit saves 0.90 + 0.25: 0.25 / 1.15 = 21.7%."""
    dear = replace(SHEET, written=1.25)

    assert hit_rate_that_pays(dear, 1) == pytest.approx(0.25 / 1.15)
    assert hit_rate_that_pays(dear, 0.4) == pytest.approx(0.1 / 1.0)
    assert hit_rate_that_pays(SHEET, 1) == 0
    assert hit_rate_that_pays(replace(dear, cached=1), 1) is None
    assert hit_rate_that_pays(replace(SHEET, cached=2), 0) is None


def test_the_hit_rate_worth_the_output():
    """$424 of output over $1,780 less a tenth: 26.5%; more output than that cannot be matched."""
    assert hit_rate_worth_the_output(MONTH, SHEET) == pytest.approx(424 / 1602)
    assert hit_rate_worth_the_output(replace(MONTH, output_tokens=201), SHEET) is None
    assert hit_rate_worth_the_output(MONTH, replace(SHEET, cached=1)) is None
    assert hit_rate_worth_the_output(MONTH, replace(SHEET, output=0)) == 0
    exact = replace(MONTH, prompt_tokens=1000, output_tokens=225)
    assert hit_rate_worth_the_output(exact, SHEET) == pytest.approx(1)


def test_a_hit_rate_to_reach():
    """From 10% to 60% are 890 million tokens at 90 cents a million less; beyond it, nothing."""
    few = replace(MONTH, hit_rate=0.1)

    assert saved_by_hit_rate(few, SHEET, 0.6) == pytest.approx(801)
    assert saved_by_hit_rate(MONTH, SHEET, 0.5) == 0
    assert saved_by_hit_rate(few, replace(SHEET, cached=1.5), 0.6) == pytest.approx(-445)


@pytest.mark.parametrize(
    ("prices", "share", "hit_rate"),
    [
        ((3, 0.3, 3, 15), 0.3, 0),  # written at the same price
        ((1, 0.1, 1.1, 4), 1, 0.1),  # on the break-even
        ((0.7, 0.7, 0.7, 1), 0.9, 0.33),  # one price for all
        ((0, 0, 0, 0), 0.5, 0.5),
    ],
)
def test_one_price_saves_exactly_nothing(prices, share, hit_rate):
    """Not a trillionth of a dollar that a page would print, nor a loss that it would warn of."""
    sheet = Prices(**dict(zip(("uncached", "cached", "written", "output"), prices, strict=True)))
    month = replace(MONTH, hit_rate=hit_rate, write_share=share)

    assert saved_by_cache(month, sheet) == 0


def test_machine_hours():
    """1.857724 s, two million times, over 3,600: 1,032; four at once take a quarter of it."""
    assert machine_hours(1.857724, 2_000_000) == pytest.approx(1032.07, abs=0.01)
    assert machine_hours(1.857724, 2_000_000, 4) == pytest.approx(258.02, abs=0.01)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("prompt_tokens", -1),
        ("output_tokens", float("nan")),
        ("requests", -0.5),
        ("hit_rate", 60),
        ("hit_rate", -0.1),
        ("write_share", 1.01),
    ],
)
def test_impossible_traffic_is_named(name, value):
    """Which figure, what it must be, and what it was."""
    with pytest.raises(ValueError, match=f"{name} must be .*, got {value}"):
        replace(MONTH, **{name: value})


@pytest.mark.parametrize("name", ["uncached", "cached", "written", "output"])
def test_a_negative_price_is_named(name):
    """Nobody is paid for tokens."""
    with pytest.raises(ValueError, match=f"the price {name} must be at least 0 and finite, got -1"):
        replace(SHEET, **{name: -1})


@pytest.mark.parametrize("at_once", [0, -1, float("nan")])
def test_nobody_is_served_at_no_speed(at_once):
    """Throughput over throughput is above 0."""
    with pytest.raises(ValueError, match="at_once must be above 0"):
        machine_hours(1, 1, at_once)
