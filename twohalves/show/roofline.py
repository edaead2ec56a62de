"""Section 31.4, the derivation: where decode stops waiting for memory, and what comes sooner."""

from __future__ import annotations

from IPython.display import Markdown

from twohalves.formulas import (
    KvShape,
    Roof,
    Work,
    attention_flop,
    batch_at_ridge,
    batch_at_ridge_with_cache,
    bytes_per_token,
    decode_step,
    intensity,
)
from twohalves.formulas.allocated import BATCH
from twohalves.runs import reference
from twohalves.runs.reference import claim
from twohalves.show.cache_size import GB, chapter_shape
from twohalves.show.calculator.words import amount, exact, number
from twohalves.show.given import whole
from twohalves.show.markdown import fold, say, table
from twohalves.show.numbers import counted, fixed, percent, significant, times

BATCHES = (1, 50, 295, 1000)
"""Rows of the table of batches: alone, the sizes that the section names, and more."""
_BILLION, _TERA = 1e9, 1e12


def chapter_roof() -> Roof:
    """The H100-class part of the chapter."""
    return Roof(peak_flop_s=claim("h100_tflops") * _TERA, bandwidth=claim("h100_tb_s") * _TERA)


def parameters() -> float:
    """Weights of the chapter's model."""
    return claim("params_billion") * _BILLION


def weights_bytes() -> float:
    """Bytes of them, at 16 bits."""
    return parameters() * 2


def chapter_step(batch: float, context: float, bits: float = 16, kv_type: str = "f16") -> Work:
    """A step of the chapter's model in a batch, each request with so many tokens behind it."""
    shape = chapter_shape()
    return decode_step(
        parameters(),
        bits,
        batch,
        cache_bytes=context * bytes_per_token(shape, kv_type).growing,
        attention_flop=attention_of(shape, context),
    )


def attention_of(shape: KvShape, context: float) -> float:
    """FLOP of attention for one token of the chapter's model after so many others."""
    layer = shape.layers[0]
    return attention_flop(context, len(shape.layers), int(claim("attn_heads")), layer.key_width)


def with_caches(roof: Roof, context: int) -> float | None:
    """The batch at a chip's ridge, each request with so many tokens behind it; None = never."""
    shape = chapter_shape()
    return batch_at_ridge_with_cache(
        roof.ridge,
        parameters(),
        16,
        context * bytes_per_token(shape).growing,
        attention_flop=attention_of(shape, context),
    )


def the_ridge() -> Markdown:
    """The chapter's chip: its two limits and their quotient."""
    roof = chapter_roof()
    return say(
        f"{amount(roof.peak_flop_s / _TERA)} TFLOP/s over {number(roof.bandwidth / _TERA)} TB/s: "
        f"for every byte that it reads, this chip can do **{fixed(roof.ridge)} operations**."
    )


def crossings() -> Markdown:
    """The batch at the ridge, by the bits of a weight."""
    ridge, real = chapter_roof().ridge, claim("avg_bits")
    kinds = (
        (16, "fp16"),
        (8, "one byte"),
        (real, "the chapter's file, on average"),
        (claim("weights_nominal_bits"), "“four-bit”, by name"),
    )
    rows = [
        [name, exact(bits), number(intensity(1, bits)), fixed(batch_at_ridge(ridge, bits))]
        for bits, name in kinds
    ]
    caption = (
        f"Batch at which decode would reach a ridge of {fixed(ridge)} FLOP a byte if it had no "
        "cache to read. Weights lie in memory with these bits; arithmetic is done at 16."
    )
    return table(["weights", "bits", "FLOP a byte, alone", "batch at the ridge"], rows, caption)


def prefill() -> Markdown:
    """The chapter's prompts on the same axis: shortest, second and longest, and all in a fold."""
    ridge, real = chapter_roof().ridge, claim("avg_bits")
    rows = [
        [
            fixed(row.prompt_tokens),
            fixed(intensity(row.prompt_tokens)),
            times(intensity(row.prompt_tokens) / ridge),
            fixed(intensity(row.prompt_tokens, real)),
            times(intensity(row.prompt_tokens, real) / ridge),
        ]
        for row in reference.prefill_decode()
    ]
    header = ["prompt tokens", "FLOP a byte, 16 bits", "of the ridge"]
    header += [f"FLOP a byte, {exact(real)} bits", "of the ridge"]
    caption = f"Prefill of the chapter's prompts against a ridge of {fixed(ridge)} FLOP a byte."
    few, every = (table(header, some, caption).data for some in ([*rows[:2], rows[-1]], rows))
    return say(few, fold("All of the chapter's prompts", every).data)


