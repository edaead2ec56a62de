"""Sentences and tables of section 31.6: the chapter's bill and widget, and a reader's request."""

import dataclasses
import pathlib
import re

import pytest

from tests.tables import cells_of, outputs_of, rows_of, text_of
from twohalves.formulas import constant_rates
from twohalves.measure.counting import Counted, Part
from twohalves.measure.reply import Answered
from twohalves.runs import named
from twohalves.runs.choose import newest_sample
from twohalves.show import (
    worksheet_bill,
    worksheet_machine,
    worksheet_money,
    worksheet_month,
    worksheet_own,
    worksheet_trust,
    worksheet_widget,
    worksheet_writes,
)
from twohalves.show.calculator import RateSet, Start, sliders, spec

PROJECT = pathlib.Path(__file__).resolve().parents[1]
NOTEBOOK = PROJECT / "notebooks" / "31-06-cost-worksheet.ipynb"
FLAT = (RateSet(id="own", label="own", source="here", curve=constant_rates(1000, 100)),)
"""A millisecond a token read, ten a token written."""


def month(**changed):
    facts = {
        "requests": 1_000_000, "uncached": 2, "cached": 0.5, "written": 2, "write_share": 0,
        "output": 10, "machine_hour": 3,
    }  # fmt: skip
    return worksheet_month.Month(**facts | changed)


def start(*, hit_rate=0.0, **changed):
    """1,000 in and 50 out take 1.0 s + 0.5 s and cost $2,000 + $500 a month."""
    counted = {"prompt_tokens": 1000, "output_tokens": 50, "hit_rate": hit_rate}
    begun = {name: Start(value, "counted") for name, value in counted.items()}
    return begun | month(**changed).start()


def test_the_worked_bill_is_the_chapters():
    """Four lines as printed: 712, 107, 424 and their sum, 1,243."""
    shown = worksheet_bill.worked()
    labels, tokens, prices, costs = zip(*rows_of(shown), strict=True)

    assert labels[:3] == ("uncached input (40% of 890)", "cached input (60% of 890)", "output (53)")
    assert tokens[:3] == ("712 M", "1,068 M", "106 M")
    assert prices[:3] == ("$1.00", "$0.10", "$4.00")
    assert costs == ("$712", "$107", "$424", "**$1,243**")
    assert "Illustrative" in text_of(shown)


def test_without_the_cache_it_is_more():
    """1,780 + 424 = 2,204; of that 961.2, or 43.6%, is what the cache takes off."""
    said = text_of(worksheet_bill.without_the_cache())

    for part in ("**$2,204**", "$1,780", "$961", "44%"):
        assert part in said


def test_the_bill_by_hit_rate():
    """Input is 1,780 (1 - 0.9 h): at 26.5% it saves the output's 424, at 90% it costs 338.2."""
    rows = rows_of(worksheet_bill.by_hit_rate())

    assert [row[0] for row in rows] == ["0%", "26.5%", "60%", "90%", "100%"]
    assert rows[0][1:] == ["$1,780", "$424", "$2,204", "$0", "80.8%"]
    assert rows[1][3:5] == ["$1,780", "$424"]
    assert rows[2][1:] == ["$819", "$424", "$1,243", "$961", "65.9%"]
    assert rows[3][1:5] == ["$338", "$424", "$762", "$1,442"]
    assert rows[4][1:5] == ["$178", "$424", "$602", "$1,602"]


def test_what_is_read_off_the_bill():
    """961 against 424; 424 / 1,602 = 26.5%; 890 of 943 tokens and 818.8 of 1,242.8 dollars."""
    said = text_of(worksheet_bill.what_to_read_off())

    for part in ("saves $961", "costs $424", "26.5%", "94.4%", "65.9%"):
        assert part in said


def test_tokens_to_dollars():
    """16.79 / 4 = 4.20, / 5 = 3.36; cached 818.8 / 424 = 1.93; equal at 4 and 4 / 0.46 = 8.70."""
    said, turns = text_of(worksheet_money.converted()), text_of(worksheet_money.turns_round())

    for part in ("nearly 17 : 1", "4.2 : 1", "3.36 : 1", "3 or 4 to 1", "1.93 : 1"):
        assert part in said
    assert "reads 4 tokens" in turns
    assert "8.7 at 60% cached" in turns


def test_ratios_of_three_requests():
    """1,000 : 50 is 20 in tokens, 5 in dollars, 2.75 half cached: (0.5 + 0.05) of it."""
    rows = rows_of(worksheet_money.ratios(start(hit_rate=0.5)))

    assert rows[0] == ["the chapter's summary", "16.8 : 1", "4.2 : 1", "60%", "1.93 : 1"]
    assert rows[1] == ["your request", "20 : 1", "5 : 1", "50%", "2.75 : 1"]
    assert rows[2][1:3] == ["0.15 : 1", "0.0375 : 1"]


