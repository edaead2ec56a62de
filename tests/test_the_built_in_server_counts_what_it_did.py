"""Counters, cache, windows and queue of the built-in server, through the official client."""

import concurrent.futures

import httpx
import pytest

from twohalves import server as asking

pytestmark = pytest.mark.engine

MODEL = "smollm2:135m"
WORDS = ("river", "stone", "window", "garden", "bottle", "letter", "engine", "winter", "silver")


def text(first, n_words=50):
    return " ".join([first, *(WORDS[i * i % 9] + str(i % 7) for i in range(n_words))])


def ask(server, prompt, num_predict=4, **more):
    options = {"temperature": 0, "num_ctx": 2048, "num_predict": num_predict}
    options |= more.pop("options", {})
    body = {"model": MODEL, "prompt": prompt, "raw": True, "stream": False, "options": options}
    answer = httpx.post(
        f"{server.url}/api/generate", json=body | more, timeout=300, trust_env=False
    )
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_same_prompt_twice_is_told_as_cached(builtin_server):
    """All but one token come from the cache, the count stays whole, and the time drops."""
    ask(builtin_server, "Something else.")
    cold = ask(builtin_server, text("Entry 1."))
    warm = ask(builtin_server, text("Entry 1."))

    count = cold["prompt_eval_count"]
    assert cold["prompt_eval_cached_count"] <= 1
    assert warm["prompt_eval_count"] == count
    assert warm["prompt_eval_cached_count"] == count - 1


def test_one_prefix_is_remembered_and_no_second(builtin_server):
    """A, B, A with one slot: the second A finds nothing of the first."""
    ask(builtin_server, text("Alpha"))
    ask(builtin_server, text("Beta"))
    again = ask(builtin_server, text("Alpha"))

    assert again["prompt_eval_cached_count"] <= 1


def test_a_changed_beginning_breaks_the_cache_and_a_changed_end_does_not(builtin_server):
    """The prefix counts, in both directions."""
    whole = ask(builtin_server, text("Gamma") + " one")
    end = ask(builtin_server, text("Gamma") + " two")
    beginning = ask(builtin_server, text("Delta") + " two")

    assert end["prompt_eval_cached_count"] >= whole["prompt_eval_count"] - 3
    assert beginning["prompt_eval_cached_count"] <= 1


def test_a_stream_is_one_record_a_token(builtin_server):
    """32 tokens make 32 records and a last one; durations add up to no more than the total."""
    with asking.translated(builtin_server), asking.client(builtin_server) as client:
        records = list(
            client.generate(
                model=MODEL,
                prompt=text("Stream", 20),
                raw=True,
                stream=True,
                options={"num_predict": 32, "num_ctx": 2048, "temperature": 0, "stop": []},
            )
        )

    last = records[-1]
    assert [record.done for record in records] == [False] * (len(records) - 1) + [True]
    assert (last.response, last.done_reason, last.eval_count) == ("", "length", 32)
    assert len(records) == 33
    assert all(record.response for record in records[:-1])
    parts = last.load_duration + last.prompt_eval_duration + last.eval_duration
    assert 0 < last.load_duration
    assert parts <= last.total_duration
    stamps = [record.created_at for record in records]
    assert stamps == sorted(stamps)


def test_a_stream_without_a_word_is_a_stream(builtin_server):
    """The stop text comes first: one last record, in the form of a stream all the same."""
    said = ask(builtin_server, "The sky is", num_predict=1)["response"]
    options = {"temperature": 0, "num_ctx": 2048, "num_predict": 4, "stop": [said]}
    body = {"model": MODEL, "prompt": "The sky is", "raw": True, "options": options}
    answer = httpx.post(
        f"{builtin_server.url}/api/generate", json=body, timeout=300, trust_env=False
    )

    assert answer.headers["content-type"] == "application/x-ndjson"
    assert (answer.json()["response"], answer.json()["done"]) == ("", True)
    assert answer.json()["eval_count"] >= 1


def test_one_token_has_no_duration(builtin_server):
    """It comes with the prompt: the field is left out, never zero."""
    assert "eval_duration" not in ask(builtin_server, "The sky is", num_predict=1)
    assert ask(builtin_server, "The sky is", num_predict=2)["eval_duration"] > 0


