"""Bytes of the KV cache from a config.json: right for each family, said how, or refused."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from twohalves.errors import KvShapeUnknown
from twohalves.formulas import allocated_bytes, bytes_per_token, cache_bytes, config_shape

MIB = 1024**2
TIB = 1024**4


def config(model_type, layers=None, heads=None, kv_heads=None, hidden=None, **more):
    """The keys of a config.json under their usual names; what is None is left out."""
    usual = {
        "model_type": model_type,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "hidden_size": hidden,
    }
    return {key: value for key, value in usual.items() if value is not None} | more


def latent(model_type, layers, heads, hidden, *, nope, rope, value, rank=512, **more):
    return config(
        model_type, layers, heads, heads, hidden, kv_lora_rank=rank, qk_nope_head_dim=nope,
        qk_rope_head_dim=rope, **({"v_head_dim": value} if value else {}), **more,
    )  # fmt: skip


def part(model_type, text, **more):
    """A model that also sees: its keys stand in a part of the file."""
    vision = {"num_hidden_layers": 27, "num_attention_heads": 16, "hidden_size": 1152}
    return {"model_type": model_type, "text_config": text, "vision_config": vision} | more


def repeated(*kinds, times):
    return [*kinds] * times


SLIDE, FULL, LINEAR = "sliding_attention", "full_attention", "linear_attention"
LFM2 = config("lfm2", 16, 32, 8, 2048, full_attn_idxs=[2, 5, 8, 10, 12, 14], conv_L_cache=3)
DEEPSEEK_V3 = latent("deepseek_v3", 61, 128, 7168, nope=128, rope=64, value=128)
DEEPSEEK_V32 = latent(
    "deepseek_v32", 61, 128, 7168, nope=128, rope=64, value=128, index_head_dim=128
)
# ai-dynamo/aiconfigurator 691ec90, zai-org--GLM-5-FP8_config.json: head_dim is the rope part
GLM_5 = latent("glm_moe_dsa", 78, 64, 6144, nope=192, rope=64, value=256, head_dim=64)
MINICPM3 = latent("minicpm3", 62, 40, 2560, nope=64, rope=32, value=None, rank=256)
# as published: heads and widths are left out, the library knows them
GEMMA3_4B = part(
    "gemma3",
    config("gemma3_text", 34, hidden=2560, sliding_window=1024, sliding_window_pattern=6),
)
GEMMA3N = part(
    "gemma3n",
    config("gemma3n_text", 35, 8, 2, 2048, head_dim=256, sliding_window=512,
           num_kv_shared_layers=15, intermediate_size=[16384] * 35),
)  # fmt: skip
GEMMA4_31B = part(
    "gemma4",
    config("gemma4_text", 60, 32, 16, 5376, head_dim=256, global_head_dim=512,
           num_global_key_value_heads=4, attention_k_eq_v=True, sliding_window=1024,
           layer_types=repeated(*[SLIDE] * 5, FULL, times=10)),
)  # fmt: skip
GEMMA2_27B = config("gemma2", 46, 32, 16, 4608, head_dim=128, sliding_window=4096)
DELTA = {
    "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_num_key_heads": 16,
    "linear_num_value_heads": 32, "linear_value_head_dim": 128,
}  # fmt: skip
QWEN3_NEXT = config(
    "qwen3_next", 48, 16, 2, 2048, head_dim=256, full_attention_interval=4,
    use_sliding_window=False, **DELTA,
)  # fmt: skip
QWEN36_27B = part(
    "qwen3_5",
    config("qwen3_5_text", 64, 24, 4, 5120, head_dim=256,
           layer_types=repeated(LINEAR, LINEAR, LINEAR, FULL, times=16),
           **DELTA | {"linear_num_value_heads": 48}),
)  # fmt: skip
QWEN3_VL = part("qwen3_vl", config("qwen3_vl_text", 36, 32, 8, 4096, head_dim=128))
SCOUT = part(
    "llama4", config("llama4_text", 48, 40, 8, 5120, head_dim=128, attention_chunk_size=8192)
)
GRANITE = config(
    "granitemoehybrid", 40, 12, 4, 1536,
    layer_types=repeated(*["mamba"] * 9, "attention", times=4), mamba_d_state=128, mamba_d_conv=4,
    mamba_n_groups=1, mamba_n_heads=48, mamba_d_head=64, mamba_expand=2,
)  # fmt: skip
FALCON_H1 = config("falcon_h1", 44, 12, 2, 3072, head_dim=128, mamba_d_ssm=3072,
                   mamba_d_state=256, mamba_d_conv=4, mamba_n_groups=1)  # fmt: skip
FALCON_MAMBA = config("falcon_mamba", 64, hidden=4096, intermediate_size=8192, state_size=16,
                      conv_kernel=4)  # fmt: skip
FALCON_7B = {
    "model_type": "RefinedWebModel", "n_layer": 32, "n_head": 71, "hidden_size": 4544,
    "multi_query": True,
}  # fmt: skip
FALCON_40B = {
    "model_type": "RefinedWeb", "n_layer": 60, "n_head": 128, "n_head_kv": 8, "hidden_size": 8192,
}  # fmt: skip
GPT2_LARGE = {"model_type": "gpt2", "n_layer": 36, "n_head": 20, "n_embd": 1280}
MPT_7B = {
    "model_type": "mpt", "n_layers": 32, "n_heads": 32, "d_model": 4096, "use_cache": False,
    "attn_config": {"alibi": True, "attn_type": "multihead_attention"},
}  # fmt: skip
MISTRAL_7B = config("mistral", 32, 32, 8, 4096, sliding_window=4096)


@pytest.mark.parametrize(
    ("told", "growing", "windowed", "never"),
    [
        # layers x KV heads x (key + value) x 2 bytes
        (LFM2, 6 * 8 * 128 * 2, 0, {0, 32_768}),  # B05
        (DEEPSEEK_V3, 61 * 576 * 2, 0, {4_997_120, 124_928}),  # B08: 512 latent and 64 of place
        (DEEPSEEK_V32, 61 * 576 * 2, 0, {4_997_120, 61 * 576 * 2 + 15_616}),
        (GLM_5, 78 * 576 * 2, 0, {1_277_952}),  # B10
        (GEMMA3_4B, 5 * 4 * 512 * 2, 29 * 4 * 512 * 2, {139_264}),  # B13
        # B14: 20 of 35 layers are their own; 4 of them see all
        (GEMMA3N, 4 * 2 * 512 * 2, 16 * 2 * 512 * 2, {71_680, 40_960}),
        # B15: the layers that see all have 4 heads of 512
        (GEMMA4_31B, 10 * 4 * 1024 * 2, 50 * 16 * 512 * 2, {163_840, 983_040}),
        (GEMMA2_27B, 23 * 16 * 256 * 2, 23 * 16 * 256 * 2, {423_936}),  # B16
        (QWEN3_NEXT, 12 * 2 * 512 * 2, 0, {98_304}),  # B18
        (QWEN36_27B, 16 * 4 * 512 * 2, 0, {262_144}),  # B19
        (QWEN3_VL, 36 * 8 * 256 * 2, 0, set()),  # B20
        (SCOUT, 12 * 8 * 256 * 2, 36 * 8 * 256 * 2, {196_608}),  # B21
        (part("llama4", SCOUT["text_config"] | {"no_rope_layers": []}),
         12 * 8 * 256 * 2, 36 * 8 * 256 * 2, {196_608}),
        (GRANITE, 4 * 4 * 256 * 2, 0, {81_920}),  # B24: heads of 1536 / 12
        (FALCON_H1, 44 * 2 * 256 * 2, 0, {90_112}),
        (FALCON_MAMBA, 0, 0, set()),
        (MINICPM3, 62 * 288 * 2, 0, {793_600}),  # B25
        (config("mistral", 40, 32, 8, 5120, head_dim=128, sliding_window=None),
         40 * 8 * 256 * 2, 0, {204_800}),  # B27: Nemo
        (config("mixtral", 32, 32, 8, 4096, sliding_window=None, num_local_experts=8),
         32 * 8 * 256 * 2, 0, {8 * 131_072}),
        (FALCON_7B, 32 * 1 * 128 * 2, 0, {581_632}),  # B28
        (FALCON_40B, 60 * 8 * 128 * 2, 0, {1_966_080}),
        # the newer file of the 7B tells 71 KV heads, which its code does not use
        (config("falcon", 32, 71, None, 4544, num_kv_heads=71, multi_query=True,
                new_decoder_architecture=False), 32 * 1 * 128 * 2, 0, {581_632}),
        (config("falcon", 60, 128, None, 8192, num_kv_heads=8, multi_query=True,
                new_decoder_architecture=True), 60 * 8 * 128 * 2, 0, {15_360}),
        (GPT2_LARGE, 36 * 1280 * 2 * 2, 0, {0}),  # B29
        (MPT_7B, 32 * 4096 * 2 * 2, 0, {0}),
        # B30: the model itself shares one pair among all query heads
        ({"model_type": "gpt2", "attention_head_type": "multiquery", "n_layer": 24, "n_head": 16,
          "n_embd": 2048}, 24 * 256 * 2, 0, {196_608}),
    ],
)  # fmt: skip
def test_bytes_per_token_of_the_cases(told, growing, windowed, never):
    """Each model that public tools got wrong, and never the figure that they got."""
    found = bytes_per_token(config_shape(told))

    assert (growing, windowed) == (found.growing, found.windowed)
    assert found.growing not in never


NEMOTRON_H = config(
    "nemotron_h", 52, 32, 8, 4096, attention_head_dim=128, ssm_state_size=128, conv_kernel=4,
    n_groups=8, mamba_num_heads=128, mamba_head_dim=64,
    hybrid_override_pattern="M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-",
)  # fmt: skip
KIMI_LINEAR = latent(
    "kimi_linear", 27, 32, 2304, nope=128, rope=64, value=128,
    linear_attn_config={
        "full_attn_layers": [4, 8, 12, 16, 20, 24, 27], "num_heads": 32, "head_dim": 128,
        "short_conv_kernel_size": 4,
    },
)  # fmt: skip


# Sources of the values: AIC = ai-dynamo/aiconfigurator, src/aiconfigurator/model_configs or
# aic-core/…/model_configs; MLC = mlc-ai/mlc-llm 01ced33, python/mlc_llm/model/model_preset.py;
# TF = the defaults of transformers 5.24.0, where they are those of the model it names. What is
# marked "copy" was compared with copies of the published file in public code.
@pytest.mark.parametrize(
    ("told", "growing", "windowed"),
    [
        # MLC, llama3_1_8b: 32 layers, 8 KV heads of 4096 / 32
        (config("llama", 32, 32, 8, 4096), 131_072, 0),
        # MLC, llama3_2_1b: 16 layers, 8 KV heads of 64
        (config("llama", 16, 32, 8, 2048, head_dim=64), 32_768, 0),
        # AIC f577ab8, Llama-3.3-70B: 80 layers, 8 KV heads of 8192 / 64
        (config("llama", 80, 64, 8, 8192), 327_680, 0),
        # inference-sim/inference-sim 64e43c8, Yi-34B: 60 layers, 8 KV heads of 7168 / 56
        (config("llama", 60, 56, 8, 7168), 245_760, 0),
        # MLC, qwen2_7b (as Qwen2.5-7B): 28 layers, 4 KV heads of 3584 / 28; window switched off
        (config("qwen2", 28, 28, 4, 3584, sliding_window=131_072, max_window_layers=28,
                use_sliding_window=False), 57_344, 0),
        # MLC, qwen3_4b: 36 layers, 8 KV heads of 128 (2560 / 32 = 80)
        (config("qwen3", 36, 32, 8, 2560, head_dim=128, sliding_window=None), 147_456, 0),
        # AIC 51ecbbb, Qwen3-VL-235B: 94 layers, 4 KV heads of 128 (4096 / 64 = 64)
        (part("qwen3_vl_moe", config("qwen3_vl_moe_text", 94, 64, 4, 4096, head_dim=128)),
         192_512, 0),
        # copy of Qwen3-Omni-30B: the part that writes is in a part; 48 layers, 4 KV heads of 128
        ({"model_type": "qwen3_omni_moe", "talker_config": {"num_hidden_layers": 20},
          "thinker_config": part(
              "qwen3_omni_moe_thinker",
              config("qwen3_omni_moe_text", 48, 32, 4, 2048, head_dim=128))}, 98_304, 0),
        # copy of Phi-3-mini-4k: 32 layers, 32 heads of 96, window 2047
        (config("phi3", 32, 32, 32, 3072, sliding_window=2047, max_position_embeddings=4096),
         0, 393_216),
        # copy of Phi-4-mini: 8 KV heads of 3072 / 24; a window twice its longest text is none
        (config("phi3", 32, 24, 8, 3072, sliding_window=262_144, max_position_embeddings=131_072),
         131_072, 0),
        # MLC, mistral_7b: 32 layers, 8 KV heads of 128, all with a window
        (MISTRAL_7B, 0, 131_072),
        # MLC, ministral3_3b: 26 layers, 8 KV heads of 128 (3072 / 32 = 96)
        (part("mistral3", config("ministral3", 26, 32, 8, 3072, head_dim=128,
                                 sliding_window=None)), 106_496, 0),
        # TF, Mistral-Small-4: 36 latent rows of 256 + 64
        (part("mistral3", latent("mistral4", 36, 32, 4096, nope=64, rope=64, value=128, rank=256)),
         23_040, 0),
        # MLC, gemma2_2b: 13 layers of each kind, 4 KV heads of 256 (2304 / 8 = 288)
        (config("gemma2", 26, 8, 4, 2304, head_dim=256, sliding_window=4096), 53_248, 53_248),
        # MLC, gemma3_1b_it: 26 layers, 4 of them see all; 1 KV head of 256
        (config("gemma3_text", 26, 4, 1, 1152, head_dim=256, sliding_window=512,
                sliding_window_pattern=6), 4 * 512 * 2, 22 * 512 * 2),
        # TF, Starcoder2Config: 30 layers, 2 KV heads of 3072 / 24; a window as its paper has it
        (config("starcoder2", 30, 24, 2, 3072, sliding_window=4096), 0, 30_720),
        # TF, OLMo-2-1124-7B: 32 layers, 32 heads of 128
        (config("olmo2", 32, 32, 32, 4096), 524_288, 0),
        # TF, OLMo 3: 8 of 32 layers see all
        (config("olmo3", 32, 32, 32, 4096, sliding_window=4096,
                layer_types=repeated(SLIDE, SLIDE, SLIDE, FULL, times=8)), 131_072, 393_216),
        # TF, Command R v01: 40 layers, 64 heads of 128, not grouped
        (config("cohere", 40, 64, 64, 8192), 1_310_720, 0),
        # copy of gpt-oss-20b: 24 layers by turns, 8 KV heads of 64 (2880 / 64 = 45)
        (config("gpt_oss", 24, 64, 8, 2880, head_dim=64, sliding_window=128,
                layer_types=repeated(SLIDE, FULL, times=12)), 24_576, 24_576),
        # MLC, deepseek_v2_lite: 27 latent rows of 512 + 64
        (latent("deepseek_v2", 27, 16, 2048, nope=128, rope=64, value=128), 31_104, 0),
        # AIC 821eb9a, Kimi-K2: 61 latent rows of 512 + 64; K2.5 has it in a part
        (latent("kimi_k2", 61, 64, 7168, nope=128, rope=64, value=128), 70_272, 0),
        (part("kimi_k25", latent("kimi_k2", 61, 64, 7168, nope=128, rope=64, value=128)),
         70_272, 0),
        # copy of Kimi-Linear-48B: 7 of 27 layers keep a latent row
        (KIMI_LINEAR, 7 * 576 * 2, 0),
        # the same in the words of TF
        (KIMI_LINEAR | {"linear_attn_config": None, "linear_num_heads": 32, "linear_head_dim": 128,
                        "layer_types": repeated(LINEAR, LINEAR, FULL, times=9)}, 9 * 576 * 2, 0),
        # AIC a0ba9ec, GLM-4.7: 92 layers, 8 KV heads of 128 (5120 / 96 is no whole number)
        (config("glm4_moe", 92, 96, 8, 5120, head_dim=128), 376_832, 0),
        # AIC 19d098a, GLM-4.7-Flash: 47 latent rows
        (latent("glm4_moe_lite", 47, 20, 2048, nope=192, rope=64, value=256, head_dim=64),
         54_144, 0),
        # inference-sim/inference-sim 475c15c, GLM-5.2: head_dim is another thing than in GLM-5
        (latent("glm_moe_dsa", 78, 64, 6144, nope=192, rope=64, value=256, head_dim=192,
                index_head_dim=128), 89_856, 0),
        # AIC 87fe4b0, Qwen3.5-397B: 15 of 60 layers, 2 KV heads of 256
        (part("qwen3_5_moe",
              config("qwen3_5_moe_text", 60, 32, 2, 4096, head_dim=256,
                     layer_types=repeated(LINEAR, LINEAR, LINEAR, FULL, times=15))), 30_720, 0),
        # AIC e10f03a, Step-3.7-Flash: 12 of 45 layers see all, 8 KV heads of 128; its lists go on
        # for three layers that guess ahead, and tell queries of the others apart
        (part("step3p7",
              config("step3p5", 45, 64, None, 4096, num_attention_groups=8, head_dim=128,
                     sliding_window=512, num_nextn_predict_layers=3,
                     layer_types=repeated(FULL, SLIDE, SLIDE, SLIDE, times=12),
                     attention_other_setting={"num_attention_heads": 96, "head_dim": 128,
                                              "num_attention_groups": 8})), 49_152, 135_168),
        # AIC 1cab08c, Laguna-S-2.1: 12 of 48 layers see all; query heads differ by layer
        (config("laguna", 48, 48, 8, 3072, head_dim=128, sliding_window=512,
                layer_types=repeated(FULL, SLIDE, SLIDE, SLIDE, times=12),
                per_layer_config={"1": {"num_attention_heads": 72}}), 49_152, 147_456),
        # copy of MiMo-V2-Flash: 9 layers with 4 KV heads, 39 with 8; keys of 192, values of 128
        (config("mimo_v2_flash", 48, 64, 4, 4096, head_dim=192, v_head_dim=128,
                hybrid_layer_pattern=[0, *repeated(*[1] * 4, 0, times=1),
                                      *repeated(*[1] * 5, 0, times=7)],
                swa_num_key_value_heads=8, swa_head_dim=192, swa_v_head_dim=128,
                sliding_window_size=128), 9 * 4 * 320 * 2, 39 * 8 * 320 * 2),
        # TF, MiniMax-M3: 60 layers, 4 KV heads of 128, an indexer beside
        (part("minimax_m3_vl",
              config("minimax_m3_text", 60, 64, 4, 6144, head_dim=128,
                     sparse_attention_config={"sparse_index_dim": 128})), 122_880, 0),
        # copy of Hunyuan-A13B: 32 layers, 8 KV heads of 128
        (config("hunyuan_v1_moe", 32, 32, 8, 4096, head_dim=128), 131_072, 0),
        # TF, Hy3: 80 layers, 8 KV heads of 128 (4096 / 64 = 64)
        (config("hy_v3", 80, 64, 8, 4096, head_dim=128), 327_680, 0),
        # TF, ERNIE-4.5-21B: 28 layers, 4 KV heads of 2560 / 20
        (config("ernie4_5_moe", 28, 20, 4, 2560), 57_344, 0),
        # copy of DBRX: 40 layers, 8 KV heads of 6144 / 48
        ({"model_type": "dbrx", "n_layers": 40, "n_heads": 48, "d_model": 6144,
          "attn_config": {"kv_n_heads": 8}}, 163_840, 0),
        # its window switched off: every layer sees all
        (config("llama4", 48, 40, 8, 5120, head_dim=128, attention_chunk_size=None), 196_608, 0),
        # the newer form of its file: layers with keys of their own, 5 of 30 twice as wide
        (config("gemma4_text", 30, 8, 4, 2304, head_dim=256, sliding_window=512,
                layer_types=repeated(*[SLIDE] * 5, FULL, times=5),
                per_layer_config={f"{at:02}": {"head_dim": 512, "intermediate_size": 1}
                                  for at in range(5, 30, 6)}), 40_960, 102_400),
        (config("llama", 2, 32, 8, 4096,
                per_layer_config={"1": {"num_key_value_heads": 2}}), 10 * 256 * 2, 0),
        # layers that only pick tokens with an index still keep a latent row, under either name
        (latent("deepseek_v32", 2, 128, 7168, nope=128, rope=64, value=128,
                layer_types=["indexed_attention", "deepseek_sparse_attention"]), 2_304, 0),
        # copy of Nemotron-H-8B: 4 of 52 layers attend, 24 keep nothing; 8 KV heads of 128
        (NEMOTRON_H, 4 * 8 * 256 * 2, 0),
        # the newer form of its file does not count its layers, it lists them
        (config("nemotron_h", None, 32, 8, 4096, head_dim=128,
                layers_block_type=["linear_attention", "moe", "mamba", "full_attention"]),
         4_096, 0),
        # TF, MiniMax-M2: 62 layers, 8 KV heads of 128 (3072 / 48 = 64)
        (config("minimax_m2", 62, 48, 8, 3072, head_dim=128), 253_952, 0),
        # copy of StarCoder: 40 layers, one pair of 6144 / 48
        ({"model_type": "gpt_bigcode", "n_layer": 40, "n_head": 48, "n_embd": 6144,
          "multi_query": True}, 20_480, 0),
        # MLC, chatglm: 28 layers, 2 groups of 128
        ({"model_type": "chatglm", "num_layers": 28, "num_attention_heads": 32,
          "multi_query_group_num": 2, "kv_channels": 128, "hidden_size": 4096}, 28_672, 0),
        # copy of OpenELM-270M: heads layer by layer, 64 wide; 63 KV heads together
        ({"model_type": "openelm", "num_transformer_layers": 16, "head_dim": 64,
          "num_query_heads": [12, 12, 12, 12, 12, 16, 16, 16, 16, 16, 16, 16, 20, 20, 20, 20],
          "num_kv_heads": [3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5]}, 63 * 128 * 2, 0),
        # copy of Jamba-v0.1: layers 4, 12, 20, 28 of 32 attend; 8 KV heads of 128
        (config("jamba", 32, 32, 8, 4096, attn_layer_period=8, attn_layer_offset=4),
         4 * 8 * 256 * 2, 0),
    ],
)  # fmt: skip
def test_bytes_per_token_of_further_families(told, growing, windowed):
    """Public models of other designs, from what their files say."""
    found = bytes_per_token(config_shape(told))

    assert (growing, windowed) == (found.growing, found.windowed)


@pytest.mark.parametrize(
    ("told", "kv_type", "tokens", "mib"),
    [
        (GEMMA3_4B, "f16", 131_072, 2560 + 174),
        (QWEN36_27B, "f16", 262_144, 16_384),
        (LFM2, "f16", 32_768, 384),
        (DEEPSEEK_V3, "q8_0", 32_768, 1166.625),
    ],
)
def test_whole_caches_are_what_engines_allocate(told, kv_type, tokens, mib):
    """To the byte of what engines' own logs printed."""
    assert allocated_bytes(config_shape(told), tokens, kv_type=kv_type) == mib * MIB


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        # a log of Qwen3.6-27B: 598.5 MiB of state for four sequences
        (QWEN36_27B, 598.5 * MIB / 4),
        # 36 layers: 4 x (3 x (4096 + 2 x 16 x 128) + 4096 x 128)
        (QWEN3_NEXT, 36 * 4 * (3 * 8192 + 524_288)),
        # 10 layers that look two inputs back: 4 x 2 x 2048
        (LFM2, 10 * 16_384),
        # 64 layers: 4 x (3 x 8192 + 8192 x 16)
        (FALCON_MAMBA, 64 * 4 * (24_576 + 131_072)),
        # 36 layers: 4 x (3 x (3072 + 2 x 128) + 3072 x 128)
        (GRANITE, 36 * 4 * (3 * 3328 + 393_216)),
        # all 44 layers, beside attention: 4 x (3 x (3072 + 2 x 256) + 3072 x 256)
        (FALCON_H1, 44 * 4 * (3 * 3584 + 786_432)),
        (MISTRAL_7B, 0),
        # 24 layers: 4 x (3 x (8192 + 2 x 8 x 128) + 8192 x 128)
        (NEMOTRON_H, 24 * 4 * (3 * 10_240 + 1_048_576)),
        # 20 layers of 32 x 128 numbers, keys as wide: 4 x (3 x 3 x 4096 + 4096 x 128)
        (KIMI_LINEAR, 20 * 4 * (9 * 4096 + 524_288)),
        (config("jamba", 32, 32, 8, 4096, attn_layer_period=8, attn_layer_offset=4), None),
    ],
)
def test_a_state_is_told_apart(told, expected):
    """Bytes a sequence that do not grow; None where the file does not tell, 0 where none is."""
    assert config_shape(told).state_bytes == expected


