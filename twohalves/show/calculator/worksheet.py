"""The worksheet of section 31.6: what one kind of request takes, and what a month of it costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from twohalves.formulas import (
    Bill,
    FittedLatency,
    Prices,
    Traffic,
    bill,
    hit_rate_that_pays,
    hit_rate_worth_the_output,
    machine_hours,
    saved_by_cache,
    saved_by_hit_rate,
)
from twohalves.show.calculator.bars import bars
from twohalves.show.calculator.rates import RateSet, beyond, chosen, line
from twohalves.show.calculator.spec import Results, Spec, Values
from twohalves.show.calculator.words import with_unit

_MILLION = 1_000_000
SHORTER_PROMPT, REACHED_HIT_RATE, SHORTER_ANSWER = 0.5, 0.6, 0.3
"""The levers: part of the prompt that goes, hit rate to reach, part of the answer that goes."""


def compute(values: Values, rates: Sequence[RateSet]) -> Results:
    """All outputs, by their ids in data/worksheet.json."""
    given = {name: float(value) for name, value in values.items() if not isinstance(value, str)}
    traffic = Traffic(
        prompt_tokens=given["prompt_tokens"],
        output_tokens=given["output_tokens"],
        hit_rate=given["hit_rate"],
        write_share=given["write_share"],
        requests=given["requests"],
    )
    prices = prices_of(given)
    curve = chosen(values, rates).curve
    time = _time(traffic, curve)
    hours = machine_hours(time["total_s"], traffic.requests, given["at_once"])
    own = hours * given["machine_price"]
    return {
        **time,
        **_money(traffic, prices),
        **_levers(traffic, prices, curve),
        "hit_pays": hit_rate_that_pays(prices, traffic.write_share),
        "hit_worth_output": hit_rate_worth_the_output(traffic, prices),
        "own_hours": hours,
        "own_cost": own,
        "own_million": own / traffic.requests * _MILLION,
    }


def prices_of(given: Mapping[str, float]) -> Prices:
    """The four prices among the worksheet's inputs, or of a price sheet."""
    return Prices(
        uncached=given["price_uncached"],
        cached=given["price_cached"],
        written=given["price_written"],
        output=given["price_output"],
    )


def sentence(spec: Spec, values: Values, texts: dict[str, str], results: Results) -> str:
    """The outcome in a few short sentences."""
    prompt, output = spec["inputs"][0], spec["inputs"][1]
    read, written = float(values["prompt_tokens"]), float(values["output_tokens"])
    said = (
        f"{with_unit(prompt, read)} in and {with_unit(output, written)} out take "
        f"{texts['total_s']}; {texts['prefill_share']} of it is prefill, the wait before the "
        "first token. "
    )
    month = f"A month with {with_unit(spec['inputs'][3], float(values['requests']))} costs"
    cost, without = f"{month} {texts['cost_total']}", texts["nocache_cost_total"]
    nothing = "Nothing comes from cache"
    if texts["cost_total"] != without:
        cost += f"; without the cache it would be {without}"
        nothing += ", yet what is written to it is charged"
    if not values["hit_rate"]:
        return f"{said}{nothing}. {cost}."
    skipped = texts["skipped_tokens"]
    noun = prompt["unit_one"] if skipped == "1" else prompt["unit"]
    saved = f"and saves {texts['saved_s']}" if results["saved_s"] else "but saves no time"
    return f"{said}The cache skips {skipped} {noun} {saved}. {cost}."


def notes(values: Values, results: Results, rates: Sequence[RateSet]) -> list[str]:
    """Where the figures leave what was measured, where a cache does harm, whose rates they are."""
    used = chosen(values, rates)
    found = [beyond(used, float(values["prompt_tokens"]))]
    if (results["cost_saved"] or 0.0) < 0:
        found.append("With these prices the cache costs more than it saves.")
    return [*(note for note in found if note), line(used)]


def picture(results: Results, texts: dict[str, str], told: str) -> str:
    """Without a cache above with it."""
    decode = results["decode_s"] or 0.0
    rows = [
        (f"no cache: {texts['nocache_total_s']}", results["nocache_ttft_s"] or 0.0, decode),
        (f"with cache: {texts['total_s']}", results["ttft_s"] or 0.0, decode),
    ]
    return bars(rows, told)


def _time(traffic: Traffic, curve: FittedLatency) -> dict[str, float]:
    prompt, cached = traffic.prompt_tokens, traffic.prompt_tokens * traffic.hit_rate
    cold, warm = curve.ttft_s(prompt), curve.ttft_s(prompt, cached)
    decode = curve.decode_s(prompt, traffic.output_tokens)
    return {
        "ttft_s": warm,
        "nocache_ttft_s": cold,
        "decode_s": decode,
        "total_s": warm + decode,
        "nocache_total_s": cold + decode,
        "prefill_share": _part(warm, warm + decode) or 0.0,
        "nocache_prefill_share": _part(cold, cold + decode) or 0.0,
        "saved_s": curve.saved_s(cached),
        "skipped_tokens": cached,
        "machine_hours": machine_hours(warm + decode, traffic.requests),
        "nocache_machine_hours": machine_hours(cold + decode, traffic.requests),
    }


def _money(traffic: Traffic, prices: Prices) -> Results:
    month, without = bill(traffic, prices), bill(traffic.uncached, prices)
    prompt, output = traffic.prompt_tokens, traffic.output_tokens
    return {
        **_lines(month),
        "nocache_cost_input": without.input,
        "nocache_cost_total": without.total,
        "cost_saved": saved_by_cache(traffic, prices),
        "input_share": _part(month.input, month.total),
        "token_share": _part(prompt, prompt + output),
        "token_ratio": _part(prompt, output),
        "money_ratio": _part(month.input, month.output),
        "cost_request": month.total / traffic.requests,
        "cost_million": month.total / traffic.requests * _MILLION,
    }


def _lines(month: Bill) -> Results:
    return {
        "uncached_tokens": month.uncached_tokens,
        "cached_tokens": month.cached_tokens,
        "written_tokens": month.written_tokens,
        "answer_tokens": month.output_tokens,
        "cost_uncached": month.uncached,
        "cost_cached": month.cached,
        "cost_written": month.written,
        "cost_output": month.output,
        "cost_input": month.input,
        "cost_total": month.total,
    }


def _levers(traffic: Traffic, prices: Prices, curve: FittedLatency) -> Results:
    """What each would save on its own, from where the reader is: dollars a month, seconds."""
    month, hit_rate = bill(traffic, prices), traffic.hit_rate
    prompt, output = traffic.prompt_tokens, traffic.output_tokens
    shorter, brief = prompt * (1 - SHORTER_PROMPT), output * (1 - SHORTER_ANSWER)
    reached = hit_rate >= REACHED_HIT_RATE
    first, decode = curve.ttft_s(prompt, prompt * hit_rate), curve.decode_s(prompt, output)
    return {
        "lever_prompt": month.input * SHORTER_PROMPT,
        "lever_cache": None if reached else saved_by_hit_rate(traffic, prices, REACHED_HIT_RATE),
        "lever_answer": month.output * SHORTER_ANSWER,
        "lever_prompt_s": first
        - curve.ttft_s(shorter, shorter * hit_rate)
        + (decode - curve.decode_s(shorter, output)),
        "lever_cache_s": None
        if reached
        else first - curve.ttft_s(prompt, prompt * REACHED_HIT_RATE),
        "lever_answer_s": decode - curve.decode_s(prompt, brief),
    }


def _part(of: float, whole: float) -> float | None:
    return of / whole if whole else None
