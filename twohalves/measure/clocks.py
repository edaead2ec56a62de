"""Three clocks beside each other: a machine that slept, and a clock that was set, show.

No duration in a row comes from the wall clock. Here it is read only to see how far it went
beside the others.
"""

from __future__ import annotations

import platform
import sys
import time
from dataclasses import dataclass

SMALLEST_S = 1.0
"""Differences below this many seconds are slewing and rounding."""

_PAIRS = {
    "Linux": ("CLOCK_MONOTONIC", "CLOCK_BOOTTIME"),
    "Darwin": ("CLOCK_UPTIME_RAW", "CLOCK_MONOTONIC_RAW"),
}
"""The system's clock that stops in sleep, and the one that does not."""

if sys.platform == "win32":
    import ctypes


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What the clocks say at one moment, seconds; only differences mean anything."""

    awake_s: float
    """Stands still while the machine sleeps."""
    through_s: float | None
    """Goes on while it sleeps, and cannot be set; None where the system has no such clock."""
    wall_s: float
    """Goes on while it sleeps, and can be set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """What became of the time between two readings."""

    slept_s: float
    """Seconds of sleep; 0 for none."""
    set_s: float
    """Seconds by which the wall clock was set, negative for back; 0 for not."""


def read() -> Reading:
    """Read all clocks, as close together as can be."""
    awake_s, through_s = _system()
    return Reading(awake_s=awake_s, through_s=through_s, wall_s=time.time())


def between(before: Reading, after: Reading) -> Gap:
    """Sleep, and setting of the clock, between two readings.

    Where no clock tells sleep from a clock that was set forward, it is taken for sleep: a
    request asked once more costs less than a wrong duration.
    """
    awake, wall = after.awake_s - before.awake_s, after.wall_s - before.wall_s
    if before.through_s is None or after.through_s is None:
        ahead = wall - awake
        return Gap(slept_s=_clear(max(ahead, 0.0)), set_s=_clear(min(ahead, 0.0)))
    through = after.through_s - before.through_s
    return Gap(slept_s=_clear(max(through - awake, 0.0)), set_s=_clear(wall - through))


def _clear(seconds: float) -> float:
    return round(seconds, 1) if abs(seconds) >= SMALLEST_S else 0.0


def _system() -> tuple[float, float | None]:
    """A clock that stops in sleep, and one that does not, if the system has both."""
    if sys.platform == "win32":
        unbiased = ctypes.c_ulonglong()
        ctypes.windll.kernel32.QueryUnbiasedInterruptTime(ctypes.byref(unbiased))
        ctypes.windll.kernel32.GetTickCount64.restype = ctypes.c_ulonglong
        return unbiased.value / 1e7, ctypes.windll.kernel32.GetTickCount64() / 1e3
    awake, through = _PAIRS.get(platform.system(), ("", ""))
    if not (hasattr(time, awake) and hasattr(time, through)):
        return time.monotonic(), None
    return time.clock_gettime(getattr(time, awake)), time.clock_gettime(getattr(time, through))
