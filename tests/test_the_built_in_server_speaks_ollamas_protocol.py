"""Every recorded request is sent again: the answer conforms, or the difference is in the table."""

import ast
import json
import pathlib
import re

import httpx
import ollama
import pytest

from tests.models import tiny
from tests.servers.builtin import builtin
from tests.wire import recorded
from twohalves.server.builtin.differences import DIFFERENCES, as_markdown
from twohalves.server.builtin.endpoints import PATHS

pytestmark = pytest.mark.engine

TESTS = pathlib.Path(__file__).parent
OFFERED = [name for name in recorded.names() if recorded.endpoint(name).split(" ")[1] in PATHS]
SAME_TEXT = [
    "generate_raw_nostream_smollm2",
    "generate_raw_stream_smollm2",
    "generate_np1_nostream_smollm2",
    "generate_np1_stream_smollm2",
    "chat_stream_smollm2",
    "debug_render_smollm2",
    "debug_render_gemma3",
]
UNSENDABLE = {"err_no_body", "err_bad_json", "err_wrong_type", "err_format", "err_format_nostream"}
"""Requests that the official client refuses to send."""
ASKED_BY_THE_CLIENT = [
    name
    for name in OFFERED
    if recorded.endpoint(name) in {"POST /api/generate", "POST /api/chat", "POST /api/show"}
    and name not in UNSENDABLE
    and not {"_debug_render_only", "truncate", "verbose"} & recorded.request_json(name).keys()
]


@pytest.fixture(scope="module")
def urls(tmp_path_factory):
    """A server for each of the two recorded models; the second has random weights."""
    model = tiny.gemma3(tmp_path_factory.mktemp("models") / "gemma3.gguf", window=512)
    with builtin() as smollm2, builtin(model) as gemma3:
        yield {"smollm2": smollm2, "gemma3": gemma3}


def server_for(urls, name):
    return urls["gemma3" if b"gemma3" in recorded.request_bytes(name) else "smollm2"]


@pytest.fixture(scope="module")
def answers(urls):
    """Our answers to all recordings, asked in the recorded order."""
    return {name: recorded.send(server_for(urls, name), name) for name in recorded.names()}


@pytest.mark.parametrize("name", recorded.names())
def test_each_answer_conforms_or_its_difference_is_named(answers, name):
    """Status, content type, fields, their order and types, stream shape, words of refusals."""
    endpoint = recorded.endpoint(name)
    named = {sign for each in DIFFERENCES if endpoint in each.where for sign in each.signs}

    assert recorded.signs(recorded.response(name), answers[name]) <= named


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda each: each.here[:40])
def test_each_difference_is_one(answers, difference):
    """Nothing stands in the table that no recording and no test shows."""
    asked = [name for name in answers if recorded.endpoint(name) in difference.where]
    shown = [recorded.signs(recorded.response(name), answers[name]) for name in asked]

    assert set().union(*shown) >= set(difference.signs)
    if not difference.signs:
        file, _, function = difference.test.partition("::")
        tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
        assert function in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("name", SAME_TEXT)
def test_the_same_prompt_gets_the_same_answer(answers, name):
    """Same weights and sampling: the recorded text and the recorded counts; so is a rendering."""
    expected, got = recorded.response(name), answers[name]

    assert got.text == expected.text
    for field in ("prompt_eval_count", "eval_count", "done_reason", "context", "_debug_info"):
        assert got.records[-1].get(field) == expected.records[-1].get(field)
    assert len(got.records) == len(expected.records)


def test_a_cut_prompt_is_the_recorded_one(answers):
    """The first tokens and the tail, as many as the window: the next token is the recorded one.

    What follows is not: the engine's real window is larger, and forgets its beginning later.
    """
    expected = recorded.response("generate_truncated_nostream_smollm2")

    got = answers["generate_truncated_nostream_smollm2"]

    for field in ("prompt_eval_count", "eval_count", "done_reason"):
        assert got.records[0][field] == expected.records[0][field]
    assert got.text.split()[0] == expected.text.split()[0]
    assert got.text != expected.text


@pytest.mark.parametrize("name", ["chat_nostream_gemma3", "generate_nostream_gemma3"])
def test_without_a_template_the_bare_prompt_is_counted(answers, name):
    """`Hi` is one token and the beginning's own another; the tiny model spells letters."""
    asked = recorded.request_json(name)
    said = asked["messages"][-1]["content"] if "messages" in asked else asked["prompt"]

    assert recorded.response(name).records[0]["prompt_eval_count"] > 1
    assert answers[name].records[0]["prompt_eval_count"] == 1 + len(said)


@pytest.mark.parametrize(
    "name", [name for name in OFFERED if "stream" in name and "no" not in name]
)
def test_a_stream_is_pieces_and_a_last_record(answers, name):
    """Every record but the last has `done` false and a text; the last has none and the counts."""
    *pieces, last = answers[name].records

    if "error" not in last:
        assert [record["done"] for record in pieces] == [False] * last["eval_count"]
        assert last["done"] is True
        assert not (last.get("response"))
        assert not (last.get("message", {}).get("content"))


