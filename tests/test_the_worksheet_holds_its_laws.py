"""Whatever a reader sets, the worksheet keeps what must hold of any bill and of any request."""

import math
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from twohalves.formulas import FittedLatency
from twohalves.show.calculator import RateSet, outcome, spec
from twohalves.show.calculator.start import begin, take
from twohalves.show.calculator.tables import lines

SPEC = spec("worksheet")
LEVERS = {
    "lever_prompt": ("prompt_tokens", 0.5),
    "lever_answer": ("output_tokens", 0.7),
}
SHARES = st.integers(0, 10_000).map(lambda count: count / 10_000)
PRICES = st.integers(0, 100_000).map(lambda cents: cents / 100)


@st.composite
def machines(draw):
    """Two curves and a cache, each cost from nothing to large."""
    costs = {
        name: draw(st.one_of(st.just(0.0), st.floats(1e-9, most)))
        for name, most in (("t0_s", 10), ("a_s", 1), ("b_s", 1e-5), ("d_s", 1e-4), ("warm_s", 5))
    }
    free = draw(st.integers(0, 1))
    curve = FittedLatency(**costs, c_s=draw(st.floats(1e-9, 10)), free_tokens=free)
    return RateSet(id="drawn", label="drawn", source="a test", curve=curve)


@st.composite
def settings(draw):
    """A value for every input of the worksheet, as it would be accepted."""
    return {
        "prompt_tokens": draw(st.integers(1, 1_000_000)),
        "output_tokens": draw(st.integers(1, 100_000)),
        "hit_rate": draw(SHARES),
        "requests": draw(st.integers(1, 10_000_000_000)),
        **{f"price_{kind}": draw(PRICES) for kind in ("uncached", "cached", "written", "output")},
        "write_share": draw(SHARES),
        "rates": "drawn",
        "machine_price": draw(PRICES),
        "at_once": draw(st.integers(100, 100_000)) / 100,
    }


def results_of(values, machine, **changed):
    """The outputs, perhaps with some inputs changed."""
    return outcome("worksheet", {**values, **changed}, [machine]).results


def at_most(less, more):
    """Not above, as far as arithmetic with sixteen digits can tell."""
    return less <= more + 1e-12 * abs(more)


@given(settings(), machines(), st.integers(1, 100_000))
def test_more_output_never_costs_less(values, machine, more):
    """Neither dollars nor seconds, on a provider's machine or on one's own."""
    longer = min(100_000, values["output_tokens"] + more)
    base, other = results_of(values, machine), results_of(values, machine, output_tokens=longer)

    for name in ("cost_total", "nocache_cost_total", "cost_request", "total_s", "own_cost"):
        assert at_most(base[name], other[name]), name


@given(settings(), machines(), SHARES)
def test_a_higher_hit_rate_never_costs_more(values, machine, hit_rate):
    """In dollars where a token from cache is the cheapest; in seconds always."""
    low, high = sorted((values["hit_rate"], hit_rate))
    fewer = results_of(values, machine, hit_rate=low)
    more = results_of(values, machine, hit_rate=high)

    assert at_most(more["total_s"], fewer["total_s"])
    assert at_most(more["machine_hours"], fewer["machine_hours"])
    if values["price_cached"] <= min(values["price_uncached"], values["price_written"]):
        assert at_most(more["cost_total"], fewer["cost_total"])
        assert at_most(fewer["cost_saved"], more["cost_saved"])


@given(settings(), machines())
def test_no_hits_and_no_charge_for_writes_is_no_cache(values, machine):
    """To the last bit, and so in every text."""
    values |= {"hit_rate": 0.0, "write_share": 0.0}
    found = outcome("worksheet", values, [machine])
    results, texts = found.results, found.texts

    for name in ("ttft_s", "total_s", "prefill_share", "machine_hours", "cost_input", "cost_total"):
        assert results[f"nocache_{name}"] == results[name]
        assert texts[f"nocache_{name}"] == texts[name]
    assert 0 == results["cost_saved"] == results["saved_s"] == results["skipped_tokens"]
    assert "without the cache" not in found.sentence


