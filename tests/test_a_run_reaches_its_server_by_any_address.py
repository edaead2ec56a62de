"""Whatever address names the server, all of a run goes there: past proxies, under a prefix."""

import dataclasses

import pytest

from tests.servers import scripted
from tests.servers.process import Loading
from twohalves.errors import ProxyAnswered
from twohalves.measure import live, measure, patience, profiles
from twohalves.runs import listed, load
from twohalves.server import find

HTML = "<html><body>The proxy has nothing for you.</body></html>"


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    """One table, one block."""
    monkeypatch.setattr(patience, "PAUSE_S", 0.05)
    tables = profiles.PROFILES["quick"].only("prefill_decode")
    short = dataclasses.replace(tables, blocks=1, audits=False)
    monkeypatch.setitem(profiles.PROFILES, "quick", short)


def _measured(host, runs):
    run = measure(live(find(environ={"OLLAMA_HOST": host}), None, runs))
    assert "complete" == run.session["status"]
    assert all(row.valid and row.first_any_ns for row in run.timings)


@pytest.mark.parametrize("ending", ["", "/", "//"])
def test_a_prefix_is_kept_for_every_request(tmp_path, ending):
    """A server mounted under a path is asked there and only there."""
    with scripted.Scripted(Loading().routes(), prefix="/ollama") as server:
        _measured(f"{server.url}{ending}", tmp_path)

    assert all(asked.path.startswith("/ollama/") for asked in server.asked)
    assert {"/ollama/api/generate", "/ollama/api/ps"} < {asked.path for asked in server.asked}


@pytest.mark.parametrize("host", ["0.0.0.0:{}", "http://0.0.0.0:{}", "localhost:{}"])
def test_an_address_to_listen_on_is_asked_on_loopback(tmp_path, host):
    """Nobody can connect to 0.0.0.0 everywhere; and localhost may mean another family first."""
    with scripted.Scripted(Loading().routes()) as server:
        _measured(host.format(server.port), tmp_path)


def test_the_second_address_of_a_name_is_asked_where_the_first_refuses(tmp_path, monkeypatch):
    """A name of a container's host: IPv6 first, and the server on IPv4 only."""
    scripted.name_two_addresses(monkeypatch)
    with scripted.Scripted(Loading().routes()) as server:
        _measured(f"host.docker.internal:{server.port}", tmp_path)


def test_a_proxy_that_swallows_everything_is_never_asked_for_loopback(tmp_path, monkeypatch):
    """Set for the whole system, with no exception for this machine."""
    with (
        scripted.Scripted({"*": scripted.Answer(status=503, body=HTML)}) as proxy,
        scripted.Scripted(Loading().routes()) as server,
    ):
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        _measured(server.url, tmp_path)

    assert [] == proxy.asked


def test_a_proxy_that_fails_in_the_middle_is_told_as_the_proxy(tmp_path, monkeypatch):
    """Its page is not called Ollama's, and what was measured is kept."""
    name, model = "http://model.example:11434", Loading()
    model.streams |= dict.fromkeys(range(9, 99), lambda _: scripted.Answer(status=503, body=HTML))
    with scripted.Scripted(model.routes(), prefix=name) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.removesuffix(name))
        monkeypatch.delenv("no_proxy", raising=False)
        with pytest.raises(ProxyAnswered, match=r"answered in place of .*503"):
            measure(live(find(environ={"TWOHALVES_SERVER": name}), None, tmp_path))

    [kept] = listed(tmp_path)
    assert 8 == len([row for row in load(tmp_path / kept).timings if row.valid])
