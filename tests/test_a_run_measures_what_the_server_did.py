"""A whole run against a server of known rates: recovered, complete, resumable, honest."""

import dataclasses
import itertools

import pytest

from tests.rows import invalid
from tests.servers import modelled
from twohalves.errors import (
    CannotResume,
    Interrupted,
    NoValidAnswer,
    WindowTooShort,
)
from twohalves.measure import live, measure, profiles
from twohalves.measure.notes import notes
from twohalves.runs import conditions, listed, load
from twohalves.runs import session as session_file
from twohalves.runs.frame import frame
from twohalves.server import find


class Ground:
    """A scripted server and a folder for runs."""

    def __init__(self, model, server, runs):
        self.model, self.server, self.runs = model, server, runs

    def book(self):
        found = find(environ={"TWOHALVES_SERVER": self.server.url})
        return live(found, None, self.runs)


@pytest.fixture
def ground(tmp_path, request):
    model = modelled.Modelled(**getattr(request, "param", {}))
    with modelled.scripted.Scripted(model.routes()) as server:
        yield Ground(model, server, tmp_path)


def test_rates_are_recovered_within_one_percent(ground):
    """2,000 and 190 tokens a second go in, and come out of every row."""
    run = measure(ground.book(), profile_name="chapter")

    for line in conditions(run, "prefill_decode"):
        assert line.prefill_rate.median == pytest.approx(2000, rel=0.01)
        assert line.decode_rate.median == pytest.approx(190, rel=0.01)
        assert line.ratio == pytest.approx(2000 / 190, rel=0.01)
        assert line.decode_rate_raw.median == pytest.approx(190 * 32 / 31, rel=0.01)


def test_a_complete_run_is_the_plan_and_nothing_else(ground):
    """The 143 calls of the chapter, then 84 of ours and 3 audits; each length within 3%."""
    run = measure(ground.book(), profile_name="chapter")
    roles = [row.role for row in run.timings]

    assert (214, 11, 2) == tuple(roles.count(role) for role in ("measure", "control", "warmup"))
    assert run.session["status"] == "complete"
    for row in run.timings:
        if row.role != "warmup":
            assert row.valid, row.flags
            assert row.prompt_eval_count == pytest.approx(int(row.condition), rel=0.03)


def test_no_prompt_is_sent_twice(ground, monkeypatch):
    """Entry numbers and texts are new each time, and neighbors differ in the first digit."""
    quick = dataclasses.replace(profiles.PROFILES["quick"], audits=False)  # which repeat on purpose
    monkeypatch.setitem(profiles.PROFILES, "quick", quick)
    measure(ground.book(), experiment="prefill_decode")
    prompts = [a.json["prompt"] for a in ground.server.asked if a.path == "/api/generate"]

    assert len(set(prompts)) == len(prompts)
    heads = [prompt[:1] for prompt in prompts]
    assert all(head.isdigit() for head in heads)
    assert all(one != two for one, two in itertools.pairwise(heads))


def test_every_request_asks_alike(ground):
    """Raw, greedy, one window, no silent cut: nothing that would reload the model.

    Only the one request that is asked in one piece is not streamed, and only the one without a
    prompt unloads the model, on purpose.
    """
    measure(ground.book(), profile_name="quick")
    bodies = [a.json for a in ground.server.asked if a.path == "/api/generate"]
    [unloading] = [body for body in bodies if not body.get("prompt")]
    bodies.remove(unloading)

    assert unloading["keep_alive"] == 0
    assert [body["stream"] for body in bodies].count(False) == 1
    for body in bodies:
        assert (True, False, "30m") == (body["raw"], body["truncate"], body["keep_alive"])
        options = body["options"]
        assert (8192, 0, 1) == (options["num_ctx"], options["temperature"], options["seed"])


def test_ctrl_c_keeps_the_rows_and_the_next_start_goes_on(ground):
    """Stopped after seven requests, resumed, and in the end nothing was asked twice."""
    told = []

    def stop(progress):
        told.append(progress)
        if len(told) == 8:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted, match="are kept") as caught:
        measure(ground.book(), experiment="prefill_decode", report=stop)
    assert "goes on where it stopped" in caught.value.next_step
    [name] = listed(ground.runs)
    before = load(ground.runs / name)
    assert before.session["status"] == "unfinished"
    assert len(before.timings) == 7

    after = measure(ground.book(), experiment="prefill_decode")

    assert after.id == name
    assert after.timings[:7] == before.timings
    seqs = [row.seq for row in after.timings if row.role != "warmup"]
    assert len(seqs) == len(set(seqs))
    assert after.session["status"] == "complete"


