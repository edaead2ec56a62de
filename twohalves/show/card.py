"""Section 31.3: which models fit on a card, with how much context and for how many at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from IPython.display import Markdown

from twohalves.errors import UnknownName
from twohalves.formulas import KvShape, uniform_shape
from twohalves.formulas.sizing import (
    Fit,
    Serving,
    average_bits,
    largest_type,
    largest_window,
    most_bits,
    most_sequences,
    ranked,
    weights_bytes,
)
from twohalves.runs import Run
from twohalves.runs.reference import claim
from twohalves.show.cache_size import GB, GIB, chapter_shape, windows
from twohalves.show.calculator.words import amount, exact, number
from twohalves.show.given import above_zero, whole
from twohalves.show.markdown import say, table
from twohalves.show.numbers import counted, fixed
from twohalves.show.run_model import kv_type, shape_of

_BILLION = 10**9
_NEMO_BILLION = 12.2
_MOST_BITS = 32
_STATE = 30 * (32 * 128 * 128 + 3 * (2 * 16 + 32) * 128) * 4
"""Of 30 layers with linear attention: 32 heads of 128 × 128 numbers, and 3 tokens' worth of what
the convolution looks back at, all of them 4 bytes."""


def three() -> dict[str, Serving]:
    """Three models of different design, each at bits at which people run it.

    The chapter's at 16 bits. Mistral Nemo, whose model card names 40 layers and 8 KV heads of
    128, at the 8.5 bits of q8_0. The chapter's mixture of experts with the file that it names;
    its shape is that of Qwen3.5-35B-A3B as THUDM/slime trains it: 40 layers, of which every
    fourth attends, with 2 KV heads of 256.
    """
    experts = replace(uniform_shape(10, 2, 256), query_heads=16, state_bytes=_STATE)
    nemo = replace(uniform_shape(40, 8, 128), query_heads=32)
    return {
        "Llama 3.2 3B, 16 bits": _serving(chapter_shape(), claim("fp16_weights_gb")),
        "Mistral Nemo 12B, 8.5 bits": Serving(
            shape=nemo, weights_bytes=weights_bytes(_NEMO_BILLION * _BILLION, 8.5)
        ),
        "Qwen3.6 35B-A3B, its file": _serving(experts, claim("moe_file_gb")),
    }


def which(
    card_gib: float = 24,
    window: int | None = None,
    sequences: int = 1,
    models: Mapping[str, Serving] | None = None,
) -> Markdown:
    """Models on a card: what each needs, what is left, and how far it could go.

    Args:
        card_gib: memory of the card, GiB, above 0.
        window: tokens of context in each sequence, above 0; 32,768 if None.
        sequences: served at once, above 0.
        models: by name; `three()` if None.

    Raises:
        QuantityUnusable: no card, no window, nobody to serve.
        UnknownName: no such cache type.
    """
    memory, window, sequences = _asked(card_gib, window, sequences, windows()[1])
    found = ranked(models or three(), memory, window, sequences)
    rows = [_row(fit) for fit in found]
    header = ["model", "weights", "cache", "margin", "sum", "of the card", "window", "at once"]
    caption = (
        f"A card of {exact(card_gib)} GiB, which are {amount(card_gib * GIB / GB)} GB, with "
        f"{counted(sequences, 'sequence')} of {counted(window, 'token')}. Sizes are in GB. Last "
        "come the largest window for that many sequences and the most sequences of that window; "
        "what a model was trained for may be less."
    )
    return say(table(header, rows, caption).data, _verdict(found))


def _verdict(found: Sequence[Fit]) -> str:
    """Who does not fit, and whether that is certain."""
    missed = [fit for fit in found if fit.left < 0]
    if not missed:
        return "All of them fit."
    named = ", ".join(f"{fit.name} ({amount(-fit.left / GB)} GB missing)" for fit in missed)
    close = any(-fit.needs.margin <= fit.left for fit in missed)
    doubt = " Where less than the margin is missing, only a try can tell." if close else ""
    return f"**Too large for it: {named}.**{doubt}"


def experts() -> Markdown:
    """What a mixture of experts needs in memory, and what its active weights alone would say."""
    total, active, file = (claim(name) for name in ("moe_total_b", "moe_active_b", "moe_file_gb"))
    bits = average_bits(file * GB, total * _BILLION)
    wrong = weights_bytes(active * _BILLION, bits) / GB
    return say(
        f"The chapter's example, from the book's chapter 12, has {exact(total)} billion weights, "
        f"{exact(active)} billion of them active for a token, and a file of {exact(file)} GB: "
        f"{number(bits)} bits for each of all weights. Whoever sizes by the active ones expects "
        f"{amount(wrong)} GB, and cannot load it."
    )


def backwards(
    card_gib: float = 24, window: int | None = None, sequences: int = 1, name: str = ""
) -> Markdown:
    """The three inverse questions for one of the three models: window, sequences, bits.

    Args:
        card_gib: memory of the card, GiB, above 0.
        window: tokens of context in each sequence, above 0; 32,768 if None.
        sequences: served at once, above 0.
        name: a key of `three()`; the last one if empty.

    Raises:
        UnknownName: no such model.
        QuantityUnusable: no card, no window, nobody to serve.
    """
    memory, window, sequences = _asked(card_gib, window, sequences, windows()[1])
    billions = (claim("params_billion"), _NEMO_BILLION, claim("moe_total_b"))
    parameters = dict(zip(three(), billions, strict=True))
    name = name or list(parameters)[-1]
    if name not in parameters:
        kind = "model"
        raise UnknownName(kind, name, tuple(parameters))
    said = _answers(three()[name], parameters[name], memory, window, sequences)
    return say(f"**{name}, on {exact(card_gib)} GiB.** {said}")


def own(run: Run, card_gib: float = 24, window: int | None = None, sequences: int = 1) -> Markdown:
    """The inverse questions for the model of a run.

    Args:
        run: whose model it is.
        card_gib: memory of the card, GiB, above 0.
        window: tokens of context in each sequence, above 0; the run's if None.
        sequences: served at once, above 0.

    Raises:
        QuantityUnusable: no card, no window, nobody to serve.
    """
    model = run.session["model"]
    measured = int(run.session["options"]["num_ctx"])
    memory, window, sequences = _asked(card_gib, window, sequences, measured)
    shape = shape_of(run)
    if isinstance(shape, str):
        return say(f"> **Note** — This model cannot be sized. {shape}")
    if not model.get("size"):
        return say("> **Note** — The run does not tell the size of the model's file.")
    serving = Serving(shape=shape, weights_bytes=model["size"], kv_type=kv_type(run))
    count = model.get("parameter_count")
    billions = count / _BILLION if count else None
    said = _answers(serving, billions, memory, window, sequences)
    trained = model.get("context_length")
    limit = f" It was trained for {counted(trained, 'token')}, whatever fits." if trained else ""
    return say(f"**{model['name']}, on {exact(card_gib)} GiB.** {said}{limit}")


def _asked(
    card_gib: float, window: int | None, sequences: int, default: int
) -> tuple[int, int, int]:
    """Bytes of the card, tokens of the window and sequences, as a cell gives them."""
    return (
        int(above_zero("card_gib", card_gib, "GiB of memory") * GIB),
        default if window is None else whole("window", window),
        whole("sequences", sequences, most=10**6),
    )


def _answers(
    serving: Serving, billions: float | None, memory: int, window: int, sequences: int
) -> str:
    """Window, sequences and bits that fit, a sentence each."""
    longest = largest_window(serving, memory, sequences)
    most = most_sequences(serving, memory, window)
    at_once = "" if sequences == 1 else f" in each of {fixed(sequences)} sequences"
    fit = "fits" if most == 1 else "fit"
    told = counted(window, "token")
    said = [
        f"The largest window{at_once} is {counted(longest, 'token')}."
        if longest
        else f"Not even one token{at_once} fits.",
        f"Of {told} each, {counted(most, 'sequence')} {fit} at once."
        if most
        else f"Of {told}, not even one sequence fits.",
    ]
    if billions:
        bits = most_bits(serving, billions * _BILLION, memory, window, sequences)
        now = average_bits(serving.weights_bytes, billions * _BILLION)
        said.append(_bits(bits, now, window, sequences))
    return " ".join(said)


def _bits(bits: float, now: float, window: int, sequences: int) -> str:
    asked = f"{counted(sequences, 'sequence')} of {counted(window, 'token')}"
    if not bits:
        return f"Beside {asked} there is no room for any weights."
    if bits >= _MOST_BITS:
        return f"Beside {asked} its weights fit at any bits; they take {number(now)}."
    kind = largest_type(bits)
    name = f"the largest type within that is {kind}" if kind else "no type is so small"
    return f"Beside {asked} a weight may take {number(bits)} bits, and takes {number(now)}; {name}."


def _serving(shape: KvShape, weights_gb: float) -> Serving:
    return Serving(shape=shape, weights_bytes=round(weights_gb * GB))


def _row(fit: Fit) -> list[str]:
    needs = fit.needs
    sizes = (needs.weights, needs.cache, needs.margin, needs.total)
    window = fixed(fit.window) if fit.window else "none"
    return [
        fit.name,
        *(amount(size / GB) for size in sizes),
        _left(fit),
        window,
        fixed(fit.sequences),
    ]


def _left(fit: Fit) -> str:
    if fit.left >= 0:
        return f"{amount(fit.left / GB)} left"
    return f"{amount(-fit.left / GB)} missing"
