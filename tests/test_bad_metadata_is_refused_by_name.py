"""Whatever is missing, null, cut or impossible: an error that names it, and nothing guessed."""

import json
import struct

import pytest

from tests.servers.scripted import Answer, Scripted, ollama_routes
from tests.wire import recorded
from twohalves import lab, server
from twohalves.errors import (
    FlashAttentionNeeded,
    KvShapeUnknown,
    ShapeFileUnusable,
    UnknownName,
    WeightsUnreadable,
    WindowUnusable,
)
from twohalves.formulas import (
    allocated_bytes,
    cache_bytes,
    config_shape,
    kv_shape,
    uniform_shape,
)
from twohalves.server import facts, find
from twohalves.server.builtin.environment import read_environment
from twohalves.server.gguf_header import read_header
from twohalves.show import families

SMOLLM2 = uniform_shape(30, 3, 64)
LLAMA = {
    "model_type": "llama", "num_hidden_layers": 32, "num_attention_heads": 32,
    "num_key_value_heads": 8, "hidden_size": 4096, "max_position_embeddings": 8192,
}  # fmt: skip
LISTS = {
    "general.architecture": "lfm2", "lfm2.block_count": 16, "lfm2.embedding_length": 2048,
    "lfm2.attention.head_count": 32, "lfm2.attention.head_count_kv": [0, 8] * 8,
    "lfm2.shortconv.l_cache": 3,
}  # fmt: skip


def told(model_info):
    """The facts of a model whose server tells this of it; lists only with verbose, as Ollama."""

    def show(asked):
        verbose = asked.json.get("verbose", False)
        kept = {k: None if isinstance(v, list) and not verbose else v
                for k, v in model_info.items()}  # fmt: skip
        return Answer(body={"model_info": kept})

    routes = ollama_routes({"name": "m:latest"}) | {"/api/show": show}
    with Scripted(routes) as scripted:
        return facts(find(environ={"TWOHALVES_SERVER": scripted.url}), "m:latest")


def test_a_model_without_attention_metadata():
    """As a cloud model tells itself: an architecture, a length, and no heads."""
    told_little = told({"general.architecture": "glm", "glm.context_length": 1_000_000})
    with pytest.raises(KvShapeUnknown) as refused:
        told_little.kv_shape()

    for key in ("glm.block_count", "glm.attention.head_count"):
        assert key in refused.value.what
    assert "llama3.2:3b" in refused.value.next_step


def test_lists_are_asked_for():
    """`facts` asks with verbose, so that a list of heads is one: 8 layers x 8 heads x 128 x 2."""
    assert cache_bytes(told(LISTS).kv_shape(), 1) == 8 * 8 * 128 * 2


@pytest.mark.parametrize("key", ["lfm2.attention.head_count_kv", "lfm2.attention.head_count"])
def test_a_list_that_was_not_told_is_named(key):
    """Null is what a server without `verbose` says; that is no zero, and no default."""
    with pytest.raises(KvShapeUnknown, match="null: lists are told with verbose only") as refused:
        kv_shape(LISTS | {key: None})

    assert key in refused.value.what


def test_a_recorded_answer_without_lists_is_sized_where_none_is_needed():
    """SmolLM2's vocabulary is null without verbose, and no part of its cache."""
    info = recorded.response("show_smollm2").records[0]["model_info"]

    assert None in info.values()
    assert cache_bytes(kv_shape(info), 1) == 23_040


@pytest.mark.parametrize(("tokens", "slots"), [(0, 1), (-1, 1), (-4096, 2), (4096, 0), (1, -1)])
@pytest.mark.parametrize("size", [cache_bytes, allocated_bytes])
def test_a_window_of_nothing_has_no_size(size, tokens, slots):
    """Not zero bytes, and not less: the number is named."""
    with pytest.raises(WindowUnusable, match="counted from 1") as refused:
        size(SMOLLM2, tokens, slots=slots)

    assert f"{tokens} tokens in {slots} slot" in refused.value.what


def test_a_type_of_cache_that_nobody_has():
    """For keys or for values; the nearest is named."""
    with pytest.raises(UnknownName, match="Did you mean 'q8_0'"):
        cache_bytes(SMOLLM2, 1, kv_type="q8")
    with pytest.raises(UnknownName, match="'q4_k'"):
        allocated_bytes(SMOLLM2, 1, v_type="q4_k")


