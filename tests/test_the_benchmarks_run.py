"""A benchmark is run by hand, on a quiet machine; here it is held to run and to tell something."""

import pytest

from tests.benchmarks import adapter_cost, agreement

pytestmark = pytest.mark.engine

NO_INTERVAL = "(too few pairs for an interval)"


def test_the_cost_of_the_adapter_is_told(monkeypatch):
    """A delay and a ratio, and that two pairs carry no interval; how fast is not asserted."""
    monkeypatch.setitem(adapter_cost.OPTIONS, "num_predict", 4)

    for told in adapter_cost.compare(threads=1, pairs=2):
        number, _, rest = told.partition(" ")
        assert float(number)
        assert rest == NO_INTERVAL


def test_three_clocks_are_compared(monkeypatch):
    """Of one pair: prefill at the longer prompt, decode at both, four ratios each."""
    monkeypatch.setattr(agreement, "NUM_PREDICT", 4)

    lines = [line for line in agreement.table(agreement.measure((40, 80), 1)) if "|" in line]

    assert ["prefill | 80", "decode | 40", "decode | 80"] == [
        " | ".join(line.split(" | ")[:2]).removeprefix("| ") for line in lines[2:]
    ]
    assert [4, 4, 4] == [line.count(NO_INTERVAL) for line in lines[2:]]


def test_the_raw_rate_counts_one_step_too_many(monkeypatch):
    """Four tokens take three steps after the first."""
    monkeypatch.setattr(agreement, "NUM_PREDICT", 4)

    (pair,) = agreement.measure((40,), 1)[40]

    assert 4 / 3 == pytest.approx(pair.raw_decode / pair.server.decode)
