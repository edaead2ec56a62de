"""Section 31.4, the reader's machine: what its run got out of memory and arithmetic, as floors.

A run does not measure a machine's limits. It shows what was reached at least: the bytes that
decode read a second, and the operations that prefill did a second.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from IPython.display import Markdown

from twohalves.formulas import (
    KvShape,
    bandwidth_used,
    bytes_per_token,
    cache_bytes,
    decode_step,
    flop_used,
    intensity,
)
from twohalves.formulas.allocated import BATCH
from twohalves.formulas.sizing import average_bits
from twohalves.runs import Run, reference
from twohalves.runs.reference import claim
from twohalves.show.byte_count import STORY, ByteCount, own_count
from twohalves.show.cache_size import GB, chapter_shape
from twohalves.show.calculator.words import number
from twohalves.show.decode import DECODE
from twohalves.show.markdown import say, table
from twohalves.show.numbers import fixed, percent, significant, times
from twohalves.show.rates import lines
from twohalves.show.run_model import kv_type, shape_of

RATES = "prefill_decode"
_MANY_EXPERTS = ".expert_count"
_GIGA = 1e9
_SMALL = GB // 2
"""Bytes of a file that the caches of a large processor could hold a good part of."""
_CHAPTER_WORDS = 128_256 * 3_072
"""Vocabulary and width of llama3.2:3b, from its config.json."""
_CLEARLY = 2
"""Half of the arithmetic that was shown lies idle from here on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One prompt length of a run, in SI units."""

    tokens: float
    """Of the prompt."""
    prefill_rate: float
    """Tokens a second."""
    decode_rate: float
    """Tokens a second."""
    cache_bytes: float
    """That a step of decode reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """What a machine has shown that it can do at least."""

    bits: float
    """Of a weight, on average: the file's bits over its parameters."""
    decode_intensity: float
    """FLOP a byte of a step of decode for one request, weights and cache counted."""
    bytes_s: float
    """The most bytes a second that decode read, in any row."""
    decode_flop_s: float
    """FLOP a second that decode did in that row."""
    prefill_tokens: float
    """Length of the prompt that was read fastest."""
    prefill_intensity: float
    """FLOP a byte of its prefill, in pieces of BATCH tokens."""
    prefill_flop_s: float
    """FLOP a second of it."""
    words: float
    """Weights that prefill was counted without; 0 = unknown, so that it may have done less."""

    @property
    def apart(self) -> float:
        """How many times the operations of decode prefill did in a second."""
        return self.prefill_flop_s / self.decode_flop_s


def reached(
    rows: Iterable[Row], weights_bytes: float, parameters: float, words: float = 0
) -> Reached:
    """The floors that some rows give.

    Args:
        rows: one or more.
        weights_bytes: of the model's file.
        parameters: of the model, all of which a step of decode uses.
        words: those of them in the table of words that ends a model: engines need it for a
            prompt's last token only. 0 = unknown.
    """
    told = tuple(rows)
    bits = average_bits(weights_bytes, parameters)
    busiest = max(
        told, key=lambda row: bandwidth_used(row.decode_rate, weights_bytes, row.cache_bytes)
    )
    fastest = max(told, key=lambda row: row.prefill_rate)
    step = decode_step(parameters, bits, cache_bytes=busiest.cache_bytes)
    return Reached(
        bits=bits,
        decode_intensity=step.intensity,
        bytes_s=bandwidth_used(busiest.decode_rate, weights_bytes, busiest.cache_bytes),
        decode_flop_s=flop_used(busiest.decode_rate, parameters),
        prefill_tokens=fastest.tokens,
        prefill_intensity=intensity(min(fastest.tokens, BATCH), bits),
        prefill_flop_s=flop_used(fastest.prefill_rate, parameters - words),
        words=words,
    )


def model_of(run: Run) -> KvShape | str:
    """The run's model, its size and parameters known; or why a step cannot be counted."""
    model = run.session["model"]
    keys = model.get("own_keys") or {}
    if not model.get("size") or not model.get("parameter_count"):
        return f"Run {run.id} does not hold the model's size and parameters."
    if any(key.endswith(_MANY_EXPERTS) and value for key, value in keys.items()):
        return (
            "The model is a mixture of experts. A token uses some of its weights only, and how "
            "many is not in the run, so operations and bytes cannot be counted."
        )
    return shape_of(run)


def own(run: Run) -> Reached | str:
    """The run's floors, or why they cannot be counted."""
    shape, model = model_of(run), run.session["model"]
    if isinstance(shape, str):
        return shape
    if not run.measured(RATES):
        return f"Run {run.id} timed no prompts of different lengths; section 31.1 measures them."
    rows = [
        Row(
            tokens=line.prompt_tokens.median,
            prefill_rate=line.prefill_rate.median,
            decode_rate=line.decode_rate.median,
            cache_bytes=cache_bytes(shape, int(line.prompt_tokens.median), kv_type=kv_type(run)),
        )
        for line in lines(run)
    ]
    count, words = model["parameter_count"], _words(model["own_keys"])
    return reached(rows, model["size"], count, words if words < count else 0)


def _words(keys: Mapping[str, object]) -> int:
    """Weights in a model's table of words, vocabulary times width; 0 = its metadata do not tell."""
    sizes = [
        size
        for key in ("vocab_size", "embedding_length")
        if isinstance(size := keys.get(f"{keys.get('general.architecture')}.{key}"), int)
    ]
    return math.prod(sizes) if len(sizes) == 2 else 0


