"""Writes worksheet.json: what the worksheet of section 31.6 must compute and show everywhere.

Derived apart from the code under test, in exact fractions: a saving is the difference of two
bills or of two durations, a break-even is the root of a line through two bills. Run it again
after a change of wording, from the project's folder: ``python3 -m tests.vectors.make_worksheet``.
"""

from dataclasses import dataclass, field
from fractions import Fraction

from tests.vectors import exact, worksheet_cases
from tests.vectors.exact import decode_of, prefill_of

OUTPUTS = [each["id"] for each in exact.DESCRIBED["worksheet"]["outputs"]]
HALF, REACHED, BRIEF = Fraction("0.5"), Fraction("0.6"), Fraction("0.7")


@dataclass
class Month:
    """Tokens and dollars of a month, by kind of token."""

    tokens: dict = field(default_factory=dict)
    dollars: dict = field(default_factory=dict)

    @property
    def input(self):
        return self.total - self.dollars["output"]

    @property
    def total(self):
        return sum(self.dollars.values())


def month_of(given, **changed):
    """The bill: each token has one kind and that kind's price."""
    given = given | changed
    read = given["prompt_tokens"] * given["requests"]
    cached = read * given["hit_rate"]
    written = (read - cached) * given["write_share"]
    tokens = {
        "uncached": read - cached - written,
        "cached": cached,
        "written": written,
        "output": given["output_tokens"] * given["requests"],
    }
    costs = {kind: count * given[f"price_{kind}"] / 10**6 for kind, count in tokens.items()}
    return Month(tokens, costs)


def without_cache(given, **changed):
    return month_of(given, **changed, hit_rate=Fraction(0), write_share=Fraction(0))


def times_of(given, curve, **changed):
    """Seconds to the first token without a cache and with it, and of the decode after it."""
    given = given | changed
    tokens = given["prompt_tokens"]
    cold = prefill_of(curve, tokens)
    warm = prefill_of(curve, tokens, tokens * given["hit_rate"])
    return cold, min(cold, warm), decode_of(curve, tokens, given["output_tokens"])


def whole(times):
    return times[1] + times[2]


def line_of(given):
    """Dollars of a million prompt tokens at a hit rate of 0, and what a full hit takes off it."""
    million = {"prompt_tokens": Fraction(10**6), "requests": Fraction(1)}
    none, full = (month_of(given, **million, hit_rate=Fraction(rate)).input for rate in (0, 1))
    return none, none - full


def hit_that_pays(given):
    none, slope = line_of(given)
    extra = none - given["price_uncached"]
    if extra <= 0:
        return Fraction(0) if given["price_cached"] <= given["price_uncached"] else None
    return extra / slope if slope > extra else None


def hit_worth_output(given):
    """Where the saving on the prompt is the price of the answer."""
    none, slope = line_of(given)
    if slope <= 0:
        return None
    answer = given["output_tokens"] * given["price_output"] / given["prompt_tokens"]
    root = (answer + none - given["price_uncached"]) / slope
    return max(root, Fraction(0)) if root <= 1 else None


def part(of, whole):
    return of / whole if whole else None


def time_results(given, curve):
    cold, warm, decode = times_of(given, curve)
    hours = given["requests"] / 3600
    return {
        "ttft_s": warm,
        "nocache_ttft_s": cold,
        "decode_s": decode,
        "total_s": warm + decode,
        "nocache_total_s": cold + decode,
        "prefill_share": part(warm, warm + decode) or Fraction(0),
        "nocache_prefill_share": part(cold, cold + decode) or Fraction(0),
        "saved_s": cold - warm,
        "skipped_tokens": given["prompt_tokens"] * given["hit_rate"],
        "machine_hours": (warm + decode) * hours,
        "nocache_machine_hours": (cold + decode) * hours,
        "own_hours": (own := (warm + decode) * hours / given["at_once"]),
        "own_cost": own * given["machine_price"],
        "own_million": own * given["machine_price"] / given["requests"] * 10**6,
    }


def money_results(given):
    month, without = month_of(given), without_cache(given)
    prompt, output = given["prompt_tokens"], given["output_tokens"]
    return {
        **{f"{kind}_tokens": count for kind, count in month.tokens.items()},
        "answer_tokens": month.tokens["output"],
        **{f"cost_{kind}": count for kind, count in month.dollars.items()},
        "cost_input": month.input,
        "cost_total": month.total,
        "nocache_cost_input": without.input,
        "nocache_cost_total": without.total,
        "cost_saved": without.total - month.total,
        "input_share": part(month.input, month.total),
        "token_share": prompt / (prompt + output),
        "token_ratio": prompt / output,
        "money_ratio": part(month.input, month.dollars["output"]),
        "cost_request": month.total / given["requests"],
        "cost_million": month.total / given["requests"] * 10**6,
        "hit_pays": hit_that_pays(given),
        "hit_worth_output": hit_worth_output(given),
    }


def lever_results(given, curve):
    """Each lever on its own: the bill and the seconds as they are, less those with it."""
    levers = {
        "lever_prompt": {"prompt_tokens": given["prompt_tokens"] * HALF},
        "lever_cache": {"hit_rate": REACHED},
        "lever_answer": {"output_tokens": given["output_tokens"] * BRIEF},
    }
    found = {}
    for name, changed in levers.items():
        reached = name == "lever_cache" and given["hit_rate"] >= REACHED
        saved = month_of(given).total - month_of(given, **changed).total
        time = whole(times_of(given, curve)) - whole(times_of(given, curve, **changed))
        found |= {name: None if reached else saved, f"{name}_s": None if reached else time}
    return found


def sentence(given, results, shown):
    request = (
        f"{exact.counted(given['prompt_tokens'], 'token')} in and "
        f"{exact.counted(given['output_tokens'], 'token')} out take {shown['total_s']}; "
        f"{shown['prefill_share']} of it is prefill, the wait before the first token."
    )
    cost, without = shown["cost_total"], shown["nocache_cost_total"]
    charged = "" if cost == without else ", yet what is written to it is charged"
    cache = f"Nothing comes from cache{charged}."
    if given["hit_rate"]:
        skipped = shown["skipped_tokens"]
        saves = f"and saves {shown['saved_s']}" if results["saved_s"] else "but saves no time"
        cache = f"The cache skips {skipped} token{'' if skipped == '1' else 's'} {saves}."
    other = "" if cost == without else f"; without the cache it would be {without}"
    month = f"A month with {exact.counted(given['requests'], 'request')} costs {cost}{other}."
    return f"{request} {cache} {month}"


def vector(rates, asked, by_hand):
    values, taken_notes = exact.taken("worksheet", rates, asked, by_hand)
    used = next(each for each in rates if each["id"] == values["rates"])
    given = {name: Fraction(value) for name, value in values.items() if name != "rates"}
    curve = exact.exactly(used["curve"])
    results = {**time_results(given, curve), **money_results(given), **lever_results(given, curve)}
    results = {name: results[name] for name in OUTPUTS}
    shown = exact.shown("worksheet", values, results)
    notes = exact.rate_notes(used, given["prompt_tokens"])
    if results["cost_saved"] < 0:
        notes.insert(-1, "With these prices the cache costs more than it saves.")
    return {
        "calculator": "worksheet",
        "rates": rates,
        "asked": exact.plain(asked),
        "values": exact.plain(values),
        "taken_notes": taken_notes,
        "results": exact.plain(results),
        "shown": shown,
        "sentence": sentence(given, results, shown),
        "notes": notes,
    }


def vectors():
    return [vector(*case) for case in worksheet_cases.cases()]


if __name__ == "__main__":
    exact.written("worksheet", vectors())
