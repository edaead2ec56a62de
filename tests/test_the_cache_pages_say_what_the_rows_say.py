"""Sentences, tables and pictures of section 31.5, on rows small enough to check by hand."""

import dataclasses
import re

import pytest

from tests.rows import timed
from tests.tables import cells_of
from twohalves.runs.load import Run
from twohalves.show import broken, cache_bars, caching, traffic, window

TOLD = {"counts_cached": True, "prefill_is_whole": True, "steps_less": 1}
SETUPS = {"host_cache": {"host_cache_mib": 256}}


def row(seq, tokens, prefill, cached=0, **more):
    """One row of a server that tells what it had in its cache."""
    return timed(seq, tokens, prefill, cached, **more)


def held(tmp_path, *rows, sliding_window=None, **session):
    facts = {"model": {"name": "m", "sliding_window": sliding_window}, "counters": TOLD}
    return Run(folder=tmp_path / "r", session=facts | session, timings=rows)


def sent_twice(seq, tokens, cold, warm, *, read=1, blocks=1):
    """The same pair in each block, told by counts."""
    rows = []
    for block in range(blocks):
        pair = {"pair": f"{tokens}-{block}", "condition": str(tokens), "block": block + 1}
        rows.append(row(seq + 2 * block, tokens, cold, **pair))
        rows.append(row(seq + 2 * block + 1, tokens, warm, tokens - read, variant="warm", **pair))
    return rows


def two(seq, variant, cold, later, read):
    """A cold request of 1,000 tokens and a later one that changed something."""
    shared = {"experiments": "cache_broken", "pair": variant}
    return (
        row(seq, 1000, cold, **shared),
        row(seq + 1, 1000, later, 1000 - read, variant=variant, **shared),
    )


def turns(seq, setup, read):
    """A and B, then both again."""
    shared = {"experiments": "cache_broken", "pair": f"users{setup}", "setup": setup}
    back = {"variant": "other_user", **shared}
    return (
        row(seq, 1000, 2.0, **shared),
        row(seq + 1, 1000, 2.0, **shared),
        row(seq + 2, 1100, read / 500, 1100 - read, **back),
        row(seq + 3, 1100, read / 500, 1100 - read, **back),
    )


def asked(seq, layout, tokens, cached, prefill):
    pair = {"pair": f"traffic-{layout}", "experiments": "traffic", "variant": layout}
    return row(seq, tokens, prefill, cached, **pair)


@pytest.fixture
def run(tmp_path):
    """100 tokens in 0.2 s and 4,200 in 8.4 s cold, 0.02 s warm; the answer takes a second."""
    return held(tmp_path, *sent_twice(1, 100, 0.2, 0.02), *sent_twice(3, 4200, 8.4, 0.02))


def test_prefills_in_tokens_and_seconds(run):
    """0.2 / 0.02 = 10 and 8.4 / 0.02 = 420; a warm row has no rate."""
    shown = caching.prefills(run)

    assert cells_of(shown, 0) == ["100", "1", "1", "200 ms", "20.0 ms", "10×", "–"]
    assert cells_of(shown, 1) == ["4,200", "1", "1", "8.40 s", "20.0 ms", "420×", "–"]
    assert "tok/s" not in shown.data
    assert "With 1 pair no 95% interval can be claimed" in shown.data


def test_six_blocks_carry_an_interval(tmp_path):
    """The first and last of six values cover the median with 1 - 2/64 = 96.9%."""
    rows = sent_twice(1, 1000, 2.0, 0.2, blocks=6)

    assert "the 96.9% interval of the median speedup is 10× to 10×" in (
        caching.prefills(held(tmp_path, *rows)).data
    )


def test_whole_requests(run):
    """1.2 s over 1.02 s is 1.2; 9.4 s over 1.02 s is 9.2."""
    shown = caching.whole_requests(run)

    assert cells_of(shown, 0)[2:5] == ["1.20 s", "1.02 s", "1.2×"]
    assert cells_of(shown, 1)[2:5] == ["9.40 s", "1.02 s", "9.2×"]


