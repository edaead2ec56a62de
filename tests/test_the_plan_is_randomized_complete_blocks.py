"""What is asked in which order: every block complete, every order its own, controls between."""

from collections import Counter

import pytest

from twohalves.errors import UnknownName
from twohalves.measure.plan import as_facts, from_facts, groups, plan, skipped
from twohalves.measure.profiles import EXPERIMENTS, PROFILES, profile

CHAPTER, QUICK = profile("chapter"), profile("quick")
CONDITIONS = sorted(
    [
        *(("prefill_decode", length, 32) for length in (96, 298, 572, 1095, 2156, 4247)),
        *(("ttft", length, 64) for length in (90, 960, 3731, 7427)),
        *(("decode_vs_context", length, 64) for length in (83, 965, 3731, 7414)),
        *(("prompt_cache", length, 32) for length in (95, 303, 564, 1090, 2149, 4247)),
    ]
)
"""The chapter's twenty."""


def _conditions(requests, block):
    return [
        (r.experiments, r.prompt_tokens, r.num_predict)
        for r in requests
        if r.in_blocks and r.block == block and r.variant == "cold"
    ]


def test_the_chapter_profile_counts_as_the_chapter_does():
    """Twenty conditions five times, six of them sent twice, 11 controls, 2 warm-ups: 143 calls."""
    requests = plan(CHAPTER, 8192, seed=1)
    calls = [r for r in requests if r.in_blocks or r.role in {"control", "warmup"}]

    assert (130, 11, 2) == tuple(
        sum(r.role == role for r in calls) for role in ("measure", "control", "warmup")
    )
    assert len(calls) == 143
    assert calls == list(requests[:143])
    assert [request.seq for request in requests] == list(range(1, len(requests) + 1))


def test_every_block_holds_every_condition_once():
    """No condition is ever missing from a block, whatever the order."""
    requests = plan(CHAPTER, 8192, seed=7)

    for block in range(1, 6):
        assert sorted(_conditions(requests, block)) == CONDITIONS


def test_blocks_have_orders_of_their_own():
    """Over 200 seeds each condition comes first about equally often: 1/20 of 1,000 blocks."""
    firsts = Counter(
        _conditions(plan(CHAPTER, 8192, seed), block)[0]
        for seed in range(200)
        for block in range(1, 6)
    )

    assert all(20 < firsts[condition] < 90 for condition in CONDITIONS)


def test_the_order_is_repeatable():
    """The seed in session.json gives the same plan, and the plan survives the file."""
    requests = plan(CHAPTER, 8192, seed=3)

    assert requests == plan(CHAPTER, 8192, seed=3)
    assert requests != plan(CHAPTER, 8192, seed=4)
    assert requests == from_facts(as_facts(requests))


def test_a_twin_follows_its_cold_prompt_at_once():
    """Nothing may come between a prompt and the same again, least of all a control."""
    for group in groups(plan(CHAPTER, 8192, seed=5)):
        if group[0].experiments == "prompt_cache":
            assert ["cold", "warm"] == [request.variant for request in group]
            assert len({(r.prompt_tokens, r.num_predict, r.block) for r in group}) == 1


def test_controls_stand_at_start_and_end_of_the_blocks():
    """The first request after the warm-ups and the last before the rest are controls."""
    requests = plan(QUICK, 8192, seed=2)
    blocks = [r for r in requests if r.in_blocks or r.role in {"control", "warmup"}]

    assert ["warmup", "warmup", "control"] == [r.role for r in blocks[:3]]
    assert blocks[-1].role == "control"
    assert blocks == list(requests[: len(blocks)])
    assert all(r.num_predict == 64 for r in requests if r.role == "control")


def test_the_longest_prompt_of_quick_comes_once():
    """4,247 tokens cost as much as a whole block: once, in the last block, with its twin."""
    requests = plan(QUICK, 8192, seed=2)

    assert [(3, "cold"), (3, "warm")] == [
        (r.block, r.variant) for r in requests if r.prompt_tokens == 4247
    ]


def test_two_users_take_turns_on_every_server():
    """A, B, A, B on the run's own server and on each private one, which is warmed up first."""
    requests = plan(QUICK, 8192, seed=2, setups=("", "two_slots"))
    users = [group for group in groups(requests) if group[0].user]

    assert ["", "two_slots"] == [group[0].setup for group in users]
    for group in users:
        assert [("a", "cold"), ("b", "cold"), ("a", "other_user"), ("b", "other_user")] == [
            (request.user, request.variant) for request in group
        ]
    first = next(r for r in requests if r.setup == "two_slots")
    assert first.role == "warmup"


def test_both_layouts_of_the_traffic_are_asked_as_often():
    """Twenty requests each, without a break."""
    requests = [r for r in plan(QUICK, 8192, seed=2) if r.experiments == "traffic"]

    assert ["volatile_top"] * 20 + ["stable_top"] * 20 == [r.variant for r in requests]


def test_the_audits_come_last():
    """A planted repeat and a planted reload; what they disturb is over by then."""
    requests = plan(QUICK, 8192, seed=2)

    assert ["audit-duplicate", "audit-duplicate", "audit-reload"] == [r.pair for r in requests[-3:]]
    assert {r.role for r in requests[-3:]} == {"audit"}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_one_experiment_alone(name):
    """Only its rows are measured; the warm-ups, controls and audits stay."""
    alone = CHAPTER.only(name)

    assert alone.experiments == (name,)
    served = {r.experiments for r in plan(alone, 8192, seed=1) if r.role == "measure"}
    assert served == {name}


def test_a_twin_is_asked_only_for_the_cache():
    """In `quick` one row serves four tables; for one of them alone its twin is left out."""
    requests = plan(QUICK.only("ttft"), 8192, seed=1)

    assert {r.variant for r in requests if r.role == "measure"} == {"cold"}


@pytest.mark.parametrize(
    ("window", "left_out"),
    [
        (8192, ()),
        (7555, ()),
        (7554, (7427,)),
        (4343, (7414, 7427)),
        (4342, (4247, 7414, 7427)),
        (2048, (2149, 2156, 3731, 4247, 7414, 7427)),
        (128, tuple(sorted({length for _, length, _ in CONDITIONS}))),
    ],
)
def test_lengths_beyond_the_window_are_left_out(window, left_out):
    """A prompt needs its tokens, those of the answer and 64 to spare."""
    assert skipped(CHAPTER, window) == left_out
    requests = plan(CHAPTER, window, seed=1)
    assert not {r.prompt_tokens for r in requests if r.in_blocks} & set(left_out)
    assert all(
        r.prompt_tokens + r.num_predict + 64 <= window for r in requests if r.role != "control"
    )


def test_an_unknown_profile_names_the_known_ones():
    """A slip of the finger is answered with what exists."""
    with pytest.raises(UnknownName) as caught:
        profile("quik")

    assert all(name in caught.value.what for name in PROFILES)
    assert "'quick'" in caught.value.next_step


def test_an_unknown_experiment_names_the_known_ones():
    """So is a slip in an experiment's name."""
    with pytest.raises(UnknownName) as caught:
        CHAPTER.only("tfft")

    assert "'ttft'" in caught.value.next_step
