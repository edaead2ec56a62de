"""Writes kv_cache.json: what the calculator of section 31.3 must compute and show everywhere.

Derived apart from the code under test, in whole bytes and exact fractions. Run it again after a
change of wording, from the project's folder: ``python3 -m tests.vectors.make_kv_cache``.
"""

import random
from fractions import Fraction

from tests.vectors import exact

BLOCKS = {
    "f32": (1, 4),
    "f16": (1, 2),
    "bf16": (1, 2),
    "q8_0": (32, 2 + 32),  # a 2-byte scale, then 32 numbers of 8 bits
    "q5_1": (32, 2 + 2 + 20),  # scale and minimum, 5 bits
    "q5_0": (32, 2 + 20),
    "q4_1": (32, 2 + 2 + 16),  # scale and minimum, 4 bits
    "q4_0": (32, 2 + 16),
}
GB, GIB = 10**9, 2**30
CHAPTER = (
    {},
    {"tokens": 32_768},
    {"tokens": 131_072},
    {"tokens": 131_072, "cache_type": "q8_0"},
    {"tokens": 131_072, "weights_gb": 6.4},
    {"tokens": 131_072, "kv_heads": 24, "memory_gib": 80},
    {"tokens": 131_072, "margin_gib": 0},
    {"tokens": 32_768, "weights_gb": 6.4, "slots": 4, "memory_gib": 24, "margin_gib": 0.75},
    {"layers": 80, "tokens": 32_768, "weights_gb": 140, "memory_gib": 160, "parameters_b": 70},
    {"layers": 80, "kv_heads": 64, "tokens": 32_768, "weights_gb": 140, "memory_gib": 160},
)
CORNERS = (
    {"tokens": 1},
    {"tokens": 1, "slots": 2},
    {"weights_gb": 0},
    {"weights_gb": 0, "margin_gib": 0, "memory_gib": 0.25, "tokens": 2340},  # 2,340.57 tokens fit
    {"weights_gb": 0, "margin_gib": 0, "memory_gib": 0.25, "tokens": 2341},
    {
        "weights_gb": 0,
        "margin_gib": 0,
        "memory_gib": 14,
        "tokens": 131_072,
    },  # to the byte: nothing is left
    {"weights_gb": 0, "margin_gib": 0, "memory_gib": 14, "tokens": 131_073},
    {"weights_gb": 0, "margin_gib": 2, "memory_gib": 16, "tokens": 131_072},  # likewise
    {"weights_gb": 0, "margin_gib": 0.01, "memory_gib": 14, "tokens": 131_072},
    {"margin_gib": 0},
    {"margin_gib": 1000},
    {"margin_gib": 0.28, "weights_gb": 2},  # 282,788,659 of 300,647,710 bytes
    {"margin_gib": 0.27, "weights_gb": 2},
    {"parameters_b": 0},
    {"parameters_b": 70},  # 0.23 bits
    {"parameters_b": 0.4},  # 40 bits
    {"parameters_b": 0.5},  # 32 bits, and no doubt
    {"parameters_b": 16},  # 1 bit, and no doubt
    {
        "parameters_b": 35,
        "weights_gb": 23.9,
        "layers": 10,
        "kv_heads": 2,
        "head_dim": 256,
        "tokens": 32_768,
        "memory_gib": 24,
    },
    {"weights_gb": 18, "memory_gib": 16},  # not even the weights fit
    {"weights_gb": 17.179, "margin_gib": 0, "memory_gib": 16},  # they do, and no more than 7 tokens
    {"weights_gb": 16, "margin_gib": 0, "memory_gib": 14.9},  # less than a megabyte short
    {"kv_heads": 3, "head_dim": 20, "cache_type": "q8_0"},  # 60 numbers: 2 blocks
    {"kv_heads": 1, "head_dim": 1, "cache_type": "q4_0"},
    {"kv_heads": 2, "head_dim": 80, "cache_type": "q5_1"},  # 5 blocks, none within a head
    {"kv_heads": 3, "head_dim": 64, "layers": 30, "cache_type": "q8_0", "weights_gb": 0.098},
    {"layers": 256, "kv_heads": 128, "head_dim": 1024, "tokens": 10_000_000, "slots": 256},
    {"layers": 1, "kv_heads": 1, "head_dim": 1, "tokens": 1, "weights_gb": 10_000},
)
ASKED = (  # input, text, what becomes of it, and the note
    ("layers", "28.4", 28, "rounded to 28."),
    ("layers", "0", 1, "“0” is below the smallest value; 1 is used."),
    ("kv_heads", "eight", 8, "“eight” is not a number; 8 is used."),
    ("head_dim", "", 128, "nothing was entered; 128 is used."),
    ("weights_gb", "2,019", 2019, "read as 2,019."),
    ("weights_gb", "6,4", 6.4, "read as 6.4."),
    (
        "weights_gb",
        "2019393189",
        10_000,
        "“2019393189” is above the largest value; 10,000 is used.",
    ),
    ("weights_gb", "1.99949", 1.999, "rounded to 1.999."),
    ("tokens", "128k", 8192, "“128k” is not a number; 8,192 is used."),
    ("tokens", "131,072", 131_072, ""),
    ("tokens", "NaN", 8192, "“NaN” is not a number; 8,192 is used."),
    ("tokens", "1e9", 10_000_000, "“1e9” is above the largest value; 10,000,000 is used."),
    ("slots", "-4", 1, "“-4” is below the smallest value; 1 is used."),
    ("memory_gib", "24", 24, ""),
    ("margin_gib", "1,5", 1.5, "read as 1.5."),
    ("margin_gib", "-1", 0, "“-1” is below the smallest value; 0 is used."),
    ("margin_gib", "10%", 0.5, "“10%” is not a number; 0.5 is used."),
    ("parameters_b", "7B", 3.2, "“7B” is not a number; 3.2 is used."),
    (
        "parameters_b",
        "3212749888",
        10_000,
        "“3212749888” is above the largest value; 10,000 is used.",
    ),
    ("cache_type", "q8", "f16", "“q8” is not among the choices."),
    ("cache_type", "q4_1", "q4_1", ""),
)


