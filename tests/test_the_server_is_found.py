"""Who answers is decided by the rules, said in one line, and never after a long wait."""

import importlib
import socket

import pytest

from tests.servers.scripted import (
    Answer,
    Scripted,
    name_two_addresses,
    ollama_routes,
    unused_port,
)
from twohalves import errors
from twohalves.server import Server, find, who
from twohalves.server.endpoint import parse_endpoint

finding = importlib.import_module("twohalves.server.find")
HTML = "<html><head><title>503 Service Unavailable</title></head></html>"


@pytest.fixture
def ollama():
    with Scripted(ollama_routes()) as server:
        yield server


@pytest.fixture
def _no_child(monkeypatch):
    started = Server(url="http://127.0.0.1:1", kind="builtin", version="x", started=True)
    monkeypatch.setattr(finding, "shared_builtin", lambda: started)


@pytest.fixture
def usual_place_is(monkeypatch):
    """Pretend that another port is Ollama's usual one."""
    return lambda port: monkeypatch.setattr(
        importlib.import_module("twohalves.server.endpoint"), "DEFAULT_PORT", port
    )


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("localhost", "http://localhost:11434"),
        ("127.0.0.1:9999", "http://127.0.0.1:9999"),
        (":9999", "http://127.0.0.1:9999"),
        (' "example.com" ', "http://example.com:11434"),
        ("http://localhost", "http://localhost:80"),
        ("https://gateway", "https://gateway:443"),
        ("HTTP://GateWay:8080", "http://gateway:8080"),
        ("http://127.0.0.1:5000/ollama", "http://127.0.0.1:5000/ollama"),
        ("http://127.0.0.1:5000/ollama/", "http://127.0.0.1:5000/ollama"),
        ("http://127.0.0.1:5000//ollama//", "http://127.0.0.1:5000/ollama"),
        ("gateway/team/ollama/", "http://gateway:11434/team/ollama"),
        ("::1", "http://[::1]:11434"),
        ("[::1]:5000", "http://[::1]:5000"),
        ("http://[::1]:5000/", "http://[::1]:5000"),
        ("0.0.0.0", "http://127.0.0.1:11434"),  # noqa: S104  # read, not bound
        ("0.0.0.0:5000", "http://127.0.0.1:5000"),
        ("http://0.0.0.0", "http://127.0.0.1:80"),
        ("[::]:5000", "http://localhost:5000"),
        ("::", "http://localhost:11434"),
    ],
)
def test_a_host_is_read_as_the_official_client_reads_it(text, url):
    """Ports, prefixes, slashes and brackets; addresses to listen on become loopback."""
    assert parse_endpoint(text, "OLLAMA_HOST").url == url


@pytest.mark.parametrize("text", ["localhost", "h:99", "http://h", "https://h/p/", "[::1]:5/x/"])
def test_the_official_client_means_the_same_url(text):
    """What we ask and what a bare ollama.Client() would ask is one address."""
    from ollama._client import _parse_host

    assert parse_endpoint(text, "OLLAMA_HOST").url == _parse_host(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ftp://h", "neither http nor https"),
        ("h:port", "port"),
        ("h:99999", "port"),
        ("h:0", "port 0"),
        ("https://h/ollama?x=1", "would be lost"),
        ("http://h/#a", "would be lost"),
        ("http://me:secret@h", "password"),
        ("two words", "no host name"),
        ("http://", "missing"),
        ("http://[::1", "invalid"),
        ("a..b", "no host name"),
        ("x" * 70, "no host name"),
    ],
)
def test_a_malformed_host_is_one_clear_error(text, reason):
    """The variable, the text and the reason are named."""
    with pytest.raises(errors.EndpointMalformed, match=reason) as caught:
        find(environ={"OLLAMA_HOST": text})

    assert f"OLLAMA_HOST={text.replace('me:secret', '…')}" in str(caught.value)
    assert "Next: " in str(caught.value)


def test_a_password_is_not_shown():
    """An error may be copied into a forum."""
    with pytest.raises(errors.EndpointMalformed) as caught:
        find(environ={"OLLAMA_HOST": "http://me:secret@h"})

    assert "secret" not in str(caught.value)


def test_ollama_host_is_asked(ollama):
    """A running Ollama is recognised with its version."""
    server = find(environ={"OLLAMA_HOST": ollama.url})

    assert server == Server(url=ollama.url, kind="ollama", version="0.24.0")
    server.stop()  # not ours: nothing happens
    assert find(environ={"OLLAMA_HOST": ollama.url}) == server


def test_the_choice_goes_before_the_host(ollama):
    """TWOHALVES_SERVER with a URL wins over OLLAMA_HOST."""
    environ = {"TWOHALVES_SERVER": ollama.url, "OLLAMA_HOST": f"127.0.0.1:{unused_port()}"}

    assert find(environ=environ).url == ollama.url


