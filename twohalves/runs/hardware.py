"""Chips that people run models on, in `data/hardware.csv`: limits as they are published."""

from __future__ import annotations

import csv
import functools
from dataclasses import dataclass

from twohalves.errors import UnknownName
from twohalves.formulas import Roof
from twohalves.places import DATA

PRECISIONS = ("fp32", "fp16", "8bit")
"""Kinds of arithmetic that a vendor gives a peak for; fp16 stands for bf16 as well."""
_TERA, _GIGA = 1e12, 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """One accelerator, card or laptop chip, as its source describes it."""

    name: str
    """Vendor and product."""
    kind: str
    """accelerator, card or laptop."""
    peaks: dict[str, float]
    """Dense FLOP a second by precision; a precision that the source does not give is missing."""
    bandwidth: float
    """Bytes a second of its memory."""
    memory_bytes: float
    """Bytes of it, the most that the chip is sold with; GiB of a source are counted as GB, so that
    what fits here fits there."""
    said_by: str
    """vendor, or secondhand: somebody who repeats what the vendor says."""
    source: str
    """The page that says so."""
    read: str
    """The day on which it was read, ISO."""
    note: str
    """What the figures mean, and further sources."""

    def roof(self, precision: str = "fp16") -> Roof | None:
        """Its two limits; None where the source gives no peak of that precision."""
        peak = self.peaks.get(precision)
        return None if peak is None else Roof(peak_flop_s=peak, bandwidth=self.bandwidth)


@functools.cache
def chips() -> tuple[Chip, ...]:
    """All of the table, fastest memory first."""
    with (DATA / "hardware.csv").open(encoding="utf-8", newline="") as file:
        found = [_chip(row) for row in csv.DictReader(file)]
    return tuple(sorted(found, key=lambda chip: -chip.bandwidth))


def chip(name: str) -> Chip:
    """One of them.

    Raises:
        UnknownName: no chip of that name in the table.
    """
    named = {each.name: each for each in chips()}
    if name not in named:
        kind = "chip"
        raise UnknownName(kind, name, tuple(named))
    return named[name]


def _chip(row: dict[str, str]) -> Chip:
    peaks = {
        precision: float(row[f"peak_{precision}_tflop_s"]) * _TERA
        for precision in PRECISIONS
        if row[f"peak_{precision}_tflop_s"]
    }
    return Chip(
        name=row["name"],
        kind=row["kind"],
        peaks=peaks,
        bandwidth=float(row["bandwidth_gb_s"]) * _GIGA,
        memory_bytes=float(row["memory_gb"]) * _GIGA,
        said_by=row["said_by"],
        source=row["source"],
        read=row["read"],
        note=row["note"],
    )
