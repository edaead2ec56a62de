"""What a reader sees: sentences with numbers in them, tables, pictures, the calculator."""

from twohalves.show import (
    broken,
    byte_count,
    cache_bars,
    caching,
    calculator,
    crude,
    decode,
    diagram,
    figures,
    rates,
    repeats,
    streaming,
    traffic,
    wall_clock,
    where,
    window,
)

__all__ = [
    "broken",
    "byte_count",
    "cache_bars",
    "caching",
    "calculator",
    "crude",
    "decode",
    "diagram",
    "figures",
    "rates",
    "repeats",
    "streaming",
    "traffic",
    "wall_clock",
    "where",
    "window",
]
