"""Writes roofline.json: what the calculator of section 31.4 must compute and show everywhere.

Derived apart from the code under test, in exact fractions. Run it again after a change of
wording, from the project's folder: ``python3 -m tests.vectors.make_roofline``.
"""

import random
from fractions import Fraction

from tests.vectors import exact

CHAPTER = (
    {},
    {"users": 1},
    {"users": 2},
    {"users": 1, "context_tokens": 1},
    {"users": 50, "context_tokens": 1},
    {"users": 294, "context_tokens": 1},
    {"users": 295, "context_tokens": 1},
    {"users": 300, "context_tokens": 1},
    {"users": 600, "context_tokens": 1},
    {"bits": 5, "token_kib": 59.5},
    {"bits": 4, "users": 74, "context_tokens": 1},
    {"bits": 4, "users": 73, "context_tokens": 1},
    {"context_tokens": 100},
    {"context_tokens": 189},  # 2 N / (ridge * 114,688) = 189.02: the last that reaches the ridge
    {"context_tokens": 190},
    {"context_tokens": 32_768},
    {"context_tokens": 131_072},
    {"parameters_b": 70, "token_kib": 320, "memory_gb": 141},
    {"parameters_b": 70, "token_kib": 320},  # 140 GB
    {"peak_tflop_s": 0.126, "bandwidth_gb_s": 15.2, "memory_gb": 16, "users": 4},
)
CORNERS = (
    {"users": 151},
    {"users": 152},
    {"users": 124},
    {"users": 125},
    {"memory_gb": 6.4},  # the weights and not a byte more
    {"memory_gb": 6.39},
    {"memory_gb": 6.9},  # one cache
    {"memory_gb": 6.9, "users": 1},
    {"limit_ms": 1.91},  # 6.3985 of 6.4 GB
    {"limit_ms": 1.92},
    {"limit_ms": 0.01},
    {"limit_ms": 100_000},
    {"limit_ms": 2, "context_tokens": 1},
    {"users": 100_000, "context_tokens": 10_000_000, "token_kib": 100_000},
    {"users": 100_000, "context_tokens": 1, "token_kib": 0.001},
    {"parameters_b": 0.001, "bits": 1},
    {"parameters_b": 10_000, "bits": 64},
    {"peak_tflop_s": 0.01, "bandwidth_gb_s": 100_000},
    {"peak_tflop_s": 100_000, "bandwidth_gb_s": 1},
)
ASKED = (
    ("bits", "0", 1, "“0” is below the smallest value; 1 is used."),
    ("bits", "4.999", 5, "rounded to 5."),
    ("users", "-1", 1, "“-1” is below the smallest value; 1 is used."),
    ("users", "many", 50, "“many” is not a number; 50 is used."),
    ("users", "2,000,000", 100_000, "“2,000,000” is above the largest value; 100,000 is used."),
    ("peak_tflop_s", "0", Fraction(1, 1000), "“0” is below the smallest value; 0.001 is used."),
    ("memory_gb", "24", 24, ""),
    ("limit_ms", "NaN", 20, "“NaN” is not a number; 20 is used."),
)


