"""Section 31.4, one user and many: what a step leaves idle, and what the next user costs.

Arithmetic on the chapter's figures. Times are those of a chip that reaches its two limits
exactly; no chip does, so they are floors.
"""

from __future__ import annotations

from IPython.display import Markdown

from twohalves.formulas import batch_at_ridge, decode_step, intensity
from twohalves.runs import Run, reference
from twohalves.runs.reference import claim
from twohalves.show.calculator.words import amount, exact, number
from twohalves.show.chips import on_laptops
from twohalves.show.given import above_zero, whole
from twohalves.show.markdown import fold, say, table
from twohalves.show.numbers import counted, fixed, percent, seconds, significant, times
from twohalves.show.roofline import chapter_roof, chapter_step, parameters

_GIGA = 1e9
BITS = 16
"""Of a weight, in the chapter's sums."""


def one_user() -> Markdown:
    """What a single user leaves idle on the chapter's chip: the page's opening."""
    roof, step = chapter_roof(), chapter_step(1, 0)
    reading, computing = step.bytes_moved / roof.bandwidth, step.flop / roof.peak_flop_s
    return say(
        f"Take the chapter's model with weights of {fixed(BITS)} bits on an H100-class "
        f"accelerator, which can do {exact(claim('h100_tflops'))} TFLOP and read "
        f"{exact(claim('h100_tb_s'))} TB a second. For one token of one user it reads "
        f"{exact(step.bytes_moved / _GIGA)} GB. That takes {seconds(reading)}. It computes "
        f"{exact(step.flop / _GIGA)} GFLOP, which take {seconds(computing)}. For "
        f"{percent(1 - computing / reading, 1)} of the step the arithmetic has nothing to do."
    )


def guess() -> Markdown:
    """The page's prediction; what it asks for is computed further down."""
    return say(
        "> **Prediction** — Weights that were read for one user can serve others in the same "
        "step. With how many users does arithmetic have as much to do as memory? And if weights "
        f"have {fixed(claim('weights_nominal_bits'))} bits instead of {fixed(BITS)}: is that "
        "number larger or smaller? Write both down."
    )


def counted_out(run: Run, batch: int, bits: float) -> Markdown:
    """FLOP and bytes of a step for models of several sizes: they differ, their ratio does not.

    Args:
        run: whose model stands beside the chapter's.
        batch: users that share the step.
        bits: of a weight.

    Raises:
        QuantityUnusable: no user, or no bits.
    """
    batch, bits = whole("users", batch), above_zero("bits", bits, "bits of a weight", 64)
    sizes = [
        (reference.session()["model"]["tag"], parameters()),
        (f"a model of {fixed(claim('big_model_b'))} billion", claim("big_model_b") * _GIGA),
    ]
    own = run.session["model"].get("parameter_count")
    if own:
        sizes.insert(0, (run.session["model"]["name"], own))
    rows = []
    for name, weights in sizes:
        step = decode_step(weights, bits, batch)
        operations, size = step.flop / _GIGA, step.bytes_moved / _GIGA
        rows.append([name, significant(operations), significant(size), number(step.intensity)])
    caption = (
        f"One step of decode for {counted(batch, 'user')}, weights of {exact(bits)} bits. The "
        "cache is not in it yet."
    )
    return table(["model", "GFLOP", "GB of weights", "FLOP a byte"], rows, caption)


def not_this_chip() -> Markdown:
    """That the ridge is another chip's than the one whose timings the chapter prints."""
    return say(
        "> **Caution** — That ridge belongs to a data center. The chapter's timings come from a "
        "laptop, whose arithmetic is weaker beside its bandwidth. Few vendors give a peak for "
        "one. Where it is told, for graphics at 32 bits, the ridge is at "
        f"{on_laptops()} operations a byte. So prefill is even further beyond, and fewer users "
        "bring decode there. The chapter does not name its chip, so no figure can be computed for "
        "it."
    )


