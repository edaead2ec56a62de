"""A benchmark is run by hand, on a quiet machine; here it is held to run and to tell something."""

import pytest

from tests.benchmarks import adapter_cost


@pytest.mark.engine
def test_the_cost_of_the_adapter_is_told(monkeypatch):
    """A delay and a ratio, and that two pairs carry no interval; how fast is not asserted."""
    monkeypatch.setitem(adapter_cost.OPTIONS, "num_predict", 4)

    for told in adapter_cost.compare(threads=1, pairs=2):
        number, _, rest = told.partition(" ")
        assert float(number)
        assert rest == "(too few pairs for an interval)"
