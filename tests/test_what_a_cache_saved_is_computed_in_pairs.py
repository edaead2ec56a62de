"""Cold and warm are compared within their pair; what was read again is counted, or a guess."""

import pytest

from tests.rows import timed as row
from twohalves.runs import reference
from twohalves.runs.coldline import ColdLine, cold_line
from twohalves.runs.load import Run
from twohalves.runs.reuse import hit_rate, reuses, twins

MODEL = {"name": "m", "sliding_window": None}
TOLD = {"counts_cached": True, "prefill_is_whole": True, "steps_less": 1}


def held(tmp_path, *rows, counters=TOLD, **session):
    facts = {"model": MODEL, "counters": counters, **session}
    return Run(folder=tmp_path / "r", session=facts, timings=rows)


def pair(seq, name, cold, warm, *, tokens=1000, cached=None, totals=(None, None), attempt=1):
    """A prompt sent twice."""
    shared = {"pair": name, "attempt": attempt}
    return (
        row(seq, tokens, cold, cached=None if cached is None else 0, total=totals[0], **shared),
        row(seq + 1, tokens, warm, cached=cached, total=totals[1], variant="warm", **shared),
    )


def test_the_speedup_is_the_median_of_ratios_within_pairs(tmp_path):
    """Ratios 10, 20, 60 give 20, though the medians 3 s and 0.1 s would give 30."""
    run = held(
        tmp_path,
        *pair(1, "a", 2.0, 0.2, cached=999),
        *pair(3, "b", 3.0, 0.15, cached=999),
        *pair(5, "c", 6.0, 0.1, cached=997),
    )
    [line] = reuses(run, "prompt_cache")

    assert (20, 10, 60) == pytest.approx((line.speedup.median, line.speedup.low, line.speedup.high))
    assert (1, "told") == (line.processed_tokens.median, line.how)
    assert (3.0, 0.15) == (line.cold_s.median, line.later_s.median)


def test_the_whole_request_has_a_ratio_of_its_own(tmp_path):
    """4 s against 2 s is 2, whatever the prefill did."""
    run = held(tmp_path, *pair(1, "a", 3.0, 0.1, cached=999, totals=(4.0, 2.0)))
    [line] = reuses(run, "prompt_cache")

    assert line.total_speedup.median == pytest.approx(2)


def test_a_pair_asked_again_counts_as_it_was_asked_last(tmp_path):
    """A cold row of the first attempt is not set against a warm one of the second."""
    first, second = pair(1, "a", 9.0, 0.1), pair(1, "a", 4.0, 0.2, attempt=2)
    run = held(tmp_path, first[0], *second)
    [found] = twins(run, "prompt_cache")

    assert found.speedup == pytest.approx(20)


def test_half_a_pair_is_none(tmp_path):
    """A warm row whose cold one does not count is compared with nothing."""
    assert reuses(held(tmp_path, pair(1, "a", 9.0, 0.1)[1]), "prompt_cache") == ()


def test_users_taking_turns_are_matched_each_with_himself(tmp_path):
    """A 2 s, B 4 s, A again 1 s, B again 1 s: ratios 2 and 4, median 3."""
    turn = {"pair": "u", "experiments": "cache_broken", "setup": "one_slot"}
    run = held(
        tmp_path,
        row(1, 500, 2.0, cached=0, **turn),
        row(2, 500, 4.0, cached=0, **turn),
        row(3, 560, 1.0, cached=20, variant="other_user", **turn),
        row(4, 580, 1.0, cached=40, variant="other_user", **turn),
    )
    [line] = reuses(run, "cache_broken")

    assert ("one_slot", "other_user", 500) == (line.setup, line.variant, line.asked)
    assert line.speedup.median == pytest.approx(3)
    assert (570, 540, False) == (
        line.prompt_tokens.median, line.processed_tokens.median, line.reused
    )  # fmt: skip


def test_the_cold_line_starts_with_what_every_request_costs(tmp_path):
    """100 tokens in 0.3 s and 300 in 0.7 s: 2 ms a token, and 0.1 s before the first."""
    run = held(tmp_path, row(1, 100, 0.3), row(2, 300, 0.7))
    line = cold_line(run)

    assert line.tokens == (0, 100, 300)
    assert line.seconds == pytest.approx((0.1, 0.3, 0.7))
    assert (0.5, 1.1) == (pytest.approx(line.at(200)), pytest.approx(line.at(500)))


