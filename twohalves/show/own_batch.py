"""Section 31.4, the reader's own model on a chip of choice: where the calculator begins."""

from __future__ import annotations

from twohalves.formulas import bytes_per_token, kv_shape
from twohalves.runs import Run
from twohalves.show.byte_count import kv_type
from twohalves.show.calculator import Start
from twohalves.show.roofline_own import own

_KIB = 1024


def start(run: Run) -> dict[str, Start]:
    """The run's model for the calculator; empty where its bytes cannot be counted.

    The chip stays the chapter's: a run shows floors of its machine, and floors are no limits.
    """
    found, model = own(run), run.session["model"]
    if isinstance(found, str):
        return {}
    token = bytes_per_token(kv_shape(model.get("own_keys") or {}), kv_type(run))
    values = {
        "parameters_b": round(model["parameter_count"] / 1e9, 3),
        "bits": round(found.bits, 2),
    }
    if not token.windowed:
        values["token_kib"] = round(token.growing / _KIB, 3)
    return {name: Start(value, f"run {run.id}") for name, value in values.items()}