def test_beside_the_chapter_only_at_its_lengths(run):
    """4,200 is within 3% of the chapter's 4,247; 100 is 5% off its 95 and left out."""
    shown = caching.beside_the_chapter(run)

    assert cells_of(shown, 0) == ["4,247", "420×", "153×", "9.2×", "9.0×"]
    assert "95 " not in shown.data.split("3%")[0]


def test_the_headline_and_why_it_grows(run):
    """Cold grew 42-fold, warm not at all: 10 became 420, and 1.2 became 9.2 as a whole."""
    assert caching.longest_speedup(run) == pytest.approx(420)
    said = caching.headline(run).data
    why = caching.why_it_grows(run).data

    for part in ("took 20.0 ms, whether", "420×", "9.2×", "12 and 16 ms", "153×", "9.0×"):
        assert part in said
    for part in ("grew 42×", "one 1.0×", "10× to 420×", "1.2× to 9.2×"):
        assert part in why


def test_the_largest_speedup_is_no_ceiling(run):
    """32000 / 2025 / 0.015 = 1,053; 60% of 4,247 cached: 2.097 / (0.839 + 0.015) = 2.5.

    The run's own at 8,400 tokens: 16.8 s over 0.02 s = 840.
    """
    said = caching.no_ceiling(run).data

    for part in ("1,053×", "2.5×", "8,400 tokens", "840× instead of 420×"):
        assert part in said


def test_no_gain_is_promised_where_longer_prompts_were_read_anew(tmp_path):
    """Reused at 100 tokens and not at 600: nothing is carried on to 200, nothing saved at 800."""
    rows = (*sent_twice(1, 100, 0.2, 0.02), *sent_twice(3, 600, 1.2, 1.2, read=600))
    run = held(tmp_path, *rows, sliding_window=512)

    assert "ends with the 10× at 100 tokens: the same prompt of 600" in caching.no_ceiling(run).data
    assert "**But not here**" in traffic.at_best(run, stable=600, total=800).data
    assert "not here" not in traffic.at_best(run, stable=200, total=400).data


def test_a_sliding_window_explains_what_is_not_reused(tmp_path):
    """Window 512: 100 tokens hit, 4,200 are read again, and nothing is called broken."""
    rows = (*sent_twice(1, 100, 0.2, 0.02), *sent_twice(3, 4200, 8.4, 8.3, read=4200))
    said = caching.sliding_window(held(tmp_path, *rows, sliding_window=512)).data

    for part in ("sliding window of 512 tokens", "at 4,200 tokens", "Nothing is broken"):
        assert part in said
    plain = caching.sliding_window(held(tmp_path, *rows)).data
    assert "names no sliding window that would explain it" in plain
    assert "any prefix can be reused" in caching.sliding_window(held(tmp_path, *rows[:2])).data
    assert "no warm prompt came from cache" in caching.headline(held(tmp_path, *rows[2:])).data


def test_what_was_changed_beside_its_cold_twin(tmp_path):
    """The same again reads 1 token, a time on top 985, at the bottom 16; the cheapest leads."""
    run = held(
        tmp_path,
        *two(1, "ts_top", 2.0, 1.97, 985),
        *two(3, "warm", 2.0, 0.02, 1),
        *two(5, "ts_bottom", 2.0, 0.05, 16),
        *two(7, "mid_changed", 2.0, 1.98, 989),
        *two(9, "appended", 2.0, 0.2, 60),
    )
    shown = broken.changed(run)
    said = broken.what_broke_it(run).data

    assert cells_of(shown, 0) == [
        "nothing, the same again", "1", "1,000", "1", "20.0 ms", "2.00 s", "100×"
    ]  # fmt: skip
    assert [cells_of(shown, n)[3] for n in range(5)] == ["1", "16", "60", "985", "989"]
    assert "Mostly read again: the time on top; one word at token 12." in said
    assert "made the server read 989 of 1,000 tokens again" in said
    assert "1.97 s of prefill above the text and 50.0 ms below it" in said


