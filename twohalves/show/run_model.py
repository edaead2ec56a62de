"""What a run's metadata say of its model: the shape of its cache, and how the cache was kept."""

from __future__ import annotations

from twohalves.errors import TwoHalvesError
from twohalves.formulas import KV_TYPES, KvShape, kv_shape
from twohalves.runs import Run

_DEFAULT_KV = "f16"


def shape_of(run: Run) -> KvShape | str:
    """What its model keeps of each token, or why that is not known."""
    try:
        return kv_shape(run.session["model"].get("own_keys") or {})
    except TwoHalvesError as error:
        return error.what


def kv_type(run: Run) -> str:
    """The type of the run's cache; Ollama's default where no API tells."""
    said = run.session["server"].get("kv_type", _DEFAULT_KV)
    return said if said in KV_TYPES else _DEFAULT_KV


def kv_type_told(run: Run) -> str:
    """The same for a reader, who is told where it is the default."""
    told = "kv_type" in run.session["server"]
    return f"{kv_type(run)}{'' if told else ', taken as the default'}"
