"""logprobs and top_logprobs, on both endpoints, streaming and not."""

import json
import math

import httpx
import pytest

pytestmark = pytest.mark.engine

MODEL = "smollm2:135m"
PROMPT = {
    "generate": {"prompt": "The sky is", "raw": True},
    "chat": {"messages": [{"role": "user", "content": "The sky is"}]},
}


def ask(server, path="generate", **more):
    options = {"num_predict": 3, "temperature": 0} | more.pop("options", {})
    body = {"model": MODEL, "logprobs": True, "options": options} | PROMPT[path] | more
    url = f"{server.url}/api/{path}"
    answer = httpx.post(url, json=body, timeout=60, trust_env=False)
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


def said(record):
    return record["message"]["content"] if "message" in record else record["response"]


@pytest.mark.parametrize("path", PROMPT)
def test_each_piece_of_a_stream_has_its_own(builtin_server, path):
    """One entry a piece, spelling the piece; none in the last record."""
    *pieces, last = ask(builtin_server, path)

    assert len(pieces) == 3
    for piece in pieces:
        (entry,) = piece["logprobs"]
        assert entry.keys() == {"token", "logprob", "bytes"}
        assert entry["token"] == said(piece)
        assert bytes(entry["bytes"]).decode() == said(piece)
        assert entry["logprob"] <= 0
    assert "logprobs" not in last


@pytest.mark.parametrize("path", PROMPT)
def test_one_answer_has_them_all(builtin_server, path):
    """The same entries as in the stream, in one list."""
    *pieces, _ = ask(builtin_server, path)
    (whole,) = ask(builtin_server, path, stream=False)

    streamed = [entry for piece in pieces for entry in piece["logprobs"]]
    assert [entry["token"] for entry in whole["logprobs"]] == [e["token"] for e in streamed]
    assert "".join(entry["token"] for entry in whole["logprobs"]) == said(whole)


def test_the_likeliest_stand_beside_it(builtin_server):
    """As many as asked for, likeliest first; a greedy answer is the first of them."""
    (whole,) = ask(builtin_server, stream=False, top_logprobs=20)

    for entry in whole["logprobs"]:
        beside = [each["logprob"] for each in entry["top_logprobs"]]
        assert len(beside) == 20
        assert beside == sorted(beside, reverse=True)
        assert entry["top_logprobs"][0]["token"] == entry["token"]
        assert sum(map(math.exp, beside)) <= 1


def test_temperature_does_not_change_them(builtin_server):
    """They are the model's own, before any sampling."""
    cold, hot = (
        ask(
            builtin_server,
            stream=False,
            top_logprobs=3,
            options={"temperature": warmth, "num_predict": 1, "seed": 1},
        )[0]
        for warmth in (0, 2)
    )

    (theirs,), (mine,) = cold["logprobs"], hot["logprobs"]
    assert [each["logprob"] for each in mine["top_logprobs"]] == pytest.approx(
        [each["logprob"] for each in theirs["top_logprobs"]], abs=1e-3
    )


def test_a_character_of_several_tokens_has_one_entry(builtin_server):
    """The globe takes three tokens: one piece, one entry, three in the count."""
    (whole,) = ask(
        builtin_server,
        prompt="\N{EARTH GLOBE EUROPE-AFRICA}" * 6,
        stream=False,
        options={"num_predict": 6, "repeat_penalty": 1.0},
    )

    assert whole["response"] == "\N{EARTH GLOBE EUROPE-AFRICA}" * 2
    assert (whole["eval_count"], len(whole["logprobs"])) == (6, 2)


def test_nobody_gets_what_was_not_asked_for(builtin_server):
    """Without the field there is none; too many beside each are refused."""
    (plain,) = ask(builtin_server, stream=False, logprobs=False, top_logprobs=5)
    body = {"model": MODEL, "prompt": "x", "top_logprobs": 21}
    refused = httpx.post(f"{builtin_server.url}/api/generate", json=body, trust_env=False)

    assert "logprobs" not in plain
    assert refused.status_code == 400
    assert refused.json() == {"error": "top_logprobs must be between 0 and 20"}
