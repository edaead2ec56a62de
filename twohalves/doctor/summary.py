"""One line on what this machine brings: the first thing to ask for when somebody needs help."""

from __future__ import annotations

import os
import platform
import shutil

from twohalves.doctor.check import Here
from twohalves.doctor.machine import GIB, memory
from twohalves.places import PROJECT


def line(server: str, model: str, window: int | None) -> str:
    """Python, cores, memory, disk, server and model, each with the figure that matters.

    Args:
        server: who answers, with the version.
        model: its model's name.
        window: the model's trained window in tokens; None = not told.
    """
    told = memory(Here())
    parts = [f"Python {platform.python_version()}", f"{os.cpu_count()} cores"]
    if told.available is not None and told.total is not None:
        parts.append(f"memory {told.available / GIB:.1f} of {told.total / GIB:.1f} GiB free")
    parts += [
        f"disk {shutil.disk_usage(PROJECT).free / GIB:.0f} GiB free",
        f"server {server}",
        f"model {model}, window {'unknown' if window is None else f'{window:,} tokens'}",
    ]
    return "Doctor: " + " · ".join(parts)
