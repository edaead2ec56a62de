"""The same names mean different things on different servers."""

import pytest

from twohalves.server import Server, meaning


def at(version, kind="ollama", model_format="gguf"):
    return meaning(Server(url="http://h", kind=kind, version=version), model_format)


def test_the_first_token_comes_with_the_prompt():
    """The decode clock leaves out one token on GGUF engines, none on the other one."""
    assert at("0.24.0").steps_less == 1
    assert at("0.24.0", model_format="safetensors").steps_less == 0
    assert at("twohalves-builtin", "builtin").steps_less == 1
    assert at(None, "other", None).steps_less == 1


def test_the_count_includes_cached_tokens_but_for_one_version():
    """0.30.0 counted only what it processed."""
    assert at("0.24.0").counts_cached
    assert at("0.33.5").counts_cached
    assert not at("0.30.0").counts_cached
    assert at("twohalves-builtin", "builtin").counts_cached


@pytest.mark.parametrize(
    ("version", "whole"),
    [("0.12.4", True), ("0.12.5", False), ("0.12.6", False), ("0.12.7-rc1", True), (None, True)],
)
def test_two_versions_time_only_the_last_batch(version, whole):
    """There no prefill rate can be computed."""
    assert at(version).prefill_is_whole is whole
