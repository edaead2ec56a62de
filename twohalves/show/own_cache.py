"""Section 31.3: what the cache of the reader's own model weighs, from its metadata."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from IPython.display import Markdown

from twohalves.formulas import KvShape, bytes_per_token, cache_bytes
from twohalves.formulas.memory import margin_bytes
from twohalves.runs import Run, reference
from twohalves.runs.reference import claim
from twohalves.show.cache_size import GB, GIB, KIB, both, chapter_shape
from twohalves.show.calculator import Start
from twohalves.show.calculator.words import amount, number
from twohalves.show.markdown import say, table
from twohalves.show.numbers import counted, fixed, times
from twohalves.show.run_model import kv_type, kv_type_told, shape_of


def own_token(run: Run) -> Markdown:
    """What the model's metadata say and the bytes that follow, beside the chapter's model."""
    shape = _shape(run)
    if isinstance(shape, str):
        return say(f"> **Note** — The cache of this model cannot be sized. {shape}")
    window, theirs = _window(run), replace(chapter_shape(), query_heads=int(claim("attn_heads")))
    labels = ["layers that keep keys and values", "KV heads in a layer", "query heads"]
    labels += ["numbers in a key and a value", "bytes for a token"]
    labels.append(f"cache of {fixed(window)} tokens")
    columns = (_column(shape, window, kv_type(run)), _column(theirs, window, "f16"))
    caption = (
        f"{run.session['model']['name']}, run {run.id}, cache type {kv_type_told(run)}; "
        f"{reference.session()['model']['tag']} at f16."
    )
    rows = [list(row) for row in zip(labels, *columns, strict=True)]
    return table(["", "yours", "chapter"], rows, caption)


def _column(shape: KvShape, window: int, cache_type: str) -> list[str]:
    token = bytes_per_token(shape, cache_type)
    layers = shape.layers
    widths = [
        _listed(getattr(layer, f"{which}_width") for layer in layers) for which in ("key", "value")
    ]
    return [
        fixed(len(layers)),
        _listed(layer.heads for layer in layers),
        fixed(shape.query_heads),
        " + ".join(widths),
        fixed(token.growing + token.windowed),
        both(cache_bytes(shape, window, kv_type=cache_type)),
    ]


def own_sizes(run: Run) -> Markdown:
    """The same in a sentence, beside the model's file and the chapter's model."""
    shape = _shape(run)
    if isinstance(shape, str):
        return say("The sliders below begin with the chapter's model; put in what you know.")
    token, window = bytes_per_token(shape, kv_type(run)), _window(run)
    said = [_against_the_file(run, cache_bytes(shape, window, kv_type=kv_type(run)))]
    ratio = bytes_per_token(chapter_shape()).growing / (token.growing + token.windowed)
    said.append(
        f"A token of the chapter's model, at f16, costs {times(ratio)} as much as one of yours."
    )
    if token.windowed:
        said.append(
            f"Of each token {amount(token.windowed / KIB)} KiB are kept in layers with a window, "
            "which forget it again: there the cache stops growing once the window is full. An "
            "engine without windows keeps all of it."
        )
    if not _alike(shape):
        said.append("The sliders know layers of one kind only, so they begin with the chapter's.")
    return say(" ".join(said), *(f"> **Note** — {note}" for note in shape.notes))


def start(run: Run) -> dict[str, Start]:
    """The reader's model and machine, for the sliders; empty where layers are not alike."""
    shape = _shape(run)
    if isinstance(shape, str) or not _alike(shape):
        return {}
    layer, session = shape.layers[0], run.session
    size, count = session["model"].get("size"), session["model"].get("parameter_count")
    values: dict[str, float | str | None] = {
        "layers": len(shape.layers),
        "kv_heads": layer.heads,
        "head_dim": layer.key_width,
        "weights_gb": _in(size, GB, 3),
        "parameters_b": _in(count or 0, GB, 3),
        "tokens": _window(run),
        "cache_type": kv_type(run),
        "memory_gib": _in(session["machine"].get("memory_bytes"), GIB, 2),
        "margin_gib": size and math.ceil(margin_bytes(_window(run), 1, size) / GIB * 100) / 100,
    }
    sources = {
        "memory_gib": f"main memory of the machine of run {run.id}",
        "margin_gib": "this project's estimate for the model and the window, rounded up",
    }
    if not count:
        sources["parameters_b"] = f"not told in run {run.id}"
    return {
        name: Start(value, sources.get(name, f"run {run.id}"))
        for name, value in values.items()
        if value is not None
    }


def _shape(run: Run) -> KvShape | str:
    """The model's, or why it is not known."""
    shape = shape_of(run)
    if isinstance(shape, KvShape) and not shape.layers:
        return "None of its layers keeps keys and values: nothing grows."
    return shape


def _alike(shape: KvShape) -> bool:
    first = shape.layers[0]
    plain = first.window is None and first.key_width == first.value_width
    return plain and set(shape.layers) == {first}


def _window(run: Run) -> int:
    """Tokens that the run asked its server for."""
    return int(run.session["options"]["num_ctx"])


def _against_the_file(run: Run, cache: int) -> str:
    window, size = _window(run), run.session["model"].get("size")
    said = f"{counted(window, 'token')} of context take {both(cache)}"
    if not size:
        return f"{said}."
    return f"{said}, {number(cache / size)} times the model's file of {amount(size / GB)} GB."


def _in(size: int | None, unit: int, decimals: int) -> float | None:
    return None if size is None else round(size / unit, decimals)


def _listed(values: Iterable[int]) -> str:
    return ", ".join(fixed(value) for value in sorted(set(values)))
