"""Slots, KV type, flash attention, host cache: known of a server of ours, else unknown."""

import dataclasses

import pytest

from tests.servers.modelled import Modelled
from tests.servers.process import Loading
from tests.servers.scripted import Scripted
from twohalves.measure import live, measure
from twohalves.server import Started, find
from twohalves.show import rates

NAMES = ("slots", "kv_type", "flash_attention", "host_cache_mib")
PRIVATE = Started(slots=4, kv_type="q8_0", flash_attention=True, host_cache_mib=256)


def run_on(tmp_path, settings):
    with Scripted(Modelled().routes()) as scripted:
        server = find(environ={"TWOHALVES_SERVER": scripted.url})
        server = dataclasses.replace(server, settings=settings)
        return measure(live(server, None, tmp_path), experiment="prefill_decode")


def test_somebody_elses_server_is_not_guessed_at(tmp_path):
    """In the run's facts, in its rows and in the page's words."""
    run = run_on(tmp_path, None)

    assert {"unknown"} == {run.session["server"][name] for name in NAMES}
    assert {None} == {row.slots for row in run.timings}
    assert "Unknown of its server: the slots" in rates.design(run).data


def test_a_server_of_ours_is_described(tmp_path):
    """What it was started with stands in the run, and the page says it."""
    run = run_on(tmp_path, PRIVATE)

    assert [4, "q8_0", True, 256] == [run.session["server"][name] for name in NAMES]
    assert {4} == {row.slots for row in run.timings}
    said = rates.design(run).data
    for part in ("4 slots", "type q8_0", "flash attention and 256 MiB of main memory"):
        assert part in said


@pytest.mark.parametrize(
    ("flash", "kept", "says"),
    [
        (None, "auto", "flash attention as the engine decides"),
        (False, False, "no flash attention"),
        (True, True, "q8_0, flash attention and"),
    ],
)
def test_flash_attention_has_three_states(tmp_path, flash, kept, says):
    """On, off, or the engine's own decision."""
    run = run_on(tmp_path, dataclasses.replace(PRIVATE, flash_attention=flash, host_cache_mib=0))

    assert run.session["server"]["flash_attention"] == kept
    assert says in rates.design(run).data
    assert "no main memory for prompts" in rates.design(run).data


def test_an_older_run_that_did_not_record_it_says_unknown(tmp_path):
    """A run without these facts is shown, not refused."""
    run = run_on(tmp_path, PRIVATE)
    old = run.session | {"server": {"kind": "ollama", "version": "0.24.0"}}

    said = rates.design(dataclasses.replace(run, session=old)).data

    assert "Unknown of its server" in said


@pytest.mark.parametrize(("sizes", "share"), [((10, 10), 1.0), ((10, 4), 0.4), (None, None)])
def test_how_much_lies_in_graphics_memory_is_as_told(tmp_path, sizes, share):
    """By /api/ps after the first answer, 4 of 10 bytes; a server that lists nothing tells none."""
    model = Loading() if sizes else Modelled()
    if sizes:
        model.sizes = dict(zip(("size", "size_vram"), sizes, strict=True))
    with Scripted(model.routes()) as scripted:
        book = live(find(environ={"TWOHALVES_SERVER": scripted.url}), None, tmp_path)
        run = measure(book, experiment="streaming")

    assert share == run.session["model"]["gpu_share"]
