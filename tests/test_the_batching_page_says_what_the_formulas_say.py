"""Sentences, tables and the stored page of section 31.4, against sums done by hand."""

import pathlib
import re

import pytest

from tests.tables import cells_of, page_of, rows_of, text_of
from twohalves.errors import QuantityUnusable
from twohalves.runs import named
from twohalves.runs.choose import newest_sample
from twohalves.show import batch_limits, batching, schedulers

PROJECT = pathlib.Path(__file__).resolve().parents[1]
NOTEBOOK = PROJECT / "notebooks" / "31-04-batching.ipynb"
ANSWERS, SLOTS = [5, 1, 2], 2
"""Static: 5 and 1 leave at 5, 2 at 7. Continuous: 2 takes the place of 1 and leaves at 3."""


@pytest.fixture
def sample():
    return named(newest_sample())


def test_one_user_leaves_the_arithmetic_idle():
    """6.4 GB at 3.35 TB/s are 1.910 ms; 6.4 GFLOP at 989 TFLOP/s are 6.47 microseconds: 0.3%."""
    said = text_of(batching.one_user())

    for part in ("6.4 GB", "1.91 ms", "6.4 GFLOP", "0.00647 ms", "99.7% of the step"):
        assert part in said


def test_the_size_of_the_model_cancels(sample):
    """Two models and the reader's, 8 users, 4 bits: 16 * 8 / 4 = 32 for each."""
    rows = rows_of(batching.counted_out(sample, 8, 4))

    assert [row[3] for row in rows] == ["32", "32", "32"]
    # 2 * 3.2e9 * 8 = 51.2 GFLOP over 1.6 GB
    assert rows[1] == ["llama3.2:3b", "51.2", "1.60", "32"]
    # 2 * 134,515,008 * 8 = 2.152 GFLOP over 0.0673 GB
    assert rows[0] == ["smollm2:135m", "2.15", "0.0673", "32"]


def test_a_model_of_unknown_size_is_left_out(sample):
    """The chapter's stand alone."""
    sample.session["model"].pop("parameter_count")

    assert len(rows_of(batching.counted_out(sample, 1, 16))) == 2


def test_users_are_free_up_to_the_ridge():
    """1.910 ms up to 295; 300 * 6.4e9 / 989e12 = 1.941 ms; 600 take 3.883, 2.03 times as long."""
    rows = rows_of(batching.without_caches())

    assert [row[:3] for row in rows] == [
        ["1", "1.91 ms", "1.0×"],
        ["2", "1.91 ms", "1.0×"],
        ["50", "1.91 ms", "1.0×"],
        ["300", "1.94 ms", "1.0×"],
    ]
    # 989e12 / 6.4e9 tokens a second at most
    assert rows[-1][3:] == ["515", "154,531"]
    assert "With twice as many it takes 2.0× as long" in text_of(batching.nearly_free())
    assert "begins to take longer, by 2%" in text_of(batching.nearly_free())


def test_caches_fill_a_card_before_its_arithmetic_is_busy():
    """(80 - 6.4) GB over 4,247 tokens of 114,688 bytes: 151; of 60,928 bytes: 284; 51% of 295."""
    rows = rows_of(batch_limits.in_memory(80))

    assert rows[0] == ["4,247", "0.454 GiB (0.487 GB)", "151", "284", "51%"]
    # 73.6e9 / (32,768 * 114,688) = 19.58; / (131,072 * 114,688) = 4.9
    assert [row[2] for row in rows] == ["151", "78", "19", "4"]
    assert "in every row" in text_of(batch_limits.memory_first(80))
    # at 200 GB: 397 and 206 fit, then 51 and 12, so three rows of four have too few
    assert "In 3 of 4 rows" in text_of(batch_limits.memory_first(200))


def test_an_objective_is_a_limit_on_the_batch():
    """(0.01 * 3,350 - 6.4) / 0.48708 = 55.6 users; 0.05 s would allow 330, and 151 fit."""
    rows = rows_of(batch_limits.objective([1, 10, 50], 4247, 80))

    assert rows[0] == ["1 ms", "0", "0", "–", "the objective"]
    # 55 users read 33.19 GB in 9.907 ms
    assert rows[1] == ["10 ms", "55", "55", "5,551", "the objective"]
    assert rows[2][1:3] == ["330", "151"]
    assert rows[2][4] == "memory"


