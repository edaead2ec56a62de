"""Bytes of the KV cache from a model's metadata: right for each kind of model, or refused."""

import json
import pathlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.servers.scripted import Scripted, ollama_routes
from twohalves.errors import KvShapeUnknown, UnknownName
from twohalves.formulas import KV_TYPES, allocated_bytes, bytes_per_token, cache_bytes, kv_shape
from twohalves.server import facts, find

WIRE = pathlib.Path(__file__).parent / "wire"
MIB = 1024**2


def metadata(architecture, **own):
    """`attention__key_length=64` becomes `ARCHITECTURE.attention.key_length`."""
    keys = {f"{architecture}.{name.replace('__', '.')}": value for name, value in own.items()}
    return {"general.architecture": architecture} | keys


def dense(architecture, layers, heads, kv_heads, hidden, **more):
    return metadata(
        architecture, block_count=layers, attention__head_count=heads,
        attention__head_count_kv=kv_heads, embedding_length=hidden, **more,
    )  # fmt: skip


def wide(width):
    return {"attention__key_length": width, "attention__value_length": width}


SMOLLM2 = dense("llama", 30, 9, 3, 576)
LLAMA_8B = dense("llama", 32, 32, 8, 4096)
GEMMA3_270M = dense("gemma3", 18, 4, 1, 640, attention__sliding_window=512, **wide(256))
GEMMA3_4B = dense("gemma3", 34, 8, 4, 2560, attention__sliding_window=1024, **wide(256))
GEMMA2_27B = dense("gemma2", 46, 32, 16, 4608, attention__sliding_window=4096, **wide(128))
LFM2_HEADS = [0, 0, 8, 0, 0, 8, 0, 0, 8, 0, 8, 0, 8, 0, 8, 0]
LFM2 = dense("lfm2", 16, 32, LFM2_HEADS, 2048, shortconv__l_cache=3)
DEEPSEEK = metadata(
    "deepseek2", block_count=61, attention__head_count=128, attention__head_count_kv=1,
    embedding_length=7168, attention__key_length=576, attention__value_length=512,
    attention__key_length_mla=192, attention__value_length_mla=128,
    attention__kv_lora_rank=512,
)  # fmt: skip
KIMI_LINEAR = dense(
    "kimi-linear", 27, 32, [*[0, 0, 0, 1] * 6, 0, 0, 1], 2304, attention__kv_lora_rank=512,
    attention__key_length=576, attention__value_length=512, attention__key_length_mla=192,
    attention__value_length_mla=128, kda__head_dim=128, ssm__conv_kernel=4,
)  # fmt: skip


