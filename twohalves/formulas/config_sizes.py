"""Heads and widths from a config.json: what a layer that attends keeps of each token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from twohalves.formulas.config_keys import ConfigKeys, is_count
from twohalves.formulas.config_layers import Kind
from twohalves.formulas.kv_cache import KvLayer
from twohalves.formulas.shape_notes import Latent

LATENT = frozenset({
    "deepseek_v2", "deepseek_v3", "deepseek_v32", "glm4_moe_lite", "glm_moe_dsa", "kimi_k2",
    "kimi_linear", "minicpm3", "mistral4", "youtu",
})  # fmt: skip
"""Families that keep one latent row in place of keys and values."""
_GPT2 = frozenset({"codegen", "gpt2", "gpt_bigcode", "gptj"})
_FALCON = frozenset({"falcon", "RefinedWeb", "RefinedWebModel"})
OTHER_NAMES = _GPT2 | _FALCON | {"bloom", "chatglm", "dbrx", "exaone", "mpt", "openelm"}
"""Families that have names of their own for some keys."""
_NAMES: dict[str, tuple[str, ...]] = {
    "layers": ("num_hidden_layers",),
    "heads": ("num_attention_heads",),
    "kv_heads": ("num_key_value_heads",),
    "hidden": ("hidden_size",),
    "width": ("head_dim", "kv_channels"),
}
_GPT2_NAMES: dict[str, tuple[str, ...]] = {
    "layers": ("n_layer",),
    "heads": ("n_head",),
    "hidden": ("n_embd",),
}
_FALCON_NAMES: dict[str, tuple[str, ...]] = {
    "layers": ("num_hidden_layers", "n_layer"),
    "heads": ("num_attention_heads", "n_head"),
    "kv_heads": ("num_kv_heads", "n_head_kv"),
}
_MPT_NAMES: dict[str, tuple[str, ...]] = {
    "layers": ("n_layers",),
    "heads": ("n_heads",),
    "kv_heads": ("attn_config.kv_n_heads",),
    "hidden": ("d_model",),
}
_OWN_NAMES: dict[str, dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(_GPT2, _GPT2_NAMES),
    **dict.fromkeys(_FALCON, _FALCON_NAMES),
    "bloom": {
        "layers": ("n_layer", "num_hidden_layers"),
        "heads": ("n_head", "num_attention_heads"),
        "hidden": ("hidden_size", "n_embed"),
    },
    **dict.fromkeys(("dbrx", "mpt"), _MPT_NAMES),
    "chatglm": {"layers": ("num_layers",), "kv_heads": ("multi_query_group_num",)},
    "exaone": {"layers": ("num_layers", "num_hidden_layers")},
    "nemotron_h": {"width": ("head_dim", "attention_head_dim")},
    "step3p5": {"kv_heads": ("num_attention_groups", "num_key_value_heads")},
    "openelm": {
        "layers": ("num_transformer_layers",),
        "heads": ("num_query_heads",),
        "kv_heads": ("num_kv_heads",),
    },
}
_OLD = _FALCON | {
    "baichuan", "bloom", "codegen", "deepseek", "gpt2", "gpt_neox", "gptj", "internlm", "llama",
    "mpt", "olmo", "opt", "persimmon", "phi", "qwen", "stablelm",
}  # fmt: skip
"""Families from before grouped queries: a file that tells no KV heads has one for each query."""
_WIDTH_TOLD = frozenset({
    "afmoe", "cwm", "falcon_h1", "gemma", "gemma2", "gemma3", "gemma3n", "gemma4",
    "gemma4_unified", "glm", "glm4", "gpt_oss", "helium", "hunyuan_v1_dense", "hunyuan_v1_moe",
    "hy_v3", "laguna", "mimo_v2", "mimo_v2_flash", "minimax_m2", "minimax_m3", "minimax_m3_vl",
    "nemotron_h", "openelm", "qwen3", "qwen3_5", "qwen3_5_moe", "qwen3_moe", "qwen3_next",
    "qwen3_omni_moe", "qwen3_vl", "qwen3_vl_moe", "seed_oss", "solar_open", "step3p5",
})  # fmt: skip
"""Families whose heads need not be the hidden state's share: the file must tell their width."""
_WINDOWED = {
    "kv_heads": ("swa_num_key_value_heads", "attention_other_setting.num_attention_groups"),
    "width": ("swa_head_dim", "attention_other_setting.head_dim"),
    "value": ("swa_v_head_dim", "swa_head_dim", "attention_other_setting.head_dim"),
}
"""What some families call heads and widths of their layers with a window, where those differ."""
_WINDOWED_DIFFER = frozenset({"mimo_v2", "mimo_v2_flash"})
"""Families where they do, whether or not a file tells it."""
_DEFAULTS = {"gemma3": {"heads": 8, "kv_heads": 4, "width": 256}}
"""What the text part of a file leaves out, because the library knows it."""


def names(keys: ConfigKeys, what: str) -> tuple[str, ...]:
    """What the family calls a key, the usual name first."""
    return _OWN_NAMES.get(keys.family, {}).get(what, _NAMES[what])