@given(settings(), machines())
def test_writes_at_the_price_of_reading_change_no_dollar(values, machine):
    """However many are charged as written, the bill is that of a provider without such a charge."""
    values["price_written"] = values["price_uncached"]
    charged = outcome("worksheet", values, [machine])
    free = outcome("worksheet", values | {"write_share": 0.0}, [machine])

    for name in ("cost_total", "cost_saved", "hit_pays", "hit_worth_output"):
        assert free.texts[name] == charged.texts[name]
    assert free.sentence == charged.sentence


@given(settings(), machines())
def test_totals_are_the_sums_of_their_parts(values, machine):
    """Dollars, tokens and seconds."""
    found = results_of(values, machine)
    kinds = ("uncached", "cached", "written")
    prompt = values["prompt_tokens"] * values["requests"]

    assert found["cost_input"] == pytest.approx(sum(found[f"cost_{kind}"] for kind in kinds))
    assert found["cost_total"] == pytest.approx(found["cost_input"] + found["cost_output"])
    assert prompt == pytest.approx(sum(found[f"{kind}_tokens"] for kind in kinds))
    assert found["total_s"] == pytest.approx(found["ttft_s"] + found["decode_s"])
    assert found["cost_total"] == pytest.approx(found["cost_request"] * values["requests"])
    assert found["cost_million"] == pytest.approx(found["cost_request"] * 1e6)
    assert found["own_hours"] * values["at_once"] == pytest.approx(found["machine_hours"])


@given(settings(), machines())
def test_a_cache_never_makes_a_request_slower(values, machine):
    """What it saves is what is missing between the two durations, and is never negative."""
    found = results_of(values, machine)

    assert found["ttft_s"] <= found["nocache_ttft_s"]
    assert found["total_s"] <= found["nocache_total_s"]
    assert found["saved_s"] >= 0
    missing = found["nocache_ttft_s"] - found["ttft_s"]
    assert found["saved_s"] == pytest.approx(missing, abs=1e-9 * found["nocache_ttft_s"])


@given(settings(), machines())
def test_every_text_is_a_number_that_can_be_read(values, machine):
    """No NaN and no infinity in results, texts, sentence, notes or picture."""
    found = outcome("worksheet", values, [machine])

    assert all(value is None or math.isfinite(value) for value in found.results.values())
    drawn = re.sub(r"<[^>]*>", " ", found.picture)
    said = " ".join([*found.texts.values(), found.sentence, *found.notes, drawn])
    assert not re.search(r"\b(nan|inf|infinity|none|null|undefined)\b|-\d", said, re.IGNORECASE)
    assert not re.search(r"[\" ,](nan|-?inf)[\" ,]", found.picture)


@given(settings(), machines())
def test_nothing_shows_as_zero_that_is_not(values, machine):
    """Dollars, seconds and counts keep their first digits, however small; and zero has no sign."""
    found = outcome("worksheet", values, [machine])

    for output in SPEC["outputs"]:
        value, text = found.results[output["id"]], found.texts[output["id"]]
        if value is not None:
            assert (value == 0) == (not re.search(r"[1-9]", text)), (output["id"], value, text)


@given(settings(), machines())
def test_a_lever_saves_the_difference_of_two_bills(values, machine):
    """And of two durations; where the hit rate is reached, there is no such lever."""
    base = results_of(values, machine)
    changes = {lever: {name: values[name] * by} for lever, (name, by) in LEVERS.items()}
    changes["lever_cache"] = {"hit_rate": 0.6}
    for lever, change in changes.items():
        if lever == "lever_cache" and values["hit_rate"] >= 0.6:
            assert base[lever] is None
            assert base[f"{lever}_s"] is None
            continue
        other = results_of(values, machine, **change)
        dollars, time = (base[name] - other[name] for name in ("cost_total", "total_s"))
        assert base[lever] == pytest.approx(dollars, abs=1e-9 * base["cost_total"])
        assert base[f"{lever}_s"] == pytest.approx(time, abs=1e-9 * base["total_s"])


