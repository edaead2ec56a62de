"""One border: whatever client, httpx or pydantic raise, a reader sees an error of ours."""

import inspect
import socket

import httpx
import ollama
import pytest

from tests.servers.scripted import Answer, Scripted, unused_port
from twohalves import errors
from twohalves.server import Server, client, translated
from twohalves.server.border import TABLE

PIECE = {"model": "m", "created_at": "2026-01-01T00:00:00Z", "response": "a", "done": False}


def outside(module):
    found = [
        kind
        for _, kind in inspect.getmembers(module, inspect.isclass)
        if issubclass(kind, Exception)
    ]
    return [kind for kind in found if not any(k is not kind and issubclass(k, kind) for k in found)]


@pytest.mark.parametrize("kind", outside(httpx) + outside(ollama), ids=lambda kind: kind.__name__)
def test_no_exception_is_unmapped(kind):
    """A newer version that brings another one makes this fail."""
    assert kind in TABLE


@pytest.mark.parametrize("kind", outside(httpx), ids=lambda kind: kind.__name__)
def test_every_exception_is_translated(kind):
    """Each becomes an error with a next step, and keeps its cause."""
    wanted = list(inspect.signature(kind.__init__).parameters.values())[1:]
    required = {
        p.name: "fact" for p in wanted if p.default is p.empty and p.kind is not p.VAR_KEYWORD
    }
    if kind is httpx.HTTPStatusError:
        request = httpx.Request("GET", "http://h")
        required = {"message": "m", "request": request, "response": httpx.Response(500)}
    raised = kind(**required)
    with pytest.raises(errors.TwoHalvesError) as caught, translated("http://h:1"):
        raise raised

    assert caught.value.__cause__ is raised
    assert "http://h:1" in caught.value.what
    assert caught.value.next_step


def test_an_unknown_subclass_takes_its_parents_translation():
    """What a newer httpx derives from a known class needs no entry of its own."""

    class Slower(httpx.ReadTimeout):
        pass

    with pytest.raises(errors.ServerSilent), translated("http://h:1"):
        raise Slower("x")


def test_our_own_and_programming_errors_pass():
    """Nothing is hidden that is not the outside's."""
    with pytest.raises(errors.NoServer), translated("http://h:1"):
        raise errors.NoServer("x")
    with pytest.raises(ZeroDivisionError), translated("http://h:1"):
        _ = 1 / 0


def ask(url, *, stream, model="m", timeout=5.0, longest_s=60.0):
    server = Server(url=url, kind="ollama", version=None)
    with translated(server), client(server, timeout=timeout, longest_s=longest_s) as asking:
        answer = asking.generate(model=model, prompt="x", stream=stream)
        return list(answer) if stream else answer


@pytest.mark.parametrize("stream", [False, True])
def test_a_closed_port(stream):
    """Built-in ConnectionError or httpx's: the same error of ours."""
    with pytest.raises(errors.ServerUnreachable, match="ollama serve"):
        ask(f"http://127.0.0.1:{unused_port()}", stream=stream)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("status", "text", "kind"),
    [
        (404, "model 'm' not found", errors.ModelMissing),
        (404, 'model "m" not found, try pulling it first', errors.ModelMissing),
        (404, "404 page not found", errors.ServerRefused),
        (500, 'option "num_ctx" must be of type integer', errors.ServerRefused),
        (400, "the input length exceeds the context length", errors.ServerRefused),
        (503, "server busy, please try again.", errors.ServerBusy),
    ],
)
def test_a_refusal(stream, status, text, kind):
    """Status and words decide which error."""
    answer = Answer(status=status, body={"error": text})
    with Scripted({"*": answer}) as server, pytest.raises(kind) as caught:
        ask(server.url, stream=stream)

    if kind is errors.ServerRefused:
        assert caught.value.status == status
        assert text.rstrip(".") in caught.value.what
    if kind is errors.ModelMissing:
        assert "`ollama pull m`" in caught.value.next_step


@pytest.mark.parametrize(("status", "said"), [(500, "failed at"), (400, "refused")])
def test_whose_fault_it_is_decides_what_to_do(status, said):
    """A request that was refused is to be changed, one that the server failed at is not."""
    answer = Answer(status=status, body={"error": "something is wrong."})
    with Scripted({"*": answer}) as server, pytest.raises(errors.ServerRefused) as caught:
        ask(server.url, stream=True)

    assert f"{said} the request ({status}): something is wrong." in caught.value.what
    assert ("Change the request" in caught.value.next_step) is (status == 400)
    assert ("goes on with what is kept" in caught.value.next_step) is (status == 500)


def test_a_name_without_an_address():
    """Streaming or not, at the call as at the finding."""
    for stream in (False, True):
        with pytest.raises(errors.HostUnknown, match="host's name"):
            ask("http://no-such-host.invalid:11434", stream=stream)


def test_no_model_at_all():
    """The client refuses an empty name before it asks."""
    with pytest.raises(errors.AnswerUnreadable):
        ask("http://127.0.0.1:1", stream=False, model="")


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Answer(chunks=[(0, PIECE), (0, {"error": "runner died"})]), errors.ServerBroke),
        (Answer(chunks=[(0, PIECE)], breaks_off=True), errors.ServerBroke),
        (Answer(chunks=[(0, PIECE), (20, PIECE)]), errors.ServerSilent),
        (Answer(delay_s=20), errors.ServerSilent),
    ],
    ids=["error line", "breaks off", "goes silent", "never answers"],
)
def test_a_stream_that_does_not_end_well(answer, kind):
    """While the records are read, not only when they are asked for."""
    with Scripted({"*": answer}) as server, pytest.raises(kind):
        ask(server.url, stream=True, timeout=0.5)


def test_a_stream_that_drips_for_ever_ends():
    """Bytes now and then reset the silence, not the limit for the whole answer."""
    drips = Answer(chunks=[(0.1, PIECE)] * 200)
    with Scripted({"*": drips}) as server, pytest.raises(errors.ServerSilent):
        ask(server.url, stream=True, longest_s=0.5)


def test_the_clients_limits_are_finite():
    """The official default is to wait for ever; ours is not."""
    with client(Server(url="http://127.0.0.1:1", kind="ollama", version=None)) as asking:
        limits = asking._client.timeout.as_dict()

    assert all(limits[name] for name in ("connect", "read", "write", "pool"))


def test_a_proxy_never_sees_loopback(monkeypatch):
    """But the requests to another host pass it."""
    with Scripted({"*": Answer(status=503, body="no")}) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        with pytest.raises(errors.ServerUnreachable):
            ask(f"http://127.0.0.1:{unused_port()}", stream=False)
        assert proxy.asked == []
        with pytest.raises(errors.ServerBusy):
            ask("http://ollama.example:11434", stream=False)
        assert proxy.asked


def test_a_transport_of_ones_own_is_used_and_bounded():
    """A recording transport keeps everything, and the limit for the answer stays."""

    class Slow(httpx.SyncByteStream):
        def __iter__(self):
            while True:
                socket.socket().close()
                yield b" "

    transport = httpx.MockTransport(lambda _: httpx.Response(200, stream=Slow()))
    server = Server(url="http://127.0.0.1:1", kind="ollama", version=None)
    with (
        pytest.raises(errors.ServerSilent),
        translated(server),
        client(server, transport=transport, longest_s=0.2) as asking,
    ):
        list(asking.generate(model="m", prompt="x", stream=True))
