"""Section 31.4, how many users are served: those whose caches fit, and those who are in time."""

from __future__ import annotations

from collections.abc import Sequence

from IPython.display import Markdown

from twohalves.formulas import batch_at_ridge, batch_in_memory, batch_within, bytes_per_token
from twohalves.runs.reference import claim
from twohalves.show.batching import BITS
from twohalves.show.cache_size import GB, both, chapter_shape, windows
from twohalves.show.calculator.words import amount, exact, number
from twohalves.show.given import above_zero, whole
from twohalves.show.markdown import say, table
from twohalves.show.numbers import counted, fixed, percent, significant
from twohalves.show.roofline import (
    attention_of,
    chapter_roof,
    chapter_step,
    parameters,
    weights_bytes,
)

_MOST_OF_IT = 0.5
"""A throughput of which less is left has lost what mattered."""


def guess_fit(card_gb: float) -> Markdown:
    """The prediction before caches are put into memory.

    Args:
        card_gb: memory of the card, GB.
    """
    _card(card_gb)
    return say(
        f"> **Prediction** — A card of {exact(card_gb)} GB, the chapter's model at {fixed(BITS)} "
        f"bits, conversations of {fixed(windows()[1])} tokens. How many of them fit? More than "
        f"the ridge's {fixed(_ridge())}, or fewer?"
    )


def in_memory(card_gb: float) -> Markdown:
    """How many caches fit beside the weights, against the batch that the ridge would ask for.

    Args:
        card_gb: memory of the card, GB.
    """
    _card(card_gb)
    rows = []
    for tokens in (int(claim("longest_prompt")), *windows()):
        fit, eight = (_fits(card_gb, tokens, kind) for kind in ("f16", "q8_0"))
        share = percent(fit / _ridge())
        rows.append([fixed(tokens), both(_cache(tokens)), fixed(fit), fixed(eight), share])
    caption = (
        f"{exact(weights_bytes() / GB)} GB of weights on a card of {exact(card_gb)} GB, nothing "
        "set aside for the server. The last column divides the f16 figure by the ridge's "
        f"{fixed(_ridge())}."
    )
    header = ["context tokens", "a cache, f16", "fit, f16", "fit, q8_0", "of the ridge"]
    return table(header, rows, caption)


def memory_first(card_gb: float) -> Markdown:
    """Which of the two caps the batch at the context lengths of the table above."""
    _card(card_gb)
    lengths = (int(claim("longest_prompt")), *windows())
    sooner = [tokens for tokens in lengths if _fits(card_gb, tokens) < _ridge()]
    needed = [_ridge() * _cache(tokens) / GB for tokens in (windows()[0], windows()[-1])]
    said = (
        f"At the ridge's {fixed(_ridge())} users, caches of {fixed(windows()[0])} tokens would "
        f"need {significant(needed[0])} GB, and caches of {fixed(windows()[-1])} tokens "
        f"{significant(needed[1])} GB."
    )
    if sooner == list(lengths):
        return say(f"{said} **The card is full before it has that many users, in every row.**")
    rows = f"{fixed(len(sooner))} of {counted(len(lengths), 'row')}"
    return say(f"{said} In {rows} the card is full before it has that many users.")


def objective(
    limits_ms: Sequence[float], context_tokens: int, card_gb: float, kv_type: str = "f16"
) -> Markdown:
    """The largest batch within a time per output token, and the throughput that it leaves.

    Args:
        limits_ms: milliseconds that a user may wait for the next token.
        card_gb: memory of the card, GB.
        context_tokens: that each of them has in the cache.
        kv_type: of the cache.
    """
    _card(card_gb)
    whole("context_tokens", context_tokens)
    fits = _fits(card_gb, context_tokens, kv_type)
    rows = []
    for limit in limits_ms:
        _limit(limit)
        batch = _in_time(limit, context_tokens, kv_type)
        served = min(batch, fits)
        rows.append(
            [
                f"{number(limit)} ms",
                fixed(batch),
                fixed(served),
                _together(served, context_tokens, kv_type),
                "memory" if served < batch else "the objective",
            ]
        )
    caption = (
        f"Computed, on a chip at its limits: {counted(context_tokens, 'token')} of context each in "
        f"a cache of type {kv_type}, {exact(card_gb)} GB. Reading prompts between the steps is "
        "left out."
    )
    header = ["next token within", "users in time", "of whom fit", "tok/s together", "limit"]
    return table(header, rows, caption)


def halved(limit_ms: float, context_tokens: int, card_gb: float) -> Markdown:
    """What half the time for a token does to users and to throughput.

    Args:
        limit_ms: the time that is halved, milliseconds.
        context_tokens: that each user has in the cache.
        card_gb: memory of the card, GB.
    """
    _card(card_gb)
    _limit(limit_ms)
    whole("context_tokens", context_tokens)
    fits = _fits(card_gb, context_tokens)
    before, after = (
        min(fits, _in_time(limit, context_tokens)) for limit in (limit_ms, limit_ms / 2)
    )
    if not after:
        return say(f"Within {number(limit_ms / 2)} ms nobody is served from this card.")
    kept = _throughput(after, context_tokens) / _throughput(before, context_tokens)
    return say(
        f"Half the time, {number(limit_ms / 2)} ms instead of {number(limit_ms)}, leaves "
        f"{percent(after / before)} of the users and {percent(kept)} of the throughput. "
        f"{_why(before, after, kept, context_tokens)}"
    )


def _why(before: int, after: int, kept: float, context_tokens: int) -> str:
    """What the last users of a batch bring, where it is theirs that is given up."""
    if after == before:
        return "The card holds no more of them: memory is the limit, and the time is not."
    step, roof = chapter_step(before, context_tokens), chapter_roof()
    if step.intensity > roof.ridge:
        return "Beyond the ridge, further users bring no throughput and cost everybody time."
    if kept < _MOST_OF_IT:
        alone = weights_bytes() / roof.bandwidth * 1000
        return (
            f"The weights alone take {number(alone)} ms of either: so near to that, a little more "
            "time brings users and throughput."
        )
    return "Below the ridge, the last users of a batch bring little and cost everybody time."


def _card(card_gb: float) -> None:
    above_zero("card_gb", card_gb, "GB of memory")


def _limit(limit_ms: float) -> None:
    above_zero("a limit", limit_ms, "milliseconds")


def _throughput(batch: int, context_tokens: int, kv_type: str = "f16") -> float:
    step = chapter_step(batch, context_tokens, kv_type=kv_type)
    return batch / chapter_roof().seconds(step)


def _together(batch: int, context_tokens: int, kv_type: str) -> str:
    """Tokens a second of all users; a dash where nobody is served."""
    if not batch:
        return "–"
    return amount(_throughput(batch, context_tokens, kv_type))


def _in_time(limit_ms: float, tokens: float, kv_type: str = "f16") -> int:
    return batch_within(
        chapter_roof(),
        limit_ms / 1000,
        parameters(),
        BITS,
        _cache(tokens, kv_type),
        attention_flop=attention_of(chapter_shape(), tokens),
    )


def _cache(tokens: float, kv_type: str = "f16") -> float:
    return bytes_per_token(chapter_shape(), kv_type).growing * tokens


def _fits(card_gb: float, tokens: float, kv_type: str = "f16") -> int:
    return batch_in_memory(card_gb * GB, weights_bytes(), _cache(tokens, kv_type))


def _ridge() -> float:
    return batch_at_ridge(chapter_roof().ridge, BITS)
