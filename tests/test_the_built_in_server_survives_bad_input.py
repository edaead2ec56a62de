"""Whatever comes in, the answer is a clear refusal and the next request is served."""

import json
import socket
import urllib.parse

import httpx
import pytest

from twohalves.server.builtin.bodies import read_json

pytestmark = pytest.mark.engine

MODEL = "smollm2:135m"
GOOD = '"model":"smollm2:135m","prompt":"Hi","stream":false,"options":{"num_predict":2}'


def post(server, body, path="/api/generate", **headers):
    return httpx.post(server.url + path, content=body, headers=headers, timeout=60, trust_env=False)


def raw(server, request, *, end=True):
    """Send bytes, and no more unless told, and return all that comes back."""
    address = urllib.parse.urlsplit(server.url)
    with socket.create_connection((address.hostname, address.port), timeout=20) as wire:
        wire.sendall(request)
        if end:
            wire.shutdown(socket.SHUT_WR)
        received = b""
        while piece := wire.recv(65536):
            received += piece
    return received


@pytest.fixture(autouse=True)
def _is_alive_afterwards(builtin_server):
    yield
    answer = post(builtin_server, "{" + GOOD + "}")
    assert (answer.status_code, answer.json()["eval_count"]) == (200, 2)


@pytest.mark.parametrize(
    ("body", "status", "text"),
    [
        (b"", 400, "missing request body"),
        (b"{", 400, "unexpected EOF"),
        (b'{"model": "x', 400, "unexpected EOF"),
        (b"nonsense", 400, "invalid character 'n' looking for beginning of value"),
        (b'{"model": NaN}', 400, "invalid character 'N' looking for beginning of value"),
        (b"[" * 200_000, 400, "exceeded max depth"),
        (b"[1]", 400, "json: cannot unmarshal array into Go value of type api.GenerateRequest"),
        (b"null", 404, "model '' not found"),
        (b"{}", 404, "model '' not found"),
        (b'{"model": "nope"}', 404, "model 'nope' not found"),
        (b'{"model": "smollm2"}', 404, "model 'smollm2' not found"),
        (b'{"model": ' + b"9" * 5000 + b"}", 400, "json: cannot unmarshal number"),
    ],
)
def test_a_body_that_is_no_request(builtin_server, body, status, text):
    """The words say what is wrong with it."""
    answer = post(builtin_server, body)

    assert (answer.status_code, answer.json()) == (status, {"error": text})


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ('"prompt":[]', "array into Go struct field GenerateRequest.prompt of type string"),
        ('"raw":"yes"', "string into Go struct field GenerateRequest.raw of type bool"),
        ('"stream":1', "number into Go struct field GenerateRequest.stream of type bool"),
        ('"truncate":0', "number into Go struct field GenerateRequest.truncate of type bool"),
        ('"options":3', "GenerateRequest.options of type map[string]interface {}"),
        ('"context":["a"]', "string into Go struct field GenerateRequest.context of type int"),
        ('"think":"loud"', 'invalid think value: "loud"'),
        ('"suffix":"end"', "does not support insert"),
        ('"images":["aGk="]', "does not support images"),
        ('"template":"{{ .Prompt }}"', "does not offer template"),
        ('"format":{"$ref":"#/nowhere"}', "cannot follow this format"),
        ('"format":{"$ref":"file:///etc/hosts"}', "cannot follow this format"),
        ('"format":{"type":"array","minItems":100000000}', "cannot follow this format"),
        ('"format":{"type":"string","pattern":"^a{3,100000000}$"}', "cannot follow this format"),
        ('"options":{"repeat_penalty":0}', "must be finite and greater than 0"),
    ],
)
def test_a_field_that_cannot_be_served(builtin_server, field, text):
    """A 400 with the reason; never a silent other answer."""
    answer = post(builtin_server, "{" + GOOD + "," + field + "}")

    assert answer.status_code == 400
    assert text in answer.json()["error"]


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ('"num_ctx":true', 'option "num_ctx" must be of type integer'),
        ('"seed":"1"', 'option "seed" must be of type integer'),
        ('"temperature":[1]', 'option "temperature" must be of type float32'),
        ('"stop":"x"', 'option "stop" must be of type array'),
        ('"use_mmap":1', 'option "use_mmap" must be of type boolean'),
        ('"stop":[5]', 'option "stop" must be of an array of strings'),
    ],
)
def test_an_option_of_a_wrong_type(builtin_server, option, text):
    """Ollama's status for it is 500."""
    body = '{"model":"smollm2:135m","prompt":"Hi","options":{' + option + "}}"

    answer = post(builtin_server, body)

    assert (answer.status_code, answer.json()["error"]) == (500, text)


@pytest.mark.parametrize(
    "option",
    [
        '"num_ctx":-5', '"num_ctx":0', '"num_ctx":1', '"num_ctx":512.9', '"num_batch":0',
        '"num_batch":1',
        '"num_batch":1e300', '"num_thread":-3', '"seed":-99999999999', '"seed":4294967296',
        '"temperature":-1', '"temperature":1e30', '"top_k":0', '"num_keep":9999',
        '"stop":[""]', '"nonsense":1', '"num_ctx":null',
        '"num_predict":-7, "stop":["a","e","i","o","u"," "]',
    ],
)  # fmt: skip
def test_an_odd_option_is_bounded(builtin_server, option):
    """Numbers out of range are served within it, unknown options ignored."""
    options = '{"num_predict":2,' + option + "}"
    body = '{"model":"smollm2:135m","prompt":"Hi there","stream":false,"options":' + options + "}"

    answer = post(builtin_server, body)

    assert answer.status_code == 200, answer.text
    assert answer.json()["done"] is True


