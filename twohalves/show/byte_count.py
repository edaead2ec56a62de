"""Section 31.2, the cause: do the bytes that a step reads explain how decode slows?

If memory alone set the pace, weights and cache would be read at one speed. So the shortest row
gives a bandwidth, the model's metadata give the bytes of the cache, and the rest follows.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from IPython.display import Markdown

from twohalves.formulas import bandwidth_used, cache_bytes, decode_ceiling
from twohalves.runs import Run, reference
from twohalves.runs.reference import claim
from twohalves.show.decode import DECODE, lines
from twohalves.show.markdown import say, table
from twohalves.show.needs import needs
from twohalves.show.numbers import fixed, percent, seconds, significant
from twohalves.show.rates import NOTICEABLE
from twohalves.show.run_model import kv_type, kv_type_told, shape_of

STORY = 0.5
"""Bytes that explain at least half of the added time are the chapter's story."""
DISTURBED = 0.1
"""A longer context does not make steps faster; by more than a tenth it is not chance either."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One length: what a step reads, and how fast steps come."""

    context_tokens: float
    """Prompt length, tokens."""
    weights_bytes: float
    """Bytes of weights that a step reads: the model's file."""
    cache_bytes: float
    """Bytes of keys and values that a step reads."""
    predicted: float
    """Steps a second if memory alone set the pace."""
    measured: float
    """Steps a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ByteCount:
    """The prediction beside the measurement, shortest context first."""

    steps: tuple[Step, ...]
    """One for each length."""
    bandwidth: float
    """Bytes a second that the prediction assumes."""

    @property
    def added_s(self) -> float:
        """Seconds a token that the longest context took more than the shortest."""
        return 1 / self.steps[-1].measured - 1 / self.steps[0].measured

    @property
    def is_steady(self) -> bool:
        """False if a step took clearly longer than after a longer context: something disturbed."""
        times = [1 / step.measured for step in self.steps]
        return all(
            earlier <= (1 + DISTURBED) * later
            for earlier, later in itertools.combinations(times, 2)
        )

    @property
    def cache_speed(self) -> float:
        """Bytes of cache added, over the time that was added: bytes a second."""
        return (self.steps[-1].cache_bytes - self.steps[0].cache_bytes) / self.added_s

    @property
    def weights_speed(self) -> float:
        """Bytes a second at which the shortest row got through what it reads."""
        first = self.steps[0]
        return bandwidth_used(first.measured, first.weights_bytes, first.cache_bytes)

    @property
    def explained(self) -> float:
        """The part of the added time that the added bytes need at the speed of the weights."""
        return self.cache_speed / self.weights_speed


def own_count(run: Run) -> ByteCount | None:
    """The run's bytes; None where its server did not tell the model's size or shape."""
    model = run.session["model"]
    shape = shape_of(run)
    if isinstance(shape, str) or not model.get("size"):
        return None
    kept = [
        (
            line.prompt_tokens.median,
            cache_bytes(shape, int(line.prompt_tokens.median), kv_type=kv_type(run)),
            line.decode_rate.median,
        )
        for line in lines(run)
    ]
    _, first_cache, first_rate = kept[0]
    return _counted(kept, model["size"], bandwidth_used(first_rate, model["size"], first_cache))


def chapter_count() -> ByteCount:
    """The chapter's: its bandwidth and file, a q8_0 cache, its printed rates."""
    per_token = claim("q8_kib_per_token") * 1024
    kept = [
        (row.context_tokens, per_token * row.context_tokens, row.decode_tok_s)
        for row in reference.decode_vs_context()
    ]
    return _counted(kept, claim("weights_file_gb") * 1e9, claim("weight_stream_gb_s") * 1e9)


def _counted(
    kept: Sequence[tuple[float, float, float]], weights: float, bandwidth: float
) -> ByteCount:
    steps = tuple(
        Step(
            context_tokens=tokens,
            weights_bytes=weights,
            cache_bytes=cache,
            predicted=decode_ceiling(bandwidth, weights, cache),
            measured=rate,
        )
        for tokens, cache, rate in kept
    )
    return ByteCount(steps=steps, bandwidth=bandwidth)