def test_theusual_place_is_asked_when_nothing_is_set(ollama, usual_place_is):
    """No variable: Ollama's usual port."""
    usual_place_is(ollama.port)

    assert find(environ={}).url == ollama.url


@pytest.mark.usefixtures("_no_child")
@pytest.mark.parametrize(
    "stranger", [None, Answer(body=HTML, status=503), Answer(body={"name": "another thing"})]
)
def test_without_ollama_the_built_in_server_starts(stranger, usual_place_is):
    """Nothing there, or something else on that port."""
    if stranger is None:
        usual_place_is(unused_port())
        assert find(environ={}).kind == "builtin"
        return
    with Scripted({"*": stranger}) as server:
        usual_place_is(server.port)
        assert find(environ={}).kind == "builtin"


@pytest.mark.usefixtures("_no_child")
def test_a_silentusual_place_is_given_up_soon(usual_place_is):
    """Something that accepts and never answers does not hold up the start."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        usual_place_is(silent.getsockname()[1])
        assert find(environ={}).kind == "builtin"


def test_nothing_is_started_when_that_is_not_wanted(usual_place_is):
    """The doctor only looks."""
    usual_place_is(unused_port())
    for environ in ({}, {"TWOHALVES_SERVER": "builtin"}):
        with pytest.raises(errors.NoServer, match="TWOHALVES_SERVER=builtin"):
            find(environ=environ, start_builtin=False)


@pytest.mark.parametrize("variable", ["OLLAMA_HOST", "TWOHALVES_SERVER"])
def test_a_host_that_was_named_is_never_replaced(variable):
    """If it does not answer, that is an error and no reason to ask somebody else."""
    url = f"http://127.0.0.1:{unused_port()}"
    with pytest.raises(errors.ServerUnreachable, match="ollama serve") as caught:
        find(environ={variable: url})

    assert url in str(caught.value)


def test_ollama_was_wanted_and_only_ollama_will_do(ollama):
    """TWOHALVES_SERVER=ollama takes the host from OLLAMA_HOST, and nothing else for it."""
    environ = {"TWOHALVES_SERVER": "ollama", "OLLAMA_HOST": ollama.url}
    assert find(environ=environ).kind == "ollama"

    ollama.routes["/"] = Answer(body="Two Halves built-in server (llama.cpp) is running")
    with pytest.raises(errors.NotOllama):
        find(environ=environ)


def test_a_misspelt_choice_lists_what_there_is():
    """Not taken for a host name."""
    with pytest.raises(errors.VariableUnusable, match="TWOHALVES_SERVER"):
        find(environ={"TWOHALVES_SERVER": "olama"})


@pytest.mark.parametrize("answer", [
    Answer(body=HTML, status=200),
    Answer(status=404, body="nothing here"),
    Answer(body={"version": 5}),
    Answer(body=[1, 2]),
    Answer(body=b"\xff\xfe", breaks_off=True),
])  # fmt: skip
def test_something_else_is_not_taken_for_ollama(answer):
    """HTML, other JSON, other status, an answer that breaks off."""
    with Scripted({"*": answer}) as server, pytest.raises(errors.NotOllama) as caught:
        find(environ={"OLLAMA_HOST": server.url})

    assert server.url in str(caught.value)


def test_a_prefix_is_kept_for_every_path():
    """A server mounted under /ollama/ is asked there and only there."""
    with Scripted(ollama_routes(), prefix="/ollama") as server:
        for form in (server.url, f"{server.url}/", f"{server.url}//"):
            assert find(environ={"OLLAMA_HOST": form}).url == server.url
        assert {asked.path for asked in server.asked} == {"/ollama/", "/ollama/api/version"}


@pytest.mark.parametrize("ending", ["/v1", "/api", "/v1/"])
def test_an_ending_too_much_is_recognised(ollama, ending):
    """The right address stands in the error."""
    with pytest.raises(errors.NotOllama, match=f"Try {ollama.url} instead"):
        find(environ={"OLLAMA_HOST": f"{ollama.url}{ending}"})


def test_a_real_prefix_that_ends_so_is_served():
    """Only an address where nothing answers is taken for a slip."""
    with Scripted(ollama_routes(), prefix="/gateway/api") as server:
        assert find(environ={"OLLAMA_HOST": server.url}).url == server.url


def test_the_implied_port_is_told():
    """http://localhost means port 80, and Ollama's default is another."""
    with pytest.raises(errors.ServerUnreachable, match=r"http://localhost:11434 instead.*port 80"):
        find(environ={"OLLAMA_HOST": "http://localhost"})


def test_an_address_to_listen_on_is_mapped_and_said(ollama):
    """0.0.0.0 becomes loopback, and the one line about who answers says so."""
    server = find(environ={"OLLAMA_HOST": f"0.0.0.0:{ollama.port}"})

    assert server.url == ollama.url
    assert "an address to listen on" in who(server, _Model())


