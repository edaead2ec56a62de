"""`keep_alive` in every form that clients send, and what /api/ps then says."""

import datetime

import httpx
import pytest

from tests.servers.scripted import until
from twohalves.errors import RequestRefused
from twohalves.server.builtin.durations import FOREVER, keep_alive_seconds, parse_duration

MODEL = "smollm2:135m"


def load(server, **more):
    body = {"model": MODEL} | more
    return httpx.post(f"{server.url}/api/generate", json=body, timeout=60, trust_env=False)


def loaded(server):
    return httpx.get(f"{server.url}/api/ps", trust_env=False).json()["models"]


def seconds_left(server):
    (entry,) = loaded(server)
    expires = datetime.datetime.fromisoformat(entry["expires_at"][:19] + "+00:00")
    return (expires - datetime.datetime.now(datetime.UTC)).total_seconds()


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (0, 0),
        (30, 30),
        (0.5, 0.5),
        (-1, FOREVER),
        (-0.1, FOREVER),
        (1e9, 1e9),
        (10**400, FOREVER),
        ("5m", 300),
        ("1h30m", 5400),
        ("1.5h", 5400),
        (".5s", 0.5),
        ("250ms", 0.25),
        ("+2s", 2),
        ("0", 0),
        ("-2m", FOREVER),
        ("-1s", FOREVER),
    ],
)
def test_numbers_are_seconds_and_text_is_a_duration(value, seconds):
    """Anything negative means for ever."""
    assert keep_alive_seconds(value) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("-1", 'time: missing unit in duration "-1"'),
        ("30", 'time: missing unit in duration "30"'),
        ("1h30", 'time: missing unit in duration "1h30"'),
        ("abc", 'time: invalid duration "abc"'),
        ("", 'time: invalid duration ""'),
        ("5m later", 'time: unknown unit "m later" in duration "5m later"'),
        ("3d", 'time: unknown unit "d" in duration "3d"'),
        ("--1s", 'time: invalid duration "--1s"'),
        (True, "Unsupported type: 'bool'"),
        ([], "Unsupported type: '[]interface {}'"),
        ({}, "Unsupported type: 'map[string]interface {}'"),
    ],
)
def test_other_text_is_refused_in_gos_words(value, text):
    """The class of wording that clients of Ollama know."""
    with pytest.raises(RequestRefused) as caught:
        keep_alive_seconds(value)

    assert caught.value.args == (400, text)


def test_minus_is_kept_when_a_duration_is_read():
    """What is negative is known before it becomes for ever."""
    assert parse_duration("-1h30m") == -5400


@pytest.mark.engine
@pytest.mark.parametrize(
    ("value", "seconds"), [("5m", 300), ("1h30m", 5400), (30, 30), (None, 30), (1e9, 1e9)]
)
def test_the_expiry_told_agrees(builtin_server, value, seconds):
    """/api/ps says when the model will go; who names no time keeps what was told before."""
    assert load(builtin_server, keep_alive=value).json()["done_reason"] == "load"

    assert seconds_left(builtin_server) == pytest.approx(seconds, abs=10)


@pytest.mark.engine
@pytest.mark.parametrize("value", [-1, "-2m", 1e300])
def test_for_ever_is_told_as_centuries(builtin_server, value):
    """Go's longest time is 292 years."""
    load(builtin_server, keep_alive=value)

    years = seconds_left(builtin_server) / (365.25 * 86400)
    load(builtin_server, keep_alive=0)
    assert years == pytest.approx(292, abs=1)


@pytest.mark.engine
def test_what_is_loaded_anew_stays_as_long_as_usual(builtin_server):
    """What was told before an unload or before another window does not count any more."""
    load(builtin_server, keep_alive="2h")
    load(builtin_server, keep_alive=0)
    load(builtin_server)
    after_unload = seconds_left(builtin_server)
    load(builtin_server, keep_alive="2h")
    load(builtin_server, options={"num_ctx": 512})

    assert after_unload == pytest.approx(300, abs=10)
    assert seconds_left(builtin_server) == pytest.approx(300, abs=10)


@pytest.mark.engine
@pytest.mark.parametrize("value", ["-1", "abc", "", True])
def test_a_refused_duration_is_a_400(builtin_server, value):
    """And the words are in the body."""
    answer = load(builtin_server, keep_alive=value)

    assert answer.status_code == 400
    assert answer.json()["error"].startswith(("time: ", "Unsupported type"))


@pytest.mark.engine
@pytest.mark.parametrize("value", [0, "0", "0s"])
def test_zero_unloads_also_when_nothing_was_loaded(builtin_server, value):
    """Twice the same answer, and an empty list."""
    load(builtin_server)
    assert len(loaded(builtin_server)) == 1

    for _ in range(2):
        answer = load(builtin_server, keep_alive=value).json()
        assert (answer["done"], answer["done_reason"]) == (True, "unload")
        assert loaded(builtin_server) == []


@pytest.mark.engine
def test_zero_with_a_prompt_unloads_after_the_answer(builtin_server):
    """The answer is whole, then the memory is free."""
    answer = load(
        builtin_server, prompt="Hi", stream=False, keep_alive=0, options={"num_predict": 3}
    ).json()

    assert answer["eval_count"] == 3
    assert until(lambda: loaded(builtin_server) == [])


@pytest.mark.engine
def test_an_unload_in_the_middle_of_an_answer_follows_it(builtin_server):
    """The answer is whole, also for a client that had wanted the model kept."""
    body = {"model": MODEL, "prompt": "Hi", "raw": True, "keep_alive": "10m"}
    body["options"] = {"num_predict": 30, "temperature": 0}
    address = f"{builtin_server.url}/api/generate"
    with httpx.stream("POST", address, json=body, timeout=60, trust_env=False) as answer:
        lines = answer.iter_lines()
        next(lines)
        load(builtin_server, keep_alive=0)
        last = list(lines)[-1]

    assert '"done":true' in last
    assert '"eval_count":' in last
    assert until(lambda: loaded(builtin_server) == [])


@pytest.mark.engine
def test_time_runs_out_and_the_model_goes(builtin_server):
    """Really unloaded by the timer, and loaded anew by the next request."""
    load(builtin_server, keep_alive="300ms")

    assert until(lambda: loaded(builtin_server) == [])
    assert load(builtin_server).json()["done_reason"] == "load"
    assert len(loaded(builtin_server)) == 1


@pytest.mark.engine
def test_a_later_request_sets_the_time_anew(builtin_server):
    """An earlier short time does not unload what a later request wants kept."""
    load(builtin_server, keep_alive="400ms")
    load(builtin_server, keep_alive="10m")

    assert not until(lambda: loaded(builtin_server) == [], seconds=1)
