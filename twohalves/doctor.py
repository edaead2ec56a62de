"""One line on what this machine brings: the first thing to ask for when somebody needs help."""

from __future__ import annotations

import os
import platform
import shutil

import psutil

from twohalves.places import PROJECT
from twohalves.server import ModelFacts, Server

GIB = 1024**3


def line(server: Server, model: ModelFacts) -> str:
    """Python, cores, memory, disk, server and model, each with the figure that matters."""
    memory = psutil.virtual_memory()
    window = "unknown" if model.context_length is None else f"{model.context_length:,} tokens"
    said = [
        f"Python {platform.python_version()}",
        f"{os.cpu_count()} cores",
        f"memory {memory.available / GIB:.1f} of {memory.total / GIB:.1f} GiB free",
        f"disk {shutil.disk_usage(PROJECT).free / GIB:.0f} GiB free",
        f"server {server.kind} {server.version or '(version unknown)'}",
        f"model {model.name}, window {window}",
    ]
    return "Doctor: " + " · ".join(said)