@pytest.mark.parametrize(
    ("info", "kv_type", "growing", "windowed"),
    [
        # 30 layers x 3 heads x (64 + 64) numbers x 2 bytes; x 34/32
        (SMOLLM2, "f16", 23_040, 0),
        (SMOLLM2, "q8_0", 12_240, 0),
        (dense("llama", 16, 32, 8, 2048), "f16", 32_768, 0),
        (dense("llama", 28, 24, 8, 3072, **wide(128)), "f16", 114_688, 0),
        (LLAMA_8B, "f16", 131_072, 0),
        (LLAMA_8B, "q8_0", 69_632, 0),
        (LLAMA_8B, "f32", 262_144, 0),
        (LLAMA_8B, "bf16", 131_072, 0),
        (LLAMA_8B, "q4_0", 36_864, 0),
        (dense("qwen2", 24, 14, 2, 896), "f16", 12_288, 0),
        (dense("qwen2", 28, 28, 4, 3584), "f16", 57_344, 0),
        # 3 of 18 layers see all; 15 x 1 head x 512 numbers x 2 bytes
        (GEMMA3_270M, "f16", 3_072, 15_360),
        (GEMMA3_4B, "f16", 20_480, 118_784),  # B13
        (GEMMA2_27B, "f16", 188_416, 188_416),  # B16
        (LFM2, "f16", 12_288, 0),  # B05
        (DEEPSEEK, "f16", 70_272, 0),  # B07
        (DEEPSEEK, "q8_0", 37_332, 0),
        (dense("gptoss", 24, 64, 8, 2880, attention__sliding_window=128, **wide(64)),
         "f16", 24_576, 24_576),
        (dense("llama4", 48, 40, 8, 5120, **wide(128)), "f16", 49_152, 147_456),  # B21
        (dense("gemma3n", 35, 8, 2, 2048, attention__sliding_window=512,
               attention__shared_kv_layers=15, **wide(256)), "f16", 8_192, 32_768),  # B14
        # B15: the layers that see all are wider and have fewer heads
        (dense("gemma4", 60, 32, [16, 16, 16, 16, 16, 4] * 10, 5376,
               attention__sliding_window=1024,
               attention__sliding_window_pattern=([True] * 5 + [False]) * 10,
               attention__key_length_swa=256, attention__value_length_swa=256, **wide(512)),
         "f16", 81_920, 819_200),
        (dense("qwen3next", 48, 16, 2, 2048, ssm__state_size=128, full_attention_interval=4,
               **wide(256)), "f16", 24_576, 0),  # B18
        (dense("falcon-h1", 44, 12, 2, 3072, ssm__state_size=256, **wide(128)),
         "f16", 45_056, 0),  # B24
        (dense("llama", 32, 32, 8, 4096, expert_count=8), "f16", 131_072, 0),  # B27: Mixtral
        (dense("llama", 40, 32, 8, 5120, **wide(128)), "f16", 163_840, 0),  # B27: Nemo
        (dense("falcon", 32, 71, 1, 4544), "f16", 8_192, 0),  # B28
        (metadata("gpt2", block_count=36, attention__head_count=20, embedding_length=1280),
         "f16", 184_320, 0),  # B29: no KV heads named, so all of them
        (dense("phi3", 32, 32, 32, 3072, attention__sliding_window=2047), "f16", 393_216, 0),
        # every fourth layer of EXAONE-4.0-32B sees all: 64 layers, 8 KV heads of 5120 / 40
        (dense("exaone4", 64, 40, 8, 5120, attention__sliding_window=4096), "f16",
         65_536, 196_608),
        # MiMo-V2-Flash: 9 layers with 4 KV heads, 39 with 8; keys of 192, values of 128
        (dense("mimo2", 48, 64, [4, 8, 8, 8, 8, 4, *[8, 8, 8, 8, 8, 4] * 7], 4096,
               attention__sliding_window=128, attention__key_length=192,
               attention__sliding_window_pattern=[0, 1, 1, 1, 1, 0, *[1, 1, 1, 1, 1, 0] * 7],
               attention__value_length=128), "f16", 9 * 4 * 320 * 2, 39 * 8 * 320 * 2),
        (KIMI_LINEAR, "f16", 7 * 576 * 2, 0),
    ],
)  # fmt: skip
def test_bytes_per_token(info, kv_type, growing, windowed):
    """Layers x KV heads x (key + value) x bytes a number, those with a window apart."""
    found = bytes_per_token(kv_shape(info), kv_type)

    assert (growing, windowed) == (found.growing, found.windowed)


@pytest.mark.parametrize(
    ("info", "kv_type", "tokens", "mib"),
    [
        # what engines' own logs printed
        (GEMMA3_4B, "f16", 131_072, 2560 + 174),
        (LFM2, "f16", 32_768, 384),
        (DEEPSEEK, "q8_0", 32_768, 1166.625),
    ],
)
def test_whole_caches_are_what_engines_allocate(info, kv_type, tokens, mib):
    """To the byte; a windowed layer keeps its window and a batch more."""
    assert allocated_bytes(kv_shape(info), tokens, kv_type=kv_type) == mib * MIB


def test_a_window_stops_growing_and_slots_multiply():
    """gemma3:270m: 18,432 bytes a token up to 512 tokens, 3,072 after; four slots keep four."""
    shape = kv_shape(GEMMA3_270M)

    assert cache_bytes(shape, 512) == 512 * 18_432
    assert cache_bytes(shape, 4096) == 4096 * 3_072 + 512 * 15_360
    assert cache_bytes(shape, 4096, slots=4) == 4 * cache_bytes(shape, 4096)