class _Model:
    name, parameter_size, quantization = "llama3.2:3b", "3.2B", "Q4_K_M"


def test_one_line_says_who_answers():
    """Kind, version, address, model."""
    server = Server(url="http://h:1", kind="ollama", version="0.24.0")
    assert who(server, _Model()) == (
        "Ollama 0.24.0 at http://h:1 answers with llama3.2:3b (3.2B, Q4_K_M)."
    )
    builtin = Server(url="http://h:1", kind="builtin", version="x", started=True)
    assert "not Ollama" in who(builtin, _Model())


def _has_ipv6():
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


def test_localhost_reaches_a_server_on_ipv4():
    """Even if the name means ::1 first."""
    with Scripted(ollama_routes()) as server:
        found = find(environ={"OLLAMA_HOST": f"localhost:{server.port}"})
    assert found.url == f"http://127.0.0.1:{server.port}"


@pytest.mark.skipif(not _has_ipv6(), reason="no IPv6 on this machine")
@pytest.mark.parametrize("name", ["localhost", "[::1]", "[::]"])
def test_localhost_reaches_a_server_on_ipv6(name):
    """A server that listens on ::1 only is found."""
    with Scripted(ollama_routes(), host="::1") as server:
        found = find(environ={"OLLAMA_HOST": f"{name}:{server.port}"})
    assert found.url == f"http://[::1]:{server.port}"


def test_a_name_with_two_addresses_tries_both(monkeypatch):
    """The first refuses, the second answers; if none does, both are named."""
    name_two_addresses(monkeypatch)
    with Scripted(ollama_routes()) as server:
        found = find(environ={"OLLAMA_HOST": f"host.docker.internal:{server.port}"})
        assert found.version == "0.24.0"
    with pytest.raises(errors.ServerUnreachable, match=r"::1 and 127\.0\.0\.1, port"):
        find(environ={"OLLAMA_HOST": f"host.docker.internal:{unused_port()}"})


def test_a_name_that_does_not_resolve_says_so():
    """Not a bare errno, and starting a server here would not help."""
    with pytest.raises(errors.HostUnknown, match="no-such-host") as caught:
        find(environ={"OLLAMA_HOST": "http://no-such-host.invalid"})

    assert caught.value.next_step.startswith("Correct the host's name")
    assert "tried" not in caught.value.what


def test_a_proxy_that_cannot_be_reached_is_what_to_correct(monkeypatch):
    """The server's own name is never looked up behind a proxy."""
    monkeypatch.setenv("HTTP_PROXY", "http://no-such-proxy.invalid:3128")
    with pytest.raises(errors.ProxyUnreachable, match="through the proxy no-such") as caught:
        find(environ={"OLLAMA_HOST": "http://ollama.example"})

    assert "NO_PROXY" in caught.value.next_step


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("garbage", "The option --host has the value 'garbage', which means nothing."),
        ("127.0.0.1:99999", "--host=127.0.0.1:99999 does not name a server"),
    ],
)
def test_an_error_names_what_the_reader_typed(typed, said):
    """An option that was typed is not called a variable that was never set."""
    with pytest.raises(errors.TwoHalvesError) as caught:
        find(environ={"TWOHALVES_SERVER": typed}, named_by="--host")

    assert caught.value.what.startswith(said)
    assert "eave --host out" in caught.value.next_step
    assert "TWOHALVES_SERVER" not in str(caught.value)


def test_loopback_never_passes_a_proxy(ollama, monkeypatch):
    """A proxy that answers 503 to everything is not even asked."""
    with Scripted({"*": Answer(status=503, body=HTML)}) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("ALL_PROXY", proxy.url)
        assert find(environ={"OLLAMA_HOST": ollama.url}).kind == "ollama"
        assert proxy.asked == []


def test_a_proxys_answer_is_told_as_the_proxys(monkeypatch):
    """For another host the proxy is used, and its error page is not called Ollama's."""
    with Scripted({"*": Answer(status=503, body=HTML)}) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.replace("//", "//me:secret@"))
        with pytest.raises(errors.ProxyAnswered, match="NO_PROXY") as caught:
            find(environ={"OLLAMA_HOST": "http://ollama.example:11434"})

    assert "503" in str(caught.value)
    assert "secret" not in str(caught.value)
    assert proxy.asked


def test_a_server_that_drips_is_given_up(monkeypatch):
    """One byte now and then resets no limit: the whole answer has one."""
    patience = finding.Patience(connect_s=1, silence_s=5, total_s=0.3)
    monkeypatch.setattr(finding, "_CALM", patience)
    drops = [(0.1, b" ")] * 100
    with Scripted({"*": Answer(chunks=drops)}) as server, pytest.raises(errors.ServerSilent):
        find(environ={"OLLAMA_HOST": server.url})
    assert len(server.asked) == 1