def test_other_engines_keep_the_same_model_otherwise():
    """The assumption is said, and what follows without it."""
    windowless = config_shape(SCOUT)
    full = dict(config_shape(MINICPM3).otherwise)["writes out keys and values of all heads"]
    beside = dict(config_shape(DEEPSEEK_V3).otherwise)["keeps values beside the latent rows"]
    [(what, everything)] = windowless.otherwise

    assert bytes_per_token(full).growing == 62 * 40 * (96 + 64) * 2
    assert bytes_per_token(beside).growing == 61 * (576 + 512) * 2
    assert what == "keeps all tokens in every layer"
    assert cache_bytes(everything, 10_485_760) == 1.875 * TIB
    assert config_shape(QWEN3_VL).otherwise == ()


def test_what_was_assumed_is_said():
    """An indexer, a state, a latent row, one head for each query, a default of the family."""

    def said(told):
        return " ".join(config_shape(told).notes)

    assert "indexer is not counted" in said(DEEPSEEK_V32)
    assert "indexer" not in said(DEEPSEEK_V3)
    assert "One latent row a layer" in said(MINICPM3)
    assert "36 layers keep a state of constant size" in said(QWEN3_NEXT)
    assert "64 layers keep a state" in said(FALCON_MAMBA)
    assert "each query head has one of its own" in said(GPT2_LARGE)
    assert "text_config.num_key_value_heads is not in the file: 4" in said(GEMMA3_4B)
    assert said(QWEN3_VL) == ""


