"""Section 31.4, the reader's own model on a chip of choice: where the calculator begins."""

from __future__ import annotations

from twohalves.formulas import bytes_per_token, cache_bytes, kv_shape
from twohalves.runs import Run
from twohalves.runs.reference import claim
from twohalves.show.byte_count import kv_type
from twohalves.show.calculator import Start
from twohalves.show.numbers import counted
from twohalves.show.roofline_own import own

_KIB = 1024


def start(run: Run) -> dict[str, Start]:
    """The run's model for the calculator; empty where its bytes cannot be counted.

    The chip stays the chapter's: a run shows floors of its machine, and floors are no limits.
    """
    found, model = own(run), run.session["model"]
    if isinstance(found, str):
        return {}
    shape, tokens = kv_shape(model.get("own_keys") or {}), int(claim("longest_prompt"))
    token = bytes_per_token(shape, kv_type(run))
    values = {
        "parameters_b": round(model["parameter_count"] / 1e9, 3),
        "bits": round(found.bits, 2),
    }
    begun = {name: Start(value, f"run {run.id}") for name, value in values.items()}
    cache = cache_bytes(shape, tokens, kv_type=kv_type(run)) / tokens
    if cache:
        within = f", at {counted(tokens, 'token')}: some layers keep only the last ones"
        source = f"run {run.id}{within if token.windowed else ''}"
        begun["token_kib"] = Start(max(0.001, round(cache / _KIB, 3)), source)
    return begun