@pytest.mark.parametrize(
    ("change", "flag"),
    [
        ({"eval_count": 5}, "too_few_tokens"),
        ({"done_reason": "stop"}, "too_few_tokens"),
        ({"prompt_eval_count": 4}, "off_length"),
        ({"load_duration": 2_000_000_000}, "reloaded"),
        ({"prompt_eval_cached_count": 90}, "cached_prefix"),
        ({"prompt_eval_duration": None}, "no_counters"),
    ],
)
def test_an_invalid_answer_is_kept_flagged_and_asked_again(ground, change, flag):
    """The faulty row stays in the file, and a new one with new text takes its place."""
    ground.model.faults[5] = lambda final: {
        key: value for key, value in (final | change).items() if value is not None
    }

    run = measure(ground.book(), experiment="prefill_decode")
    [bad] = invalid(run)
    good = [row for row in run.timings if row.seq == bad.seq and row.valid]

    assert flag in bad.flags.split(";")
    assert [2] == [row.attempt for row in good]
    assert bad.prompt_hash != good[0].prompt_hash


def test_a_server_without_counters_is_given_up_soon(ground):
    """Three tries of the first control, then a clear error instead of an hour of nothing."""
    strip = ("prompt_eval_count", "prompt_eval_duration")
    for number in range(1, 50):
        ground.model.faults[number] = lambda final: {
            key: value for key, value in final.items() if key not in strip
        }

    with pytest.raises(NoValidAnswer, match="no_counters"):
        measure(ground.book(), experiment="prefill_decode")
    assert ground.model.answered == 5


@pytest.mark.parametrize("ground", [{"window": 2048}], indirect=True)
def test_a_short_window_leaves_lengths_out_and_says_so(ground):
    """A window of 2,048 holds 1,095 tokens and not 2,156: measured without, and recorded."""
    run = measure(ground.book(), experiment="prefill_decode")

    assert run.session["skipped_lengths"] == [2156, 4247]
    assert run.session["options"]["num_ctx"] == 2048
    assert [line.asked for line in conditions(run, "prefill_decode")] == [96, 298, 572, 1095]


@pytest.mark.parametrize("ground", [{"window": 600}], indirect=True)
def test_an_experiment_that_the_window_cannot_hold_is_left_out_and_says_so(ground):
    """600 tokens hold the traffic's 460 and 8; not the trial's 1,095, nor 572 and an answer."""
    run = measure(ground.book(), profile_name="quick")

    assert {row.experiments for row in run.timings} >= {"traffic"}
    said = " ".join(notes(run))
    assert "cache_broken, streaming (no prompt of it fits the window of 600 tokens)" in said
    assert "no time" not in said


@pytest.mark.parametrize("ground", [{"window": 300}], indirect=True)
def test_a_window_below_the_control_shrinks_the_control(ground):
    """Nothing that is sent may be longer than the window: 300 - 64 - 64 = 172 tokens."""
    run = measure(ground.book(), experiment="prefill_decode")

    assert run.session["status"] == "complete"
    assert {row.condition for row in run.controls()} == {"172"}
    assert {row.condition for row in run.timings if row.role == "warmup"} == {"86", "172"}
    assert "Left out, because the window is 300 tokens: 298, 572" in " ".join(notes(run))


def test_a_run_of_somebody_else_is_not_added_to(ground):
    """Resuming by name is refused for finished runs, other plans and other models."""
    book = ground.book()
    done = measure(book, experiment="prefill_decode")
    with pytest.raises(CannotResume, match="it is finished"):
        measure(book, experiment="prefill_decode", folder=done.folder)

    session_file.write(done.folder, done.session | {"status": "unfinished"})
    with pytest.raises(CannotResume, match="begun with --profile quick"):
        measure(book, profile_name="chapter", experiment="prefill_decode", folder=done.folder)

    other = done.session["model"] | {"digest": "another"}
    session_file.write(done.folder, done.session | {"status": "unfinished", "model": other})
    with pytest.raises(CannotResume, match="begun with Ollama"):
        measure(book, experiment="prefill_decode", folder=done.folder)
    assert load(done.folder).timings == done.timings


def test_a_server_that_stops_answering_well_ends_the_run(ground):
    """Three requests given up in a row: the rows stay, and the run is not passed off as done."""
    for number in range(9, 99):
        ground.model.faults[number] = lambda final: final | {"done_reason": "stop"}

    with pytest.raises(NoValidAnswer, match="too_few_tokens"):
        measure(ground.book(), experiment="prefill_decode")
    [name] = listed(ground.runs)
    kept = load(ground.runs / name)
    assert kept.session["status"] == "unfinished"
    assert len(kept.timings) == 8 + 9


def test_a_length_without_a_valid_row_is_said(ground):
    """One length that never came back well is named, the others stand."""
    run = measure(ground.book(), experiment="prefill_decode")
    rows = tuple(
        dataclasses.replace(row, valid=row.condition != "298", flags="too_few_tokens")
        if row.condition == "298"
        else row
        for row in run.timings
    )
    said = " ".join(notes(dataclasses.replace(run, timings=rows)))

    assert "3 answers were invalid and left out: too_few_tokens (3: " in said
    assert "No valid row was had at 298 tokens." in said