@given(settings(), machines())
def test_levers_are_ranked(values, machine):
    """The largest saving a month stands on top, and the texts go with their rows."""
    found = outcome("worksheet", values, [machine])
    [table] = [table for table in SPEC["tables"] if table.get("ranked")]
    first = {row["label"]: row["cells"][0] for row in table["rows"]}
    shown = lines(table, found.texts, found.results)

    savings = [found.results[first[line.label]] or 0 for line in shown]
    assert savings == sorted(savings, reverse=True)
    assert [found.texts[first[line.label]] for line in shown] == [line.cells[0] for line in shown]


@given(settings(), machines())
def test_the_hit_rate_that_pays_is_where_two_bills_meet(values, machine):
    """At it both cost the same; above it the cache costs no more; without it, all hits do not."""
    at = results_of(values, machine)["hit_pays"]
    if at is None:
        assert values["price_cached"] >= values["price_uncached"]
        return
    meet = results_of(values, machine, hit_rate=at)
    full = results_of(values, machine, hit_rate=1.0)
    assert at_most(full["cost_total"], full["nocache_cost_total"])
    assert at_most(meet["cost_total"], meet["nocache_cost_total"])
    if at > 0:
        assert meet["cost_total"] == pytest.approx(meet["nocache_cost_total"])
        assert results_of(values, machine, hit_rate=at / 2)["cost_saved"] < 0


@given(settings(), machines())
def test_the_hit_rate_worth_the_output_saves_what_all_answers_cost(values, machine):
    """There, or already without any hit; and where it does not exist, no hit rate saves as much."""
    at = results_of(values, machine)["hit_worth_output"]
    full = results_of(values, machine, hit_rate=1.0)
    if at is None:
        dear = values["price_cached"] >= min(values["price_uncached"], values["price_written"])
        assert dear or full["cost_saved"] <= full["cost_output"]
        return
    meet = results_of(values, machine, hit_rate=at)
    saved, answers = meet["cost_saved"], meet["cost_output"]
    close = pytest.approx(answers, abs=1e-9 * meet["nocache_cost_total"])
    assert saved == close if at > 0 else saved >= answers or saved == close


@given(settings(), machines())
def test_twice_the_requests_cost_twice(values, machine):
    """A month is proportional to its requests: no tier, no discount, nothing rounded before."""
    assume(values["requests"] <= 5_000_000_000)
    once = results_of(values, machine)
    twice = results_of(values, machine, requests=2 * values["requests"])

    for name in ("cost_total", "cost_saved", "own_cost", "machine_hours"):
        assert twice[name] == pytest.approx(2 * once[name])
    assert twice["cost_request"] == pytest.approx(once["cost_request"])


@given(
    st.dictionaries(
        st.sampled_from([each["id"] for each in SPEC["inputs"]]),
        st.one_of(st.text(), st.from_regex(r"-?[0-9.,]{1,9}(e-?[0-9]{1,3})?[ %]?"), st.floats()),
    )
)
def test_any_text_leaves_a_worksheet_that_can_be_read(asked):
    """What a reader pastes, or an old link carries, is used within the limits or refused."""
    machine = RateSet(
        id="drawn",
        label="drawn",
        source="a test",
        curve=FittedLatency(t0_s=0, a_s=0.001, b_s=0, c_s=0.01, d_s=0),
    )
    values = begin(SPEC, {}, [machine]).values
    for each in SPEC["inputs"]:
        name = each["id"]
        if name in asked:
            values[name], note = take(each, asked[name], values[name], [machine])
            if each["kind"] == "number":
                assert each["min"] <= values[name] <= each["max"]
            assert note == "" or note.startswith(f"{each['label']}: ")
            assert note == "" or note.endswith((".", "?"))
    assert outcome("worksheet", values, [machine]).sentence
