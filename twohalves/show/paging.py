"""Section 31.3: what is reserved for a conversation and what it uses, whole and in blocks."""

from __future__ import annotations

from IPython.display import SVG, Markdown

from twohalves.formulas import bytes_per_token
from twohalves.formulas.paging import held_tokens, shared_tokens
from twohalves.runs.reference import claim
from twohalves.show import svg
from twohalves.show.cache_size import GIB, both, chapter_shape
from twohalves.show.given import whole
from twohalves.show.markdown import say
from twohalves.show.numbers import counted, fixed, percent, times

BLOCK = 16
"""Tokens in a block: vLLM's usual size."""
_WIDTH, _LEFT, _PITCH = 600, 8.0, 58
_ROOM = _WIDTH - 2 * _LEFT
_MOST_DRAWN = _ROOM // 3
"""Sequences beside each other, each with a pixel of its own and one to the next."""


def picture(reserved: int | None = None, used: int | None = None, block: int = BLOCK) -> SVG:
    """The room that one reservation takes, whole above, and below with as many as fit in blocks.

    Args:
        reserved: tokens set aside for a sequence in one piece; the chapter's if None.
        used: tokens that it came to, at most those; the chapter's if None.
        block: tokens in a block.

    Raises:
        QuantityUnusable: `used` is not between 1 and `reserved`, or no block.
    """
    reserved, used, block = _given(reserved, used, block)
    held = held_tokens(used, block)
    room = max(reserved, held)
    count = room // held
    whole = (
        f"in one piece: {fixed(reserved)} tokens reserved, {fixed(used)} used, "
        f"{percent(used / reserved)}"
    )
    paged = (
        f"in blocks of {fixed(block)}: {fixed(held)} tokens for each, "
        f"{counted(count, 'sequence')} in "
        f"{'the same room' if room == reserved else 'a little more room'}"
    )
    scale = _ROOM / room
    parts = [svg.label(_LEFT, 16, whole), *_bar(24, 0, used, reserved, scale)]
    parts.append(svg.label(_LEFT, _PITCH + 16, paged))
    drawn, of = (count, 1) if count <= _MOST_DRAWN else (1, count)  # too narrow to be told apart
    for at in range(drawn):
        parts += _bar(_PITCH + 24, at * held, of * used, of * held, scale)
    top = 2 * _PITCH + 8
    parts += [
        svg.box(_LEFT, top, 14, 14, svg.PREFILL),
        svg.label(_LEFT + 20, top + 12, "used"),
        svg.box(_LEFT + 80, top, 14, 14, svg.FAINT),
        svg.label(_LEFT + 100, top + 12, "reserved, and empty"),
    ]
    told = f"Room for keys and values, to scale: {whole}; {paged}."
    return SVG(svg.drawing(_WIDTH, 2 * _PITCH + 32, told, parts))


def guess() -> Markdown:
    """The prediction before the picture."""
    reserved, used, block = _given(None, None, BLOCK)
    return say(
        f"> **Prediction** — Room for {counted(reserved, 'token')} is reserved for a request that "
        f"comes to {fixed(used)}. How many such requests have room in the same place, if each gets "
        f"blocks of {counted(block, 'token')} as it needs them?"
    )


def saved(reserved: int | None = None, used: int | None = None, block: int = BLOCK) -> Markdown:
    """The same in words, and how many of the chapter's conversations that is on a card.

    Args:
        reserved: tokens set aside for a sequence in one piece; the chapter's if None.
        used: tokens that it came to, at most those; the chapter's if None.
        block: tokens in a block.

    Raises:
        QuantityUnusable: `used` is not between 1 and `reserved`, or no block.
    """
    reserved, used, block = _given(reserved, used, block)
    held, token = held_tokens(used, block), bytes_per_token(chapter_shape()).growing
    room = int(claim("four_conv_gib")) * GIB
    whole, paged = room // (reserved * token), room // (held * token)
    more = f", {times(paged / whole)} as many" if whole else ""
    return say(
        f"Room for {counted(reserved, 'token')} is set aside, {fixed(used)} come: "
        f"{percent(used / reserved)} of it is used. The rest, {both((reserved - used) * token)} "
        f"with the chapter's model, is of no use to anybody. In blocks of {fixed(block)} the "
        f"same request holds {counted(held // block, 'block')}, room for "
        f"{counted(held, 'token')}, and {percent(used / held)} of that is used.",
        f"In {fixed(room / GIB)} GiB of cache {counted(whole, 'such request')} "
        f"{'has' if whole == 1 else 'have'} room in one piece each, and {fixed(paged)} in "
        f"blocks{more}.",
    )


def shared(prefix: int, own: int, sequences: int, block: int = BLOCK) -> Markdown:
    """What one copy of a common beginning saves, where blocks may be pointed at by several.

    Args:
        prefix: tokens that all begin with, at least 0.
        own: tokens that each has behind them, at least 1.
        sequences: that share, at least 1.
        block: tokens in a block.

    Raises:
        QuantityUnusable: an argument outside its range.
    """
    prefix, own = whole("shared_tokens", prefix, 0), whole("own_tokens", own)  # as the cell has it
    sequences, block = whole("users", sequences), whole("block", block)
    apart = sequences * held_tokens(prefix + own, block)
    together = shared_tokens(prefix, own, sequences, block)
    token = bytes_per_token(chapter_shape()).growing
    if together == apart:
        nobody = "there is nobody to share it" if sequences == 1 else "only whole blocks are shared"
        return say(
            f"A beginning of {counted(prefix, 'token')} saves nothing here: {nobody}, and a block "
            f"is {counted(block, 'token')}. With {fixed(own)} behind it for each sequence, "
            f"{both(apart * token)} are held either way."
        )
    return say(
        f"{counted(sequences, 'sequence')} that begin with the same {counted(prefix, 'token')} and "
        f"go on with {fixed(own)} of their own hold {both(apart * token)} in blocks, if everybody "
        f"keeps the beginning. If they point at one copy of its {fixed(prefix // block)} whole "
        f"blocks, they hold {both(together * token)}: {percent(1 - together / apart)} less."
    )


def _given(reserved: int | None, used: int | None, block: int) -> tuple[int, int, int]:
    reserved = whole("reserved", int(claim("paged_reserved")) if reserved is None else reserved)
    used = int(claim("paged_used")) if used is None else used
    return reserved, whole("used", used, most=reserved), whole("block", block)


def _bar(top: float, begins: int, used: int, held: int, scale: float) -> list[str]:
    """A sequence's room: used in front, empty behind, and a hair's breadth to the next."""
    left = _LEFT + begins * scale
    width = max(0.0, held * scale - 1)
    filled = min(used * scale, width)
    return [
        svg.box(left, top, filled, 20, svg.PREFILL),
        svg.box(left + filled, top, width - filled, 20, svg.FAINT),
    ]