def test_charged_writes():
    """All misses at 1.25: 2,225 of input at no hit. It pays from 0.25 / 1.15 = 21.7%, 5 of 23.

    That is 5 hits for 18 writes, or one for every 3.6.
    """
    rows = rows_of(worksheet_writes.by_hit_rate())
    said = text_of(worksheet_writes.when_it_pays())

    assert rows[0] == ["0%", "$0", "$2,225", "$424", "$2,649", "−$445"]
    assert rows[1][0] == "21.7%"
    assert rows[1][4:] == ["$2,204", "$0"]
    assert rows[2] == ["60%", "$107", "$890", "$424", "$1,421", "$783"]
    for part in ("costs $445 a month", "21.7%", "every 3.6 written"):
        assert part in said


def test_a_price_is_illustrative_without_source_and_date():
    """Both or neither: a source that nobody dated ages unseen."""
    assert "Illustrative prices, no provider's" in text_of(worksheet_month.told(month()))
    half = month(source="https://example.org/prices")
    assert "one of them is empty" in text_of(worksheet_month.told(half))
    assert "illustrative" in half.start()["price_output"].source
    real = month(source="example.org/prices", date="2026-01-31")
    assert "Prices of example.org/prices, as of 2026-01-31." in text_of(worksheet_month.told(real))
    assert real.start()["price_output"].source == "example.org/prices, 2026-01-31"


@pytest.mark.parametrize(
    "wrong",
    [{"output": -1}, {"requests": -1}, {"write_share": 60}, {"date": "last May"},
     {"machine_hour": float("nan")}, {"uncached": float("inf")}, {"output": "4,00"}],
)  # fmt: skip
def test_a_month_that_cannot_be_is_refused(wrong):
    """In the cell in which it was typed, not three tables later; what is wrong is named."""
    [(name, value)] = wrong.items()
    with pytest.raises((TypeError, ValueError), match=f"^{name} must be .+, got {value!r}"):
        month(**wrong)


@pytest.mark.parametrize(
    ("odd", "told"),
    [
        ({"output": 20_000}, "Output: “20000” is above the largest value; 10,000 is used."),
        ({"uncached": 0.00015}, "Uncached input: $0.00015 per million tokens is unusual."),
        ({"requests": 0}, "Requests a month: “0” is below the smallest value; 1 is used."),
    ],
)
def test_a_month_that_the_worksheet_questions_says_so(odd, told):
    """Where it is set: what the worksheet cannot use, and a price in what may be another unit."""
    assert f"> **Note** — {told}" in text_of(worksheet_month.told(month(**odd)))
    assert "Note" not in text_of(worksheet_month.told(month()))


def test_a_month_fills_inputs_that_the_worksheet_has():
    """Each of its values has a place there."""
    inputs = {each["id"] for each in spec("worksheet")["inputs"]}

    assert set(month().start()) < inputs
    assert "100% are charged as written, $2.50" in (
        text_of(worksheet_month.told(month(written=2.5, write_share=1)))
    )


def test_the_four_lines():
    """How to come by each, the chapter's value beside the reader's; unknown is a dash."""
    rows = rows_of(worksheet_own.lines(start(hit_rate=0.25)))

    assert rows[0] == ["prompt tokens", "count them", "890", "1,000"]
    assert rows[1] == ["of which cached", "measure it", "60%", "25%"]
    assert rows[2] == ["output tokens", "count them", "53", "50"]
    assert rows[3] == ["requests a month", "a decision", "2,000,000", "1,000,000"]
    unknown = {name: value for name, value in start().items() if name != "hit_rate"}
    assert cells_of(worksheet_own.lines(unknown), 1)[3] == "–"


def test_whose_hit_rate_it_is():
    """80 tokens of system and 20 of examples stand above 300 of 400: 25% at most."""
    parts = {"system": 80, "examples": 20, "context": 250, "question": 30}
    counted = Counted(
        model="m", template_tokens=20,
        parts=tuple(Part(name=name, tokens=tokens) for name, tokens in parts.items()),
    )  # fmt: skip
    said = text_of(worksheet_own.whose_hit_rate(counted, start(hit_rate=0.7)))

    for part in ("70% was measured", "100 of 400 tokens", "at most 25%"):
        assert part in said
    assert "begins with the chapter's" in text_of(worksheet_own.whose_hit_rate(counted, {}))


def test_constants_beside_curves_on_the_longest_request():
    """The chapter's crude model says 4.05 s of 5.18 s: 22% off. A run without rows is left out."""
    sample = named(newest_sample())
    said = text_of(worksheet_trust.constants(sample))

    assert (
        "On the chapter's tables two constant rates miss the longest request, 7,427 tokens" in said
    )
    assert "by 22%" in said
    assert said.startswith("On your run")
    empty = dataclasses.replace(sample, timings=())
    assert worksheet_trust.constants(empty).data.startswith("On the chapter's")


