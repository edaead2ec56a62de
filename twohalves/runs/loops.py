"""Does an answer go in circles? Small models that always take the likeliest token often do."""

from __future__ import annotations

from collections.abc import Sequence


def loop_chunks(texts: Sequence[str]) -> int:
    """How many pieces at the end of an answer only repeat those before.

    The largest L such that the last L pieces have a period of at most L / 2, which is to say
    that they hold one pattern at least twice. Read backwards, that end is a beginning, and the
    smallest period of every beginning follows from its longest border (Knuth, Morris, Pratt
    1977): time and space grow with the number of pieces.

    Args:
        texts: what each piece of the answer said, in order.

    Returns:
        Pieces; 0 = nothing is repeated.

    >>> loop_chunks(["Once", " upon", " a", " time", " a", " time", " a"])
    5
    """
    backwards = texts[::-1]
    border = 0
    borders = [0]
    longest = 0
    for length, text in enumerate(backwards[1:], 2):
        while border and text != backwards[border]:
            border = borders[border - 1]
        if text == backwards[border]:
            border += 1
        borders.append(border)
        period = length - border
        if 2 * period <= length:
            longest = length
    return longest
