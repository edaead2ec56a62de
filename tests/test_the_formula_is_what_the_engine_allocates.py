"""Bytes by the formula are what llama.cpp's own log says it set aside."""

import pytest

from tests.models import tiny
from twohalves.errors import FlashAttentionNeeded, WindowUnusable
from twohalves.formulas import allocated_bytes, kv_shape
from twohalves.server.builtin.allocation import allocation, read_allocation
from twohalves.server.builtin.weights import installed_weights
from twohalves.server.gguf_header import read_header

MIB = 2**20
ROUNDED = 0.005 * MIB + 1
"""A log line gives hundredths of a MiB; the one is for what a double cannot hold."""


def dense(architecture, layers, heads, kv_heads, **more):
    own = {"block_count": layers, "attention.head_count": heads,
           "attention.head_count_kv": kv_heads, **more}  # fmt: skip
    info = {f"{architecture}.{key}": value for key, value in own.items()}
    return kv_shape({"general.architecture": architecture} | info)


def wide(width):
    return {"attention.key_length": width, "attention.value_length": width}


@pytest.fixture(scope="module")
def smollm2():
    """The built-in model, and its shape from its own file."""
    path = installed_weights()
    return path, kv_shape(read_header(path).metadata)


@pytest.mark.engine
@pytest.mark.parametrize("window", [512, 2048, 8192])
@pytest.mark.parametrize(("kv_type", "bytes_a_token"), [("f16", 23_040), ("q8_0", 12_240)])
def test_three_windows_and_two_types(smollm2, window, kv_type, bytes_a_token):
    """30 layers x 3 heads x (64 + 64) numbers x 2 bytes, or 34/32: within the log's rounding."""
    path, shape = smollm2
    told = allocation(path, window, kv_type=kv_type)

    assert told.cells == (window,)
    assert abs(told.kv_bytes - window * bytes_a_token) <= ROUNDED
    computed = allocated_bytes(shape, window, kv_type=kv_type)
    assert computed == pytest.approx(told.kv_bytes, rel=0.01)


@pytest.mark.engine
@pytest.mark.parametrize(
    ("window", "asked"),
    [
        (2048, {"kv_type": "q8_0", "v_type": "f16"}),
        (2048, {"kv_type": "f16", "v_type": "q4_0"}),
        (2048, {"kv_type": "bf16"}),
        (2048, {"kv_type": "f32"}),
        (2048, {"kv_type": "q5_1"}),
        (2048, {"kv_type": "q4_1"}),
        (500, {"slots": 4}),
    ],
    ids=str,
)
def test_other_types_keys_and_values_apart_and_slots(smollm2, window, asked):
    """Each as the engine keeps it; 500 tokens in each of four slots get 512."""
    path, shape = smollm2
    told = allocation(path, window, **asked)

    assert abs(told.kv_bytes - allocated_bytes(shape, window, **asked)) <= ROUNDED
    assert told.cells == (512 if window == 500 else window,)


@pytest.mark.engine
@pytest.mark.parametrize(("window", "cells"), [(512, (512, 512)), (4096, (4096, 768))])
def test_layers_with_a_window_keep_it_and_a_batch(tmp_path, window, cells):
    """One layer of six keeps all; five keep 64 tokens and a batch of 512, in blocks of 256.

    The model is of random weights: 1 head x (16 + 16) numbers x 2 bytes = 64 bytes a layer.
    """
    path = tiny.gemma3(tmp_path / "gemma3.gguf")
    told = allocation(path, window)
    computed = allocated_bytes(kv_shape(read_header(path).metadata), window)

    assert told.cells == cells
    assert computed == 64 * (cells[0] + 5 * cells[1])
    assert abs(told.kv_bytes - computed) <= told.lines * ROUNDED


@pytest.mark.parametrize(
    ("shape", "window", "kv_type", "log", "lines"),
    [
        # Gemma 3 4B in Ollama: github.com/ollama/ollama pull request 17037
        (dense("gemma3", 34, 8, 4, **wide(256), **{"attention.sliding_window": 1024}),
         131_072, "f16",
         ["llama_kv_cache:   CUDA0 KV buffer size =  2560.00 MiB",
          "llama_kv_cache:   CUDA0 KV buffer size =   174.00 MiB"], 2),
        # Qwen3.6 27B: github.com/lmstudio-ai/lmstudio-bug-tracker issue 1862
        (dense("qwen35", 64, 24, 4, **wide(256), full_attention_interval=4),
         262_144, "f16",
         ["llama_kv_cache: size = 16384.00 MiB (262144 cells, 16 layers, 4/1 seqs)",
          "llama_memory_recurrent: size = 598.50 MiB (4 cells, 64 layers, 4 seqs)"], 1),
        # DeepSeek R1: github.com/ikawrakow/ik_llama.cpp pull request 259
        (dense("deepseek2", 61, 128, 1, **{
            "attention.key_length": 576, "attention.value_length": 512,
            "attention.key_length_mla": 192, "attention.value_length_mla": 128,
            "attention.kv_lora_rank": 512}),
         32_768, "q8_0",
         ["llama_new_context: KV self size  = 1166.62 MiB, c^KV (q8_0): 1166.62 MiB"], 1),
    ],
    ids=["windows", "recurrent layers", "one latent row"],
)  # fmt: skip
def test_logs_of_other_people_agree(shape, window, kv_type, log, lines):
    """Models that are too large for a test, as their users' engines reported them."""
    told = read_allocation(log)

    assert told.lines == lines
    assert abs(told.kv_bytes - allocated_bytes(shape, window, kv_type=kv_type)) <= lines * ROUNDED


def test_a_log_that_repeats_itself_is_counted_once():
    """llama.cpp gives the same bytes again, with the cells; and the state has lines of its own."""
    told = read_allocation([
        "llama_kv_cache:        CPU KV buffer size =     8.96 MiB",
        "llama_kv_cache: size =    8.96 MiB (   768 cells,  30 layers,  1/1 seqs), K (q8_0): …",
        "llama_memory_recurrent:     CPU RS buffer size =   149.62 MiB",
    ])  # fmt: skip

    assert told.kv_bytes == pytest.approx(8.96 * MIB)
    assert told.cells == (768,)
    assert told.state_bytes == pytest.approx(149.62 * MIB)
    assert read_allocation(["loading model", "done"]) is None


@pytest.mark.parametrize(("window", "slots"), [(0, 1), (-4096, 1), (4096, 0)])
def test_no_token_and_nobody_is_refused(window, slots):
    """By the formula, and before an engine is started."""
    with pytest.raises(WindowUnusable, match="counted from 1") as refused:
        allocated_bytes(dense("llama", 30, 9, 3, **wide(64)), window, slots=slots)
    with pytest.raises(WindowUnusable):
        allocation("no-such-file.gguf", window, slots=slots)

    assert str(window) in refused.value.what
    assert "4096" in refused.value.next_step


def test_values_of_fewer_bits_want_flash_attention():
    """The engine would refuse with "check the input params"; here the reason is named."""
    with pytest.raises(FlashAttentionNeeded, match="q8_0 cache needs flash attention"):
        allocation("no-such-file.gguf", 512, kv_type="q8_0", flash_attention=False)
    with pytest.raises(FlashAttentionNeeded, match="q4_0"):
        allocation("no-such-file.gguf", 512, v_type="q4_0", flash_attention=False)