def chapter() -> Reached:
    """The chapter's floors, by the same code: its rounded decode rate, and its printed rows."""
    token = bytes_per_token(chapter_shape(), "q8_0").growing
    rows = [
        Row(
            tokens=row.prompt_tokens,
            prefill_rate=row.prefill_tok_s,
            decode_rate=row.decode_tok_s,
            cache_bytes=token * row.prompt_tokens,
        )
        for row in reference.prefill_decode()
    ]
    return reached(
        rows, claim("weights_file_gb") * GB, claim("params_billion") * 1e9, _CHAPTER_WORDS
    )


def chapter_stream() -> Markdown:
    """The chapter's own figure: its headline rate times its file."""
    used = bandwidth_used(claim("decode_rate_round"), claim("weights_file_gb") * GB)
    best = chapter()
    return say(
        f"The chapter multiplies {fixed(claim('decode_rate_round'))} tokens a second by a file of "
        f"{number(claim('weights_file_gb'))} GB: **{significant(used / GB)} GB/s**. With the "
        f"cache counted, its busiest row read {significant(best.bytes_s / GB)} GB/s. Both are "
        "floors: the memory delivered that much, and may be able to deliver more."
    )


def own_table(run: Run) -> Markdown:
    """The run's floors beside the chapter's."""
    mine, theirs = own(run), chapter()
    if isinstance(mine, str):
        return say(f"> **Note** — {mine}")
    quantities: tuple[tuple[str, Callable[[Reached], str]], ...] = (
        ("bits of a weight", lambda found: number(found.bits)),
        ("decode, FLOP a byte", lambda found: number(found.decode_intensity)),
        ("decode, GB/s read, at least", lambda found: significant(found.bytes_s / GB)),
        ("decode, GFLOP/s, at least", lambda found: significant(found.decode_flop_s / _GIGA)),
        ("prefill, FLOP a byte", lambda found: fixed(found.prefill_intensity)),
        (
            f"prefill, GFLOP/s, {_least(mine)}",
            lambda found: significant(found.prefill_flop_s / _GIGA),
        ),
    )
    rows = [[name, said(mine), said(theirs)] for name, said in quantities]
    caption = (
        f"Run {run.id} and the chapter's run: the best row of each. Two operations for each weight "
        f"and token{_without(mine)}; attention's are left out. A step is taken to read the whole "
        "file. What was reached, not what the machine can do. Prefill is counted in pieces of "
        f"{fixed(BATCH)} tokens."
    )
    return table(["", "yours", "chapter"], rows, caption)


def _without(mine: Reached) -> str:
    if not mine.words:
        return ", in prefill too, although only a prompt's last token needs the table of words"
    return ", in prefill without the table of words, which only a prompt's last token needs"


def own_verdict(run: Run) -> Markdown:
    """What the floors say, and where bytes do not explain this machine's decode."""
    mine = own(run)
    if isinstance(mine, str):
        return say("So this machine has no place on the picture.")
    return say(
        f"Your machine read at least **{significant(mine.bytes_s / GB)} GB/s** in decode and did "
        f"{_least(mine)} **{significant(mine.prefill_flop_s / _GIGA)} GFLOP/s** in prefill, "
        f"{times(mine.apart)} as many operations a second as in decode. {_idle(mine)} These are "
        f"floors of its two limits, not the limits.{_near(run)}",
        _explained(run),
    )


def _least(mine: Reached) -> str:
    return "at least" if mine.words else "about"


def _near(run: Run) -> str:
    model = run.session["model"]
    if model["size"] >= _SMALL or model.get("gpu_share"):
        return ""
    return (
        f" The file has only {fixed(model['size'] / 1e6)} MB: part of it may have come from the "
        "processor's own cache, so main memory alone may be slower than that."
    )


def _idle(mine: Reached) -> str:
    if mine.apart >= _CLEARLY:
        return (
            "So decode left most of its arithmetic idle: the same machine has shown that it can "
            "do more."
        )
    return (
        "So decode kept its arithmetic nearly as busy as prefill did, and memory may not be what "
        "decode waits for here."
    )


def _instead(run: Run, found: ByteCount) -> str:
    """What takes the time; only of a processor with a cache to work on is it known."""
    if run.session["model"].get("gpu_share") != 0 or not found.steps[-1].cache_bytes:
        return "Something else than reading takes longer as context grows"
    return "A few cores need longer for the arithmetic of attention than memory needs for the cache"


def _explained(run: Run) -> str:
    found = own_count(run) if run.measured(DECODE) else None
    if found is None or len(found.steps) < 2:
        return "Whether bytes explain its decode at long context, this run does not tell."
    if not found.is_steady or found.added_s <= 0:
        return (
            "How its decode slows with context cannot be read from this run, so neither can "
            "whether bytes explain it."
        )
    if found.explained >= STORY:
        return (
            "As context grew, the added bytes explain most of the added time: the left part of "
            "the picture is the right one for this machine's decode."
        )
    return (
        f"**But bytes do not explain its decode at long context**: they account for "
        f"{percent(found.explained)} of the time that a token took longer. {_instead(run, found)}, "
        "and then even a single request is not where this picture puts it."
    )