def test_the_keys_that_were_read_are_told():
    """With the part of the file that they stand in, and none that was not there."""
    assert set(config_shape(QWEN3_VL).read) == {
        "text_config.num_hidden_layers", "text_config.num_attention_heads",
        "text_config.num_key_value_heads", "text_config.head_dim",
    }  # fmt: skip
    assert {"kv_lora_rank", "qk_rope_head_dim"} < set(config_shape(GLM_5).read)
    assert "head_dim" not in config_shape(GLM_5).read


T5_SMALL = {
    "model_type": "t5", "is_encoder_decoder": True, "d_kv": 64, "num_heads": 8, "num_layers": 6,
    "num_decoder_layers": 6, "d_model": 512,
}  # fmt: skip


@pytest.mark.parametrize(
    ("told", "keys"),
    [
        ({}, ("model_type",)),
        (config("llama"), ("num_hidden_layers", "num_attention_heads", "hidden_size")),
        (config("newer", 32, 32, 8, 4096), ("model_type 'newer'",)),
        ({"model_type": ["llama"]}, ("model_type",)),
        (LFM2 | {"layer_types": None, "full_attn_idxs": [{}, 2]}, ("full_attn_idxs",)),
        (config("llama", 2, 32, 8, 4096, layer_types=[["mamba"], {}]),
         ("layer_types \"['mamba']\"", "layer_types '{}'")),
        (T5_SMALL, ("model_type 't5'", "is_encoder_decoder")),  # B29
        # B30: files of other tools, which look like one
        ({"model_type": "gpt2", "num_layers": 24, "n_head": 16, "hidden_dim": 2048},
         ("n_layer", "n_embd")),
        ({"name": "gpt2-xl", "num_layers": 48, "n_head": 25, "hidden_dim": 1600}, ("model_type",)),
        (config("llama", 32, 32, 8, 4097), ("head_dim",)),
        (config("llama", 0, 32, 8, 4096), ("num_hidden_layers",)),
        (config("llama", -1, 32, 8, 4096), ("num_hidden_layers",)),
        (config("llama", "32", 32, 8, 4096), ("num_hidden_layers",)),
        (config("llama", 10**9, 32, 8, 4096), ("num_hidden_layers",)),
        ({"model_type": "llama", "num_hidden_layers": True}, ("num_hidden_layers",)),
        (config("llama", 32, 32, 0, 4096), ("num_key_value_heads",)),
        # a family with grouped queries: not told is not one for each query head
        (config("mistral", 32, 32, None, 4096), ("num_key_value_heads",)),
        # a family whose heads are wider than the hidden state's share
        (config("gemma2", 46, 32, 16, 4608, sliding_window=4096), ("head_dim",)),
        (config("gemma2", 46, 32, 16, 4608, head_dim=128), ("sliding_window",)),
        (config("llama4", 48, 40, 8, 5120, head_dim=128), ("attention_chunk_size",)),
        # windows in layers that are not named
        (config("llama", 32, 32, 8, 4096, sliding_window=512), ("layer_types",)),
        (config("gpt_oss", 2, 64, 8, 2880, head_dim=64, layer_types=[SLIDE, FULL]),
         ("sliding_window",)),
        (config("qwen2", 28, 28, 4, 3584, sliding_window=512, use_sliding_window=True),
         ("max_window_layers",)),
        (config("qwen3_5", 2, 24, 4, 5120, head_dim=256, layer_types=[FULL]), ("layer_types",)),
        (config("qwen3_5", 2, 24, 4, 5120, head_dim=256, layer_types=[FULL, "new"]),
         ("layer_types 'new'",)),
        (config("qwen3_next", 48, 16, 2, 2048, head_dim=256), ("full_attention_interval",)),
        (config("granitemoehybrid", 40, 12, 4, 1536), ("layer_types",)),
        (config("exaone4", 64, 40, 8, 5120), ("sliding_window",)),
        (part("mistral3", config("mistral", 40, 32, 8, 5120, head_dim=128)),
         ("text_config.sliding_window",)),
        (KIMI_LINEAR | {"linear_attn_config": {"full_attn_layers": [0, 4]}},
         ("linear_attn_config.full_attn_layers",)),
        (config("mimo_v2", 2, 64, 4, 4096, head_dim=192, hybrid_layer_pattern=[0, 2]),
         ("hybrid_layer_pattern",)),
        (config("mimo_v2", 2, 64, 4, 4096, head_dim=192, hybrid_layer_pattern=[0, 1]),
         ("sliding_window",)),
        # as the library saves it again, without what its code knows: twice the heads in windows
        (config("mimo_v2_flash", 2, 64, 4, 4096, head_dim=192, v_head_dim=128, sliding_window=129,
                layer_types=[FULL, SLIDE]), ("swa_num_key_value_heads",)),
        (config("afmoe", 32, 16, 4, 2048, head_dim=128, sliding_window=2048), ("layer_types",)),
        # keeps one entry for several tokens
        (config("deepseek_v4", 43, 64, 1, 4096, head_dim=512, compress_ratios=[0, 4, 128]),
         ("model_type 'deepseek_v4'", "compress_ratios")),
        (config("lfm2", 16, 32, 8, 2048, full_attn_idxs=[2, 16]), ("full_attn_idxs",)),
        (config("nemotron_h", 3, 12, 4, 1536, hybrid_override_pattern="M*?"),
         ("hybrid_override_pattern",)),
        (config("gemma3n", 35, 8, 2, 2048, head_dim=256, sliding_window=512),
         ("num_kv_shared_layers",)),
        (config("gemma3n", 9, 8, 2, 2048, head_dim=256, sliding_window=512,
                num_kv_shared_layers=10), ("num_kv_shared_layers",)),
        (config("deepseek_v3", 61, 128, 128, 7168, head_dim=64),
         ("kv_lora_rank", "qk_rope_head_dim")),
        (config("llama", 32, 32, 8, 4096, kv_lora_rank=512), ("kv_lora_rank",)),
        (config("llama", 32, 32, 8, 4096, cross_attention_layers=[3, 8]),
         ("cross_attention_layers",)),
        ({"model_type": "gpt_bigcode", "n_layer": 40, "n_head": 48, "n_embd": 6144},
         ("multi_query",)),
        (config("llama", 2, 32, 8, 4096, per_layer_config={"1": {"sliding_window": 64}}),
         ("per_layer_config.1",)),
        (config("llama", 2, 32, 8, 4096, per_layer_config={"2": {}}), ("per_layer_config.2",)),
        (config("llama", 2, 32, 8, 4096, per_layer_config=[1]), ("per_layer_config",)),
        (part("llava", {"model_type": "llama"}), ("text_config.num_hidden_layers",)),
    ],
)  # fmt: skip
def test_what_is_missing_or_not_understood_is_named(told, keys):
    """Never a size that only looks right."""
    with pytest.raises(KvShapeUnknown) as refused:
        config_shape(told)

    for key in keys:
        assert key in refused.value.what