def sizes(values):
    """Whole bytes of a token, cache, weights, memory and margin; and a key's blocks.

    Engines were seen to need 176 MiB, a twentieth of the weights, and 1,024 bytes for each cell
    of a slot: its tokens and one more, in whole 256s.
    """
    numbers, size = BLOCKS[values["cache_type"]]
    row = values["kv_heads"] * values["head_dim"]
    blocks = (row + numbers - 1) // numbers
    token = 2 * values["layers"] * blocks * size
    weights = Fraction(str(values["weights_gb"])) * GB
    cells = (values["tokens"] // 256 + 1) * 256
    return {
        "row": row,
        "places": blocks * numbers,
        "token": token,
        "cache": values["slots"] * values["tokens"] * token,
        "weights": weights,
        "margin": int(Fraction(str(values["margin_gib"])) * GIB),
        "estimate": values["slots"] * cells * 1024 + 176 * 2**20 + weights / 20,
        "parameters": Fraction(str(values["parameters_b"])) * GB,
        "memory": int(Fraction(str(values["memory_gib"])) * GIB),
    }


def outputs(values, size):
    total = size["weights"] + size["cache"] + size["margin"]
    left = size["memory"] - total
    room, file = left + size["cache"], left + size["weights"]
    given = size["parameters"] or None
    return {
        "token_bytes": Fraction(size["token"]),
        "token_kib": Fraction(size["token"], 1024),
        "cache_gib": Fraction(size["cache"], GIB),
        "cache_gb": Fraction(size["cache"], GB),
        "weights_gib": size["weights"] / GIB,
        "margin_gb": Fraction(size["margin"], GB),
        "estimate_gib": size["estimate"] / GIB,
        "total_gib": total / GIB,
        "total_gb": total / GB,
        "memory_gb": Fraction(size["memory"], GB),
        "left_gib": left / GIB if left >= 0 else None,
        "left_gb": left / GB if left >= 0 else None,
        "missing_gib": -left / GIB if left < 0 else None,
        "missing_gb": -left / GB if left < 0 else None,
        "ratio": size["cache"] / size["weights"] if size["weights"] else None,
        "longest_tokens": room // (values["slots"] * size["token"]) if room >= 0 else None,
        "most_slots": room // (values["tokens"] * size["token"]) if room >= 0 else None,
        "largest_file_gb": file / GB if file >= 0 else None,
        "file_bits": given and size["weights"] * 8 / given,
        "most_bits": given and file * 8 / given if file >= 0 else None,
    }


def sentence(values, shown, results):
    times = "" if values["slots"] == 1 else f"{shown['slots']} times "
    takes = "takes" if values["tokens"] * values["slots"] == 1 else "take"
    weights = f", {shown['ratio']} times the weights" if results["ratio"] is not None else ""
    fits = results["left_gb"] is not None
    verdict = (
        f"they fit, and {shown['left_gb']} GB are left"
        if fits
        else f"they do not fit, {shown['missing_gb']} GB are missing"
    )
    return (
        f"A token takes {shown['token_kib']} KiB. "
        f"{times}{exact.counted(values['tokens'], 'token')} of context {takes} "
        f"{shown['cache_gib']} GiB ({shown['cache_gb']} GB){weights}. "
        f"Weights, cache and margin take {shown['total_gb']} GB of {shown['memory_gb']} GB: "
        f"{verdict}."
    )


def notes(values, size, results):
    numbers, _ = BLOCKS[values["cache_type"]]
    empty = size["places"] - size["row"]
    if empty:
        key, blocks = exact.counted(size["row"], "number"), size["places"] // numbers
        yield (
            f"Padded: the {key} of a layer's keys fill {exact.counted(blocks, 'block')} of "
            f"{numbers}; {exact.counted(empty, 'place')} in them stay empty and are counted."
        )
    if values["head_dim"] % numbers:
        yield (
            f"llama.cpp refuses a cache of type {values['cache_type']} for heads "
            f"{exact.fixed(values['head_dim'])} wide: "
            f"its blocks hold {numbers} numbers of one head."
        )
    if size["margin"] < size["estimate"]:
        yield (
            "The margin is small: engines were seen to need about "
            f"{exact.amount(results['estimate_gib'])} GiB beside such weights and context."
        )
    bits = results["file_bits"]
    if bits and (bits < 1 or bits > 32):
        yield (
            f"{exact.number(bits)} bits for a weight are unusual: do file and parameters belong "
            "to the same model?"
        )
    yield "1 GB is a billion bytes, 1 GiB is 2^30 bytes, or 1.074 GB."


def vector(asked, by_hand):
    values, taken_notes = exact.taken("kv_cache", [], asked, by_hand)
    size = sizes(values)
    results = outputs(values, size)
    said = {name: Fraction(str(each)) for name, each in values.items() if name != "cache_type"}
    shown = exact.shown("kv_cache", said, results)
    return {
        "calculator": "kv_cache",
        "rates": [],
        "asked": asked,
        "values": exact.plain(values),
        "taken_notes": taken_notes,
        "results": exact.plain(results),
        "shown": shown,
        "sentence": sentence(values, shown, results),
        "notes": list(notes(values, size, results)),
    }


def _cases():
    for asked in (*CHAPTER, *CORNERS, *({"cache_type": each} for each in BLOCKS)):
        yield asked, {}
    for name, text, value, note in ASKED:
        yield {name: text}, {name: (value, note)}
    chance = random.Random(31)  # noqa: S311 — a fixed choice of cases
    for _ in range(30):
        yield (
            {
                "layers": chance.randint(1, 256),
                "kv_heads": chance.randint(1, 128),
                "head_dim": chance.choice((20, 64, 80, 128, 256)),
                "weights_gb": chance.randint(1, 400_000) / 1000,
                "tokens": chance.randint(1, 200_000),
                "slots": chance.randint(1, 64),
                "cache_type": chance.choice(tuple(BLOCKS)),
                "memory_gib": chance.randint(25, 100_000) / 100,
                "margin_gib": chance.randint(0, 5_000) / 100,
                "parameters_b": chance.randint(1, 700_000) / 1000,
            },
            {},
        )


def vectors():
    return [vector(asked, by_hand) for asked, by_hand in _cases()]


if __name__ == "__main__":
    exact.written("kv_cache", vectors())