@pytest.mark.parametrize(
    ("info", "keys"),
    [
        # A04: a cloud model's metadata, complete at first sight
        ({"general.architecture": "glm5.2", "general.parameter_count": 756_162_687_872,
          "glm5.2.context_length": 1_000_000, "glm5.2.embedding_length": 0},
         ("glm5.2.block_count", "glm5.2.attention.head_count")),
        ({}, ("general.architecture", "block_count")),
        (dense("llama", 0, 9, 3, 576), ("llama.block_count",)),
        (dense("llama", -1, 9, 3, 576), ("llama.block_count",)),
        (dense("llama", 10**9, 9, 3, 576), ("llama.block_count",)),
        (dense("llama", "30", 9, 3, 576), ("llama.block_count",)),
        (dense("llama", 30, 9, 0, 576), ("llama.attention.head_count_kv",)),
        (dense("llama", 30, 9, 3, 0), ("llama.attention.key_length",)),
        (dense("lfm2", 16, 32, None, 2048), ("lfm2.attention.head_count_kv (null", "verbose")),
        (dense("lfm2", 16, 32, [0, 8], 2048), ("lfm2.attention.head_count_kv",)),
        (dense("lfm2", 2, 32, [0, "8"], 2048), ("lfm2.attention.head_count_kv",)),
        (dense("lfm2", 2, 32, [-8, 8], 2048), ("lfm2.attention.head_count_kv",)),
        (dense("lfm2", 2, 32, [0, 0], 2048), ("lfm2.attention.head_count_kv",)),
        (dense("gemma3n", 9, 8, 2, 2048, attention__shared_kv_layers=10), ("gemma3n.",)),
        # windows of a family whose pattern is not known
        (dense("newer", 30, 9, 3, 576, attention__sliding_window=128),
         ("newer.attention.sliding_window_pattern",)),
        (dense("gemma4", 2, 9, 3, 576, attention__sliding_window=128,
               attention__sliding_window_pattern=None), ("sliding_window_pattern (null",)),
        # some layers keep a state, and it is not said which
        (dense("qwen3next", 48, 16, 2, 2048, ssm__state_size=128),
         ("qwen3next.full_attention_interval",)),
        # caches of other kinds
        (dense("mllama", 40, 32, 8, 4096, attention__cross_attention_layers=[3, 8]),
         ("mllama.attention.cross_attention_layers",)),
        (dense("t5", 6, 8, 8, 512, attention__relative_buckets_count=32),
         ("t5.attention.relative_buckets_count",)),
    ],
)  # fmt: skip
def test_what_is_missing_or_not_understood_is_named(info, keys):
    """Never 0 bytes, never a division by zero, never a guess."""
    with pytest.raises(KvShapeUnknown) as refused:
        kv_shape(info)

    for key in keys:
        assert key in refused.value.what


def test_a_state_is_sized_where_its_keys_are_told():
    """Kimi-Linear: 20 layers of 32 x 128 numbers, 4 x (3 x 3 x 4096 + 4096 x 128) bytes each."""
    assert kv_shape(KIMI_LINEAR).state_bytes == 20 * 4 * (9 * 4096 + 524_288)


def test_an_unknown_type_of_cache_is_refused():
    """The known ones are listed."""
    with pytest.raises(UnknownName, match="q8_0"):
        bytes_per_token(kv_shape(SMOLLM2), "q8")


def test_what_was_assumed_is_said():
    """Latent rows, constant states and an unused window are named, and the keys that were read."""
    assert "One latent row a layer" in " ".join(kv_shape(DEEPSEEK).notes)
    assert "10 layers keep a state of constant size" in " ".join(kv_shape(LFM2).notes)
    assert kv_shape(SMOLLM2).notes == ()
    assert "llama.attention.head_count_kv" in kv_shape(SMOLLM2).read
    windowless = dense("phi3", 32, 32, 32, 3072, attention__sliding_window=2047)
    assert "does not use this model's window" in " ".join(kv_shape(windowless).notes)
    indexed = DEEPSEEK | {"deepseek2.attention.indexer.head_count": 64}
    assert "indexer is not counted" in " ".join(kv_shape(indexed).notes)