def test_half_the_time_leaves_more_than_half_of_the_throughput():
    """124 users within 20 ms and 55 within 10: 44%; 5,551 of 6,219 tokens a second: 89%."""
    said = text_of(batch_limits.halved(20, 4247, 80))

    assert "leaves 44% of the users and 89% of the throughput" in said
    assert "Below the ridge, the last users" in said
    assert "nobody is served" in text_of(batch_limits.halved(3, 4247, 80))


@pytest.mark.parametrize(
    ("limit_ms", "tokens", "card_gb", "parts"),
    [
        # 2 * 3.2e9 * B / 989e12 within 20 and 10 ms: 3,090 and 1,545, both beyond the ridge
        (20, 1, 80, ("leaves 50% of the users and 100%", "Beyond the ridge")),
        # 13.6 GB beside the weights hold 27 caches, and 55 users would be in time
        (20, 4247, 20, ("leaves 100% of the users and 100%", "memory is the limit")),
        # weights take 1.91 ms: 13 users within 2 ms, 318 within 4
        (4, 192, 80, ("leaves 4% of the users and 8%", "The weights alone take 1.91 ms")),
    ],
)
def test_half_the_time_costs_by_what_the_limit_is(limit_ms, tokens, card_gb, parts):
    """The last users bring little only below the ridge, on a card that holds them."""
    said = text_of(batch_limits.halved(limit_ms, tokens, card_gb))

    assert all(part in said for part in parts)
    assert "bring little" not in said


def test_ways_to_share_are_counted_in_steps():
    """8 tokens in 8, 7 or 5 steps; in the slot 8/3, (5+5+2)/3, 8/3; with the wait 19/3, 17/3, 3."""
    assert rows_of(schedulers.in_steps(ANSWERS, SLOTS)) == [
        ["none", "8", "1.00", "2.7", "6.3"],
        ["static", "7", "1.14", "4.0", "5.7"],
        ["continuous", "5", "1.60", "2.7", "3.0"],
    ]


def test_a_short_answer_is_held_by_a_long_one():
    """The answer of one token stays for four steps more; 7 steps over 5 are 1.4."""
    said = text_of(schedulers.hostage(ANSWERS, SLOTS))

    for part in ("an answer of 1 token", "4 steps more", "5 steps instead of 7", "1.4× the"):
        assert part in said
    assert "all of one length, so nobody is held" in text_of(schedulers.hostage([3, 3, 3], 2))
    assert "Each batch has answers of one" in text_of(schedulers.hostage([5, 5, 3, 3], 2))
    assert "Give more slots" in text_of(schedulers.hostage([1, 3], 1))
    assert "after the same 5 steps" in text_of(schedulers.hostage([5, 3], 9))
    assert "1 answer of 1 token, 1 slot" in text_of(schedulers.in_steps([1], 1))


def test_the_picture_says_what_it_shows():
    """8 of 2 * 7 places are used, then 8 of 2 * 5; each answer has its box."""
    drawn = schedulers.picture(ANSWERS, SLOTS).data

    assert "static: 7 steps, 57% used" in drawn
    assert "continuous: 5 steps, 80% used" in drawn
    assert drawn.count("<rect") == 2 * len(ANSWERS)
    # static only: one answer waits for another
    assert drawn.count("<polyline") == 1


def test_the_ranks_are_the_chapters():
    """None: 3 and 1; static: 2 and 3; continuous: 1 and 2."""
    shown = schedulers.ranks()
    ranks = [[cell[:1] for cell in cells_of(shown, row)[1:]] for row in range(3)]

    assert ranks == [["3", "1"], ["2", "3"], ["1", "2"]]


def test_the_ranks_of_throughput_are_those_of_the_count():
    """Fewer steps, better rank, on the page's own answers too."""
    steps = [int(row[1]) for row in rows_of(schedulers.in_steps(ANSWERS, SLOTS))]
    ranks = [int(row[1][0]) for row in rows_of(schedulers.ranks())]

    assert sorted(range(3), key=lambda way: steps[way]) == sorted(
        range(3), key=lambda way: ranks[way]
    )