def in_pieces() -> Markdown:
    """What a local engine makes of it: it reads the weights once for each piece of the prompt."""
    ridge, real = chapter_roof().ridge, claim("avg_bits")
    return say(
        "That counts the weights as read once for the whole prompt. llama.cpp and Ollama take "
        f"{fixed(BATCH)} tokens at a time, and read them again for each piece. Then no prompt has "
        f"more than {fixed(intensity(BATCH))} FLOP a byte at 16 bits, "
        f"{times(intensity(BATCH) / ridge)} the ridge, and {fixed(intensity(BATCH, real))} at "
        f"{exact(real)}. The conclusion stands; the distance is smaller."
    )


def by_batch(context: int | None = None) -> Markdown:
    """Batch after batch on the chapter's chip: intensity, and what all and each could get."""
    tokens, roof = context_of(context), chapter_roof()
    rows = []
    for batch in BATCHES:
        work = chapter_step(batch, tokens)
        step_s = roof.seconds(work)
        rows.append([
            fixed(batch),
            amount((work.bytes_moved - weights_bytes()) / GB),
            number(work.intensity),
            significant(batch / step_s),
            significant(1 / step_s),
        ])  # fmt: skip
    header = ["batch", "caches, GB", "FLOP a byte", "tok/s at most, all", "tok/s at most, each"]
    extra = attention_of(chapter_shape(), tokens) / (2 * parameters())
    caption = (
        f"The chapter's model at 16 bits, {amount(weights_bytes() / GB)} GB, every request with "
        f"{counted(tokens, 'token')} of f16 cache behind it, on the chapter's chip. Ceilings: "
        "nothing reaches them, and whether so many caches fit is another question. What attention "
        f"computes with the cache is in: {percent(extra)} on top of the weights' arithmetic."
    )
    return table(header, rows, caption)


def the_fiftieth(context: int | None = None) -> Markdown:
    """Whether the fiftieth request is nearly free, as the chapter says."""
    tokens, batch = context_of(context), int(claim("free_request"))
    alone, together = chapter_step(1, tokens), chapter_step(batch, tokens)
    roof = chapter_roof()
    caches = together.bytes_moved - weights_bytes()
    slower = roof.seconds(together) / roof.seconds(alone)
    more = "more than" if caches > weights_bytes() else "beside"
    together_get = times(batch / slower)
    kept = f", not {fixed(batch)}×" if together_get != times(batch) else ""
    return say(
        f"By weights alone a batch of {fixed(batch)} does {fixed(intensity(batch))} operations a "
        "byte, far from the ridge, so the last request of it costs nothing. But with "
        f"{counted(tokens, 'token')} each, their caches have {amount(caches / GB)} GB, {more} the "
        f"{amount(weights_bytes() / GB)} GB of weights. A step reads both: it takes "
        f"**{times(slower)}** as long as for one request alone, and the {fixed(batch)} together "
        f"get {together_get} the tokens{kept}."
    )


def never_reached(context: int | None = None) -> Markdown:
    """The ridge with caches: out of reach beyond a short context."""
    tokens, roof = context_of(context), chapter_roof()
    shape = chapter_shape()
    token = bytes_per_token(shape).growing
    batch = with_caches(roof, tokens)
    reach = 2 * parameters() / (roof.ridge * token - attention_of(shape, 1))
    limit = (2 * parameters() + attention_of(shape, tokens)) / (tokens * token)
    if batch is not None:
        said = f"With {counted(tokens, 'token')} each, decode reaches the ridge at {fixed(batch)}."
    else:
        said = (
            f"With {counted(tokens, 'token')} each, **no batch reaches the ridge**: the more "
            "requests, the more of the traffic is cache, and intensity comes to rest at "
            f"{number(limit)} FLOP a byte."
        )
    return say(
        f"{said} On this chip, with this model and an f16 cache, a batch can reach it only while "
        f"requests have fewer than about {fixed(reach)} tokens behind them."
    )


def context_of(context: int | None) -> int:
    """Tokens behind each request, as a cell gives them; the chapter's longest prompt if None.

    Raises:
        QuantityUnusable: less than a token.
    """
    return int(claim("longest_prompt")) if context is None else whole("context_tokens", context)
