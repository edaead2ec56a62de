"""Section 31.3: what a token costs in models of other designs, and in a file of the reader's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from IPython.display import Markdown

from twohalves.formulas import KvLayer, KvShape, bytes_per_token, cache_bytes, config_shape
from twohalves.runs import published
from twohalves.runs.published import Published
from twohalves.show.cache_size import GIB, KIB, both, chapter_shape
from twohalves.show.calculator.words import amount
from twohalves.show.given import whole
from twohalves.show.markdown import fold, say, table
from twohalves.show.numbers import counted, fixed, percent, times

TOKENS = 32_768
"""The conversation that all are compared at, or the longest that a model was made for."""
_SECOND = "Gemma 3 4B"
"""The model that the prediction sets beside the chapter's."""
_SHOWN = ("Llama 3.2 3B", _SECOND, "Gemma 3n E4B", "DeepSeek V3", "Qwen3 Next 80B")
"""The plain design and one model for each other; the rest is folded."""


def guess() -> Markdown:
    """The prediction before the table of designs."""
    ours, theirs = chapter_shape(), _second()
    return say(
        f"> **Prediction** — {_SECOND} has {len(theirs.layers)} layers, and a key is "
        f"{theirs.layers[0].key_width} numbers wide. The chapter's model has {len(ours.layers)} "
        f"layers, and its keys are {ours.layers[0].key_width} wide. Which of the two takes more "
        f"memory for {counted(TOKENS, 'token')}, and by what factor?"
    )


def answer() -> Markdown:
    """What became of the prediction."""
    ours, theirs = chapter_shape(), _second()
    first, second = (bytes_per_token(shape) for shape in (ours, theirs))
    cache, other = (cache_bytes(shape, TOKENS) for shape in (ours, theirs))
    growing = sum(layer.window is None for layer in theirs.layers)
    return say(
        f"The chapter's model takes **{times(cache / other)} as much**: {both(cache)} for "
        f"{counted(TOKENS, 'token')}, and {both(other)} in {_SECOND}. A first token costs less, "
        f"{amount(first.growing / KIB)} KiB against "
        f"{amount((second.growing + second.windowed) / KIB)} KiB. But of the {len(theirs.layers)} "
        f"layers of {_SECOND} only {growing} keep every token; the others stop at "
        f"{fixed(theirs.layers[0].window)}."
    )


def by_design() -> Markdown:
    """Public models: what grows with each token, what stops growing, what never grows."""
    caption = (
        "At f16. Behind the × stand the tokens of the window; engines may add a batch. A state is "
        "there from the first token and does not grow. Memory is for one conversation of "
        f"{counted(TOKENS, 'token')}."
    )
    shown = [model for model in published.models() if model.name in _SHOWN]
    others = [model for model in published.models() if model.name not in _SHOWN]
    shorter = [
        f"{fixed(_tokens(model))} for {model.name}" for model in others if _tokens(model) < TOKENS
    ]
    rest = f"As above; {' and '.join(shorter)}, which were made for no more."
    return say(
        _designs(shown, caption).data,
        fold(f"{len(others)} more models", _designs(others, rest).data).data,
    )


def _designs(models: Sequence[Published], caption: str) -> Markdown:
    rows = []
    for model in models:
        shape, tokens = config_shape(model.config), _tokens(model)
        rows.append(
            [
                f"{model.name}: {model.design}",
                fixed(bytes_per_token(shape).growing),
                _windowed(shape),
                _state(shape),
                _memory(shape, tokens),
            ]
        )
    header = ["model", "bytes a token", "within a window", "state, MB", "memory, GiB"]
    return table(header, rows, caption)


def shortcuts() -> Markdown:
    """What comes out when the heads and layers of a configuration are simply multiplied."""
    rows = []
    for model in published.models():
        shape, tokens, short = config_shape(model.config), _tokens(model), model.by_shortcut()
        ratio = None if short is None else short * tokens / _whole(shape, tokens)
        rows.append(
            [
                f"{model.name}: {model.mistake}",
                "none" if short is None else fixed(short),
                "–" if ratio is None else times(ratio),
            ]
        )
    caption = (
        "The shortcut multiplies layers, heads, the width of key and value, and two bytes. The "
        "last column is its size over the right one, for as many tokens."
    )
    header = ["model, and what was overlooked", "bytes a token", "too much by"]
    return fold("What a shortcut makes of them", table(header, rows, caption).data)


