"""The rows as a pandas table, for readers who want to go on by themselves."""

from __future__ import annotations

import dataclasses

import pandas as pd

from twohalves.runs import derive
from twohalves.runs.conditions import tokens_outside_the_clock
from twohalves.runs.load import Run


def frame(run: Run) -> pd.DataFrame:
    """Every row of a run, warm-ups and invalid ones too, with seconds and rates beside it.

    Columns as in `timings.csv`, then `prefill_s`, `decode_s`, `ttft_s`, `tpot_s`, `total_s`
    (seconds), `prefill_rate`, `decode_rate` (tokens per second) and `ratio`. Whole numbers stay
    whole and unknown cells are missing, not zero.
    """
    free = tokens_outside_the_clock(run)
    records = [
        dataclasses.asdict(row)
        | {
            "prefill_s": derive.prefill_s(row),
            "decode_s": derive.decode_s(row),
            "ttft_s": derive.ttft_s(row),
            "tpot_s": derive.tpot_s(row),
            "total_s": derive.total_s(row),
            "prefill_rate": derive.prefill_rate(row),
            "decode_rate": derive.decode_rate(row, free),
            "ratio": derive.rate_ratio(row, free),
        }
        for row in run.timings
    ]
    return pd.DataFrame(records).convert_dtypes()
