"""The same names mean different things on different servers."""

import pytest

from twohalves.server import Server, computed_tokens, decode_steps, meaning


def at(version, kind="ollama", model_format="gguf"):
    return meaning(Server(url="http://h", kind=kind, version=version), model_format)


def test_the_first_token_comes_with_the_prompt():
    """N tokens are N − 1 steps on GGUF engines, N on the other one."""
    assert decode_steps(at("0.24.0"), 32) == 31
    assert decode_steps(at("0.24.0", model_format="safetensors"), 32) == 32
    assert decode_steps(at("twohalves-builtin", "builtin"), 32) == 31
    assert decode_steps(at(None, "other", None), 32) == 31


@pytest.mark.parametrize("count", [None, 0, 1])
def test_one_token_has_no_steps(count):
    """Not zero steps, which would make a rate of infinity: none."""
    assert decode_steps(at("0.24.0"), count) is None


def test_two_tokens_have_one_step():
    """The smallest answer with a rate."""
    assert decode_steps(at("0.24.0"), 2) == 1


def test_cached_tokens_were_not_computed():
    """The count includes them, except on one version."""
    assert computed_tokens(at("0.33.5"), 998, 997) == 1
    assert computed_tokens(at("0.24.0"), 998, None) is None
    assert computed_tokens(at("0.30.0"), 1, None) == 1
    assert computed_tokens(at("0.24.0"), None, None) is None
    assert computed_tokens(at("twohalves-builtin", "builtin"), 998, 0) == 998


@pytest.mark.parametrize(
    ("version", "whole"),
    [("0.12.4", True), ("0.12.5", False), ("0.12.6", False), ("0.12.7-rc1", True), (None, True)],
)
def test_two_versions_time_only_the_last_batch(version, whole):
    """There no prefill rate can be computed."""
    assert at(version).prefill_is_whole is whole
