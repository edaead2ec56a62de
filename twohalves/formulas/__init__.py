"""Pure arithmetic in SI units and tokens: no files, no clocks, no plots."""

from twohalves.formulas.decode_ceiling import bandwidth_used, decode_ceiling
from twohalves.formulas.gguf_shape import kv_shape
from twohalves.formulas.kv_cache import (
    KV_TYPES,
    KvLayer,
    KvShape,
    PerToken,
    bytes_per_token,
    cache_bytes,
    is_quantized,
)
from twohalves.formulas.latency import FittedLatency, Latency, crude_latency
from twohalves.formulas.memory import memory_needed
from twohalves.formulas.rates import decode_steps, rate

__all__ = [
    "KV_TYPES",
    "FittedLatency",
    "KvLayer",
    "KvShape",
    "Latency",
    "PerToken",
    "bandwidth_used",
    "bytes_per_token",
    "cache_bytes",
    "crude_latency",
    "decode_ceiling",
    "decode_steps",
    "is_quantized",
    "kv_shape",
    "memory_needed",
    "rate",
]