def outputs(values):
    """Everything from the two limits; all in whole units."""
    peak, bandwidth = values["peak_tflop_s"] * 10**12, values["bandwidth_gb_s"] * 10**9
    each = values["context_tokens"] * values["token_kib"] * 1024
    count, users = values["parameters_b"] * 10**9, values["users"]
    weights, room = count * values["bits"] / 8, values["memory_gb"] * 10**9
    reading, computing = (weights + users * each) / bandwidth, users * 2 * count / peak
    alone = max((weights + each) / bandwidth, 2 * count / peak)
    step, limit = max(reading, computing), values["limit_ms"] / 1000
    spare = 2 * count * bandwidth - peak * each
    late = min((limit * bandwidth - weights) / each, limit * peak / (2 * count))
    return {
        "ridge": peak / bandwidth,
        "intensity_weights": 2 * users * count / weights,
        "intensity": 2 * users * count / (weights + users * each),
        "batch_ridge": peak * weights / (2 * count * bandwidth),
        "batch_ridge_cache": peak * weights / spare if spare > 0 else None,
        "batch_memory": Fraction((room - weights) // each) if room >= weights else None,
        "batch_limit": Fraction(max(late, 0).__floor__()),
        "weights_gb": weights / 10**9,
        "caches_gb": users * each / 10**9,
        "memory_s": reading,
        "arithmetic_s": computing,
        "step_s": step,
        "slower": step / alone,
        "each_tok_s": 1 / step,
        "all_tok_s": users / step,
        "busy": computing / step,
    }


def sentence(values, shown, results):
    many = values["users"] != 1
    waits = "arithmetic" if results["arithmetic_s"] > results["memory_s"] else "memory"
    found = [
        f"A step of {exact.counted(values['users'], 'user')} takes {shown['step_s']}"
        + (f", {shown['slower']} times that of one user" if many else "")
        + f", and waits for {waits}."
    ]
    if many:
        found.append(
            f"Each gets {shown['each_tok_s']} tok/s at most, together {shown['all_tok_s']}."
        )
    else:
        found.append(f"That is {shown['each_tok_s']} tok/s at most.")
    fit, memory = results["batch_memory"], shown["memory_gb"]
    if fit is None:
        found.append(f"But weights of {shown['weights_gb']} GB do not fit into {memory} GB.")
    else:
        all_fit = "All caches fit" if values["users"] <= fit else "But not all of the caches fit"
        found.append(f"{all_fit}: {memory} GB hold weights and {exact.counted(fit, 'cache')}.")
    return " ".join(found)


def notes(values, results):
    if values["limit_ms"] / 1000 < results["step_s"]:
        yield "With so many users a step takes longer than the next token may."
    if results["batch_ridge_cache"] is None:
        yield (
            "With this context no batch reaches the ridge: "
            "each user adds more reading than arithmetic."
        )
    yield "A chip at its limits, which none is: steps are floors, tokens a second ceilings."
    yield "Attention's own arithmetic and the reading of prompts are not in it."


def vector(asked, by_hand):
    values, taken_notes = exact.taken("roofline", [], asked, by_hand)
    whole = {name: Fraction(str(each)) for name, each in values.items()}
    results = outputs(whole)
    shown = exact.shown("roofline", whole, results)
    return {
        "calculator": "roofline",
        "rates": [],
        "asked": asked,
        "values": exact.plain(whole),
        "taken_notes": taken_notes,
        "results": exact.plain(results),
        "shown": shown,
        "sentence": sentence(whole, shown, results),
        "notes": list(notes(whole, results)),
    }


def _cases():
    for asked in (*CHAPTER, *CORNERS):
        yield asked, {}
    for name, text, value, note in ASKED:
        yield {name: text}, {name: (value, note)}
    chance = random.Random(314)  # noqa: S311 — a fixed choice of cases
    for _ in range(30):
        yield (
            {
                "peak_tflop_s": chance.randint(100, 300_000) / 100,
                "bandwidth_gb_s": chance.randint(100, 80_000) / 10,
                "memory_gb": chance.randint(800, 20_000) / 100,
                "parameters_b": chance.randint(100, 80_000) / 1000,
                "bits": chance.choice((4, 4.5, 5, 8, 16)),
                "token_kib": chance.randint(1000, 400_000) / 1000,
                "users": chance.randint(1, 500),
                "context_tokens": chance.randint(1, 40_000),
                "limit_ms": chance.randint(100, 10_000) / 100,
            },
            {},
        )


def vectors():
    return [vector(asked, by_hand) for asked, by_hand in _cases()]


if __name__ == "__main__":
    exact.written("roofline", vectors())