@needs(DECODE)
def own_table(run: Run) -> Markdown:
    """Bytes a step, the rate they would allow, and the rate there was."""
    found = own_count(run)
    if found is None:
        return _unknown(run)
    caption = (
        f"Run {run.id}. Bytes of the model's file and of a cache of type {kv_type_told(run)}, "
        f"read at the {_speed(found.bandwidth)} of the first row."
    )
    return _table(found, caption)


def chapter_table() -> Markdown:
    """The same for the chapter's rates."""
    found = chapter_count()
    caption = (
        f"The chapter's run: its file, its q8_0 cache, and the {_speed(found.bandwidth)} that it "
        "reads off its short prompts."
    )
    return _table(found, caption)


def _table(found: ByteCount, caption: str) -> Markdown:
    rows = [
        [
            fixed(step.context_tokens),
            f"{significant(step.weights_bytes / 1e6)} MB",
            f"{significant(step.cache_bytes / 1e6)} MB",
            fixed(step.predicted, 1),
            fixed(step.measured, 1),
            percent(step.measured / step.predicted),
        ]
        for step in found.steps
    ]
    header = ["context tokens", "weights", "cache", "tok/s by bytes", "measured", "of it"]
    return table(header, rows, caption)


@needs(DECODE)
def verdict(run: Run) -> Markdown:
    """Whether this run's slowdown is the chapter's story, and the chapter's own share."""
    theirs = chapter_count()
    chapter = (
        f"In the chapter's run the added bytes explain {percent(theirs.explained)} of the added "
        "time: most of it, not all."
    )
    found = own_count(run)
    if found is None:
        return _unknown(run)
    return say(_own_verdict(found), chapter)


def _own_verdict(found: ByteCount) -> str:
    short, long = found.steps[0], found.steps[-1]
    if not found.is_steady:
        return (
            "In your run steps did not slow steadily with context: a longer one was clearly faster "
            "than a shorter one. Something else slowed them, so no cause can be read from these "
            "rows. Look at the control, and measure again on a quiet machine."
        )
    if found.added_s * short.measured < NOTICEABLE:
        return "In your run decode did not slow with context, so there is nothing to explain."
    said = (
        f"At {fixed(long.context_tokens)} tokens a step reads {significant(_growth(found))} times "
        f"the bytes of one at {fixed(short.context_tokens)}. At the pace of the short row that "
        f"allows {significant(long.predicted)} tok/s; {significant(long.measured)} were measured. "
        f"Your server got through the bytes of the short row at {_speed(found.weights_speed)}, "
        f"and through the added cache at {_speed(found.cache_speed)}. "
    )
    if found.explained >= STORY:
        return said + (
            f"**That is the chapter's story**: the bytes to be read explain "
            f"{percent(min(1.0, found.explained))} of the {seconds(found.added_s)} that a token "
            "took longer."
        )
    return said + (
        f"**Here your run departs from the chapter's story.** Memory does not know which bytes it "
        f"carries, so if it were the limit both speeds would be alike. The bytes explain "
        f"{percent(found.explained)} of the {seconds(found.added_s)} that a token took longer. "
        "The rest is most likely arithmetic: each cached key and value is multiplied once for "
        "every query head that shares it. Many cores do that while they wait for memory; a few "
        "are still at it when memory has long delivered."
    )


def _growth(found: ByteCount) -> float:
    short, long = found.steps[0], found.steps[-1]
    before = short.weights_bytes + short.cache_bytes
    return (long.weights_bytes + long.cache_bytes) / before


def _speed(bytes_per_s: float) -> str:
    return f"{significant(bytes_per_s / 1e9)} GB/s"


def _unknown(run: Run) -> Markdown:
    return say(
        f"> **Note** — Run {run.id} does not hold the model's size and shape, so its bytes cannot "
        "be counted."
    )