class Sizes:
    """Heads and widths of a model; what is missing is noted in its keys."""

    def __init__(self, keys: ConfigKeys, count: int) -> None:
        self._keys = keys
        self.notes: list[str] = []
        query = self._each("heads", count)
        self.query_heads = max(query, default=0)
        self.latent = self._read_latent()
        self._exceptions = self._read_exceptions(count)
        if self.latent is None:
            self._heads = self._read_heads(query, count)
            self._key_width = self._read_width()
            self._value_width = keys.optional("v_head_dim") or self._key_width
            self._global_heads, self._global_width = self._read_global()
            self._windowed = {what: keys.optional(*called) for what, called in _WINDOWED.items()}
            if keys.family in _WINDOWED_DIFFER and not self._windowed["kv_heads"]:
                keys.lack("swa_num_key_value_heads")

    def layer(self, at: int, kind: Kind) -> KvLayer:
        """What one attending layer keeps."""
        if self.latent:
            rope = self._keys.told("qk_rope_head_dim")
            return KvLayer(heads=1, key_width=self.latent.rank + rope, value_width=0)
        if kind.window is None and self._global_width:
            heads, wide = self._global_heads or self._heads[at], self._global_width
            return KvLayer(heads=heads, key_width=wide, value_width=wide)
        own = self._exceptions.get(at, {})
        slides = self._windowed if kind.window else {}
        return KvLayer(
            heads=own.get("num_key_value_heads") or slides.get("kv_heads") or self._heads[at],
            key_width=own.get("head_dim") or slides.get("width") or self._key_width,
            value_width=own.get("head_dim") or slides.get("value") or self._value_width,
            window=kind.window,
        )

    def _default(self, what: str) -> int:
        """A family's default where the file leaves the key out; 0 = there is none."""
        keys, called = self._keys, names(self._keys, what)
        value = _DEFAULTS.get(keys.family, {}).get(what, 0) if keys.is_part else 0
        if not value or keys.first(*called):
            return 0
        self.notes.append(
            f"{keys.name(called[0])} is not in the file: {value} is the default of its family."
        )
        return value

    def _each(self, what: str, count: int) -> Sequence[int]:
        """A count for each layer, listed or the same for all."""
        keys, called = self._keys, names(self._keys, what)
        listed = keys.listed(called[0])
        if listed is None:
            return [self._default(what) or keys.whole(*called)] * count
        if len(listed) != count or not all(is_count(value) for value in listed):
            keys.lack(called[0])
            return [0] * count
        return listed

    def _read_heads(self, query: Sequence[int], count: int) -> Sequence[int]:
        keys, called = self._keys, names(self._keys, "kv_heads")
        if _one_for_all(keys):
            return [1] * count
        is_old = keys.is_null(called[0]) or keys.family in _OLD
        if keys.first(*called) or not is_old:
            return self._each("kv_heads", count)
        self.notes.append("No key tells of KV heads: each query head has one of its own.")
        return query

    def _read_width(self) -> int:
        keys, called = self._keys, names(self._keys, "width")
        if default := self._default("width"):
            return default
        if keys.first(*called) or keys.family in _WIDTH_TOLD:
            return keys.whole(*called)
        hidden = keys.whole(*names(keys, "hidden"))
        if not self.query_heads or hidden % self.query_heads:
            keys.lack(called[0])
            return 0
        return hidden // self.query_heads

    def _read_global(self) -> tuple[int, int]:
        """Heads and width of the layers without a window, where those differ; else 0."""
        keys = self._keys
        if not keys.family.startswith("gemma4") or self._exceptions:
            return 0, 0
        is_alike = keys.get("attention_k_eq_v") is False
        heads = 0 if is_alike else keys.optional("num_global_key_value_heads")
        return heads, keys.whole("global_head_dim")

    def _read_exceptions(self, count: int) -> Mapping[int, Mapping[str, int]]:
        """Layers with keys of their own: heads and width, and nothing else of attention."""
        keys = self._keys
        told = keys.get("per_layer_config") or {}
        if not isinstance(told, Mapping) or (told and self.latent):
            keys.lack("per_layer_config")
            return {}
        found: dict[int, Mapping[str, int]] = {}
        for number, table in told.items():
            own = _attention_keys(table)
            if not str(number).isdecimal() or int(number) >= count or not _are_sizes(own):
                keys.lack(f"per_layer_config.{number}")
            else:
                found[int(number)] = own
        return found

    def _read_latent(self) -> Latent | None:
        keys = self._keys
        if keys.family not in LATENT:
            if keys.get("kv_lora_rank"):
                keys.lack("kv_lora_rank")
            return None
        rank, rope = keys.whole("kv_lora_rank"), keys.whole("qk_rope_head_dim")
        nope = keys.told("qk_nope_head_dim")
        share = keys.told("hidden_size") // self.query_heads if self.query_heads else 0
        return Latent(
            rank=rank,
            heads=self.query_heads,
            key_width=nope + rope if nope else 0,
            value_width=keys.told("v_head_dim") or share,
        )


def _attention_keys(table: object) -> Mapping[str, int]:
    """What a layer's own keys say of attention; something unusable if they are no table."""
    if not isinstance(table, Mapping):
        return {"": 0}
    words = ("head", "attention", "window", "kv", "layer_type")
    return {key: value for key, value in table.items() if any(word in str(key) for word in words)}


def _are_sizes(own: Mapping[str, int]) -> bool:
    is_known = set(own) <= {"head_dim", "num_attention_heads", "num_key_value_heads"}
    return is_known and all(is_count(value) for value in own.values())


def _one_for_all(keys: ConfigKeys) -> bool:
    """True where all query heads share one pair of key and value."""
    if keys.family in _FALCON:
        return bool(keys.get("multi_query")) and not keys.get("new_decoder_architecture")
    if keys.family in _GPT2:
        shared = keys.get("multi_query")
        if shared is None and keys.family == "gpt_bigcode":
            keys.lack("multi_query")
        return bool(shared) or keys.get("attention_head_type") == "multiquery"
    return bool(keys.get("attn_config.attn_type") == "multiquery_attention")
