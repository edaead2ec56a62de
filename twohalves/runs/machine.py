"""Which machine measured: enough to tell machines apart and to read the rates with."""

from __future__ import annotations

import hashlib
import os
import pathlib
import platform
from typing import Any

import psutil

BUSY = 0.5
"""Runnable programs per core from which a machine counts as busy."""


def facts() -> dict[str, Any]:
    """What the rates of a run depend on, as far as the system tells.

    Sizes in bytes. `id` is a hash of the host's name and processor: it tells two machines
    apart without naming either.
    """
    processor = processor_name()
    identity = f"{platform.node()}|{processor}|{os.cpu_count()}"
    return {
        "id": hashlib.sha256(identity.encode("utf-8")).hexdigest()[:12],
        "processor": processor,
        "architecture": platform.machine(),
        "logical_cores": os.cpu_count(),
        "memory_bytes": psutil.virtual_memory().total,
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "on_battery": _on_battery(),
    }


def load_average() -> float | None:
    """Runnable processes over the last minute; None where the system keeps no such figure."""
    return psutil.getloadavg()[0] if hasattr(psutil, "getloadavg") else None


def was_busy(session: dict[str, Any]) -> bool:
    """Whether other programs kept the machine busy when a run began; False if not known."""
    before = session["load_average"]["before"]
    return before is not None and before > BUSY * session["machine"]["logical_cores"]


def processor_name() -> str:
    """The processor's own name where the system gives one, else its architecture."""
    listing = pathlib.Path("/proc/cpuinfo")
    if listing.exists():
        for line in listing.read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name" and value.strip():
                return value.strip()
    return platform.processor() or platform.machine()


def _on_battery() -> bool | None:
    battery = psutil.sensors_battery() if hasattr(psutil, "sensors_battery") else None
    return None if battery is None else not battery.power_plugged
