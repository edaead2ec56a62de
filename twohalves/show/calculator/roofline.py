"""The calculator of section 31.4: users who share a chip, and which of its limits they meet.

The arithmetic of attention is left out, as in the chapter; so a chip at its roof is all there is.
"""

from __future__ import annotations

from collections.abc import Sequence

from twohalves.formulas import (
    Roof,
    Work,
    batch_at_ridge,
    batch_at_ridge_with_cache,
    batch_in_memory,
    batch_within,
    decode_step,
    intensity,
)
from twohalves.show import svg
from twohalves.show.calculator.rates import RateSet
from twohalves.show.calculator.spec import Results, Spec, Values
from twohalves.show.numbers import counted

_TERA, _GIGA, _KIB = 1e12, 1e9, 1024
_WIDTH, _HEIGHT, _LEFT = 360, 148, 4.0
_ROOM = _WIDTH - 2 * _LEFT


def compute(values: Values, _rates: Sequence[RateSet]) -> Results:
    """Intensities, the batches at which each limit is met, and the step of this one."""
    number = {name: float(value) for name, value in values.items()}
    roof = Roof(
        peak_flop_s=number["peak_tflop_s"] * _TERA, bandwidth=number["bandwidth_gb_s"] * _GIGA
    )
    model = (number["parameters_b"] * _GIGA, number["bits"])
    cache = number["context_tokens"] * number["token_kib"] * _KIB
    weights, memory = model[0] * model[1] / 8, number["memory_gb"] * _GIGA
    users, limit = number["users"], number["limit_ms"] / 1000
    work = decode_step(*model, users, cache_bytes=cache)
    took, alone = roof.seconds(work), roof.seconds(decode_step(*model, cache_bytes=cache))
    return {
        "ridge": roof.ridge,
        "intensity_weights": intensity(users, model[1]),
        "intensity": work.intensity,
        "batch_ridge": batch_at_ridge(roof.ridge, model[1]),
        "batch_ridge_cache": batch_at_ridge_with_cache(roof.ridge, *model, cache),
        "batch_memory": _fit(memory, weights, cache),
        "batch_limit": float(batch_within(roof, limit, *model, cache)),
        "weights_gb": weights / _GIGA,
        "caches_gb": users * cache / _GIGA,
        "memory_s": work.bytes_moved / roof.bandwidth,
        "arithmetic_s": work.flop / roof.peak_flop_s,
        "step_s": took,
        "slower": took / alone,
        "each_tok_s": 1 / took,
        "all_tok_s": users / took,
        "busy": _busy(work, roof),
    }


def sentence(_spec: Spec, values: Values, texts: dict[str, str], results: Results) -> str:
    """What the step waits for, what each and all get, and whether they fit."""
    users = counted(float(values["users"]), "user")
    waits = "memory" if _of(results, "memory_s") >= _of(results, "arithmetic_s") else "arithmetic"
    shared = "" if values["users"] == 1 else f", {texts['slower']} times that of one user"
    return (
        f"A step of {users} takes {texts['step_s']}{shared}, and waits for {waits}. "
        f"{_pace(values, texts)} {_room(values, texts, results)}"
    )


def notes(values: Values, results: Results, _rates: Sequence[RateSet]) -> list[str]:
    """Promises that are missed, and what is not counted."""
    found = []
    if float(values["users"]) > _of(results, "batch_limit"):
        found.append("With so many users a step takes longer than the next token may.")
    if results["batch_ridge_cache"] is None:
        found.append(
            "With this context no batch reaches the ridge: "
            "each user adds more reading than arithmetic."
        )
    found.append("A chip at its limits, which none is: steps are floors, tokens a second ceilings.")
    found.append("Attention's own arithmetic and the reading of prompts are not in it.")
    return found


def picture(results: Results, texts: dict[str, str], told: str) -> str:
    """Two bars: what memory needs for a step, weights then caches, and what arithmetic needs."""
    memory, arithmetic = _of(results, "memory_s"), _of(results, "arithmetic_s")
    scale = _ROOM / max(memory, arithmetic)
    weights, caches = _of(results, "weights_gb"), _of(results, "caches_gb")
    split = memory * scale * (weights / (weights + caches))
    parts = [
        svg.label(_LEFT, 16, f"reading: {texts['memory_s']}"),
        svg.box(_LEFT, 22, split, 18, svg.FAINT),
        svg.box(_LEFT + split, 22, memory * scale - split, 18, svg.PREFILL),
        svg.label(_LEFT, 66, f"arithmetic: {texts['arithmetic_s']}"),
        svg.box(_LEFT, 72, arithmetic * scale, 18, svg.DECODE),
        svg.box(_LEFT, 116, 14, 14, svg.FAINT),
        svg.label(_LEFT + 20, 128, "weights"),
        svg.box(_LEFT + 90, 116, 14, 14, svg.PREFILL),
        svg.label(_LEFT + 110, 128, "caches"),
        svg.box(_LEFT + 176, 116, 14, 14, svg.DECODE),
        svg.label(_LEFT + 196, 128, "arithmetic"),
    ]
    return svg.inline("roofline", _WIDTH, _HEIGHT, told, parts)


def _fit(memory: float, weights: float, cache: float) -> float | None:
    """Users whose caches fit; None where the weights alone do not."""
    return float(batch_in_memory(memory, weights, cache)) if memory >= weights else None


def _busy(work: Work, roof: Roof) -> float:
    """The part of the chip's arithmetic that the step uses."""
    return roof.attainable(work.intensity) / roof.peak_flop_s


def _pace(values: Values, texts: dict[str, str]) -> str:
    if values["users"] == 1:
        return f"That is {texts['each_tok_s']} tok/s at most."
    return f"Each gets {texts['each_tok_s']} tok/s at most, together {texts['all_tok_s']}."


def _room(values: Values, texts: dict[str, str], results: Results) -> str:
    if results["batch_memory"] is None:
        return f"But weights of {texts['weights_gb']} GB do not fit into {texts['memory_gb']} GB."
    if float(values["users"]) > results["batch_memory"]:
        verdict = "But not all of the caches fit"
    else:
        verdict = "All caches fit"
    held = counted(results["batch_memory"], "cache")
    return f"{verdict}: {texts['memory_gb']} GB hold weights and {held}."


def _of(results: Results, name: str) -> float:
    found = results[name]
    return 0.0 if found is None else found
