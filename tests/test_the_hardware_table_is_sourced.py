"""Every chip of data/hardware.csv has a source, a date, and figures that can be right."""

import csv
import datetime
import pathlib
import re

import pytest

from twohalves.errors import UnknownName
from twohalves.runs import hardware
from twohalves.show import chips

TABLE = pathlib.Path(__file__).resolve().parents[1] / "data" / "hardware.csv"
with TABLE.open(encoding="utf-8", newline="") as _file:
    ROWS = list(csv.DictReader(_file))
each_row = pytest.mark.parametrize("row", ROWS, ids=[row["name"] for row in ROWS])


def test_a_dozen_chips_and_laptops_among_them():
    """Accelerators, cards and laptops; some rows are the vendor's own word."""
    kinds = {row["kind"] for row in ROWS}

    assert len(ROWS) >= 12
    assert kinds == {"accelerator", "card", "laptop"}
    assert len({row["name"] for row in ROWS}) == len(ROWS)
    assert sum(row["said_by"] == "vendor" for row in ROWS) >= 12


@each_row
def test_a_row_has_a_source_and_a_day(row):
    """A page that can be opened, the day it was read, who says it, and what the figures mean.

    Nothing lies behind the last column: a comma in a note is quoted.
    """
    assert None not in row
    assert re.fullmatch(r"https://[\w.-]+\.\w+/\S+", row["source"])
    assert datetime.date(2020, 1, 1) <= datetime.date.fromisoformat(row["read"])
    assert row["said_by"] in {"vendor", "secondhand"}
    assert row["note"]


@each_row
def test_a_row_is_in_its_units(row):
    """A slip of a thousand would leave these bounds: tera for peaks, giga for the rest."""
    assert 50 <= float(row["bandwidth_gb_s"]) <= 20_000
    assert 8 <= float(row["memory_gb"]) <= 600
    for precision in ("fp32", "fp16", "8bit"):
        peak = row[f"peak_{precision}_tflop_s"]
        assert not peak or 1 <= float(peak) <= 20_000


@each_row
def test_narrower_arithmetic_is_not_slower(row):
    """Peaks rise from 32 bits to 16 to 8, at most sixfold and fourfold: none counts sparsity."""
    fp32, fp16, narrow = (
        float(row[f"peak_{precision}_tflop_s"] or 0) for precision in ("fp32", "fp16", "8bit")
    )

    if fp32 and fp16:
        assert fp32 <= fp16 <= 9 * fp32
    if fp16 and narrow:
        assert fp16 <= narrow <= 4 * fp16


@each_row
def test_the_ridge_is_the_quotient(row):
    """TFLOP/s x 1,000 over GB/s; a row without a peak has no ridge, and says so in the table."""
    chip = hardware.chip(row["name"])
    said = next(
        line.split(" | ")
        for line in chips.every_chip().data.splitlines()
        if line.startswith((f"| {chip.name} |", f"| {chip.name} †"))
    )

    if not row["peak_fp16_tflop_s"]:
        assert chip.roof() is None
        assert said[3] == "–"
        return
    ridge = float(row["peak_fp16_tflop_s"]) * 1000 / float(row["bandwidth_gb_s"])
    assert chip.roof().ridge == pytest.approx(ridge)
    assert 50 < ridge < 1000
    assert abs(int(said[3]) - ridge) <= 0.5


@pytest.mark.parametrize(
    ("name", "tflop_s", "gb_s"),
    [
        ("NVIDIA H100", 989, 3350),
        ("NVIDIA H200", 989, 4800),
        ("NVIDIA L40S", 362.05, 864),
        ("NVIDIA A100", 312, 2039),
        ("AMD Instinct MI300X", 1307.4, 5300),
        ("Google TPU v6e", 918, 1638),
        ("AWS Trainium3", 671, 4900),
    ],
)
def test_a_few_known_by_heart(name, tflop_s, gb_s):
    """Peaks without sparsity, checked by hand against the pages."""
    chip = hardware.chip(name)

    assert chip.peaks["fp16"] == pytest.approx(tflop_s * 1e12)
    assert chip.bandwidth == pytest.approx(gb_s * 1e9)


def test_the_chapters_part_is_in_the_table():
    """The chapter prints 989 and 3.35 without a source; the table has both, with one."""
    assert round(hardware.chip("NVIDIA H100").roof().ridge) == 295


def test_secondhand_is_marked_where_it_is_shown():
    """A dagger behind the name in every table, and words in the list of sources.

    A caption explains the marks that its table has, and no others.
    """
    assert "† = somebody" in chips.ridges().data
    assert "– = the source" not in chips.ridges().data
    assert "– = the source" in chips.every_chip().data
    for row in ROWS:
        marked = row["said_by"] != "vendor"
        assert (f"| {row['name']} † |" in chips.every_chip().data) == marked
        told = next(
            line for line in chips.every_chip().data.splitlines() if f"- {row['name']}:" in line
        )
        assert ("not the vendor" in told) == marked
        assert row["source"] in told
        assert row["read"] in told


def test_an_unknown_chip_lists_the_known():
    """And the nearest of them."""
    with pytest.raises(UnknownName) as caught:
        hardware.chip("NVIDIA H10")
    assert "NVIDIA H100" in str(caught.value)