def one(shape: KvShape, tokens: int, k_type: str = "f16", v_type: str | None = None) -> Markdown:
    """A model's layers by kind, what a token takes, and a whole conversation.

    Args:
        shape: the model.
        tokens: of the conversation.
        k_type: how keys are kept, a name in `formulas.KV_TYPES`.
        v_type: how values are kept; None = as keys are.

    Raises:
        QuantityUnusable: no count of tokens.
        UnknownName: no such cache type.
    """
    tokens = whole("tokens", tokens)
    types = f"keys in {k_type}, values in {v_type or k_type}"
    kinds = table(
        ["", "KV heads", "key + value", "tokens kept", "bytes a token"],
        [_kind(layer, count, k_type, v_type) for layer, count in Counter(shape.layers).items()],
        f"Layers that keep keys and values; {types}.",
    )
    above = [kinds.data] if shape.layers else []
    return say(*above, _sentence(shape, tokens, k_type, v_type), *_remarks(shape, tokens))


def _kind(layer: KvLayer, count: int, k_type: str, v_type: str | None) -> list[str]:
    return [
        counted(count, "layer"),
        fixed(layer.heads),
        f"{fixed(layer.key_width)} + {fixed(layer.value_width)}",
        "all" if layer.window is None else f"the last {fixed(layer.window)}",
        fixed(count * layer.bytes_per_token(k_type, v_type)),
    ]


def _second() -> KvShape:
    return next(config_shape(model.config) for model in published.models() if model.name == _SECOND)


def _sentence(shape: KvShape, tokens: int, k_type: str, v_type: str | None) -> str:
    if not shape.layers:
        return "There is no layer that keeps keys and values, so no token adds anything."
    token = bytes_per_token(shape, k_type, v_type)
    said = f"A token adds {amount((token.growing + token.windowed) / KIB)} KiB"
    if token.windowed:
        said += f" at first, and {amount(token.growing / KIB)} KiB once the windows are full"
    plain = cache_bytes(shape, tokens)
    cache = cache_bytes(shape, tokens, kv_type=k_type, v_type=v_type)
    said += f". {counted(tokens, 'token')} take {both(cache)}"
    if cache != plain:
        said += f", {percent(cache / plain)} of what they take in f16"
    return f"{said}."


def _remarks(shape: KvShape, tokens: int) -> list[str]:
    """What was assumed, and how else the model may be kept."""
    said = list(shape.notes)
    if shape.state_bytes:
        said.append(f"Its state takes {_state(shape)} MB beside, at any length.")
    said += [
        f"An engine that {what} takes {fixed(bytes_per_token(other).growing)} bytes a token at "
        f"f16, and {both(cache_bytes(other, tokens))} for this conversation."
        for what, other in shape.otherwise
    ]
    if shape.trained and tokens > shape.trained:
        said.append(
            f"This model was made for {counted(shape.trained, 'token')} at most. An engine may "
            "set aside a longer cache; what the model writes there is worth little."
        )
    return [f"> **Note** — {note}" for note in said]


def _tokens(model: Published) -> int:
    return min(TOKENS, model.longest)


def _memory(shape: KvShape, tokens: int) -> str:
    if shape.state_bytes is None:
        return "not known"
    return amount(_whole(shape, tokens) / GIB)


def _whole(shape: KvShape, tokens: int) -> int:
    return cache_bytes(shape, tokens) + (shape.state_bytes or 0)


def _windowed(shape: KvShape) -> str:
    sizes: Counter[int] = Counter()
    for layer in shape.layers:
        if layer.window is not None:
            sizes[layer.window] += layer.bytes_per_token("f16")
    if not sizes:
        return "–"
    return ", ".join(f"{fixed(size)} × {fixed(at)}" for at, size in sorted(sizes.items()))


def _state(shape: KvShape) -> str:
    if shape.state_bytes is None:
        return "not known"
    return amount(shape.state_bytes / 10**6) if shape.state_bytes else "–"
