"""Room for a cache in one piece, against room in blocks that are handed out as they are needed.

PagedAttention (Kwon et al. 2023) keeps a cache in blocks of so many tokens, as an operating
system keeps memory in pages. What a sequence holds beyond its tokens is then less than a block.
"""

from __future__ import annotations

from twohalves.formulas.ranges import not_negative, positive


def held_tokens(used: int, block: int) -> int:
    """Tokens that a sequence's blocks have room for: its own, and what is left of the last block.

    Args:
        used: tokens that it has, at least 0.
        block: tokens in a block, above 0.

    Raises:
        ValueError: an argument outside its range.

    >>> held_tokens(200, 16), held_tokens(208, 16)
    (208, 208)
    """
    positive(block=block)
    not_negative(used=used)
    return -(-used // block) * block


def shared_tokens(prefix: int, own: int, sequences: int, block: int) -> int:
    """Tokens that there is room for when sequences point at one copy of a common prefix.

    Only whole blocks can be shared: where the prefix ends within one, everybody keeps that block.

    Args:
        prefix: tokens that all begin with, at least 0.
        own: tokens that each has behind them, at least 0.
        sequences: that share, at least 0.
        block: tokens in a block, above 0.

    Raises:
        ValueError: an argument outside its range.

    Of 1,000 tokens 62 blocks of 16 are shared, and 8 tokens are kept four times:

    >>> shared_tokens(1000, 200, 4, 16)
    1824
    """
    positive(block=block)
    not_negative(prefix=prefix, own=own, sequences=sequences)
    if not sequences:
        return 0
    common = prefix // block * block
    return common + sequences * held_tokens(prefix - common + own, block)