def test_a_prompt_that_fills_the_window_is_not_cut(builtin_server):
    """Exactly num_ctx tokens go in; one more is cut to num_ctx."""
    exact = ask(builtin_server, " the" * 256, options={"num_ctx": 256})
    longer = ask(builtin_server, " the" * 300, options={"num_ctx": 256})

    assert (exact["prompt_eval_count"], longer["prompt_eval_count"]) == (256, 256)


def test_without_shift_the_answer_ends_with_the_window(builtin_server):
    """250 tokens in, a window of 256: six come out; with shift as many as asked."""
    options = {"num_ctx": 256, "stop": ["never said"]}
    ends = ask(builtin_server, " one" * 250, num_predict=40, options=options, shift=False)
    goes_on = ask(builtin_server, " one" * 250, num_predict=40, options=options)

    assert (ends["eval_count"], ends["done_reason"]) == (6, "length")
    assert goes_on["eval_count"] == 40


def test_the_window_is_clamped_to_what_the_model_knows(builtin_server):
    """/api/ps says 8192 where a million was asked for."""
    ask(builtin_server, "Hi", options={"num_ctx": 1_000_000})

    (entry,) = httpx.get(f"{builtin_server.url}/api/ps", trust_env=False).json()["models"]
    assert entry["context_length"] == 8192


@pytest.mark.parametrize("unlimited", [0, -1])
def test_no_limit_means_until_the_model_ends(builtin_server, unlimited):
    """num_predict 0 and -1 are no limit; a stop text ends the answer."""
    answer = ask(builtin_server, "1, 2, 3, 4, 5,", num_predict=unlimited, options={"stop": [" 17"]})

    assert answer["done_reason"] == "stop"
    assert answer["response"].startswith(" 6, 7")
    assert " 17" not in answer["response"]
    assert answer["eval_count"] > 20


def test_another_window_loads_anew_and_another_seed_does_not(builtin_server):
    """A reload forgets the prefix; the same settings keep it."""
    first = ask(builtin_server, text("Seed"), options={"num_ctx": 1024})
    seed = ask(builtin_server, text("Seed"), options={"num_ctx": 1024, "seed": 5})
    window = ask(builtin_server, text("Seed"), options={"num_ctx": 768})

    assert seed["prompt_eval_cached_count"] == first["prompt_eval_count"] - 1
    assert window["prompt_eval_cached_count"] == 0


def test_a_seed_repeats_the_answer(builtin_server):
    """Same seed, same text, at a temperature at which others differ."""
    answers = [
        ask(builtin_server, "Once", num_predict=12, options={"temperature": 1.5, "seed": seed})
        for seed in (7, 7, 8)
    ]

    assert answers[0]["response"] == answers[1]["response"] != answers[2]["response"]


def test_two_clients_at_once_wait_for_each_other(builtin_server):
    """Both answers are whole; who waited has time in no field but the total."""
    ask(builtin_server, "Warm.")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda w: ask(builtin_server, text(w), 48), ("Echo", "Foxtrot")))

    assert all(answer["eval_count"] > 8 for answer in both)
    waits = [
        a["total_duration"] - a["load_duration"] - a["prompt_eval_duration"] - a["eval_duration"]
        for a in both
    ]
    busy = [a["prompt_eval_duration"] + a["eval_duration"] for a in both]
    assert max(waits) > min(busy) / 2
    assert min(waits) < min(busy) / 2


def test_requests_with_different_windows_take_turns(builtin_server):
    """Four at once, two windows: each is answered with its own."""
    windows = [256, 512] * 2
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        answers = list(
            pool.map(
                lambda w: ask(builtin_server, " the" * 600, 2, options={"num_ctx": w}), windows
            )
        )

    assert [answer["prompt_eval_count"] for answer in answers] == windows


def test_a_conversation_goes_on_from_its_context(builtin_server):
    """`context` holds the tokens so far, and the next answer builds on them."""
    body = {"model": MODEL, "stream": False, "options": {"num_predict": 5, "temperature": 0}}
    url = f"{builtin_server.url}/api/generate"
    first = httpx.post(url, json=body | {"prompt": "Hello"}, timeout=60, trust_env=False).json()
    more = {"prompt": "And?", "context": first["context"]}
    second = httpx.post(url, json=body | more, timeout=60, trust_env=False).json()

    assert second["context"][: len(first["context"])] == first["context"]
    assert second["prompt_eval_count"] > len(first["context"])


def test_json_is_what_was_asked_for(builtin_server):
    """`format: json` gives an object."""
    answer = ask(builtin_server, "A person as JSON:", 60, format="json")

    assert answer["response"].lstrip().startswith("{")
