"""Section 31.4, the reader's own model on a chip of choice: where the calculator begins."""

from __future__ import annotations

from twohalves.formulas import bytes_per_token, cache_bytes
from twohalves.formulas.sizing import average_bits
from twohalves.runs import Run
from twohalves.runs.reference import claim
from twohalves.show.calculator import Start
from twohalves.show.numbers import counted
from twohalves.show.roofline_own import model_of
from twohalves.show.run_model import kv_type

_KIB, _LEAST = 1024, 0.001
"""The second: what the calculator takes at least, billions and KiB alike."""


def start(run: Run) -> dict[str, Start]:
    """The run's model for the calculator; empty where its bytes cannot be counted.

    The chip stays the chapter's: a run shows floors of its machine, and floors are no limits.
    """
    shape, model, source = model_of(run), run.session["model"], f"run {run.id}"
    if isinstance(shape, str):
        return {}
    tokens, kind = int(claim("longest_prompt")), kv_type(run)
    if not shape.layers:
        kept = ": its model keeps nothing that grows with context"
    elif bytes_per_token(shape, kind).windowed:
        kept = f", at {counted(tokens, 'token')}: some layers keep only the last ones"
    else:
        kept = ""
    count = model["parameter_count"]
    token = cache_bytes(shape, tokens, kv_type=kind) / tokens
    return {
        "parameters_b": Start(max(_LEAST, round(count / 1e9, 3)), source),
        "bits": Start(round(average_bits(model["size"], count), 2), source),
        "token_kib": Start(max(_LEAST, round(token / _KIB, 3)), source + kept),
    }