def test_layers_that_only_draft_ahead_keep_no_cache():
    """GLM-4.5-Air counts 47 layers, the last of them for guessing ahead: 46 x 8 x 256 x 2."""
    info = dense("glm4moe", 47, 96, 8, 4096, nextn_predict_layers=1, **wide(128))

    assert bytes_per_token(kv_shape(info)).growing == 188_416


def test_a_recorded_model_is_sized():
    """/api/show of a real Ollama, through `facts`: 23,040 bytes a token for SmolLM2."""
    shown = json.loads((WIRE / "show_smollm2_verbose.trimmed.json").read_text(encoding="utf-8"))
    model = {"name": "smollm2:135m", "size": 98_363_007, "show": shown}
    with Scripted(ollama_routes(model)) as server:
        told = facts(find(environ={"TWOHALVES_SERVER": server.url}), "smollm2:135m")

    assert bytes_per_token(told.kv_shape()).growing == 23_040
    assert not any(key.startswith("tokenizer") for key in told.own_keys)


SIZES = st.integers(min_value=1, max_value=64)
VALUES = st.none() | st.integers(-5, 70) | st.text(max_size=3) | st.lists(st.integers(-1, 9)) | (
    st.booleans()
)  # fmt: skip
NAMES = [
    "block_count", "attention.head_count", "attention.head_count_kv", "embedding_length",
    "attention.key_length", "attention.value_length", "attention.sliding_window",
    "attention.sliding_window_pattern", "attention.shared_kv_layers", "nextn_predict_layers",
    "full_attention_interval", "attention.key_length_mla", "ssm.state_size",
]  # fmt: skip


@given(
    st.sampled_from(["llama", "gemma3", "gemma3n", "gemma4", "lfm2", "phi3", "llama4", "x", ""]),
    st.dictionaries(st.sampled_from(NAMES), VALUES),
)
@settings(suppress_health_check=[HealthCheck.too_slow])  # a busy machine is no fault
def test_any_metadata_is_sized_or_refused(architecture, own):
    """Whatever a server tells: a shape of whole layers, or KvShapeUnknown, and nothing else."""
    info = {f"{architecture}.{key}": value for key, value in own.items()}
    try:
        shape = kv_shape({"general.architecture": architecture} | info)
    except KvShapeUnknown:
        return
    for layer in shape.layers:
        assert min(layer.heads, layer.key_width) > 0
        assert layer.window is None or layer.window > 0


@given(SIZES, SIZES, SIZES, st.integers(1, 100_000), st.sampled_from(sorted(KV_TYPES)))
def test_more_of_anything_never_takes_less(layers, heads, width, tokens, kv_type):
    """Monotone in layers, heads, width, tokens and slots."""

    def size(layers, heads, width, tokens, slots=1):
        info = dense("llama", layers, 1, heads, 64, **wide(width))
        return cache_bytes(kv_shape(info), tokens, slots=slots, kv_type=kv_type)

    here = size(layers, heads, width, tokens)
    assert 0 < here <= size(layers + 1, heads, width, tokens)
    assert here <= size(layers, heads + 1, width, tokens)
    assert here <= size(layers, heads, width + 1, tokens)
    assert here <= size(layers, heads, width, tokens + 1)
    assert 2 * here == size(layers, heads, width, tokens, 2)


