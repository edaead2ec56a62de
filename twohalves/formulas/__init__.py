"""Pure arithmetic in SI units and tokens: no files, no clocks, no plots."""

from twohalves.formulas.latency import Latency, crude_latency
from twohalves.formulas.rates import decode_steps, rate

__all__ = ["Latency", "crude_latency", "decode_steps", "rate"]
