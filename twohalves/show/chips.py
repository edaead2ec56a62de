"""Section 31.4, real chips: their ridges, and the two numbers that could cap a batch on them."""

from __future__ import annotations

from collections.abc import Sequence

from IPython.display import Markdown

from twohalves.formulas import batch_at_ridge, batch_in_memory, bytes_per_token
from twohalves.runs.hardware import Chip, chips
from twohalves.runs.reference import claim
from twohalves.show.cache_size import GB, chapter_shape
from twohalves.show.calculator.words import amount, exact
from twohalves.show.markdown import fold, say, table
from twohalves.show.numbers import counted, fixed, percent
from twohalves.show.roofline import context_of, weights_bytes, with_caches

MARGIN = 0.1
"""Part of a card's memory that is kept for the runtime and its activations, in the table of caps:
a rule of thumb, as the page says."""
SHOWN = (
    "AWS Trainium3",
    "NVIDIA H200",
    "NVIDIA H100",
    "Google TPU v6e",
    "NVIDIA GeForce RTX 4090",
    "NVIDIA L40S",
)
"""Chips that stand open on the page: low ridges and high ones, much memory and little."""
NOT_SAID = "–"
_TERA = 1e12


def ridges() -> Markdown:
    """A few chips: limits, ridge, and the batch at the ridge by the bits of a weight."""
    caption = (
        "Published peaks, without sparsity. The ridge is in FLOP a byte, and for weights of 16 "
        "bits it is the batch too, at which decode would reach it if there were no cache."
        f"{_marks(_shown())}"
    )
    return _ridges(_shown(), caption)


def every_chip() -> Markdown:
    """Two folds: all chips with their sources, and what eight bits change."""
    caption = f"As above, fastest memory first.{_marks(chips())}"
    everything = _ridges(chips(), caption).data
    title = f"All {fixed(len(chips()))} chips, and where their numbers come from"
    return say(
        fold("What if the arithmetic is done in eight bits?", _eight_bits()).data,
        fold(title, everything, "\n".join(_source(chip) for chip in chips())).data,
    )


def on_laptops() -> str:
    """Ridges of laptop chips whose graphics have a published peak, in words."""
    told = [
        f"{fixed(roof.ridge)} ({chip.name})"
        for chip in chips()
        if chip.kind == "laptop" and (roof := chip.roof("fp32"))
    ]
    return " or ".join(told)


def _shown() -> list[Chip]:
    return [chip for chip in chips() if chip.name in SHOWN]


def _ridges(listed: Sequence[Chip], caption: str) -> Markdown:
    real, nominal = claim("avg_bits"), claim("weights_nominal_bits")
    rows = []
    for chip in listed:
        peak, roof = chip.peaks.get("fp16"), chip.roof()
        batches = [
            NOT_SAID if roof is None else fixed(batch_at_ridge(roof.ridge, bits))
            for bits in (real, nominal)
        ]
        rows.append([
            _named(chip),
            NOT_SAID if peak is None else amount(peak / _TERA),
            amount(chip.bandwidth / GB),
            NOT_SAID if roof is None else fixed(roof.ridge),
            *batches,
        ])  # fmt: skip
    header = ["chip", "TFLOP/s, 16 bits", "GB/s", "ridge"]
    header += [f"batch, {exact(real)} bits", f"batch, {exact(nominal)} bits"]
    return table(header, rows, caption)


def _eight_bits() -> str:
    named = next(chip for chip in chips() if chip.name == "NVIDIA H100")
    wide, narrow = named.peaks["fp16"], named.peaks["8bit"]
    before = batch_at_ridge(wide / named.bandwidth, 16)
    stored = batch_at_ridge(wide / named.bandwidth, 8)
    after = batch_at_ridge(narrow / named.bandwidth, 8)
    return (
        f"The ridge belongs to the precision of the *arithmetic*, the bytes to that of the "
        f"*weights*. An {named.name.removeprefix('NVIDIA ')} reaches its ridge at a batch of "
        f"{fixed(before)} with 16 bits in both. Weights of 8 bits, unpacked to 16 before they are "
        f"multiplied, bring it down to {fixed(stored)}: memory has half to carry. If the "
        f"arithmetic is done in 8 bits too, the peak doubles, and the batch is back at "
        f"{fixed(after)}."
    )


def caps(context: int | None = None) -> Markdown:
    """For the chapter's model at 16 bits: the batch at the ridge, and the batch that fits.

    Args:
        context: tokens behind each request; the chapter's longest prompt if None.

    Raises:
        QuantityUnusable: less than a token.
    """
    tokens = context_of(context)
    weights, cache = weights_bytes(), tokens * bytes_per_token(chapter_shape()).growing
    caption = (
        f"The chapter's model at 16 bits, {amount(weights / GB)} GB, each request with "
        f"{counted(tokens, 'token')}, {amount(cache / GB)} GB of f16 cache; "
        f"{percent(MARGIN)} of the memory kept free, a rule of thumb. Never = with more requests "
        f"intensity comes to rest below the ridge.{_marks(_shown())}"
    )
    others = [chip for chip in chips() if chip.name not in SHOWN and chip.roof()]
    rest = _caps(others, tokens, f"As above.{_marks(others)}")
    return say(_caps(_shown(), tokens, caption).data, fold("The other chips", rest.data).data)


def _caps(listed: Sequence[Chip], tokens: int, caption: str) -> Markdown:
    weights, cache = weights_bytes(), tokens * bytes_per_token(chapter_shape()).growing
    rows = []
    for chip in listed:
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
    return table(header, rows, caption)


def _source(chip: Chip) -> str:
    """Where a row comes from, and when it was read."""
    by = "" if chip.said_by == "vendor" else ", not the vendor"
    host = chip.source.split("/")[2]
    return f"- {chip.name}: [{host}]({chip.source}), read {chip.read}{by}: {chip.note}."


def _marks(listed: Sequence[Chip]) -> str:
    """What the marks of a table mean, if it has them."""
    said = ""
    if any(chip.said_by != "vendor" for chip in listed):
        said += " \u2020 = somebody repeats what the vendor says."
    if any(chip.roof() is None for chip in listed):
        said += f" {NOT_SAID} = the source gives no such peak."
    return said


def _named(chip: Chip) -> str:
    return chip.name if chip.said_by == "vendor" else f"{chip.name} \u2020"
