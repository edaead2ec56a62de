"""Section 31.3: what the cache of the chapter's model weighs, and what its size is compared with.

Bytes are computed from the shape in data/claims.csv. Every size says whether it is in GB, a
billion bytes, or in GiB, 2³⁰ bytes: mixed, the chapter's ratios come out wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

from IPython.display import Markdown

from twohalves.formulas import KV_TYPES, KvShape, bytes_per_token, cache_bytes, uniform_shape
from twohalves.runs import reference
from twohalves.runs.reference import claim
from twohalves.show.calculator.words import amount, exact, number
from twohalves.show.given import whole
from twohalves.show.markdown import fold, say, table
from twohalves.show.numbers import counted, fixed, percent, times, trimmed

GB, GIB, KIB = 10**9, 2**30, 2**10


def both(size: float) -> str:
    """A size in both units.

    >>> both(15_032_385_536)
    '14 GiB (15 GB)'
    """
    return f"{amount(size / GIB)} GiB ({amount(size / GB)} GB)"


def chapter_shape(kv_heads: float | None = None) -> KvShape:
    """The chapter's model.

    Args:
        kv_heads: in place of those that it has.
    """
    heads = claim("kv_heads") if kv_heads is None else kv_heads
    return uniform_shape(int(claim("layers")), int(heads), int(claim("head_dim")))


def windows() -> tuple[int, int, int]:
    """The three windows of the chapter's table, tokens."""
    small = int(reference.session()["options"]["num_ctx"])
    return small, int(claim("long_conv_k")) * KIB, int(claim("full_window"))


def full_cache(kv_type: str = "f16") -> int:
    """Bytes of the chapter's cache with its window full."""
    return cache_bytes(chapter_shape(), windows()[-1], kv_type=kv_type)


def without_a_cache(prompt_tokens: int, output_tokens: int) -> Markdown:
    """How many tokens pass through the model for one request, with a cache and without.

    Raises:
        QuantityUnusable: an argument that is no count of tokens.
    """
    prompt_tokens = whole("prompt_tokens", prompt_tokens)
    if whole("output_tokens", output_tokens) < 2:
        return say("A cache serves the second token and those after it: give two or more.")
    without = output_tokens * prompt_tokens + output_tokens * (output_tokens - 1) // 2
    once = prompt_tokens + output_tokens - 1
    return say(
        f"{counted(prompt_tokens, 'token')} in, {counted(output_tokens, 'token')} out. Without a "
        f"cache every step reads all that stands before it: {counted(without, 'token')} pass "
        f"through the model. With one, each passes once, and the last one not at all: "
        f"{fixed(once)}, or {percent(once / without, 1)} of that."
    )


def factors() -> Markdown:
    """The formula with the chapter's numbers in it."""
    shape = chapter_shape()
    size = bytes_per_token(shape).growing
    heads, width = fixed(claim("kv_heads")), fixed(claim("head_dim"))
    product = rf"2 \times {len(shape.layers)} \times {heads} \times {width} \times 2"
    return say(
        f"$${product} = {fixed(size).replace(',', '{,}')}\\ \\text{{bytes}} = "
        f"{amount(size / KIB)}\\ \\text{{KiB}}$$",
        f"Key and value, {len(shape.layers)} layers, {heads} KV heads, {width} numbers in a head, "
        "two bytes a number. Every token of context costs that much, whether the user wrote it, a "
        "document brought it along, or the model wrote it a moment ago.",
    )


def by_window() -> Markdown:
    """The chapter's table: cache for each window, and how it compares with the weights."""
    weights, file = claim("fp16_weights_gb") * GB, claim("weights_file_gb") * GB
    header = ["context", "f16, GiB", "f16, GB", "q8_0, GiB", "q8_0, GB"]
    header += [f"f16 / {exact(weights / GB)} GB", f"f16 / {exact(file / GB)} GB"]
    rows = []
    for tokens in windows():
        cache = cache_bytes(chapter_shape(), tokens)
        eight = cache_bytes(chapter_shape(), tokens, kv_type="q8_0")
        sizes = [amount(size / unit) for size in (cache, eight) for unit in (GIB, GB)]
        ratios = [f"{number(cache / each)}×" for each in (weights, file)]
        rows.append([fixed(tokens), *sizes, *ratios])
    caption = (
        f"Cache of {reference.session()['model']['tag']} for one conversation, and its size over "
        f"that of the weights: {exact(weights / GB)} GB at 16 bits, "
        f"{exact(file / GB)} GB as the file that was measured. Ratios are taken in bytes."
    )
    return table(header, rows, caption)


def guess() -> Markdown:
    """The page's prediction; what it asks for is computed further down."""
    return say(
        f"> **Prediction** — The file of the chapter's model has {exact(claim('weights_file_gb'))} "
        f"GB. Its longest conversation has {fixed(windows()[-1])} tokens. How many GB does the "
        "cache of that conversation take? Write a number down."
    )


def the_longest() -> Markdown:
    """The answer to the page's first question."""
    cache, file = full_cache(), claim("weights_file_gb")
    return say(
        f"Compare with your number. At f16 the full window of {fixed(windows()[-1])} tokens takes "
        f"**{both(cache)}**, "
        f"{times(cache / GB / file)} the model's file of {exact(file)} GB. A server that is told "
        "to offer that window sets the memory aside before the first request arrives."
    )


