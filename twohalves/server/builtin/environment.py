"""What the environment variables ask of the built-in server: Ollama's own names and values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from twohalves.errors import FlashAttentionNeeded, RequestRefused, VariableUnusable
from twohalves.formulas import KV_TYPES, is_quantized
from twohalves.server.answering import Started
from twohalves.server.builtin.durations import FOREVER, keep_alive_seconds, parse_duration
from twohalves.server.builtin.options import DEFAULT_NUM_CTX

MOST_SLOTS = 256
"""The engine has no more."""
_TRUE, _FALSE = ("1", "t", "true"), ("0", "f", "false")


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What holds for every request of one server."""

    keep_alive: float
    """Seconds that a model stays loaded where the request does not say."""
    num_ctx: int
    """Window in tokens where the request does not say."""
    longest_queue: int
    """Requests that may wait; the next one is refused."""
    setup: Started
    """How the engine is laid out."""


def read_environment(environ: Mapping[str, str]) -> Environment:
    """Read the variables; an empty one counts as not set.

    OLLAMA_HOST is left alone on purpose: it may name every interface of the machine.

    Raises:
        VariableUnusable: one of them holds nothing that it can mean.
        FlashAttentionNeeded: a cache of fewer bits without it.
    """
    flash_attention = _yes_or_no(environ, "OLLAMA_FLASH_ATTENTION")
    return Environment(
        keep_alive=_keep_alive(environ, "OLLAMA_KEEP_ALIVE"),
        num_ctx=_count(environ, "OLLAMA_CONTEXT_LENGTH", 0) or DEFAULT_NUM_CTX,
        longest_queue=_count(environ, "OLLAMA_MAX_QUEUE", 512),
        setup=Started(
            slots=_count(environ, "OLLAMA_NUM_PARALLEL", 1, MOST_SLOTS) or 1,
            kv_type=_kv_type(environ, "OLLAMA_KV_CACHE_TYPE", flash_attention=flash_attention),
            flash_attention=flash_attention,
            # nothing is remembered beyond the slots: what is measured must be computed
            host_cache_mib=_count(environ, "LLAMA_ARG_CACHE_RAM", 0),
        ),
    )


def _given(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name, "").strip().strip("\"'").lower()


def _count(environ: Mapping[str, str], name: str, default: int, most: int = 10**9) -> int:
    text = _given(environ, name)
    if not text:
        return default
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and int(text) <= most):
        raise VariableUnusable(name, environ[name])
    return int(text)


def _yes_or_no(environ: Mapping[str, str], name: str) -> bool | None:
    text = _given(environ, name)
    if text and text not in _TRUE + _FALSE:
        raise VariableUnusable(name, environ[name])
    return text in _TRUE if text else None


def _kv_type(environ: Mapping[str, str], name: str, *, flash_attention: bool | None) -> str:
    """Refused where Ollama 0.24 would take f16 without a word."""
    text = _given(environ, name) or "f16"
    if text not in KV_TYPES:
        raise VariableUnusable(name, environ[name])
    if flash_attention is False and is_quantized(text):
        raise FlashAttentionNeeded(text)
    return text


def _keep_alive(environ: Mapping[str, str], name: str) -> float:
    """Unlike in a request, a bare number in the variable is allowed and means seconds."""
    text = _given(environ, name) or "5m"
    try:
        try:
            return keep_alive_seconds(int(text))
        except ValueError:
            seconds = parse_duration(text)
    except RequestRefused as error:
        raise VariableUnusable(name, environ[name]) from error
    return FOREVER if seconds < 0 else seconds