def test_logprobs_are_the_recorded_ones(answers):
    """The same tokens, as likely as recorded, the likeliest beside each."""
    expected = recorded.response("generate_logprobs_smollm2").records[0]["logprobs"]

    got = answers["generate_logprobs_smollm2"].records[0]["logprobs"]

    assert [each["token"] for each in got] == [each["token"] for each in expected]
    for mine, theirs in zip(got, expected, strict=True):
        assert mine["logprob"] == pytest.approx(theirs["logprob"], abs=0.01)
        assert [t["bytes"] for t in mine["top_logprobs"]] == [
            t["bytes"] for t in theirs["top_logprobs"]
        ]


def test_what_is_loaded_is_told_as_recorded(answers):
    """/api/ps tells the recorded memory for the same model and window."""
    (expected,) = [
        each
        for each in recorded.response("ps_two").records[0]["models"]
        if each["name"] == "smollm2:135m"
    ]

    (got,) = answers["ps_two"].records[0]["models"]

    assert got["size"] == expected["size"]
    assert got["context_length"] == expected["context_length"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z", got["expires_at"])


@pytest.mark.parametrize("name", ["show_smollm2", "show_gemma3"])
def test_a_model_is_shown_as_recorded(answers, name):
    """The same keys of metadata; of the same file the same values; arrays are null."""
    expected = recorded.response(name).records[0]

    got = answers[name].records[0]

    assert got["model_info"].keys() == expected["model_info"].keys()
    assert got["capabilities"] == expected["capabilities"]
    if name == "show_smollm2":
        assert got["tensors"] == expected["tensors"]
        for key, value in expected["model_info"].items():
            assert got["model_info"][key] == pytest.approx(value), key


def test_verbose_adds_the_arrays(answers):
    """Only then: the vocabulary and the per-layer arrays."""
    expected = recorded.response("show_smollm2_verbose").records[0]

    got = answers["show_smollm2_verbose"].records[0]

    arrays = {k: v for k, v in expected["model_info"].items() if isinstance(v, list)}
    assert arrays
    for key, beginning in arrays.items():
        assert got["model_info"][key][: len(beginning)] == beginning
    assert len(got["model_info"]["tokenizer.ggml.tokens"]) == 49152


def _through_the_client(transport, url, name):
    """What the official client makes of an answer: plain records, or the error it raises."""
    asked = recorded.request_json(name)
    verb = recorded.endpoint(name).rpartition("/")[2]
    if verb != "show":
        asked.setdefault("stream", True)  # the protocol's default, which the client turns round
    with ollama.Client(url, transport=transport) as client:
        try:
            answer = getattr(client, verb)(**asked)
            records = list(answer) if asked.get("stream") else [answer]
        except ollama.ResponseError as error:
            return [{"status": error.status_code, "error": error.error}]
    return [record.model_dump(exclude_none=True, by_alias=True) for record in records]


@pytest.mark.parametrize("name", ASKED_BY_THE_CLIENT)
def test_the_official_client_gets_the_same_objects(urls, name):
    """Recorded bytes and our answers become objects with the same fields and types."""
    theirs = recorded.response(name)

    def replayed(_request):
        kind = {"content-type": theirs.headers["content-type"]}
        return httpx.Response(theirs.status, headers=kind, content=theirs.body)

    expected = _through_the_client(httpx.MockTransport(replayed), "http://recorded", name)
    got = _through_the_client(httpx.HTTPTransport(), server_for(urls, name), name)

    differences = recorded.signs(_as_exchange(expected), _as_exchange(got))
    if name.startswith("show"):
        differences -= {"- parameters", "value of template"}
    assert differences == set()


def _as_exchange(records):
    lines = "\n".join(json.dumps(record, default=str) for record in records)
    return recorded.Exchanged(status=200, headers={}, body=lines.encode())


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


@pytest.mark.parametrize(
    "path", ["/api/pull", "/api/embeddings", "/v1/completions", "/favicon.ico"]
)
def test_a_path_that_is_not_offered_is_unknown(builtin_server, path):
    """Ollama's own words for a path that it does not know, whatever the method."""
    expected = recorded.response("err_404")

    for method in ("GET", "POST", "DELETE"):
        answer = httpx.request(method, builtin_server.url + path, trust_env=False)
        assert (answer.status_code, answer.content) == (expected.status, expected.body)
        assert answer.headers["content-type"] == expected.headers["content-type"]


def test_the_table_can_be_read():
    """One line a difference, all cells filled."""
    header, rule, *lines = as_markdown().splitlines()

    assert len(lines) == len(DIFFERENCES)
    assert {line.count(" | ") for line in (header, *lines)} == {3}
    assert rule == "|---|---|---|---|"
