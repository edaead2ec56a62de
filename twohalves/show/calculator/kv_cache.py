"""The calculator of section 31.3: what a context weighs, beside the weights, on a card, and back.

Files are told in GB, a billion bytes; memory is sold in GiB, 2³⁰ bytes. Both stand beside each
other here, and every figure says which it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from twohalves.formulas import KV_TYPES, bytes_per_token, cache_bytes, uniform_shape
from twohalves.formulas.memory import margin_bytes
from twohalves.show import svg
from twohalves.show.calculator.rates import RateSet
from twohalves.show.calculator.spec import Results, Spec, Values
from twohalves.show.calculator.words import amount, number, with_unit
from twohalves.show.numbers import counted, fixed

_GB, _GIB = 10**9, 2**30
_WIDTH, _HEIGHT, _LEFT, _TOP = 360, 120, 4.0, 24.0
_ROOM = _WIDTH - 2 * _LEFT
_FEWEST_BITS, _MOST_BITS = 1, 32
"""Of a weight, on average: outside them file and parameters belong to different models."""


def compute(values: Values, _rates: Sequence[RateSet]) -> Results:
    """Bytes of a token and of the whole cache, what they leave of the memory, and what it holds."""
    kv_type, tokens, slots = str(values["cache_type"]), int(values["tokens"]), int(values["slots"])
    shape = uniform_shape(*(int(values[each]) for each in ("layers", "kv_heads", "head_dim")))
    token = bytes_per_token(shape, kv_type).growing
    cache = float(cache_bytes(shape, tokens, slots=slots, kv_type=kv_type))
    weights = float(round(float(values["weights_gb"]) * _GB))
    memory, margin = (
        float(math.floor(float(values[each]) * _GIB)) for each in ("memory_gib", "margin_gib")
    )
    total = weights + cache + margin
    left, missing = _apart(memory, total), _apart(total, memory)
    found: Results = {
        "token_bytes": float(token),
        "token_kib": token / 1024,
        "cache_gib": cache / _GIB,
        "cache_gb": cache / _GB,
        "weights_gib": weights / _GIB,
        "margin_gb": margin / _GB,
        "estimate_gib": margin_bytes(tokens, slots, int(weights)) / _GIB,
        "total_gib": total / _GIB,
        "total_gb": total / _GB,
        "memory_gb": memory / _GB,
        "left_gib": None if left is None else left / _GIB,
        "left_gb": None if left is None else left / _GB,
        "missing_gib": missing / _GIB if missing else None,
        "missing_gb": missing / _GB if missing else None,
        "ratio": cache / weights if weights else None,
        "longest_tokens": _most(memory - margin - weights, slots * token),
        "most_slots": _most(memory - margin - weights, tokens * token),
    }
    return found | _bits(weights, _apart(memory - margin, cache), float(values["parameters_b"]))


def _bits(weights: float, room: float | None, billions: float) -> Results:
    """The file that has room beside the cache, and what it and the present one give a weight."""
    each = 8 / (billions * _GB) if billions else None
    return {
        "largest_file_gb": None if room is None else room / _GB,
        "file_bits": None if each is None else weights * each,
        "most_bits": None if each is None or room is None else room * each,
    }


def sentence(spec: Spec, values: Values, texts: dict[str, str], results: Results) -> str:
    """What a token takes, what the context takes, and whether it fits."""
    described = next(each for each in spec["inputs"] if each["id"] == "tokens")
    context = with_unit(described, float(values["tokens"]))
    if values["slots"] != 1:
        context = f"{texts['slots']} times {context}"
    verb = "takes" if values["tokens"] == values["slots"] == 1 else "take"
    compared = "" if results["ratio"] is None else f", {texts['ratio']} times the weights"
    if results["left_gb"] is None:
        verdict = f"they do not fit, {texts['missing_gb']} GB are missing"
    else:
        verdict = f"they fit, and {texts['left_gb']} GB are left"
    return (
        f"A token takes {texts['token_kib']} KiB. {context} of context {verb} "
        f"{texts['cache_gib']} GiB ({texts['cache_gb']} GB){compared}. Weights, cache and margin "
        f"take {texts['total_gb']} GB of {texts['memory_gb']} GB: {verdict}."
    )


def notes(values: Values, results: Results, _rates: Sequence[RateSet]) -> list[str]:
    """Where rows are padded or refused, and what is not counted."""
    kv_type, width = str(values["cache_type"]), int(values["head_dim"])
    block, _ = KV_TYPES[kv_type]
    row = int(values["kv_heads"]) * width
    found = []
    if row % block:
        blocks = -(-row // block)
        found.append(
            f"Padded: the {counted(row, 'number')} of a layer's keys fill "
            f"{counted(blocks, 'block')} of {block}; {counted(blocks * block - row, 'place')} "
            "in them stay empty and are counted."
        )
    if width % block:
        found.append(
            f"llama.cpp refuses a cache of type {kv_type} for heads {fixed(width)} wide: "
            f"its blocks hold {block} numbers of one head."
        )
    found += _doubts(values, results)
    found.append("1 GB is a billion bytes, 1 GiB is 2^30 bytes, or 1.074 GB.")
    return found


def _doubts(values: Values, results: Results) -> list[str]:
    """A margin that is small for such a model, and a file that does not go with its parameters."""
    estimate, bits = results["estimate_gib"] or 0.0, results["file_bits"]
    found = []
    if float(values["margin_gib"]) < estimate:
        found.append(
            f"The margin is small: engines were seen to need about {amount(estimate)} GiB beside "
            "such weights and context."
        )
    if bits and not _FEWEST_BITS <= bits <= _MOST_BITS:
        found.append(
            f"{number(bits)} bits for a weight are unusual: do file and parameters belong to the "
            "same model?"
        )
    return found


def picture(results: Results, texts: dict[str, str], said: str) -> str:
    """One bar: broad weights, a narrower cache, a thin margin, the memory as a frame around it."""
    total, memory = results["total_gb"] or 0.0, results["memory_gb"] or 0.0
    cache, margin = results["cache_gb"] or 0.0, results["margin_gb"] or 0.0
    scale = _ROOM / max(total, memory)
    weights, room, foot = (total - cache - margin) * scale, memory * scale, _TOP + 36
    if results["left_gb"] is None:
        verdict = f"too small by {texts['missing_gb']} GB"
    else:
        verdict = f"{texts['left_gb']} GB left"
    told = f"weights {texts['weights_gb']}, cache {texts['cache_gb']}"
    parts = [
        svg.label(_LEFT, 15, f"{told}, margin {texts['margin_gb']} GB"),
        svg.box(_LEFT, _TOP + 4, weights, 22, svg.FAINT),
        svg.box(_LEFT + weights, _TOP + 8, cache * scale, 14, svg.PREFILL),
        svg.box(_LEFT + weights + cache * scale, _TOP + 12, margin * scale, 6, svg.INK),
        _frame(_LEFT, _TOP, room, 30),
        svg.label(_LEFT, foot + 12, f"memory {texts['memory_gb']} GB: {verdict}"),
        svg.box(_LEFT, foot + 34, 14, 14, svg.FAINT),
        svg.label(_LEFT + 20, foot + 46, "weights"),
        svg.box(_LEFT + 84, foot + 37, 14, 8, svg.PREFILL),
        svg.label(_LEFT + 104, foot + 46, "cache"),
        svg.box(_LEFT + 156, foot + 39, 14, 4, svg.INK),
        svg.label(_LEFT + 176, foot + 46, "margin"),
        _frame(_LEFT + 238, foot + 34, 14, 14),
        svg.label(_LEFT + 258, foot + 46, "memory"),
    ]
    return svg.inline("memory", _WIDTH, _HEIGHT, said, parts)


def _apart(more: float, less: float) -> float | None:
    return more - less if more >= less else None


def _most(room: float, each: float) -> float | None:
    """How many tokens or slots have room; None where the weights have none already."""
    return float(math.floor(room / each)) if room >= 0 else None


def _frame(x: float, y: float, width: float, height: float) -> str:
    right, low = x + width, y + height
    return svg.stroke([(x, y), (right, y), (right, low), (x, low), (x, y)])
