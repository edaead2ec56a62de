"""Cores, memory and power: what the rates of a run depend on."""

from __future__ import annotations

import contextlib
import importlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from twohalves.doctor.check import Here
from twohalves.doctor.findings import Finding, Steps, Trouble, fail, ok, wait, warn
from twohalves.doctor.limits import limits

GIB = 2**30
LITTLE_BYTES = 2 * GIB
"""Below this a model of 3 billion weights is read from the disk again and again."""
LEAST_BYTES = GIB // 4
"""Below this not even the built-in model with its window can be held."""

FEW_CORES = Trouble(
    title="The container may use less than it sees",
    symptoms=("tokens per second far below another machine's", "throttled"),
    meaning="A container's limit on processor time is kept by stopping all threads for part of "
    "each tenth of a second. An engine that starts a thread for each core it sees is then stopped "
    "in the middle of its work, and every rate is too low by an amount that is not constant.",
    steps=Steps(
        linux="Start the container with `docker run --cpus={cores} --cpuset-cpus=0-{last} …`, or "
        "measure outside of it.",
        macos="Docker Desktop › Settings › Resources › CPU limit; `docker info` shows the number.",
        windows="Docker Desktop › Settings › Resources, for WSL `notepad $HOME\\.wslconfig` and "
        "`wsl --shutdown`.",
    ),
    example={"cores": "4", "last": "3"},
)
LITTLE_MEMORY = Trouble(
    title="Little memory is free",
    symptoms=(
        "model requires more system memory",
        "llama runner process has terminated: signal: killed",
        "MemoryError",
        "The kernel appears to have died. It will restart automatically.",
    ),
    meaning="Weights that do not fit are read from the disk for every token, or the system ends "
    "the largest program.",
    steps=Steps(
        linux="`ps aux --sort=-rss | head` shows what takes most; close it, or "
        "`export TWOHALVES_SERVER=builtin` for the small model.",
        macos="`ps aux -m | head` shows what takes most; close it, or "
        "`export TWOHALVES_SERVER=builtin` for the small model.",
        windows="`Get-Process | Sort-Object WS -Descending | Select-Object -First 8` shows what "
        'takes most; close it, or `$env:TWOHALVES_SERVER = "builtin"` for the small model.',
    ),
)
ON_BATTERY = Trouble(
    title="The machine runs on its battery, or saves power",
    symptoms=("every run is slower than the one before", "rates halve after some minutes"),
    meaning="On battery, or in a power-saving mode, a processor lowers its clock by itself: the "
    "rates are those of the mode and drift with it.",
    steps=Steps(
        linux="Plug in the charger; `powerprofilesctl set performance` (with root: "
        "`cpupower frequency-set -g performance`).",
        macos="Plug in the charger; `pmset -g batt` shows the source, `sudo pmset -a lowpowermode "
        "0` ends the saving mode.",
        windows="Plug in the charger; `powercfg /setactive SCHEME_MIN` chooses high performance.",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CoresFacts:
    """Processors."""

    logical: int | None
    """As the system counts them; None = not told."""
    physical: int | None
    """Without the second thread of each; None = not told."""
    allowed: int | None
    """That this process may run on; None = all, or not told."""
    limit: float | None
    """Processors' worth of time that a container allows; None = no limit."""


def cores(here: Here) -> CoresFacts:
    """Count the processors."""
    psutil = installed_psutil()
    allowed = None
    if hasattr(os, "sched_getaffinity"):
        allowed = len(os.sched_getaffinity(0))
    return CoresFacts(
        logical=os.cpu_count(),
        physical=psutil.cpu_count(logical=False) if psutil else None,
        allowed=allowed,
        limit=limits(here.root).cpus,
    )


def judge_cores(facts: CoresFacts) -> Finding:
    """A container's limit below the number that an engine sees disturbs every rate."""
    if facts.logical is None:
        return ok("their number is not told")
    seen = facts.allowed or facts.logical
    physical = "" if facts.physical is None else f" ({facts.physical} physical)"
    said = f"{facts.logical} logical{physical}"
    if seen < facts.logical:
        said += f", {seen} of them for this process"
    if facts.limit is not None and facts.limit < seen:
        whole = max(1, int(facts.limit))
        return warn(
            f"{said}, limited to {facts.limit:.1f} by the container",
            FEW_CORES,
            cores=str(whole),
            last=str(whole - 1),
        )
    return ok(said)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFacts:
    """Memory, in bytes; None = not told."""

    available: int | None
    """That programs may still take."""
    total: int | None
    """Of the machine."""
    limit: int | None
    """Allowed by a container; None = no limit."""


def memory(here: Here) -> MemoryFacts:
    """Ask for the memory of the machine, and of the container around this process."""
    available, total = _machine_memory(here.root)
    allowed = limits(here.root)
    if allowed.memory_bytes is not None and allowed.memory_used_bytes is not None:
        left = max(0, allowed.memory_bytes - allowed.memory_used_bytes)
        available = left if available is None else min(available, left)
    return MemoryFacts(available=available, total=total, limit=allowed.memory_bytes)


def _machine_memory(root: Path) -> tuple[int | None, int | None]:
    psutil = installed_psutil()
    if psutil is not None and root == Path("/"):
        told = psutil.virtual_memory()
        return told.available, told.total
    with contextlib.suppress(OSError, ValueError):  # no such file: not a Linux
        text = (root / "proc" / "meminfo").read_text(encoding="ascii", errors="replace")
        rows = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
        kib = {name: int(value.split()[0]) for name, value in rows.items() if value.split()}
        total = kib.get("MemTotal")
        available = kib.get("MemAvailable")
        return available and available * 1024, total and total * 1024
    return None, None


def judge_memory(facts: MemoryFacts) -> Finding:
    """Enough for a small model at least."""
    if facts.available is None or facts.total is None:
        return wait("told once the packages are installed")
    said = f"{facts.available / GIB:.1f} of {facts.total / GIB:.1f} GiB free"
    if facts.limit is not None and facts.limit < facts.total:
        said += f", limited to {facts.limit / GIB:.1f} GiB by the container"
    if facts.available < LEAST_BYTES:
        return fail(said, LITTLE_MEMORY)
    return warn(said, LITTLE_MEMORY) if facts.available < LITTLE_BYTES else ok(said)


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerFacts:
    """Where the power comes from; None = not told, or no battery."""

    percent: float | None
    """Charge of the battery."""
    plugged: bool | None
    """Whether the charger is in."""
    saving: str | None
    """Name of a setting that lowers the clock; None = none that is known."""


def power(here: Here) -> PowerFacts:
    """Ask for the battery and the processor's own rule for its clock."""
    psutil = installed_psutil()
    battery = None
    if psutil is not None and hasattr(psutil, "sensors_battery"):
        battery = psutil.sensors_battery()
    return PowerFacts(
        percent=None if battery is None else float(battery.percent),
        plugged=None if battery is None else battery.power_plugged,
        saving=saving(here.root),
    )


def saving(root: Path) -> str | None:
    """The setting that keeps the clock low; None = none.

    With the drivers intel_pstate and amd-pstate-epp the name powersave is the usual state and
    saves nothing by itself: there the preference beside it tells.
    """
    folder = root / "sys" / "devices" / "system" / "cpu" / "cpu0" / "cpufreq"
    names = ("scaling_driver", "scaling_governor", "energy_performance_preference")
    driver, governor, preference = (_first_line(folder / name) for name in names)
    if driver in {"intel_pstate", "amd-pstate-epp"}:
        return "preference power" if preference == "power" else None
    return "governor powersave" if governor == "powersave" else None


def _first_line(path: Path) -> str:
    with contextlib.suppress(OSError):
        return path.read_text(encoding="ascii", errors="replace").strip()
    return ""


def judge_power(facts: PowerFacts) -> Finding:
    """On a charger, and not saving."""
    charge = "" if facts.percent is None else f", battery at {facts.percent:.0f} %"
    if facts.plugged is False:
        return warn(f"on battery{charge}", ON_BATTERY)
    if facts.saving is not None:
        return warn(f"the processor saves power ({facts.saving}){charge}", ON_BATTERY)
    return ok(f"on the charger{charge}" if facts.plugged else "no battery that the system tells of")


def installed_psutil() -> Any:  # noqa: ANN401 — it carries no types
    """The package that knows every system; None = not installed yet."""
    try:
        return importlib.import_module("psutil")
    except ImportError:
        return None
