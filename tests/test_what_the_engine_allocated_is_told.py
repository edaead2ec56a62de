"""On the page: formula beside log, and in a sentence what a server's memory tells of its cache."""

import pytest

from tests.tables import rows_of, text_of
from twohalves import lab, measure
from twohalves.errors import RunBusy
from twohalves.formulas import uniform_shape
from twohalves.runs import claim_server
from twohalves.server.answering import Server, Started
from twohalves.server.cache_type import read_sizes
from twohalves.show import allocated

SMOLLM2 = uniform_shape(30, 3, 64)


def sizes(slope, windows=(2048, 3072, 4096)):
    return tuple((window, 96_576_768 + slope * window) for window in windows)


def test_every_log_agrees_with_the_formula():
    """Within the log's own rounding, 0.01 MiB, and far within one percent."""
    rows = rows_of(allocated.against())

    assert len(rows) == 9
    for *_, formula, engine, apart in rows:
        computed, told = (float(text.replace(",", "")) for text in (formula, engine))
        assert abs(computed - told) <= 0.011
        assert float(apart.rstrip("%")) < 0.1
    assert "9 caches of 4 models, from 512 to 262,144 tokens, in f16 and q8_0" in text_of(
        allocated.against()
    )
    assert "nowhere more than 0.06% apart" in text_of(allocated.against())
    assert ["SmolLM2 135M", "8,192", "f16", "180.00", "180.00", "0.00%"] in rows


def test_the_logs_have_sources():
    """Each that is not ours is a link that a reader can follow."""
    said = text_of(allocated.against())

    for page in (
        "ollama/ollama/pull/17037",
        "lmstudio-bug-tracker/issues/1862",
        "ik_llama.cpp/pull/259",
    ):
        assert f"/{page})" in said


def test_what_ollama_told_is_read():
    """Two models, two types each; the setting is read back from the slope."""
    rows = rows_of(allocated.told())

    assert [(row[1], row[-1]) for row in rows] == [
        ("f16", "f16 or bf16"), ("q8_0", "q8_0"), ("f16", "f16 or bf16"), ("q8_0", "q8_0"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("slope", "said"),
    [
        (23_040, "**A cache of type f16 or bf16** grows so, with one slot."),
        (12_240, "**A cache of type q8_0** grows so, with one slot."),
        (100_000, "No cache type of one slot takes that much."),
        (0, "does not rise steadily"),
    ],
)
def test_the_slope_is_said(slope, said):
    """The sizes, the bytes a token, and what follows."""
    told = allocated.slope(read_sizes("m", SMOLLM2, sizes(slope))).data

    assert said in told
    assert "MB at 2,048 tokens" in told


def test_slots_that_would_look_the_same_are_said():
    """Nobody tells how many slots there are."""
    told = allocated.slope(read_sizes("m", SMOLLM2, sizes(23_040))).data

    assert "q8_0 with 2" in told
    assert "OLLAMA_NUM_PARALLEL" in told


def book(**server):
    facts = type("Facts", (), {"name": "m", "context_length": 8192, "kv_shape": lambda _: SMOLLM2})
    return measure.Book(
        client=None, model="m", says="", replayed=None, facts=facts(),
        server=Server(url="http://127.0.0.1:9", kind="ollama", version=None, **server),
    )  # fmt: skip


def test_a_reader_is_asked_first():
    """Nobody answers at that address, and nobody is asked."""
    told = lab.cache_type(book()).data

    assert "2048, 3072, 4096 tokens" in told
    assert "`agreed=True`" in told


def test_a_server_of_ours_is_known():
    """What it was started with was kept."""
    setup = Started(slots=1, kv_type="q8_0", flash_attention=True, host_cache_mib=0)

    assert "with a cache of type q8_0" in lab.cache_type(book(started=True, settings=setup)).data


def test_replay_asks_nobody(monkeypatch):
    """The stored page says how to ask."""
    monkeypatch.setenv("TWOHALVES_RUN", "sample-smollm2-135m")

    assert "nobody is asked" in lab.cache_type(agreed=True).data


def test_a_run_that_measures_is_not_disturbed():
    """Two would slow each other down; the model is not reloaded under a measurement."""
    with claim_server("http://127.0.0.1:9"), pytest.raises(RunBusy):
        lab.cache_type(book(), agreed=True)
