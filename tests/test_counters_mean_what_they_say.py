"""The same names mean different things on different servers."""

import dataclasses

import pytest

from twohalves.server import Server, Started, by_version, meaning
from twohalves.server.counters import COLUMNS


def at(version, kind="ollama", model_format="gguf", **more):
    return meaning(Server(url="http://h", kind=kind, version=version, **more), model_format)


def test_the_first_token_comes_with_the_prompt():
    """The decode clock leaves out one token on GGUF engines, none on the other one."""
    assert at("0.24.0").steps_less == 1
    assert at("0.24.0", model_format="safetensors").steps_less == 0
    assert at("twohalves-builtin", "builtin").steps_less == 1
    assert at(None, "other", None).steps_less == 1


@pytest.mark.parametrize(
    ("version", "included"),
    [("0.1.48", False), ("0.2.0", True), ("0.24.0", True), ("0.30.0", False), ("0.30.1", True),
     ("0.30.1-rc2", True), ("v0.33.2+dirty", True), ("0.33.5", True), ("1.0.0", True),
     ("0.0.0", True), ("", True), (None, True)],
)  # fmt: skip
def test_the_count_includes_cached_tokens_but_for_two_ranges(version, included):
    """Before 0.2.0, and in 0.30.0, only what was processed is counted."""
    assert at(version).counts_cached is included


def test_mlx_counts_in_its_own_way():
    """N steps for N tokens, cached ones counted, a prompt too long refused: on every version."""
    meant = at("0.30.0", model_format="safetensors")

    assert (0, True, None) == (meant.steps_less, meant.counts_cached, meant.cut)


@pytest.mark.parametrize(
    ("version", "clock"),
    [("0.3.14", "work"), ("0.4.0", "wall"), ("0.12.4", "wall"), ("0.12.5", "last batch"),
     ("0.12.6", "last batch"), ("0.12.7", "work"), ("0.24.0", "work"), ("0.33.2", "work")],
)  # fmt: skip
def test_the_prefill_clock_changed_three_times(version, clock):
    """The work, all the time since the request came, the last batch, and the work again."""
    assert at(version).prefill_clock == clock


@pytest.mark.parametrize(
    ("version", "cut", "evicted"),
    [("0.24.0", "window", False), ("0.30.0", "one less", True), ("0.30.10", "one less", True),
     ("0.30.11", "half", True), ("0.33.2", "half", True), ("0.0.0", None, None)],
)  # fmt: skip
def test_cut_and_memory_follow_the_engine(version, cut, evicted):
    """Since 0.30 evicted prompts come back from main memory, and long ones are cut elsewhere."""
    assert (cut, evicted) == (at(version).cut, at(version).keeps_evicted)


@pytest.mark.parametrize(
    ("version", "window"),
    [("0.6.6", "2,048"), ("0.6.7", "4,096"), ("0.15.4", "4,096"),
     ("0.15.5", "4,096 to 262,144, by video memory")],
)  # fmt: skip
def test_the_window_nobody_asked_for_grew(version, window):
    """2,048 until 0.6.6, 4,096 after, by the memory of the card from 0.15.5."""
    assert at(version).default_window == window


def test_what_is_not_confirmed_is_left_to_the_answer():
    """0.33.2 has no cached count, a later version has: the answer itself shows it."""
    assert at("0.33.2").reports_cached is False
    assert at("0.33.3").reports_cached is None
    assert at("b", "builtin").reports_cached is True


def test_a_server_of_ours_keeps_prompts_as_it_was_told():
    """What no API tells is known where we started the server, and unknown elsewhere."""
    ours = Started(slots=2, kv_type="f16", flash_attention=None, host_cache_mib=0)

    assert at("b", "builtin").keeps_evicted is None
    assert at("b", "builtin", settings=ours).keeps_evicted is False
    roomy = dataclasses.replace(ours, host_cache_mib=512)
    assert at("b", "builtin", settings=roomy).keeps_evicted is True
    assert at("0.31.0", settings=ours).keeps_evicted is False
    assert at("0.31.0", settings=roomy).keeps_evicted is True
    assert at("0.24.0", settings=roomy).keeps_evicted is False  # it has no such cache


def test_each_row_says_in_a_sentence_what_it_means():
    """Twelve ranges, oldest first, each with its versions, its clocks and its counts in words."""
    rows = by_version()

    assert len(rows) == 12
    assert rows[0].versions == "Ollama before 0.2.0"
    assert rows[-1].versions == "Ollama from 0.33.3"
    assert len({row.cells[1:] for row in rows}) == len(rows)
    for row in rows:
        assert row.sentence.startswith(f"{row.versions}: ")
        assert "N - 1 steps for N tokens." in row.sentence
        assert len(row.cells) == len(COLUMNS)
        assert all(row.cells)
    assert "no prefill rate" in at("0.12.5").sentence
    assert at("0.30.11").cells == (
        "from 0.30.11", "included", "uncached tokens", "yes", "to half", "yes", "yes",
        "4,096 to 262,144, by video memory",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("version", "whole"),
    [("0.12.4", True), ("0.12.5", False), ("0.12.6", False), ("0.12.7-rc1", True), (None, True)],
)
def test_two_versions_time_only_the_last_batch(version, whole):
    """There no prefill rate can be computed."""
    assert at(version).prefill_is_whole is whole
