"""Ten thousand requests that no client should send: each is answered or refused, none does harm.

They differ in method, path, headers, length and body; some bodies are nearly right, some are no
text at all. Afterwards the same process serves as before, holds no more memory, and its log
knows of no fault of its own.
"""

import collections
import http.client
import json
import os
import re
import socket
import sys
import urllib.parse
from dataclasses import dataclass

import httpx
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as some

from tests.models import tiny
from tests.servers.builtin import Started
from tests.servers.scripted import until

pytestmark = pytest.mark.engine

HOW_MANY = int(os.environ.get("FUZZ_REQUESTS", "10000"))
"""Whoever sets the variable hunts: with other requests each time. Else they are the same ones."""
HUNTS = "FUZZ_REQUESTS" in os.environ
EXPECTED = {200, 204, 400, 403, 404, 405, 408, 411, 413, 414, 431, 500, 501, 503, 505}
OURS = "internal error"
CRASHED = "the engine broke off (exit code"  # too long a text to be sent by chance, and echoed
FOREIGN = re.compile(rb"\r\n(Host|Origin): [^\r]*example")
OPTIONS = """
num_ctx num_batch num_thread num_predict num_keep num_gpu seed stop temperature top_k top_p min_p
typical_p repeat_penalty repeat_last_n presence_penalty frequency_penalty mirostat
""".split()  # noqa: SIM905
FIELDS = """
model name prompt suffix system template context stream raw images options truncate shift logprobs
top_logprobs verbose think format keep_alive messages tools _debug_render_only
""".split()  # noqa: SIM905
PATHS = (
    "/api/generate",
    "/api/chat",
    "/api/show",
    "/api/tags",
    "/api/ps",
    "/api/version",
    "/",
    "/api/../../etc/passwd",
    "/..%2f..%2fetc/passwd",
    "//api/tags",
    "/api/embed",
    "http://example.com/api/tags",
    "*",
    "/" + "a" * 70_000,
)
METHODS = ["GET", "PUT", "DELETE", "OPTIONS", "HEAD", "TRACE", "CONNECT", "get", "FOO", "PRI"]
HOSTS = ("127.0.0.1", "localhost:1", "[::1]:80", "example.com", "127.0.0.1.example.com", "", "[")
ORIGINS = ("http://localhost:3000", "http://example.com", "null", "file://", "http://[")

