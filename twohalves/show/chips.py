"""Section 31.4, real chips: their ridges, and the two numbers that could cap a batch on them."""

from __future__ import annotations

from IPython.display import Markdown

from twohalves.formulas import batch_at_ridge, batch_in_memory, bytes_per_token
from twohalves.runs.hardware import Chip, chips
from twohalves.runs.reference import claim
from twohalves.show.cache_size import GB, chapter_shape
from twohalves.show.calculator.words import amount, exact
from twohalves.show.markdown import fold, say, table
from twohalves.show.numbers import fixed, percent
from twohalves.show.roofline import context_of, weights_bytes, with_caches

MARGIN = 0.1
"""Part of a card's memory that is kept for the runtime and its activations, in the table of caps:
a rule of thumb, as the page says."""
NOT_SAID = "–"
_TERA = 1e12
_SECONDHAND = "\u2020 = somebody repeats what the vendor says."


def ridges() -> Markdown:
    """All chips: limits, ridge, and the batch at the ridge by the bits of a weight."""
    real, nominal = claim("avg_bits"), claim("weights_nominal_bits")
    rows = []
    for chip in chips():
        peak, roof = chip.peaks.get("fp16"), chip.roof()
        batches = [
            NOT_SAID if roof is None else fixed(batch_at_ridge(roof.ridge, bits))
            for bits in (16, real, nominal)
        ]
        rows.append([
            _named(chip),
            NOT_SAID if peak is None else amount(peak / _TERA),
            amount(chip.bandwidth / GB),
            NOT_SAID if roof is None else fixed(roof.ridge),
            *batches,
        ])  # fmt: skip
    header = ["chip", "TFLOP/s, 16 bits", "GB/s", "ridge", "batch, 16 bits"]
    header += [f"{exact(real)} bits", f"{exact(nominal)} bits"]
    caption = (
        "Published peaks, without sparsity; ridge in FLOP a byte; batch at which decode would "
        "reach it if there were no cache. "
        f"{_SECONDHAND} {NOT_SAID} = the source gives no such peak."
    )
    return table(header, rows, caption)


def eight_bits() -> Markdown:
    """What eight bits change: half the bytes to read and, where a chip can, twice the peak."""
    told = [chip for chip in chips() if {"fp16", "8bit"} <= chip.peaks.keys()]
    named = next(chip for chip in told if chip.name == "NVIDIA H100")
    wide, narrow = named.peaks["fp16"], named.peaks["8bit"]
    before = batch_at_ridge(wide / named.bandwidth, 16)
    stored = batch_at_ridge(wide / named.bandwidth, 8)
    after = batch_at_ridge(narrow / named.bandwidth, 8)
    return say(
        f"The ridge belongs to the precision of the *arithmetic*, the bytes to that of the "
        f"*weights*. An {named.name.removeprefix('NVIDIA ')} reaches its ridge at a batch of "
        f"{fixed(before)} with 16 bits in both. Weights of 8 bits, unpacked to 16 before they are "
        f"multiplied, bring it down to {fixed(stored)}: memory has half to carry. If the "
        f"arithmetic is done in 8 bits too, the peak doubles, and the batch is back at "
        f"{fixed(after)}."
    )


def caps(context: int | None = None) -> Markdown:
    """For the chapter's model at 16 bits: the batch at the ridge, and the batch that fits."""
    tokens = context_of(context)
    cache = tokens * bytes_per_token(chapter_shape()).growing
    weights = weights_bytes()
    rows = []
    for chip in chips():
        roof = chip.roof()
        if roof is None:
            continue
        room = batch_in_memory(chip.memory_bytes, weights, cache, MARGIN * chip.memory_bytes)
        ridge, real = batch_at_ridge(roof.ridge), with_caches(roof, tokens)
        rows.append([
            _named(chip),
            amount(chip.memory_bytes / GB),
            fixed(room),
            fixed(ridge),
            "memory" if room < ridge else "the ridge",
            "never" if real is None else fixed(real),
        ])  # fmt: skip
    header = ["chip", "memory, GB", "batch that fits", "batch at the ridge, weights only"]
    header += ["comes first", "batch at the ridge, with caches"]
    caption = (
        f"The chapter's model at 16 bits, {amount(weights / GB)} GB, each request with "
        f"{fixed(tokens)} tokens, {amount(cache / GB)} GB of f16 cache; "
        f"{percent(MARGIN)} of the memory kept free. Never = with more requests intensity comes to "
        f"rest below the ridge. {_SECONDHAND}"
    )
    return table(header, rows, caption)


def sources() -> Markdown:
    """Where each row comes from, and when it was read."""
    lines = [
        f"- {chip.name}: [{_host(chip)}]({chip.source}), read {chip.read}"
        f"{'' if chip.said_by == 'vendor' else ', not the vendor'}: {chip.note}."
        for chip in chips()
    ]
    return fold("Where these numbers come from", "\n".join(lines))


def _named(chip: Chip) -> str:
    return chip.name if chip.said_by == "vendor" else f"{chip.name} \u2020"


def _host(chip: Chip) -> str:
    return chip.source.split("/")[2]
