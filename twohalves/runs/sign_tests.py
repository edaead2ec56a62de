"""The chapter's claims as comparisons within a run: in how many blocks each holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from twohalves.runs import derive, reuse
from twohalves.runs.conditions import tokens_outside_the_clock
from twohalves.runs.load import Run
from twohalves.runs.schema import Timing
from twohalves.stats import Signs


@dataclass(frozen=True, slots=True, kw_only=True)
class SignTest:
    """One claim of the chapter, put to the rows of a run."""

    says: str
    """The claim, in words."""
    experiment: str
    """Where it is tested."""
    signs: Signs
    """In how many of the blocks it held."""


def sign_tests(run: Run) -> tuple[SignTest, ...]:
    """The five claims in the order of the chapter; of no comparison where rows are missing.

    A block counts once for each claim, however many lengths it holds, because what happens to
    the machine happens to a whole block.
    """
    return (*_of_phases(run), *_of_caching(run))


def _of_phases(run: Run) -> tuple[SignTest, ...]:
    """Sections 31.1 and 31.2."""
    free = tokens_outside_the_clock(run)
    return (
        _in_blocks(
            run.measured("prefill_decode"),
            "prefill_decode",
            "a token takes longer to write than to read",
            lambda block: all((derive.rate_ratio(row, free) or 0) > 1 for row in block),
            least=1,
        ),
        _in_blocks(
            run.measured("decode_vs_context"),
            "decode_vs_context",
            "decode is slower after the longest prompt than after the shortest",
            lambda block: _rises(block, lambda row: derive.decode_rate(row, free), down=True),
        ),
        _in_blocks(
            run.measured("ttft"),
            "ttft",
            "the longest prompt waits for its first token a larger part of its time",
            lambda block: _rises(block, derive.ttft_share),
        ),
    )


def _of_caching(run: Run) -> tuple[SignTest, ...]:
    """Section 31.5."""
    pairs = reuse.twins(run, "prompt_cache")
    gains = {pair.cold.seq: pair.speedup for pair in pairs}
    return (
        _in_blocks(
            [pair.cold for pair in pairs],
            "prompt_cache",
            "a prompt sent again is read in less time than at first",
            lambda block: all(gains[row.seq] > 1 for row in block),
            least=1,
        ),
        _in_blocks(
            [pair.cold for pair in pairs],
            "prompt_cache",
            "sending a prompt again gains more for the longest than for the shortest",
            lambda block: _rises(block, lambda row: gains[row.seq]),
        ),
    )


def _in_blocks(
    rows: Iterable[Timing],
    experiment: str,
    says: str,
    holds: Callable[[list[Timing]], bool],
    least: int = 2,
) -> SignTest:
    """The claim over the blocks that hold enough lengths to test it."""
    blocks: dict[int, list[Timing]] = {}
    for row in rows:
        if row.block is not None and row.variant == "cold":
            blocks.setdefault(row.block, []).append(row)
    tested = [held for held in blocks.values() if len({row.condition for row in held}) >= least]
    signs = Signs(holds=sum(map(holds, tested)), of=len(tested))
    return SignTest(says=says, experiment=experiment, signs=signs)


def _rises(
    rows: list[Timing], quantity: Callable[[Timing], float | None], *, down: bool = False
) -> bool:
    """Whether it is larger, or smaller, at the longest prompt than at the shortest."""
    ordered = sorted(rows, key=lambda row: int(row.condition))
    first, last = quantity(ordered[0]), quantity(ordered[-1])
    if first is None or last is None:
        return False
    return last < first if down else last > first