odd = some.one_of(
    some.none(),
    some.booleans(),
    some.sampled_from([0, 1, -1, 2**31, -(2**63), 10**400, 1e308, -0.0, 0.5]),
    some.integers(),
    some.floats(),
    some.text(max_size=30),
    some.sampled_from(["5m", "json", "high", "\ud800", "\x00", "%s%n", "</s>", "<|im_end|>"]),
)
value = some.recursive(
    odd,
    lambda inner: some.one_of(
        some.lists(inner, max_size=4), some.dictionaries(some.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=8,
)
options = some.dictionaries(some.sampled_from(OPTIONS), value, max_size=4)
message = some.dictionaries(some.sampled_from(["role", "content", "images", "x"]), value)
fields = some.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(FIELDS, value),
        "options": some.one_of(options, value),
        "messages": some.one_of(some.lists(message, max_size=3), value),
    },
)
GOOD = {"model": "tiny:1k", "prompt": "Hi", "stream": False}
nearly = some.builds(
    lambda given, chosen: {**GOOD, **given, "options": {**chosen, "num_predict": 2}},
    fields,
    options,
)
deep = some.sampled_from([b"[" * 100_000, b'{"a":' * 50_000, b'{"options":' + b"[" * 9000])
record = some.one_of(fields, nearly, value).map(lambda given: json.dumps(given).encode())
damaged = some.builds(
    lambda text, at, byte: text[: at % (len(text) + 1)] + byte + text[at % (len(text) + 1) :],
    record,
    some.integers(0, 10_000),
    some.binary(max_size=3),
)
body = some.one_of(
    record,
    damaged,
    record.map(lambda text: text[: len(text) // 2]),
    some.binary(max_size=200),
    deep,
    some.sampled_from([b"", b" ", b"null", b"NaN", b"\xef\xbb\xbf{}", b"9" * 5000]),
)
version = some.sampled_from(["1.1"] * 30 + ["1.0", "0.9", "2", "x"])
hosts = some.sampled_from([HOSTS[:1]] * 30 + [HOSTS[3:4], HOSTS[:2], HOSTS[4:], ()])
seldom = some.sampled_from([False] * 15 + [True])
length = some.sampled_from(["right"] * 30 + ["none", "-1", "0x10", "99999999999999", "5, 5", "1e3"])
header = some.tuples(
    some.sampled_from(["X-Odd", "Accept", "Expect", "Content-Type", "Connection", "Cookie"]),
    some.one_of(
        some.sampled_from(["100-continue", "text/html", "close", "\x00", "a" * 70_000]),
        some.text(some.characters(max_codepoint=255), max_size=20),
    ),
)


@dataclass(frozen=True)
class Bad:
    """A request, and whether its body is as long as it says."""

    sent: bytes
    is_whole: bool

    def __repr__(self):
        return f"{self.sent[:1500]!r} ({len(self.sent)} bytes, whole: {self.is_whole})"


@some.composite
def requests(draw):
    """The bytes of one request."""
    method = draw(some.sampled_from(["POST"] * 60 + METHODS))
    path = draw(some.sampled_from(["/api/generate", "/api/chat"] * 20 + list(PATHS)))
    sent = draw(body)
    lines = [f"{method} {path} HTTP/{draw(version)}"]
    lines += [f"Host: {host}" for host in draw(hosts)]
    lines += [f"Origin: {draw(some.sampled_from(ORIGINS))}"] if draw(seldom) else []
    said = draw(length)
    lines += [] if said == "none" else [f"Content-Length: {len(sent) if said == 'right' else said}"]
    lines += [f"{name}: {text}" for name, text in draw(some.lists(header, max_size=2))]
    lines += ["Transfer-Encoding: chunked"] if draw(seldom) else []
    return Bad("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + sent, said == "right")


def send(url, request):
    """The status and the beginning of the answer, on a connection of its own.

    (None, b"") if the connection is closed instead.
    """
    address = urllib.parse.urlsplit(url)
    with socket.create_connection((address.hostname, address.port), timeout=30) as wire:
        try:
            wire.sendall(request.sent)
            if not request.is_whole:
                wire.shutdown(socket.SHUT_WR)  # or both would wait for the rest
            method = request.sent.partition(b" ")[0].decode("latin-1")
            with http.client.HTTPResponse(wire, method=method) as response:
                response.begin()
                return response.status, response.read(4096)
        except TimeoutError:
            raise
        except (http.client.HTTPException, OSError):
            return None, b""  # a request may be refused before it is read to its end


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return tiny.llama(tmp_path_factory.mktemp("models") / "tiny.gguf")


def ask(server):
    """A good request."""
    good = {**GOOD, "options": {"num_predict": 2}}
    return httpx.post(f"{server.url}/api/generate", json=good, timeout=60, trust_env=False).json()


def memory(server):
    return sum(each.memory_info().rss for each in (server.seen, server.engine()))


def test_whatever_is_sent_the_server_serves_on(model, tmp_path):
    """Every answer is one of HTTP's, none is a fault of ours, no foreign page is served."""
    log, statuses = tmp_path / "server.log", collections.Counter()
    with Started("--model", model, log=log) as server:

        def be_sent(how_many):
            @settings(max_examples=how_many, phases=[Phase.generate], deadline=None,
                      database=None, derandomize=not HUNTS,
                      suppress_health_check=list(HealthCheck))  # fmt: skip
            @given(requests())
            def is_harmless(request):
                status, received = send(server.url, request)
                statuses[status] += 1
                assert status is None or status in EXPECTED, received[:300]
                if status == 500:  # with the request that did it
                    assert CRASHED not in log.read_text(encoding="utf-8", errors="replace")
                assert OURS not in received.decode("latin-1")
                if FOREIGN.search(request.sent.partition(b"\r\n\r\n")[0]):
                    assert status != 200

            is_harmless()
            assert until(lambda: not server.is_computing(), 30)
            assert server.process.poll() is None
            assert ask(server)["eval_count"] == 2
            return memory(server)

        before, after = be_sent(HOW_MANY // 4), be_sent(HOW_MANY - HOW_MANY // 4)
        assert until(lambda: server.seen.num_threads() < 10)
    said = log.read_text(encoding="utf-8", errors="replace")

    assert after < before + 30e6
    assert "Traceback" not in said
    assert CRASHED not in said
    assert sum(statuses.values()) >= HOW_MANY
    sys.stdout.write(f"{dict(statuses)}, {(after - before) / 1e6:.1f} MB more\n")
