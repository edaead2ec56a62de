"""Bytes of the layers that keep a state, from the keys of a config.json."""

from __future__ import annotations

from twohalves.formulas.config_keys import ConfigKeys
from twohalves.formulas.kept_state import layer_state_bytes
from twohalves.formulas.shape_notes import States

_WITHOUT_GROUPS = frozenset({"falcon_mamba", "jamba", "mamba"})
"""Families of Mamba 1."""


def state_layers(keys: ConfigKeys, layers: int) -> States:
    """So many layers with a state, and the bytes of one; None where the keys do not tell."""
    if not layers:
        return States()
    if kernel := keys.told("conv_L_cache"):
        hidden = keys.told("hidden_size")
        each = layer_state_bytes(inner=hidden, state=0, kernel=kernel) if hidden else None
    elif keys.told("linear_num_value_heads"):
        each = _delta_net(keys)
    elif heads := keys.told("linear_num_heads", "linear_attn_config.num_heads"):
        each = _key_delta_net(keys, heads)
    else:
        each = _mamba(keys)
    return States(layers=layers, bytes_each=each)


def _delta_net(keys: ConfigKeys) -> int | None:
    inner = keys.told("linear_num_value_heads") * keys.told("linear_value_head_dim")
    state, groups = keys.told("linear_key_head_dim"), keys.told("linear_num_key_heads")
    return _sized(inner, state, keys.told("linear_conv_kernel_dim"), groups)


def _key_delta_net(keys: ConfigKeys, heads: int) -> int | None:
    """As a delta net, with as many keys as values and one width for both."""
    width = keys.told("linear_head_dim", "linear_attn_config.head_dim")
    kernel = keys.told("linear_conv_kernel_dim", "linear_attn_config.short_conv_kernel_size")
    return _sized(heads * width, width, kernel, heads)


def _mamba(keys: ConfigKeys) -> int | None:
    state = keys.told("mamba_d_state", "ssm_state_size", "state_size")
    kernel = keys.told("mamba_d_conv", "conv_kernel", "d_conv")
    if keys.family in _WITHOUT_GROUPS:
        return _sized(_inner(keys), state, kernel, 0)
    groups = keys.told("mamba_n_groups", "n_groups")
    return _sized(_inner(keys), state, kernel, groups) if groups else None


def _inner(keys: ConfigKeys) -> int:
    """Numbers that a Mamba layer works on; 0 = not told."""
    if told := keys.told("mamba_d_ssm", "d_inner"):
        return told
    heads = keys.told("mamba_n_heads", "mamba_num_heads", "num_heads")
    if heads and (width := keys.told("mamba_d_head", "mamba_head_dim", "head_dim")):
        return heads * width
    if keys.family == "falcon_mamba":
        return keys.told("intermediate_size")
    return keys.told("mamba_expand", "expand") * keys.told("hidden_size", "d_model")


def _sized(inner: int, state: int, kernel: int, groups: int) -> int | None:
    if not (inner and state and kernel):
        return None
    return layer_state_bytes(inner=inner, state=state, kernel=kernel, groups=groups)