@pytest.mark.parametrize(
    ("key_type", "value_type", "expected"),
    [
        # llama 8B: 32 layers of 1024 numbers of key and as many of value a token
        ("q8_0", "f16", 32 * (1024 * 34 // 32 + 1024 * 2)),
        ("f16", "q8_0", 32 * (1024 * 2 + 1024 * 34 // 32)),
        ("q8_0", "q4_0", 32 * (1088 + 576)),
        ("f16", None, 131_072),
        ("q5_1", "q5_0", 32 * (768 + 704)),
    ],
)
def test_keys_and_values_may_be_kept_differently(key_type, value_type, expected):
    """Each half of a token's row has its own bytes a number."""
    shape = kv_shape(LLAMA_8B)

    assert bytes_per_token(shape, key_type, value_type).growing == expected
    assert cache_bytes(shape, 10, kv_type=key_type, v_type=value_type) == 10 * expected


def test_a_value_of_an_unknown_type_is_refused():
    """Also where the keys' type is known."""
    with pytest.raises(UnknownName, match="q8_0"):
        bytes_per_token(kv_shape(SMOLLM2), "q8_0", "q3_0")


def test_a_latent_row_has_no_values_of_its_own():
    """A type of values changes nothing: they are read out of the keys."""
    shape = kv_shape(DEEPSEEK)

    assert bytes_per_token(shape, "f16", "q4_0") == bytes_per_token(shape, "f16")


MAMBA = metadata(
    "mamba", block_count=64, attention__head_count=0, embedding_length=4096,
    ssm__inner_size=8192, ssm__state_size=16, ssm__conv_kernel=4, ssm__time_step_rank=256,
)  # fmt: skip


@pytest.mark.parametrize(
    ("info", "growing", "state"),
    [
        # B24: Falcon-Mamba-7B, 64 layers: 4 x (3 x 8192 + 8192 x 16)
        (MAMBA, 0, 64 * 4 * (24_576 + 131_072)),
        # 10 layers that look two inputs back: 4 x 2 x 2048
        (LFM2, 12_288, 10 * 16_384),
        # Qwen3-Next: 36 layers: 4 x (3 x (4096 + 2 x 16 x 128) + 4096 x 128)
        (dense("qwen3next", 48, 16, 2, 2048, full_attention_interval=4, ssm__inner_size=4096,
               ssm__state_size=128, ssm__conv_kernel=4, ssm__group_count=16, **wide(256)),
         24_576, 36 * 4 * (3 * 8192 + 524_288)),
        # some layers of this family keep nothing at all, so their state is not known
        (dense("nemotron_h", 4, 32, [0, 8, 0, 0], 4096, ssm__state_size=128), 4096, None),
        (SMOLLM2, 23_040, 0),
    ],
)  # fmt: skip
def test_a_state_is_told_apart(info, growing, state):
    """Bytes a sequence that do not grow; a model of states only is no error, and has no cache."""
    shape = kv_shape(info)

    assert bytes_per_token(shape).growing == growing
    assert shape.state_bytes == state
    assert cache_bytes(shape, 100) == 100 * growing


@pytest.mark.parametrize(
    ("info", "written", "row"),
    [
        # B25: MiniCPM3-4B, 62 x 40 x (96 + 64) x 2 and 62 x 288 x 2
        (dense("minicpm3", 62, 40, 40, 2560, attention__key_length=96,
               attention__value_length=64, attention__kv_lora_rank=256,
               rope__dimension_count=32), 793_600, 35_712),
        # a file of DeepSeek-V3 from before engines knew latent rows
        (dense("deepseek2", 61, 128, 128, 7168, attention__key_length=192,
               attention__value_length=128, attention__kv_lora_rank=512,
               rope__dimension_count=64), 4_997_120, 70_272),
    ],
)  # fmt: skip
def test_a_latent_model_that_is_written_out_says_so(info, written, row):
    """What the engine keeps with this file, and what the model itself would need."""
    shape = kv_shape(info)

    assert bytes_per_token(shape).growing == written
    assert "all heads are written out" in " ".join(shape.notes)
    latent = dict(shape.otherwise)["keeps one latent row a layer"]
    assert bytes_per_token(latent).growing == row


def test_other_engines_keep_the_same_model_otherwise():
    """B07: values beside the latent rows, or written out: 61 x 128 x (192 + 128) x 2; B16."""
    latent = {what: bytes_per_token(shape) for what, shape in kv_shape(DEEPSEEK).otherwise}
    [(_, windowless)] = kv_shape(GEMMA2_27B).otherwise

    assert latent["keeps values beside the latent rows"].growing == 132_736
    assert latent["writes out keys and values of all heads"].growing == 4_997_120
    assert bytes_per_token(windowless).growing == 376_832
    assert kv_shape(SMOLLM2).otherwise == ()
