"""Recorded requests are sent again: status, fields, types and error texts agree."""

import json
import pathlib
import re

import httpx
import pytest

from twohalves.server.builtin.generate import _cut

pytestmark = pytest.mark.engine

WIRE = pathlib.Path(__file__).parent / "wire"
OURS_ONLY = {"prompt_eval_cached_count"}
SUCCEED = [
    "generate_load_smollm2",
    "generate_nostream_smollm2",
    "generate_stream_smollm2",
    "generate_raw_nostream_smollm2",
    "generate_raw_stream_smollm2",
    "generate_stop_nostream_smollm2",
    "generate_np1_nostream_smollm2",
    "generate_np1_stream_smollm2",
    "generate_cached_nostream_smollm2",
    "generate_json_smollm2",
    "generate_truncated_nostream_smollm2",
    "debug_render_smollm2",
    "unload_generate",
]
REFUSED = [
    *sorted(path.name.split(".")[0] for path in WIRE.glob("err_*.request.http")),
    "generate_truncate_false_smollm2",
    "generate_truncate_false_stream_smollm2",
]
SAME_TEXT = [
    "generate_nostream_smollm2",
    "generate_stream_smollm2",
    "generate_raw_nostream_smollm2",
    "generate_raw_stream_smollm2",
    "generate_stop_nostream_smollm2",
    "generate_np1_nostream_smollm2",
    "generate_np1_stream_smollm2",
    "debug_render_smollm2",
]


def recorded_request(name):
    head, _, body = (WIRE / f"{name}.request.http").read_bytes().partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    method, path, _ = lines[0].split(" ")
    headers = dict(line.split(": ", 1) for line in lines[1:])
    kept = {k: v for k, v in headers.items() if k not in {"Host", "Content-Length", "Connection"}}
    return method, path, kept, body


def recorded_response(name):
    head, _, body = (WIRE / f"{name}.response.http").read_bytes().partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    headers = {k.lower(): v for k, v in (line.split(": ", 1) for line in lines[1:])}
    if headers.get("transfer-encoding") == "chunked":
        body = b"".join(_dechunked(body))
    return int(lines[0].split(" ")[1]), headers, body


def _dechunked(body):
    while body:
        size, _, body = body.partition(b"\r\n")
        length = int(size, 16)
        yield body[:length]
        body = body[length + 2 :]


def replay(server, name):
    method, path, headers, body = recorded_request(name)
    return httpx.request(
        method, server.url + path, headers=headers, content=body, timeout=120, trust_env=False
    )


def records(body):
    return [json.loads(line) for line in body.decode().splitlines() if line.strip()]


def kinds(record):
    return {key: type(value) for key, value in record.items() if key not in OURS_ONLY}


@pytest.mark.parametrize("name", SUCCEED)
def test_a_good_request_gets_the_recorded_shape(builtin_server, name):
    """Same status, media type, fields and types, in the first and the last record."""
    status, headers, body = recorded_response(name)
    expected = records(body)

    answer = replay(builtin_server, name)

    assert answer.status_code == status
    assert answer.headers["content-type"] == headers["content-type"]
    got = records(answer.content)
    assert (len(got) == 1) == (len(expected) == 1)
    assert kinds(got[0]) == kinds(expected[0])
    assert kinds(got[-1]) == kinds(expected[-1])
    assert list(got[-1])[:4] == list(expected[-1])[:4]


@pytest.mark.parametrize("name", SAME_TEXT)
def test_the_same_model_says_the_same(builtin_server, name):
    """Same weights, same template, same sampling: the recorded text and the recorded counts."""
    expected = records(recorded_response(name)[2])

    got = records(replay(builtin_server, name).content)

    text = "".join(record["response"] for record in expected)
    assert "".join(record["response"] for record in got) == text
    for counter in ("prompt_eval_count", "eval_count", "done_reason", "context", "_debug_info"):
        assert got[-1].get(counter) == expected[-1].get(counter)
    assert len(got) == len(expected)


def test_a_cut_prompt_counts_the_whole_window(builtin_server):
    """A prompt longer than the window is cut silently; the tell-tale is count == num_ctx."""
    expected = records(recorded_response("generate_truncated_nostream_smollm2")[2])[0]

    got = records(replay(builtin_server, "generate_truncated_nostream_smollm2").content)[0]

    assert expected["prompt_eval_count"] == 256
    assert got["prompt_eval_count"] == 256
    assert got["done_reason"] == expected["done_reason"]


