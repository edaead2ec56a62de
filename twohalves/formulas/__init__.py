"""Pure arithmetic in SI units and tokens: no files, no clocks, no plots."""

from twohalves.formulas.allocated import allocated_bytes
from twohalves.formulas.cache_slope import bytes_a_token, types_by_slope
from twohalves.formulas.config_shape import config_shape
from twohalves.formulas.cost import (
    Bill,
    Prices,
    Traffic,
    bill,
    hit_rate_that_pays,
    hit_rate_worth_the_output,
    machine_hours,
    saved_by_cache,
    saved_by_hit_rate,
)
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
    uniform_shape,
)
from twohalves.formulas.latency import FittedLatency, Latency, constant_rates, crude_latency
from twohalves.formulas.memory import memory_needed
from twohalves.formulas.objective import batch_within
from twohalves.formulas.rates import decode_steps, rate
from twohalves.formulas.roofline import (
    Roof,
    Work,
    attention_flop,
    batch_at_ridge,
    batch_at_ridge_with_cache,
    batch_in_memory,
    decode_step,
    flop_used,
    intensity,
)
from twohalves.formulas.schedules import Stay, continuous, one_at_a_time, static

__all__ = [
    "KV_TYPES",
    "Bill",
    "FittedLatency",
    "KvLayer",
    "KvShape",
    "Latency",
    "PerToken",
    "Prices",
    "Roof",
    "Stay",
    "Traffic",
    "Work",
    "allocated_bytes",
    "attention_flop",
    "bandwidth_used",
    "batch_at_ridge",
    "batch_at_ridge_with_cache",
    "batch_in_memory",
    "batch_within",
    "bill",
    "bytes_a_token",
    "bytes_per_token",
    "cache_bytes",
    "config_shape",
    "constant_rates",
    "continuous",
    "crude_latency",
    "decode_ceiling",
    "decode_step",
    "decode_steps",
    "flop_used",
    "hit_rate_that_pays",
    "hit_rate_worth_the_output",
    "intensity",
    "is_quantized",
    "kv_shape",
    "machine_hours",
    "memory_needed",
    "one_at_a_time",
    "rate",
    "saved_by_cache",
    "saved_by_hit_rate",
    "static",
    "types_by_slope",
    "uniform_shape",
]
