"""From a real server in another process to rows, rates and sentences."""

import dataclasses

import pytest

from twohalves.measure import Profile, live, measure, profiles
from twohalves.runs import conditions, derive
from twohalves.show import rates

pytestmark = pytest.mark.engine

TINY = Profile(
    name="tiny", points=profiles.points((96, 298), num_predict=8), blocks=2, control_every=9
)


@pytest.fixture(scope="module")
def run(builtin_server, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(profiles.PROFILES, "tiny", TINY)
        book = live(builtin_server, None, tmp_path_factory.mktemp("runs"))
        return measure(book, profile_name="tiny")


def test_every_planned_row_is_there_and_valid(run):
    """Two lengths in two blocks, a control at each end, two warm-ups."""
    roles = [row.role for row in run.timings if row.valid]

    assert (4, 2, 2) == tuple(roles.count(role) for role in ("measure", "control", "warmup"))


def test_lengths_are_within_three_percent(run):
    """The prose comes out at the length that was asked for."""
    for row in run.measured("prefill_decode"):
        assert row.prompt_eval_count == pytest.approx(int(row.condition), rel=0.03)
        assert row.eval_count == 8


def test_cold_rows_are_cold(run):
    """The server reports at most what every prompt begins with from its cache."""
    for row in run.timings:
        assert row.prompt_eval_cached_count is not None
        assert row.prompt_eval_cached_count <= 4


def test_clocks_are_in_order_and_hold_the_servers_parts(run):
    """Sent, first, last, done; prefill and decode fit between sending and the end."""
    for row in run.timings:
        assert row.sent_ns <= row.first_any_ns <= row.first_text_ns
        assert row.first_text_ns <= row.last_text_ns <= row.done_ns
        parts = derive.prefill_s(row) + derive.decode_s(row)
        assert parts <= derive.total_s(row)
        assert row.n_chunks == row.eval_count


def test_writing_takes_longer_than_reading(run):
    """The chapter's sign, on whatever machine this is: a ratio above one at 298 tokens."""
    assert conditions(run, "prefill_decode")[-1].ratio > 1


def test_the_session_says_who_answered(run):
    """Server, model, engine, machine, load before and after."""
    session = run.session

    assert session["server"]["kind"] == "builtin"
    assert session["model"]["quantization"] == "Q4_1"
    assert session["counters"]["steps_less"] == 1
    assert set(session["load_average"]) == {"before", "after"}
    assert session["machine"]["logical_cores"] >= 1


def test_a_page_can_be_written_from_it(run):
    """The headline names the longest row's rates."""
    line = conditions(run, "prefill_decode")[-1]

    assert f"{dataclasses.asdict(line.prompt_tokens)['median']:,.0f}" in rates.headline(run).data