def test_what_is_cited_is_called_cited():
    """Two papers by name and year, whose figures they are, and where they stand."""
    said = text_of(schedulers.cited())

    for part in ("Yu and others (2022)", "10 times", "Kwon and others (2023)", "2 to 4 times",
                 "Nobody measured this here", "authors' figures", "references.qmd"):  # fmt: skip
        assert part in said


@pytest.mark.parametrize(
    "shown",
    [
        lambda run: batching.counted_out(run, 0, 16),
        lambda run: batching.counted_out(run, 1, -4),
        lambda _: batch_limits.guess_fit("80"),
        lambda _: batch_limits.in_memory(0),
        lambda _: batch_limits.in_memory(float("inf")),
        lambda _: batch_limits.memory_first(-1),
        lambda _: batch_limits.objective([10, 0], 100, 80),
        lambda _: batch_limits.objective([10], 0, 80),
        lambda _: batch_limits.halved(0, 100, 80),
        lambda _: schedulers.picture([], 4),
        lambda _: schedulers.in_steps([3, 0], 4),
        lambda _: schedulers.hostage([3], 0),
        lambda _: schedulers.in_steps([3, 4], 2.5),
        lambda _: schedulers.in_steps([3, 4], 10**9),
        lambda _: schedulers.picture([3.5, 4], 2),
    ],
)
def test_a_number_that_makes_no_sense_is_asked_for_again(sample, shown):
    """By its name, with what to give instead."""
    with pytest.raises(QuantityUnusable, match=r"Next: Give .* number"):
        shown(sample)


def test_a_card_that_is_too_small_serves_nobody():
    """3 GB do not hold 6.4 GB of weights."""
    assert [row[2] for row in rows_of(batch_limits.in_memory(3))] == ["0", "0", "0", "0"]
    assert "nobody is served" in text_of(batch_limits.halved(20, 4247, 3))
    assert cells_of(batch_limits.objective([10], 1, 3), 0)[2:4] == ["0", "–"]


CLAIMS = {
    "assertions": "**4 times.** So often",
    "flops_per_weight": "two operations",
    "h100_tflops": "989 TFLOP/s",
    "h100_tb_s": "3.35 TB/s",
    "ridge": "**295 operations**",
    "ridge_batch_fp16": "| fp16 | 16 | 1 | 295 |",
    "ridge_batch_4bit": "| 4 | 4 | 74 |",
    "prefill_intensity": "| 4,247 | 4,247 | 14× |",
    "prefill_past_ridge": "more than 10 times beyond the ridge. It is 14.4 times",
    "free_request": "neither does the 50th",
    "costly_request": "With 300 a step begins to take longer",
    "early_limits": "Two things are not in the formula",
    "orca_gain": "an order of magnitude, some 10 times",
    "vllm_gain_low": "vLLM 2 to 4 times",
    "vllm_gain_high": "vLLM 2 to 4 times",
}


@pytest.mark.parametrize("text", CLAIMS.values(), ids=CLAIMS)
def test_the_stored_page_holds_the_chapters_claim(text):
    """Each figure of the chapter's section stands on the page."""
    assert text in page_of(NOTEBOOK)


def test_no_claim_of_the_section_was_forgotten():
    """The list above has all of data/claims.csv."""
    lines = (PROJECT / "data" / "claims.csv").read_text(encoding="utf-8").splitlines()

    assert {line.split(",")[0] for line in lines if re.match(r"\w+,31\.4,", line)} == set(CLAIMS)


def test_the_page_says_what_the_real_file_makes_of_the_chapters_figure():
    """At five bits a weight 295.2 * 5 / 16 = 92 users, where the chapter says 74 for four."""
    assert "| 5 | 3.2 | 92 |" in page_of(NOTEBOOK)


def test_a_prediction_stands_before_each_result():
    """Five questions to the reader, or more."""
    assert page_of(NOTEBOOK).count("**Prediction**") >= 5
