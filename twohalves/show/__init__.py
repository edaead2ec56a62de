"""What a reader sees: sentences with numbers in them, tables, pictures, the calculator."""

from twohalves.show import (
    byte_count,
    calculator,
    crude,
    decode,
    diagram,
    figures,
    rates,
    repeats,
    streaming,
    wall_clock,
    where,
)

__all__ = [
    "byte_count",
    "calculator",
    "crude",
    "decode",
    "diagram",
    "figures",
    "rates",
    "repeats",
    "streaming",
    "wall_clock",
    "where",
]