def test_the_one_call_beside_the_rates():
    """400 in and 20 out are 0.4 + 0.2 s by the rates; it took 0.75 s, so they say 20% less."""
    answered = Answered(
        model="m", text="yes", prompt_tokens=400, output_tokens=20, ttft_s=0.5, total_s=0.75,
        clock="client", done_reason="stop",
    )  # fmt: skip
    said = text_of(worksheet_trust.the_call(answered, FLAT, start()))

    assert "400 tokens in and 20 out. It took 750 ms; the rates of own say 600 ms, 20% less" in said


def test_the_share_of_input():
    """2,000 of 2,500 dollars are 80%; of a free month there is no share."""
    assert worksheet_own.input_percent(FLAT, start()) == pytest.approx(80)
    free = start(uncached=0, cached=0, written=0, output=0)
    assert worksheet_own.input_percent(FLAT, free) is None


def test_levers_are_ranked_on_the_readers_request():
    """60% from cache saves 0.6 * 1,500 = 900; half the prompt 1,000; 30% of the output 150.

    In seconds: 0.5, 0.6 and 0.15, so the first two change places.
    """
    said = text_of(worksheet_own.levers(FLAT, start()))

    assert "“Half the prompt” saves most: $1,000 a month** of $2,500" in said
    assert "“An answer 30% shorter” saves least, $150" in said
    order = "“A hit rate of 60%” 600 ms, “Half the prompt” 500 ms, “An answer 30% shorter” 150 ms"
    assert f"another order: {order}" in said


def test_a_lever_that_is_pulled_already_is_not_ranked():
    """At 80% cached a hit rate of 60% is nothing to reach for: input costs 800, output 500.

    In seconds half the prompt saves 0.1, a shorter answer 0.15.
    """
    said = text_of(worksheet_own.levers(FLAT, start(hit_rate=0.8)))

    assert "“Half the prompt” saves most: $400 a month** of $1,300" in said
    assert "“A hit rate of 60%” is not among them: you have it." in said
    assert "another order: “An answer 30% shorter” 150 ms, “Half the prompt” 100 ms" in said


def test_a_hit_rate_that_nobody_measured_is_not_the_readers():
    """The worksheet then begins with the chapter's 60%."""
    unknown = {name: value for name, value in start().items() if name != "hit_rate"}
    said = text_of(worksheet_own.levers(FLAT, unknown))

    assert "you have it" not in said
    assert "not among them: the worksheet begins with the chapter's" in said


def test_a_lever_that_costs_is_not_said_to_save():
    """Half cached at 9 dollars and not at 2: a tenth more of 1,000 M tokens costs 700 more."""
    said = text_of(worksheet_own.levers(FLAT, start(hit_rate=0.5, cached=9)))

    assert "“A hit rate of 60%” would cost $700 more." in said
    assert "saves least" not in said


def test_a_machine_with_little_to_do_is_not_idle():
    """A request takes 1.5 s of the month's 2,629,800."""
    rows = rows_of(worksheet_machine.own(FLAT, start(requests=1)))

    assert {row[-1] for row in rows} == {"&lt;1%"}


def test_no_more_than_the_whole_prompt_is_stable():
    """A template that leaves out 20 of 100 tokens leaves a request of 80."""
    shorter = Counted(model="m", parts=(Part(name="system", tokens=100),), template_tokens=-20)
    said = text_of(worksheet_own.whose_hit_rate(shorter, start(hit_rate=0.1)))

    assert "80 of 80 tokens" in said
    assert "at most 100% of the prompt" in said


def test_levers_do_not_add_up():
    """890 and 961 alone; together 2,204 - (819 / 2 + 424) = 1,371, not 1,851."""
    said = text_of(worksheet_own.levers_together())

    for part in ("$2,204", "$890", "$961", "save $1,371, not $1,851"):
        assert part in said


def test_the_chapters_widget():
    """1,600 / 2,025 + 0.015 + 200 / 190 = 1.858 s, 43% of it prefill; 2,400 / 2,025 - 0.015."""
    said = text_of(worksheet_machine.of_the_widget())

    for part in ("1.86 s", "43%", "1.17 s", "2,400 tokens", "**1,032 hours**", "has 731:"):
        assert part in said