@pytest.mark.parametrize(
    "prompt",
    [
        b'"\xff\xfe broken \xc3"',
        b'"half \\ud83d pair"',
        b'"\\u0000"',
        b'"\xf0\x9f\x8c\x8d \\ud83c\\udf0d"',
    ],
)
def test_broken_text_is_mended(builtin_server, prompt):
    """Bytes that are no UTF-8 and halves of characters become replacement characters."""
    body = b'{"model":"smollm2:135m","stream":false,"options":{"num_predict":2},"prompt":'

    answer = post(builtin_server, body + prompt + b"}")

    assert answer.status_code == 200, answer.text


def test_a_whole_pair_stays_whole():
    """An escaped character outside the basic plane is one character."""
    assert read_json(b'{"a": "\\ud83c\\udf0d"}', "X") == {"a": "\N{EARTH GLOBE EUROPE-AFRICA}"}
    assert read_json(b'{"a": "\\ud83c!"}', "X") == {"a": "\N{REPLACEMENT CHARACTER}!"}


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "192.168.1.5:11434"},
        {"Host": "localhost.evil.example"},
        {"Host": "127.0.0.1.evil.example"},
        {"Host": "[nonsense"},
        {"Host": ""},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost.evil.example"},
        {"Origin": "file://"},
        {"Origin": "app://obsidian.md"},
    ],
)
def test_a_foreign_name_is_refused(builtin_server, headers):
    """Neither another name that points here nor a page from elsewhere is served."""
    answer = post(builtin_server, "{" + GOOD + "}", **headers)

    assert (answer.status_code, answer.content) == (403, b"")


def test_no_or_two_hosts_are_refused(builtin_server):
    """Exactly one Host, as HTTP/1.1 wants it."""
    for lines in (b"", b"Host: localhost\r\nHost: evil.example\r\n"):
        received = raw(builtin_server, b"GET /api/tags HTTP/1.1\r\n" + lines + b"\r\n")
        assert received.startswith(b"HTTP/1.1 403 ")


@pytest.mark.parametrize("more", [b"", b"Connection: keep-alive\r\n"], ids=["plain", "kept"])
def test_http_1_0_is_answered_without_chunks(builtin_server, more):
    """It knows neither a Host nor chunks: the end of the connection ends the stream."""
    fields = {"model": MODEL, "prompt": "Hi", "raw": True, "options": {"num_predict": 2}}
    body = json.dumps(fields).encode()
    head = b"Content-Length: %d\r\n%b\r\n" % (len(body), more)
    received = raw(builtin_server, b"POST /api/generate HTTP/1.0\r\n" + head + body, end=False)
    headers, _, lines = received.partition(b"\r\n\r\n")

    assert b"Transfer-Encoding" not in headers
    assert b"Connection: close" in headers
    assert [json.loads(line)["done"] for line in lines.splitlines()] == [False, False, True]


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:1", "127.0.0.1:9", "[::1]:5", "a.localhost"]
)
def test_our_own_names_are_served(builtin_server, host):
    """Whatever the port: a tunnel may have another."""
    answer = httpx.get(f"{builtin_server.url}/api/tags", headers={"Host": host}, trust_env=False)

    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"Content-Length: 99999999999\r\n", b"413"),
        (b"Content-Length: " + b"9" * 300 + b"\r\n", b"413"),
        (b"Content-Length: -5\r\n", b"411"),
        (b"Content-Length: five\r\n", b"411"),
        (b"Transfer-Encoding: chunked\r\n", b"411"),
    ],
)
def test_a_length_that_cannot_be_believed(builtin_server, head, status):
    """Refused at once, without reading what may never come."""
    start = b"POST /api/generate HTTP/1.1\r\nHost: localhost\r\n"
    received = raw(builtin_server, start + head + b"\r\n")

    assert received.split(b" ")[1] == status
    assert b'{"error":' in received


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 a TLS greeting\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /" + b"a" * 70000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"BREW /api/tags HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST /api/generate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{",
        b"",
    ],
)
def test_what_is_no_http_does_not_hurt(builtin_server, request_bytes):
    """Other protocols, endless lines, unknown methods, a body that stops short."""
    raw(builtin_server, request_bytes)


def test_every_refusal_leaves_the_connection_usable(builtin_server):
    """The official client keeps its connection: an error must not spoil it."""
    with httpx.Client(base_url=builtin_server.url, trust_env=False) as client:
        for path in ("/api/nope", "/api/generate", "/api/chat", "/api/tags"):
            assert client.get(path).status_code in {200, 404, 405}
            assert client.post("/api/generate", content=b"{").status_code == 400
        assert client.post("/api/nope", content=b"{}").status_code == 404
        assert client.get("/").status_code == 200
