"""The built-in server is laid out by the variables that Ollama reads, with their values."""

import pytest

from twohalves.errors import FlashAttentionNeeded, VariableUnusable
from twohalves.server import Started
from twohalves.server.builtin.durations import FOREVER
from twohalves.server.builtin.environment import read_environment


def setup(**given):
    return read_environment(given).setup


def test_without_variables_it_is_laid_out_for_measuring():
    """One slot, f16, nothing remembered beside the slot; Ollama's defaults for the rest."""
    read = read_environment({})

    assert (read.keep_alive, read.num_ctx, read.longest_queue) == (300, 4096, 512)
    assert read.setup == Started(slots=1, kv_type="f16", flash_attention=None, host_cache_mib=0)


def test_an_empty_variable_is_not_set():
    """Set to nothing, or to quotes around nothing, as shells and .env files do."""
    assert setup(OLLAMA_NUM_PARALLEL="", OLLAMA_KV_CACHE_TYPE="''").slots == 1
    assert setup(OLLAMA_NUM_PARALLEL='"2"').slots == 2


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("24h", 86400), ("-1", FOREVER), ("-5m", FOREVER), ("0", 0)],
)
def test_keep_alive_may_be_a_bare_number(text, seconds):
    """Unlike in a request."""
    assert read_environment({"OLLAMA_KEEP_ALIVE": text}).keep_alive == seconds


def test_the_window_and_the_queue():
    """A window of 0 is Ollama's word for its default."""
    assert read_environment({"OLLAMA_CONTEXT_LENGTH": "512"}).num_ctx == 512
    assert read_environment({"OLLAMA_CONTEXT_LENGTH": "0"}).num_ctx == 4096
    assert read_environment({"OLLAMA_MAX_QUEUE": "2"}).longest_queue == 2


@pytest.mark.parametrize(
    ("text", "meant"), [("1", True), ("true", True), ("0", False), ("FALSE", False)]
)
def test_flash_attention_is_yes_or_no(text, meant):
    """As Go reads a yes or a no."""
    assert setup(OLLAMA_FLASH_ATTENTION=text).flash_attention is meant


def test_slots_types_and_host_memory():
    """Each is handed on as given."""
    read = setup(OLLAMA_NUM_PARALLEL="4", OLLAMA_KV_CACHE_TYPE="Q8_0", LLAMA_ARG_CACHE_RAM="64")

    assert read == Started(slots=4, kv_type="q8_0", flash_attention=None, host_cache_mib=64)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("OLLAMA_KEEP_ALIVE", "soon"),
        ("OLLAMA_CONTEXT_LENGTH", "4k"),
        ("OLLAMA_NUM_PARALLEL", "-1"),
        ("OLLAMA_NUM_PARALLEL", "257"),
        ("OLLAMA_NUM_PARALLEL", "9" * 5000),
        ("OLLAMA_FLASH_ATTENTION", "auto"),
        ("OLLAMA_KV_CACHE_TYPE", "int8"),
        ("OLLAMA_MAX_QUEUE", "many"),
        ("LLAMA_ARG_CACHE_RAM", "8G"),
    ],
)
def test_what_means_nothing_is_refused_by_name(name, text):
    """At the start, not at the first request."""
    with pytest.raises(VariableUnusable, match=name):
        read_environment({name: text})


def test_a_block_type_without_flash_attention_is_refused():
    """Ollama 0.24 takes f16 instead and says nothing: the reader would measure another thing."""
    with pytest.raises(FlashAttentionNeeded, match="q8_0"):
        setup(OLLAMA_KV_CACHE_TYPE="q8_0", OLLAMA_FLASH_ATTENTION="0")

    assert setup(OLLAMA_KV_CACHE_TYPE="bf16", OLLAMA_FLASH_ATTENTION="0").kv_type == "bf16"
