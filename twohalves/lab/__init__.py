"""What a notebook does with its reader: opens the book, measures, asks for predictions."""

from twohalves.lab.cache_type import cache_type
from twohalves.lab.keeping import download
from twohalves.lab.measuring import measured
from twohalves.lab.opening import ready
from twohalves.lab.predictions import compare, predict
from twohalves.lab.shapes import shape
from twohalves.lab.unasked import at_hand, replayed
from twohalves.measure.counting import count
from twohalves.measure.reply import answer
from twohalves.runs.frame import frame

__all__ = [
    "answer",
    "at_hand",
    "cache_type",
    "compare",
    "count",
    "download",
    "frame",
    "measured",
    "predict",
    "ready",
    "replayed",
    "shape",
]
