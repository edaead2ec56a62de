"""What a reader sees: sentences with numbers in them, tables, pictures, the calculator."""

from twohalves.show import calculator, crude, diagram, figures, rates, repeats

__all__ = ["calculator", "crude", "diagram", "figures", "rates", "repeats"]