@pytest.mark.parametrize("ground", [{"window": 128}], indirect=True)
def test_a_window_for_nothing_is_refused(ground):
    """No prompt fits: one sentence, and no empty run left behind."""
    with pytest.raises(WindowTooShort, match="128 tokens"):
        measure(ground.book(), profile_name="quick")
    assert listed(ground.runs) == ()


@pytest.mark.parametrize(
    "ground", [{"rates": modelled.Rates(read_s=1 / 20, step_s=1 / 2)}], indirect=True
)
def test_a_slow_machine_measures_fewer_blocks(ground, monkeypatch):
    """Where a block would end after the budget it is not begun, and the run says how many were."""
    # by this server's counters what comes after the blocks takes 1,569 s, a block 387 s, and the
    # third one, with its longest prompt, 634 s; the counters are all that takes so long
    tight = dataclasses.replace(profiles.PROFILES["quick"], budget_s=2080)
    monkeypatch.setitem(profiles.PROFILES, "quick", tight)

    run = measure(ground.book(), profile_name="quick")

    assert run.session["status"] == "complete"
    assert run.session["blocks"] == {"planned": 3, "measured": 2}
    assert run.timings[-1].role == "audit"
    assert len(conditions(run, "prefill_decode")) == 5
    assert run.session["no_time_for"] == [4247]
    assert "No time was left for 4,247 tokens" in " ".join(notes(run))


def test_a_very_slow_machine_keeps_the_short_prompts(ground, monkeypatch):
    """Even the first block gives up what would take longer than the whole budget."""
    tight = dataclasses.replace(profiles.PROFILES["quick"], budget_s=1)
    monkeypatch.setitem(profiles.PROFILES, "quick", tight)

    run = measure(ground.book(), profile_name="quick")

    assert [line.asked for line in conditions(run, "prefill_decode")] == [96, 298, 572]
    assert run.session["no_time_for"] == [1095, 2156, 4247]
    assert run.session["blocks"] == {"planned": 3, "measured": 1}
    without = {name for name, why in run.session["left_out"].items() if "no time" in why}
    assert without == {"streaming", "cache_broken", "traffic"}
    assert "Not measured: cache_broken, streaming, traffic (no time" in " ".join(notes(run))


def test_a_server_that_may_not_know_how_to_unload_is_not_told_to(ground):
    """It speaks the protocol and is no Ollama: a repeat is planted, a reload is not."""
    ground.server.routes["/"] = modelled.scripted.Answer(body="some other server")
    run = measure(ground.book(), experiment="streaming")

    assert ["audit-duplicate"] * 2 == [row.pair for row in run.timings if row.role == "audit"]
    prompts = [a.json["prompt"] for a in ground.server.asked if a.path == "/api/generate"]
    assert all(prompts)


def test_progress_counts_up_and_time_left_counts_down(ground):
    """Told between requests: how many are done, and an estimate once rates are known."""
    told = []
    run = measure(ground.book(), profile_name="quick", report=told.append)

    assert [each.done for each in told] == list(range(len(run.timings) + 1))
    assert {each.total for each in told} == {len(run.timings)}
    assert told[0].seconds_left is None
    assert told[5].seconds_left > told[-2].seconds_left
    assert told[-1].seconds_left == 0


def test_the_rows_are_there_as_a_table(ground):
    """A reader gets every row with its seconds and rates; what is unknown is missing, not zero."""
    run = measure(ground.book(), experiment="prefill_decode")
    table = frame(run)

    assert len(table) == len(run.timings)
    assert table["prefill_rate"].median() == pytest.approx(2000, rel=0.01)
    assert table["decode_rate"].median() == pytest.approx(190, rel=0.01)
    assert (table["ttft_s"] < table["total_s"]).all()
    assert table["tpot_s"].notna().all()
    assert table["prompt_eval_cached_count"].isna().all()
    assert str(table["eval_duration"].dtype) == "Int64"


def test_a_dead_proxy_in_the_environment_does_not_reach_loopback(ground, monkeypatch):
    """A proxy is for the world outside: the run asks 127.0.0.1 directly."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")

    run = measure(ground.book(), experiment="prefill_decode")

    assert all(row.valid for row in run.timings if row.role != "warmup")


def test_a_server_behind_a_proxy_is_recorded_too(tmp_path, monkeypatch):
    """Rows are complete when the environment's proxy leads to the server."""
    name = "http://model.example:11434"
    routes = modelled.Modelled().routes()
    with modelled.scripted.Scripted(routes, prefix=name) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.removesuffix(name))
        monkeypatch.delenv("no_proxy", raising=False)
        book = live(find(environ={"TWOHALVES_SERVER": name}), None, tmp_path)
        run = measure(book, experiment="prefill_decode")

    assert all(row.valid for row in run.timings if row.role != "warmup")
    assert all(row.first_any_ns is not None for row in run.timings)