def test_users_take_turns_on_each_server_that_could_be_had(tmp_path):
    """One slot reads all 1,100 again, the host's memory 60; two slots could not be started."""
    run = held(
        tmp_path, *turns(1, "one_slot", 1100), *turns(5, "host_cache", 60),
        setups=SETUPS, left_out={"cache_broken:two_slots": "not enough memory"},
    )  # fmt: skip
    shown = broken.users(run)

    assert cells_of(shown, 0)[:5] == ["one slot", "2", "1,100", "1,100", "2.20 s"]
    assert cells_of(shown, 1)[3:] == ["60", "120 ms", "2.00 s", "17×"]
    assert "256 MiB" in cells_of(shown, 1)[0]
    assert "- two slots: not enough memory" in shown.data
    assert (
        "With one slot, whoever came back read nearly everything again." in broken.turns(run).data
    )


def test_a_second_slot_that_was_not_used_is_explained(tmp_path):
    """Ollama 0.24 takes the first slot again and again."""
    said = broken.turns(held(tmp_path, *turns(1, "two_slots", 1100))).data

    assert "Their second slot fills only when" in said
    assert "0.24" not in broken.turns(held(tmp_path, *turns(1, "two_slots", 60))).data


def test_the_readers_own_server_is_named_by_its_slots(tmp_path):
    """Where this program started it the slots are known, elsewhere no API tells them."""
    rows = turns(1, "", 1100)

    known = broken.users(held(tmp_path, *rows, server={"slots": 1}))
    assert cells_of(known, 0)[0] == "your server with its 1 slot"
    unknown = broken.users(held(tmp_path, *rows, server={"slots": "unknown"}))
    assert cells_of(unknown, 0)[0] == "your server as it is"


@pytest.fixture
def busy(tmp_path):
    """Two requests a layout: 0 of 800 on top, 350 of 800 below; 500 tokens cold in 1 s."""
    return held(
        tmp_path,
        *sent_twice(1, 500, 1.0, 0.002),
        asked(10, "volatile_top", 400, 0, 0.8),
        asked(11, "volatile_top", 400, 0, 0.8),
        asked(12, "stable_top", 400, 0, 0.8),
        asked(13, "stable_top", 400, 350, 0.1),
    )


def test_hit_rates_with_how_they_are_known(busy):
    """350 of 800 prompt tokens are 43.75%."""
    shown = traffic.hit_rates(busy)

    assert cells_of(shown, 0) == ["what changes on top", "2", "800", "0", "0.0%"]
    assert cells_of(shown, 1) == ["what stays on top", "2", "800", "350", "43.8%"]
    assert "less those it says came from cache" in shown.data
    assert traffic.hit_percent(busy) == pytest.approx(43.75)
    assert "**44% with what stays on top**" in traffic.for_the_worksheet(busy).data


def test_the_clock_alone_comes_close(busy):
    """At 2 ms a token 0.1 s are 50 tokens read, so 350 of 800: 44%; cold rows give 0%."""
    said = traffic.by_time_alone(busy).data

    assert "0% for what changes on top, 44% for what stays on top" in said
    assert "claims up to 0%" in said


def test_the_clock_alone_is_asked_about_whole_prompts(tmp_path):
    """A server that counts 50 of 400 tokens, read in 0.1 s at 2 ms each: 350 of 400 were cached."""
    few = dataclasses.replace(asked(10, "stable_top", 50, None, 0.1), condition="400")
    counters = TOLD | {"counts_cached": False}
    run = held(tmp_path, *sent_twice(1, 500, 1.0, 0.002), few, counters=counters)

    assert cells_of(traffic.hit_rates(run), 0)[4] == "87.5%"
    assert "said: 88% for what stays on top" in traffic.by_time_alone(run).data


