"""A benchmark is run by hand, on a quiet machine; here it is held to run and to tell something."""

import sys

import pytest

from tests.benchmarks import adapter_cost, agreement, key_to_picture, overhead, terminal_line
from twohalves.measure import profiles
from twohalves.runs import Run, Timing

NO_INTERVAL = "(too few pairs for an interval)"
MS = 1_000_000


@pytest.mark.engine
def test_the_cost_of_the_adapter_is_told(monkeypatch):
    """A delay and a ratio, and that two pairs carry no interval; how fast is not asserted."""
    monkeypatch.setitem(adapter_cost.OPTIONS, "num_predict", 4)

    for told in adapter_cost.compare(threads=1, pairs=2):
        number, _, rest = told.partition(" ")
        assert float(number)
        assert rest == NO_INTERVAL


@pytest.mark.engine
def test_three_clocks_are_compared(monkeypatch):
    """Prefill at the longer prompt, decode at both, four ratios each; raw counts a step more."""
    monkeypatch.setattr(agreement, "NUM_PREDICT", 4)

    found = agreement.measure((20, 40), prompts=1, again=1)
    lines = [line for line in agreement.table(found) if line.startswith("|")][2:]

    assert ["prefill | 40", "decode | 20", "decode | 40"] == [
        " | ".join(line.split(" | ")[:2]).removeprefix("| ") for line in lines
    ]
    assert [4, 4, 4] == [line.count(NO_INTERVAL) for line in lines]
    for pairs in found.values():
        assert [True, False] == [pair.is_cold for pair in pairs]
        pair = pairs[0]
        assert 4 / 3 == pytest.approx(pair.raw_decode / pair.server.decode)


@pytest.mark.engine
@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals of this kind there")
def test_the_line_of_progress_is_compared(monkeypatch):
    """A ratio of each rate; what stood for stderr before stands for it again."""
    monkeypatch.setattr(terminal_line, "PROMPT_TOKENS", 40)
    monkeypatch.setattr(terminal_line, "NUM_PREDICT", 4)
    before = sys.stderr

    prefill, decode = terminal_line.compare(pairs=1)

    assert (1, 1) == (len(prefill), len(decode))
    assert sys.stderr is before


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals of this kind there")
def test_where_a_runs_own_time_goes_is_told():
    """Every item took some time, and together no more than the whole."""
    tiny = profiles.Profile(name="tiny", points=profiles.points((96, 298)), blocks=1)

    cost, spent = overhead.measure(tiny)

    assert 6 == cost.requests
    assert all(seconds > 0 for seconds in spent.values())
    assert sum(spent.values()) - spent["of it, until the disk has them"] < cost.beside_s
    assert len(spent) + 5 == len(list(overhead.table(cost, spent)))


def _row(sent_ms, done_ms, **more):
    return Timing(run_id="r", seq=1, sent_ns=sent_ms * MS, done_ns=done_ms * MS, **more)


def test_what_lies_between_requests_is_added_up(tmp_path):
    """Also after the clock began again, to where an answer broke off, without other servers."""
    rows = (
        _row(10, 100),
        _row(103, 200),
        _row(1200, 1300, setup="two_slots"),
        Timing(run_id="r", seq=1, sent_ns=5 * MS, first_any_ns=25 * MS, setup="two_slots"),
    )

    cost = overhead.kept(Run(folder=tmp_path, session={}, timings=rows))

    assert 4 == cost.requests
    assert 0.018 == pytest.approx(cost.beside_s)  # 10 + 3, and 5 in the second session
    assert 0.307 == pytest.approx(cost.waiting_s)  # 90 + 97 + 100 + 20
    assert 1.0 == pytest.approx(cost.servers_s)
    assert 18 / 325 == pytest.approx(cost.share)


@pytest.mark.browser
def test_the_way_from_a_key_to_the_picture_is_timed(chromium):
    """Each press of a key on a slider in JupyterLab, and Python's own part."""
    took = key_to_picture.in_the_page(chromium, presses=2)

    assert 2 == len(took)
    assert all(milliseconds > 0 for milliseconds in took)
    first, *rest = key_to_picture.told(took)
    assert first.startswith("2 key presses")
    assert ["median", "p95"] == [line.split()[0] for line in rest]
    assert key_to_picture.in_python(2) > 0