def test_hours_of_a_machine_of_ones_own():
    """1.5 s a million times are 416.7 hours, $1,250; by four 104.2. A month's 730.5 cost $2,191.50.

    Tokens cost $2,500, so one at a time is cheap enough; ten times the seconds need 5 at once.
    """
    rows = rows_of(worksheet_machine.own(FLAT, start()))
    slow = (RateSet(id="own", label="own", source="here", curve=constant_rates(100, 10)),)

    assert rows[0] == ["1", "417", "$1,250", "1", "$2,192", "57%"]
    assert rows[1][:3] == ["4", "104", "$313"]
    assert "$2,500 a month, the hours used $1,250" in (
        text_of(worksheet_machine.beside_the_bill(FLAT, start()))
    )
    assert rows_of(worksheet_machine.own(slow, start()))[0][3] == "6"
    assert "**5 times**" in text_of(worksheet_machine.beside_the_bill(slow, start()))
    free = start(uncached=0, cached=0, written=0, output=0)
    assert "tokens are free" in text_of(worksheet_machine.beside_the_bill(FLAT, free))


def test_a_measured_throughput_has_its_row():
    """Whoever measured 2.5 at once finds that line: 166.7 hours."""
    given = start() | {"at_once": Start(2.5, "measured")}

    assert ["2.5", "167", "$500"] in [
        row[:3] for row in rows_of(worksheet_machine.own(FLAT, given))
    ]


def test_where_the_widget_parts_from_the_figures():
    """Medians 2,025 and 186.9; 208 tokens make 1,055 hours; 900 and 48 or 64 cost 1,212 or 1,340.

    4.004 s against 5.182 is 23% less, 0.381 against 0.487 is 22%.
    """
    said = text_of(worksheet_widget.disagreements())

    for part in (
        "2,000 tokens a second, the widget 2,025", "printed rates, 2,025", "is 187",
        "192 and 208", "1,032 machine-hours become 1,055",
        "900 in with 48 or 64 out", "$1,212 or $1,340 instead of $1,243",
        "15.0 ms of a warm prefill", "23% less", "for 90 tokens it says 22% less",
        "promises 4 of them", "3 products",
    ):  # fmt: skip
        assert part in said
    assert said.startswith("<details>")


CLAIMS = {
    "news_words": "summary of 300 words",
    "ws_prompt": "890 tokens in",
    "ws_output": "53 out",
    "token_ratio": "nearly 17 : 1",
    "money_ratio_high": "3 or 4 to 1",
    "money_ratio_low": "3 or 4 to 1",
    "price_count": "3 prices",
    "ws_hit_pct": "cached input (60% of 890)",
    "ws_uncached_pct": "uncached input (40% of 890)",
    "ws_requests": "2,000,000 requests",
    "price_uncached": "$1.00",
    "price_cached": "$0.10",
    "price_output": "$4.00",
    "ws_uncached_m": "| 712 M |",
    "ws_cached_m": "| 1,068 M |",
    "ws_output_m": "| 106 M |",
    "ws_uncached_usd": "| $712 |",
    "ws_cached_usd": "| $107 |",
    "ws_output_usd": "| $424 |",
    "ws_total_usd": "**$1,243**",
    "no_cache_total_usd": "**$2,204**",
    "no_cache_input_usd": "$1,780 is input",
    "hit_beats_output": "The hit rate outweighs whatever is done to the answers",
    "input_money_share": "65.9% of the bill",
    "input_token_share_pct": "94.4% of the tokens",
    "widget_prefill_rate": "the widget 2,025",
    "widget_decode_rate": "The 190 tokens",
    "widget_warm_s": "15.0 ms",
}


@pytest.mark.parametrize("text", CLAIMS.values(), ids=CLAIMS)
def test_the_stored_page_holds_the_chapters_claim(text):
    """Each figure of the chapter's section stands on the page."""
    assert text in outputs_of(NOTEBOOK)


def test_no_claim_of_the_section_was_forgotten():
    """The list above has all of data/claims.csv."""
    lines = (PROJECT / "data" / "claims.csv").read_text(encoding="utf-8").splitlines()

    assert {line.split(",")[0] for line in lines if re.match(r"\w+,31\.6,", line)} == set(CLAIMS)


def test_no_amount_of_dollars_is_a_formula():
    """JupyterLab would set "$2,204**, of which $" in italics; each sign stands apart."""
    shown = [
        worksheet_bill.worked(), worksheet_bill.without_the_cache(), worksheet_month.told(month()),
        worksheet_widget.disagreements(), sliders("worksheet", FLAT, start(), replay=True),
    ]  # fmt: skip

    for told in shown:
        assert "$" in told.data
        assert "$" not in told.data.replace("<span>\\$</span>", "")


def test_what_a_set_of_rates_is_called_is_no_markup():
    """A label is text, in the note below the tables and in the place for the script."""
    odd = dataclasses.replace(FLAT[0], label='<b>"mine"</b> & yours')
    told = sliders("worksheet", [odd], replay=True).data

    assert 'Rates: &lt;b&gt;"mine"&lt;/b&gt; &amp; yours (here)' in told
    assert "<b>" not in told