def test_without_a_cold_prompt_no_time_is_looked_up(tmp_path):
    """A run of the traffic alone has its hit rate from counts, and no yardstick for times."""
    alone = held(tmp_path, asked(1, "stable_top", 400, 300, 0.2))

    assert cells_of(traffic.hit_rates(alone), 0)[4] == "75.0%"
    assert "A cold prompt" in traffic.by_time_alone(alone).data


def test_each_request_has_its_bar(busy):
    """Four requests, one of them in two parts, and a key of two boxes."""
    svg = traffic.each_request(busy).data

    assert svg.count("<rect") == 4 + 1 + 2
    heights = [float(h) for h in re.findall(r'<rect[^>]* height="([\d.]+)"', svg)]
    assert heights[3] / (heights[3] + heights[4]) == pytest.approx(350 / 400, abs=1e-2)
    assert "what stays on top: 44%" in svg


def test_at_best(busy):
    """300 of 400 stable: 0.6 s of 0.8 s saved, four times as fast."""
    said = traffic.at_best(busy, stable=300, total=400).data

    for part in ("75%", "800 ms", "600 ms", "200 ms", "4.0×"):
        assert part in said
    with pytest.raises(ValueError, match="stable must lie between"):
        traffic.at_best(busy, stable=500, total=400)


def test_bars_are_to_scale(run):
    """Of 9.4 s the 8.4 s of prefill take 89%."""
    svg = cache_bars.to_scale(run).data
    widths = [float(w) for w in re.findall(r'<rect[^>]* width="([\d.]+)"', svg)]

    assert widths[4] / (widths[4] + widths[5]) == pytest.approx(8.4 / 9.4, abs=1e-3)
    assert "4,200 tokens: cold 9.40 s, warm 1.02 s" in svg


WORDS = " ".join(["word"] * 700)


@pytest.mark.parametrize(
    ("counted", "says"),
    [
        (900, "**Not cut**"),
        (512, "read 512, exactly the window."),
        (511, "read 511, one less than the window."),
        (258, "read 258: half of the window of 512"),
        (400, "read 400. The answer"),
        (None, "nobody can tell"),
    ],
)
def test_counts_betray_a_cut(counted, says):
    """700 words are at least 700 tokens; each server's way of cutting leaves its number."""
    assert says in window.was_it_cut(counted, WORDS, 512).data


def test_a_run_without_the_experiment_says_how_to_measure_it(tmp_path):
    """A note in place of every table and picture, and no exception."""
    empty = held(tmp_path)
    shows = (
        caching.prefills, caching.whole_requests, caching.beside_the_chapter,
        caching.why_it_grows, broken.changed, broken.what_broke_it, broken.users, broken.turns,
        traffic.hit_rates, traffic.by_time_alone, traffic.for_the_worksheet,
        traffic.each_request, cache_bars.to_scale,
    )  # fmt: skip

    for show in shows:
        assert "lab.measured(book, again=True)" in show(empty).data, show
    assert caching.no_ceiling(empty).data
    assert caching.headline(empty).data
    assert caching.longest_speedup(empty) is traffic.hit_percent(empty) is None


def test_a_server_that_tells_no_counts_gets_estimates_marked_as_such(tmp_path):
    """500 tokens cold in 1 s: 0.1 s are about 50 tokens."""
    pair = {"pair": "a", "condition": "500"}
    run = held(
        tmp_path,
        row(1, 500, 1.0, None, **pair),
        row(2, 500, 0.1, None, variant="warm", **pair),
        asked(3, "stable_top", 400, None, 0.4),
    )
    shown = caching.prefills(run)

    assert cells_of(shown, 0)[2] == "≈ 50"
    assert "does not tell what came from cache" in shown.data
    assert cells_of(traffic.hit_rates(run), 0)[3:] == ["≈ 200", "≈ 50.0%"]
    assert "claims up to 0%" in traffic.by_time_alone(run).data