FAMILIES = [
    "llama", "gemma2", "gemma3_text", "gemma3n", "gemma4", "lfm2", "phi3", "llama4", "mistral",
    "qwen2", "qwen3_next", "deepseek_v3", "falcon", "gpt2", "mpt", "falcon_h1", "mamba", "jamba",
    "nemotron_h", "openelm", "gpt_bigcode", "kimi_linear", "mimo_v2", "step3p5", "x", "",
]  # fmt: skip
NAMES = [
    "num_hidden_layers", "n_layer", "n_layers", "num_transformer_layers", "num_attention_heads",
    "n_head", "n_heads", "num_query_heads", "num_key_value_heads", "num_kv_heads", "hidden_size",
    "n_embd", "d_model", "head_dim", "sliding_window", "sliding_window_pattern", "layer_types",
    "num_kv_shared_layers", "full_attention_interval", "kv_lora_rank", "qk_rope_head_dim",
    "v_head_dim", "attention_chunk_size", "no_rope_layers", "full_attn_idxs", "global_head_dim",
    "attn_layer_period", "attn_layer_offset", "hybrid_override_pattern", "attn_config",
    "text_config", "use_sliding_window", "max_window_layers", "multi_query", "state_size",
    "conv_kernel", "intermediate_size", "per_layer_config", "num_global_key_value_heads",
    "layers_block_type", "linear_attn_config", "hybrid_layer_pattern", "swa_head_dim",
    "max_position_embeddings", "num_nextn_predict_layers", "full_attn_layers",
]  # fmt: skip
ATOMS = st.none() | st.booleans() | st.integers(-3, 70) | st.floats() | st.sampled_from(
    [SLIDE, FULL, LINEAR, "M", "*", ""]
)  # fmt: skip
NESTED = ATOMS | st.builds(list) | st.builds(dict)
VALUES = ATOMS | st.lists(NESTED, max_size=4) | st.dictionaries(st.sampled_from(NAMES), NESTED)


@given(st.sampled_from(FAMILIES), st.dictionaries(st.sampled_from(NAMES), VALUES))
@settings(suppress_health_check=[HealthCheck.too_slow])  # a busy machine is no fault
def test_any_file_is_sized_or_refused(family, own):
    """Whatever a file holds: a shape of whole layers, or KvShapeUnknown, and nothing else."""
    try:
        shape = config_shape({"model_type": family} | own)
    except KvShapeUnknown:
        return
    assert shape.layers or shape.state_bytes != 0
    for layer in shape.layers:
        assert min(layer.heads, layer.key_width) > 0
        assert layer.window is None or layer.window > 0
    assert cache_bytes(shape, 100) >= 0
