"""The calculator of section 31.1: two counts, two constant rates, one bar."""

from __future__ import annotations

from collections.abc import Sequence

from twohalves.show.calculator.bars import bars
from twohalves.show.calculator.rates import RateSet, beyond, chosen, line
from twohalves.show.calculator.spec import Results, Spec, Values
from twohalves.show.calculator.words import with_unit


def compute(values: Values, rates: Sequence[RateSet]) -> Results:
    """Both halves, their sum, and the part of the first."""
    prompt, output = float(values["prompt_tokens"]), float(values["output_tokens"])
    curve = chosen(values, rates).curve
    prefill, decode = curve.ttft_s(prompt), curve.decode_s(prompt, output)
    total = prefill + decode
    return {
        "prefill_s": prefill,
        "decode_s": decode,
        "total_s": total,
        "prefill_share": prefill / total if total else 0.0,
    }


def sentence(spec: Spec, values: Values, texts: dict[str, str], _results: Results) -> str:
    """The prediction in one sentence."""
    prompt, output, *_ = spec["inputs"]
    read, written = float(values["prompt_tokens"]), float(values["output_tokens"])
    return (
        f"{with_unit(prompt, read)} in and {with_unit(output, written)} out take "
        f"{texts['total_s']}: {texts['prefill_s']} to read and {texts['decode_s']} to write; "
        f"{texts['prefill_share']} of the time is prefill."
    )


def notes(values: Values, _results: Results, rates: Sequence[RateSet]) -> list[str]:
    """Where the prediction leaves what was measured, and whose rates it uses."""
    used = chosen(values, rates)
    found = beyond(used, float(values["prompt_tokens"]))
    return [*([found] if found else []), line(used)]


def picture(results: Results, texts: dict[str, str], told: str) -> str:
    """The one bar."""
    label = f"{texts['prefill_s']} prefill, {texts['decode_s']} decode"
    return bars([(label, results["prefill_s"] or 0.0, results["decode_s"] or 0.0)], told)