def test_a_cut_keeps_the_first_tokens_and_the_tail():
    """Of ten tokens with room for seven, four stay in front and three at the end."""
    assert _cut(list(range(10)), room=7, keep=4) == [0, 1, 2, 3, 7, 8, 9]
    assert _cut(list(range(10)), room=10, keep=4) == list(range(10))
    assert _cut(list(range(10)), room=3, keep=4) == [0, 1, 9]


@pytest.mark.parametrize("name", REFUSED)
def test_a_bad_request_gets_the_recorded_refusal(builtin_server, name):
    """Same status and the same error text."""
    status, headers, body = recorded_response(name)

    answer = replay(builtin_server, name)

    assert answer.status_code == status
    assert answer.headers["content-type"].split(";")[0] == headers["content-type"].split(";")[0]
    if headers["content-type"].startswith("text/plain"):
        assert answer.content == body
        assert answer.headers.get("allow") == headers.get("allow")
    else:
        assert answer.json() == json.loads(body)


@pytest.mark.parametrize("name", ["cors_bad_origin", "cors_good_origin", "cors_preflight"])
def test_pages_from_elsewhere_are_refused_as_recorded(builtin_server, name):
    """A foreign origin gets 403, a local one the header that lets it read."""
    status, headers, _ = recorded_response(name)

    answer = replay(builtin_server, name)

    assert answer.status_code == status
    allowed = "access-control-allow-origin"
    assert answer.headers.get(allowed) == headers.get(allowed)


@pytest.mark.parametrize("name", ["tags", "ps_empty", "version"])
def test_lists_have_the_recorded_fields(builtin_server, name):
    """Entries of /api/tags carry the same keys and types."""
    status, _, body = recorded_response(name)

    answer = replay(builtin_server, name)

    assert answer.status_code == status
    expected, got = json.loads(body), answer.json()
    assert expected.keys() <= got.keys()
    for mine, theirs in zip(got.get("models", []), expected.get("models", []), strict=False):
        assert kinds(mine) == kinds(theirs)
        assert kinds(mine["details"]) == kinds(theirs["details"])


def test_what_is_loaded_is_told_as_recorded(builtin_server):
    """/api/ps has the recorded fields, and the recorded memory for the same model and window."""
    _, _, body = recorded_response("ps_two")
    (expected,) = [m for m in json.loads(body)["models"] if m["name"] == "smollm2:135m"]
    replay(builtin_server, "generate_raw_nostream_smollm2")

    (got,) = httpx.get(f"{builtin_server.url}/api/ps", trust_env=False).json()["models"]

    assert kinds(got) == kinds(expected)
    assert got["size"] == expected["size"]
    assert got["context_length"] == expected["context_length"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z", got["expires_at"])


def test_a_model_is_shown_as_recorded(builtin_server):
    """Same keys; same metadata; arrays are null; tensors as they are in the file."""
    _, _, body = recorded_response("show_smollm2")
    expected = json.loads(body)

    got = replay(builtin_server, "show_smollm2").json()

    assert got.keys() == expected.keys()
    info = expected["model_info"]
    assert got["model_info"].keys() == info.keys()
    for key, value in info.items():
        assert got["model_info"][key] == pytest.approx(value), key
    for key in ("tensors", "capabilities", "template", "parameters"):
        assert got[key] == expected[key]
    assert kinds(got["details"]) == kinds(expected["details"])


def test_verbose_adds_the_arrays(builtin_server):
    """Only then: the vocabulary and the per-layer arrays."""
    expected = json.loads((WIRE / "show_smollm2_verbose.trimmed.json").read_text(encoding="utf-8"))

    got = replay(builtin_server, "show_smollm2_verbose").json()

    arrays = {k: v for k, v in expected["model_info"].items() if isinstance(v, list)}
    assert arrays
    for key, beginning in arrays.items():
        assert got["model_info"][key][: len(beginning)] == beginning
    assert len(got["model_info"]["tokenizer.ggml.tokens"]) == 49152


def test_it_never_claims_to_be_ollama(builtin_server):
    """Greeting and version say what it is, and the version is no number."""
    root = httpx.get(builtin_server.url, trust_env=False)
    head = httpx.head(builtin_server.url, trust_env=False)
    version = httpx.get(f"{builtin_server.url}/api/version", trust_env=False).json()

    assert root.text == "Two Halves built-in server (llama.cpp) is running"
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == root.headers["content-length"]
    assert not re.search(r"\d+\.\d+", version["version"])
    assert "ollama" not in f"{version}{root.text}{root.headers}".lower()
    assert "xllamacpp" in version["engine"]
