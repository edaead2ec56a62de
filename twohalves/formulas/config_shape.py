"""A model's KV shape, read from its Hugging Face config.json.

Keys and their defaults are those of the `transformers` library (`models/*/configuration_*.py`).
A family that is not listed here is refused, and so is a file that lacks a key: a wrong size that
looks right is worse than none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from twohalves.formulas.config_keys import ConfigKeys
from twohalves.formulas.config_layers import WITHOUT_ATTENTION, layer_kinds
from twohalves.formulas.config_sizes import LATENT, OTHER_NAMES, Sizes, names
from twohalves.formulas.config_state import state_layers
from twohalves.formulas.kv_cache import KvShape
from twohalves.formulas.shape_notes import INDEXER, noted_shape

_USUAL_NAMES = frozenset({
    "afmoe", "apertus", "arcee", "baichuan", "bamba", "bitnet", "cohere", "cohere2",
    "cohere2_moe", "cwm", "deepseek", "dots1", "ernie4_5", "ernie4_5_moe", "ernie4_5_vl_moe",
    "exaone4", "exaone_moe", "falcon_h1", "gemma", "gemma2", "gemma3", "gemma3n", "gemma4",
    "gemma4_unified", "glm", "glm4", "glm4_moe", "glm4v", "glm4v_moe", "gpt_neox", "gpt_oss",
    "granite", "granitemoe", "granitemoehybrid", "granitemoeshared", "helium", "hunyuan_v1_dense",
    "hunyuan_v1_moe", "hy_v3", "internlm", "internlm2", "internlm3", "jamba", "laguna", "lfm2",
    "lfm2_moe", "llama", "llama4", "mimo_v2", "mimo_v2_flash", "minicpm", "minimax_m2",
    "minimax_m3", "minimax_m3_vl", "ministral", "ministral3", "mistral", "mixtral", "nemotron",
    "nemotron_h", "olmo", "olmo2", "olmo3", "olmo_hybrid", "olmoe", "opt", "persimmon", "phi",
    "phi3", "phi4_multimodal", "phi4mm", "phimoe", "qwen", "qwen2", "qwen2_5_omni", "qwen2_5_vl",
    "qwen2_moe", "qwen2_vl", "qwen3", "qwen3_5", "qwen3_5_moe", "qwen3_moe", "qwen3_next",
    "qwen3_omni_moe", "qwen3_vl", "qwen3_vl_moe", "seed_oss", "smollm3", "solar_open", "stablelm",
    "starcoder2", "step3p5",
})  # fmt: skip
_KNOWN = _USUAL_NAMES | LATENT | OTHER_NAMES | WITHOUT_ATTENTION
_NOT_UNDERSTOOD = ("is_encoder_decoder", "cross_attention_layers", "use_cla", "compress_ratios")
"""Keys that tell of a cache of another kind."""
_INDEX_WIDTH = ("index_head_dim", "sparse_attention_config.sparse_index_dim")
"""Keys that tell of an indexer."""


def config_shape(config: Mapping[str, Any]) -> KvShape:
    """Which layers keep how much, from a model's config.json.

    Args:
        config: the file's content. Of a model that also sees or hears, the text part is used.

    Raises:
        KvShapeUnknown: keys are missing, null, or tell of something that is not understood; it
            names them.
    """
    keys = ConfigKeys(config)
    _refuse_others(keys)
    count = _count(keys)
    kinds = layer_kinds(keys, count)
    own = count - _shared(keys, count)
    is_state_only = kinds and not any(kind.attends for kind in kinds)
    sizes = None if is_state_only else Sizes(keys, count)
    keys.refuse()
    layers = [sizes.layer(at, kinds[at]) for at in range(own) if sizes and kinds[at].attends]
    states = state_layers(keys, sum(kind.has_state for kind in kinds))
    indexed = [INDEXER] if keys.told(*_INDEX_WIDTH) else []
    return noted_shape(
        tuple(layers),
        query_heads=sizes.query_heads if sizes else 0,
        states=states,
        latent=sizes.latent if sizes else None,
        further=[*(sizes.notes if sizes else ()), *indexed],
        read=keys.read,
    )


def _count(keys: ConfigKeys) -> int:
    """Layers of the model; a file that only lists their kinds has as many."""
    listed = None if keys.first(*names(keys, "layers")) else keys.listed("layers_block_type")
    return len(listed) if listed else keys.whole(*names(keys, "layers"))


def _refuse_others(keys: ConfigKeys) -> None:
    """Raise for a family that is not known, and for caches of another kind."""
    if keys.family not in _KNOWN:
        keys.lack(f"model_type {keys.family!r}" if keys.family else "model_type")
    for key in _NOT_UNDERSTOOD:
        if keys.get(key):
            keys.lack(key)
    keys.refuse()


def _shared(keys: ConfigKeys, count: int) -> int:
    """Layers at the end that read the cache of an earlier one."""
    told = keys.get("num_kv_shared_layers")
    if told == 0 or (told is None and keys.family != "gemma3n"):
        return 0
    shared = keys.whole("num_kv_shared_layers")
    if shared >= count:
        keys.lack("num_kv_shared_layers")
    return shared