def batches() -> tuple[int, ...]:
    """One, two, the fiftieth and the three-hundredth."""
    return 1, 2, int(claim("free_request")), int(claim("costly_request"))


def guess_free() -> Markdown:
    """The prediction before steps of larger batches are computed."""
    free, late = claim("free_request"), claim("costly_request")
    return say(
        f"> **Prediction** — Two users instead of one, then {fixed(free)}, then {fixed(late)}: "
        "with which of these does a step begin to take longer?"
    )


def without_caches() -> Markdown:
    """Step, pace of one user and throughput of all, if weights were all there is to read."""
    rows = []
    for batch in batches():
        took = _step_s(batch)
        longer = times(took / _step_s(1))
        rows.append([fixed(batch), seconds(took), longer, amount(1 / took), amount(batch / took)])
    header = ["users", "a step", "of one user's", "tok/s each", "tok/s together"]
    caption = (
        f"Computed, not measured: the chapter's model at {fixed(BITS)} bits on the H100-class "
        "part, which is assumed to reach its limits. Nobody has any context yet."
    )
    return table(header, rows, caption)


def nearly_free() -> Markdown:
    """What the second, the fiftieth and the three-hundredth cost if only weights are read."""
    free, late, alone = claim("free_request"), claim("costly_request"), _step_s(1)
    return say(
        f"The second user costs nothing, and neither does the {fixed(free)}th. With "
        f"{fixed(late)} a step begins to take longer, by {percent(_step_s(late) / alone - 1)}. "
        f"With twice as many it takes {times(_step_s(2 * late) / alone)} as long. From the "
        "ridge on, throughput no longer grows, and everybody pays for everybody. With smaller "
        "weights that begins earlier, as the table of ridges says."
    )


def guess_with_caches() -> Markdown:
    """The prediction before caches are counted."""
    return say(
        f"> **Prediction** — {fixed(claim('free_request'))} users again, now each with a "
        f"conversation of {fixed(claim('longest_prompt'))} tokens. Without caches their step took "
        "as long as that of one user. How many times as long does it take with them?"
    )


def disagreements() -> Markdown:
    """A fold with what the chapter's figures of this section leave open."""
    items = [_fiftieth(), _magnitude(), _without_source(), _asserted()]
    return fold(
        "Where the chapter's figures of this section need a condition",
        "\n".join(f"- {item}" for item in items),
    )


def _fiftieth() -> str:
    ridge, few, real = chapter_roof().ridge, claim("weights_nominal_bits"), claim("avg_bits")
    free, late = fixed(claim("free_request")), fixed(claim("costly_request"))
    return (
        f"**The {free}th and the {late}th.** The first is nearly free and the second is not: that "
        f"holds for weights of {fixed(BITS)} bits and no context. At {fixed(few)} bits arithmetic "
        f"is busy from {fixed(batch_at_ridge(ridge, few))} on, at the file's real {exact(real)} "
        f"from {fixed(batch_at_ridge(ridge, real))}. And with contexts like those of the chapter's "
        f"own tables the {free}th is not free at all."
    )


def _magnitude() -> str:
    ratio = intensity(claim("longest_prompt")) / chapter_roof().ridge
    return (
        "**More than an order of magnitude.** The chapter says that its longest prompt lies more "
        f"than {fixed(claim('prefill_past_ridge'))} times beyond the ridge. It is {number(ratio)} "
        "times."
    )


def _without_source() -> str:
    return (
        f"**A chip without a source.** The chapter prints {exact(claim('h100_tflops'))} TFLOP/s "
        f"and {exact(claim('h100_tb_s'))} TB/s and names no page. The table of chips does."
    )


def _asserted() -> str:
    return (
        f"**{fixed(claim('assertions'))} times.** So often, it says, it has called decode "
        "memory-bound before it shows why. Its text does so less often; the others may be in its "
        "diagram."
    )


def _step_s(batch: float) -> float:
    return chapter_roof().seconds(chapter_step(batch, 0))
