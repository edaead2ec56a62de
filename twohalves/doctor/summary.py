"""One line on what this machine brings, below the one that says who answers."""

from __future__ import annotations

import os
import platform
import shutil

from twohalves.doctor.check import Here
from twohalves.doctor.machine import GIB, memory
from twohalves.places import PROJECT


def line(window: int | None) -> str:
    """Python, cores, memory, disk and the model's window, each with the figure that matters.

    Args:
        window: trained window in tokens; None = not told.
    """
    told = memory(Here())
    parts = [f"Python {platform.python_version()}", f"{os.cpu_count()} cores"]
    if told.available is not None and told.total is not None:
        parts.append(f"{told.available / GIB:.1f} of {told.total / GIB:.1f} GiB memory free")
    parts.append(f"{shutil.disk_usage(PROJECT).free / GIB:.0f} GiB disk free")
    if window is not None:
        parts.append(f"window {window:,} tokens")
    return ", ".join(parts)