def test_fewer_bits_without_flash_attention():
    """Refused before anything is started, by a private server as by the built-in one."""
    with pytest.raises(FlashAttentionNeeded, match="q8_0"):
        server.start(kv_type="q8_0", flash_attention=False)
    with pytest.raises(FlashAttentionNeeded, match="q4_0") as refused:
        read_environment({"OLLAMA_KV_CACHE_TYPE": "q4_0", "OLLAMA_FLASH_ATTENTION": "0"})

    assert "OLLAMA_KV_CACHE_TYPE=f16" in refused.value.next_step


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({}, "model_type"),
        (LLAMA | {"model_type": "newer"}, "newer"),
        (LLAMA | {"model_type": None}, "model_type"),
        ({k: v for k, v in LLAMA.items() if k != "num_hidden_layers"}, "num_hidden_layers"),
        (LLAMA | {"num_hidden_layers": None}, "num_hidden_layers"),
        (LLAMA | {"num_hidden_layers": -32}, "num_hidden_layers"),
        (LLAMA | {"num_attention_heads": 0}, "num_attention_heads"),
        (LLAMA | {"num_key_value_heads": "8"}, "num_key_value_heads"),
        (LLAMA | {"is_encoder_decoder": True}, "is_encoder_decoder"),
    ],
    ids=str,
)
def test_a_config_that_does_not_say(config, named):
    """An unknown family, a key that is missing, null, negative, zero or text."""
    with pytest.raises(KvShapeUnknown) as refused:
        config_shape(config)

    assert named in refused.value.what


def gguf():
    """A whole head: one key of each kind, and a tensor."""

    def text(words):
        return struct.pack("<Q", len(words)) + words.encode()

    pairs = text("general.architecture") + struct.pack("<I", 8) + text("llama")
    pairs += text("llama.block_count") + struct.pack("<II", 4, 30)
    pairs += text("llama.list") + struct.pack("<IIQ3i", 9, 5, 3, 1, 2, 3)
    tensor = text("token_embd.weight") + struct.pack("<IQQIQ", 2, 8, 8, 0, 0)
    return b"GGUF" + struct.pack("<IQQ", 3, 1, 3) + pairs + tensor


def test_a_gguf_file_cut_anywhere_is_refused(tmp_path):
    """At each byte of its head; whole, it is read."""
    whole, path = gguf(), tmp_path / "model.gguf"
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(WeightsUnreadable):
            read_header(path)
        with pytest.raises(ShapeFileUnusable):
            lab.shape(path)
    path.write_bytes(whole)

    assert read_header(path).metadata["llama.list"] == [1, 2, 3]
    with pytest.raises(KvShapeUnknown, match=r"llama\.attention\.head_count"):
        lab.shape(path)


@pytest.mark.parametrize("wrap", [lambda own: own, lambda own: {**own, "text_config": own}])
def test_a_window_beyond_training_is_said(tmp_path, wrap):
    """It can be sized, and it is said that the model was not made for it."""
    path = tmp_path / "config.json"
    path.write_text(json.dumps(wrap(LLAMA)), encoding="utf-8")
    shape = lab.shape(path)

    assert shape.trained == 8192
    assert "made for 8,192 tokens at most" in families.one(shape, 8193).data
    assert "made for" not in families.one(shape, 8192).data


@pytest.mark.parametrize("value", [None, "long", 0, -1, [8192]])
def test_an_unknown_training_window_is_not_guessed(tmp_path, value):
    """Then nothing is said of it."""
    path = tmp_path / "config.json"
    path.write_text(json.dumps(LLAMA | {"max_position_embeddings": value}), encoding="utf-8")

    assert lab.shape(path).trained is None


@pytest.mark.parametrize(
    ("config", "tokens"),
    [
        ({"model_type": "gpt2", "n_layer": 12, "n_head": 12, "n_embd": 768, "n_positions": 1024},
         1024),
        ({"model_type": "mpt", "n_layers": 32, "n_heads": 32, "d_model": 4096,
          "max_seq_len": 2048}, 2048),
        ({"llm_config": {"model_type": "qwen2", "num_hidden_layers": 24, "num_attention_heads": 14,
                         "num_key_value_heads": 2, "hidden_size": 896,
                         "max_position_embeddings": 32_768}}, 32_768),
    ],
)  # fmt: skip
def test_what_a_model_was_made_for_has_several_names(tmp_path, config, tokens):
    """And stands in whichever part of the file is about the text."""
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config), encoding="utf-8")

    assert lab.shape(path).trained == tokens