@pytest.mark.parametrize(
    ("seconds", "cached"),
    [(0.7, 0), (0.9, 0), (0.5, 100), (0.102, 299), (0.1, 299), (0.001, 299)],
)
def test_cached_tokens_are_estimated_from_time(seconds, cached):
    """On that line: all of 0.7 s is cold, 0.2 s less is 100 tokens, and one is always read."""
    line = ColdLine(tokens=(0, 100, 300), seconds=(0.1, 0.3, 0.7))

    assert line.cached(300, seconds) == pytest.approx(cached)


def test_the_rest_of_a_prompt_is_dearer_than_its_beginning():
    """Where the second half costs three times the first, reading only it saves a quarter."""
    line = ColdLine(tokens=(0, 100, 200), seconds=(0.0, 1.0, 4.0))

    assert line.cached(200, 3.0) == pytest.approx(100)


def test_without_a_count_the_read_tokens_are_called_timed(tmp_path):
    """1,000 tokens in 2 s cold; 0.2 s warm is a tenth of them."""
    run = held(tmp_path, *pair(1, "a", 2.0, 0.2))
    [line] = reuses(run, "prompt_cache")

    assert (100, "timed") == (pytest.approx(line.processed_tokens.median), line.how)


def test_a_clock_of_the_last_batch_estimates_nothing(tmp_path):
    """Where prefill seconds are not those of the prompt, nobody can tell."""
    counters = TOLD | {"prefill_is_whole": False}
    run = held(tmp_path, *pair(1, "a", 2.0, 0.2), counters=counters)
    [line] = reuses(run, "prompt_cache")

    assert (None, "unknown", None) == (line.processed_tokens, line.how, line.reused)


def test_a_count_that_leaves_cached_tokens_out_is_what_was_read(tmp_path):
    """Of 1,000 tokens asked for such a server counts the 30 it read, and no count is none."""
    counters = TOLD | {"counts_cached": False}
    warm = {"pair": "a", "variant": "warm", "condition": "1000"}
    for counted in (30, None):
        later = row(2, counted, 0.1, **warm)
        run = held(tmp_path, row(1, 1000, 2.0, pair="a"), later, counters=counters)
        [line] = reuses(run, "prompt_cache")

        assert (1000, counted or 0, "left out") == (
            line.prompt_tokens.median, line.processed_tokens.median, line.how
        )  # fmt: skip


def _traffic(seq, layout, tokens, cached, prefill=0.5):
    return row(
        seq, tokens, prefill, cached=cached, variant=layout, pair=f"traffic-{layout}",
        experiments="traffic",
    )  # fmt: skip


def test_the_hit_rate_is_cached_over_all_prompt_tokens(tmp_path):
    """0 of 400, 300 of 400, 300 of 500: 600 of 1,300, and not the mean of shares."""
    run = held(
        tmp_path,
        _traffic(1, "stable_top", 400, 0),
        _traffic(2, "stable_top", 400, 300),
        _traffic(3, "stable_top", 500, 300),
        _traffic(4, "volatile_top", 400, 4),
    )
    rate = hit_rate(run, "stable_top")

    assert (1300, 600, "told", 3) == (
        rate.prompt_tokens, rate.cached_tokens, rate.how, len(rate.requests)
    )  # fmt: skip
    assert rate.share == pytest.approx(6 / 13)
    assert hit_rate(run, "volatile_top").share == pytest.approx(0.01)


def test_a_hit_rate_nobody_can_tell_is_none(tmp_path):
    """No traffic, or times that have no yardstick."""
    assert hit_rate(held(tmp_path), "stable_top") is None
    assert hit_rate(held(tmp_path, _traffic(1, "stable_top", 400, None)), "stable_top") is None


def test_the_chapters_table():
    """Six rows; 153 times at 4,247 tokens, and 2.562 s over 0.286 s is 9.0 as a whole."""
    rows = reference.prompt_cache()

    assert [95, 303, 564, 1090, 2149, 4247] == [each.prompt_tokens for each in rows]
    assert [4, 10, 19, 34, 88, 153] == [each.prefill_speedup_x for each in rows]
    assert round(rows[-1].total_speedup, 1) == 9.0