def ratios() -> Markdown:
    """The three comparisons of cache and weights, and what each sets against what."""
    weights, file = claim("fp16_weights_gb") * GB, claim("weights_file_gb") * GB
    bits = claim("weights_file_gb") * 8 / claim("params_billion")
    cache, eight = full_cache(), full_cache("q8_0")
    pairs = [
        (f"weights of about {number(bits)} bits, cache of 16", cache, file),
        ("both of 16 bits", cache, weights),
        (f"weights of about {number(bits)} bits, cache of 8 (as it was run)", eight, file),
    ]
    rows = [
        [
            what,
            f"{amount(size / GB)} / {exact(over / GB)} GB",
            times(size / over),
            times(size / GIB / (over / GB)),
        ]
        for what, size, over in pairs
    ]
    caption = (
        f"Full window of {fixed(windows()[-1])} tokens. The last column makes the usual mistake: "
        "it divides GiB by GB."
    )
    return table(["what is compared", "in GB", "cache / weights", "units mixed"], rows, caption)


def by_type() -> Markdown:
    """What each cache type costs, its scales included; the types in between in a fold."""
    plain, eight = (bytes_per_token(chapter_shape(), name).growing for name in ("f16", "q8_0"))
    caption = f"Cache types of llama.cpp, for {reference.session()['model']['tag']}."
    return say(
        _types(("f16", "q8_0", "q4_0"), caption).data,
        f"So eight bits come to {percent(eight / plain)} of sixteen, because of the scales.",
        fold("The types in between", _types(("q5_1", "q5_0", "q4_1"), "As above.").data).data,
    )


def _types(names: Sequence[str], caption: str) -> Markdown:
    shape = chapter_shape()
    rows = []
    for kv_type in names:
        numbers, size = KV_TYPES[kv_type]
        token = bytes_per_token(shape, kv_type).growing
        rows.append(
            [
                kv_type,
                f"{size} bytes for {counted(numbers, 'number')}",
                trimmed(fixed(size / numbers, 4)),
                amount(token / KIB),
                both(full_cache(kv_type)),
                percent(token / bytes_per_token(shape).growing),
            ]
        )
    header = ["type", "a block", "bytes a number", "KiB a token", "full window", "of f16"]
    return table(header, rows, caption)


def shared_heads() -> Markdown:
    """What grouped queries save: the chapter's model, and the one that it cites."""
    query, kv = claim("attn_heads"), claim("kv_heads")
    tokens = windows()[-1]
    whole = cache_bytes(chapter_shape(query), tokens)
    large = [cache_bytes(uniform_shape(80, heads, 128), windows()[1]) for heads in (8, 64)]
    return say(
        f"This model has {fixed(query)} query heads and {fixed(kv)} KV heads, so "
        f"{fixed(query / kv)} queries share a pair of key and value. With a pair for each query "
        f"head the full window would take {both(whole)} instead of {both(full_cache())}.",
        f"Section 7.6 of the book does the same for a model of {fixed(claim('big_model_b'))} "
        f"billion weights at {fixed(windows()[1])} tokens: {both(large[0])} for one request, and "
        f"{both(large[1])} if nothing were shared. That is what 80 layers give with 8 KV heads of "
        "128 numbers, and with 64.",
    )


def on_a_card() -> Markdown:
    """The chapter's two servings, and one more as a question with its answer folded."""
    weights = claim("fp16_weights_gb") * GB
    one, at_once = cache_bytes(chapter_shape(), windows()[1]), int(claim("conversations"))
    return say(
        f"**One conversation** of {fixed(windows()[1])} tokens, {exact(claim('params_billion'))} "
        f"billion weights at 16 bits: {exact(weights / GB)} GB and {amount(one / GB)} GB of cache, "
        f"{amount((weights + one) / GB)} GB together.",
        f"**{fixed(at_once)} at once**: the weights are there once, the cache {fixed(at_once)} "
        f"times, {both(at_once * one)}. That is {number(at_once * one / weights)} times the "
        "weights, and it is the part that grows with every user.",
        _on_sixteen().data,
    )


def _on_sixteen() -> Markdown:
    """The case in which the unit decides."""
    whole = claim("weights_file_gb") * GB + full_cache()
    return fold(
        "Do the file and its full window fit on a machine of 16 GB?",
        f"Together they take {fixed(whole / GB, 2)} GB, which sounds like too much. But memory is "
        f"sold in GiB, and this is {fixed(whole / GIB, 2)} GiB: it fits into 16, by "
        f"{amount((16 * GIB - whole) / 10**6)} MB. There is no room then for the server itself and "
        "what it computes with.",
    )


def experts_speed() -> Markdown:
    """What the active weights of the chapter's mixture of experts are for."""
    total, active, dense = claim("moe_total_b"), claim("moe_active_b"), claim("dense_b")
    return say(
        f"The active ones decide how fast it writes: a token reads {percent(active / total)} of "
        f"the weights, and in chapter 12 it was slightly faster than a dense model of "
        f"{exact(dense)} billion. With many users at a time that advantage shrinks. Their tokens "
        "are sent to different experts, so a step reads more of them."
    )
