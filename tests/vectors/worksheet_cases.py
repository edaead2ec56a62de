"""What the vectors of the worksheet ask for; what becomes of a doubtful input is told by hand."""

import random
from fractions import Fraction

from tests.vectors.exact import DESCRIBED, rate_set

SPEC = DESCRIBED["worksheet"]
NUMBERS = [each for each in SPEC["inputs"] if each["kind"] == "number"]
PRICES = [f"price_{kind}" for kind in ("uncached", "cached", "written", "output")]

CHAPTER = rate_set(
    "chapter_constants",
    "the chapter's constants",
    {"a_s": 1 / 2025, "c_s": 1 / 190, "warm_s": 0.015, "free_tokens": 0},
)
FITTED = rate_set(
    "fitted",
    "two curves",
    {"t0_s": 0.07, "a_s": 4.3e-4, "b_s": 2e-8, "c_s": 5.2e-3, "d_s": 2.5e-7, "warm_s": 0.01},
    shortest=96,
    longest=7427,
    off=0.0731,
    requests=10,
)
SLOW = rate_set(
    "slow",
    "a very slow machine",
    {"t0_s": 2, "a_s": 0.25, "b_s": 1e-5, "c_s": 3, "d_s": 1e-4},
    off=0.4,
    requests=1,
)
FAST = rate_set("fast", "one without any fixed cost", {"a_s": 1e-9, "c_s": 1e-8})
SHORT = rate_set(
    "short",
    "short prompts only",
    {"t0_s": 0.02, "a_s": 1e-3, "c_s": 0.05, "d_s": 1e-6},
    shortest=200,
    longest=600,
    off=0.00004,
    requests=3,
)
DEAR = rate_set("dear", "a cache that is slow", {"a_s": 1e-3, "c_s": 0.01, "warm_s": 5})
SETS = (CHAPTER, FITTED, SLOW, FAST, SHORT, DEAR)

UNUSUAL = {
    ("price", 10000): "$10,000 per million tokens is unusual. Is the unit right?",
    ("machine", 10000): "$10,000 an hour is unusual. Is the unit right?",
}

DOUBTFUL = (  # input, text, what becomes of it, and the note
    ("prompt_tokens", "", 890, "nothing was entered; 890 is used."),
    ("prompt_tokens", "   ", 890, "nothing was entered; 890 is used."),
    ("prompt_tokens", "-5", 1, "“-5” is below the smallest value; 1 is used."),
    ("prompt_tokens", "−3", 1, "“-3” is below the smallest value; 1 is used."),
    ("prompt_tokens", "0", 1, "“0” is below the smallest value; 1 is used."),
    ("prompt_tokens", "NaN", 890, "“NaN” is not a number; 890 is used."),
    ("prompt_tokens", "nan", 890, "“nan” is not a number; 890 is used."),
    ("prompt_tokens", "Infinity", 890, "“Infinity” is not a number; 890 is used."),
    ("prompt_tokens", "0x10", 890, "“0x10” is not a number; 890 is used."),
    ("prompt_tokens", "abc", 890, "“abc” is not a number; 890 is used."),
    ("prompt_tokens", "1_000", 890, "“1_000” is not a number; 890 is used."),
    ("prompt_tokens", "1 000", 890, "“1 000” is not a number; 890 is used."),
    ("prompt_tokens", "1,00,000", 890, "“1,00,000” is not a number; 890 is used."),
    ("prompt_tokens", "٣", 890, "“٣” is not a number; 890 is used."),
    ("prompt_tokens", "60%", 890, "“60%” is not a number; 890 is used."),
    (
        "prompt_tokens",
        "<script>alert('x')</script>",
        890,
        "“<script>alert('x')</” is not a number; 890 is used.",
    ),
    ("prompt_tokens", " 890 ", 890, ""),
    ("prompt_tokens", "1,000", 1000, ""),
    ("prompt_tokens", "+512", 512, ""),
    ("prompt_tokens", "1e3", 1000, ""),
    ("prompt_tokens", "512.5", 513, "rounded to 513."),
    ("prompt_tokens", "512,4", 512, "read as 512."),
    ("prompt_tokens", "1e9", 10**6, "“1e9” is above the largest value; 1,000,000 is used."),
    ("prompt_tokens", "1e999", 10**6, "“1e999” is above the largest value; 1,000,000 is used."),
    ("output_tokens", "0", 1, "“0” is below the smallest value; 1 is used."),
    ("output_tokens", "1.4", 1, "rounded to 1."),
    ("hit_rate", "0,6", "0.6", "read as 60%."),
    ("hit_rate", "60", "0.6", "read as 60%."),
    ("hit_rate", "60%", "0.6", ""),
    ("hit_rate", "60 %", "0.6", ""),
    ("hit_rate", "0.5%", "0.005", ""),
    ("hit_rate", "100", 1, "read as 100%."),
    ("hit_rate", "1", 1, ""),
    ("hit_rate", "1.5", "0.015", "read as 1.5%."),
    ("hit_rate", "101", 1, "“101” is above the largest value; 1 is used."),
    ("hit_rate", "150%", 1, "“150%” is above the largest value; 1 is used."),
    ("hit_rate", "-0.1", 0, "“-0.1” is below the smallest value; 0 is used."),
    ("hit_rate", "-0", 0, ""),
    ("hit_rate", "0.12345", "0.1235", "rounded to 12.35%."),
    ("hit_rate", "", "0.6", "nothing was entered; 0.6 is used."),
    ("requests", "2,000,000", 2_000_000, ""),
    ("requests", "1e9", 10**9, ""),
    ("requests", "2M", 2_000_000, "“2M” is not a number; 2,000,000 is used."),
    ("write_share", "25", "0.25", "read as 25%."),
    ("at_once", "0.5", 1, "“0.5” is below the smallest value; 1 is used."),
    ("at_once", "3,5", "3.5", "read as 3.5."),
    ("machine_price", "0.001", "0.001", "$0.001 an hour is unusual. Is the unit right?"),
    ("price_uncached", "0.15", "0.15", ""),
    (
        "price_uncached",
        "0.00015",
        "0.00015",
        "$0.00015 per million tokens is unusual. Is the unit right?",
    ),
    (
        "price_uncached",
        "0.00000015",
        "0.00000015",
        "$0.00000015 per million tokens is unusual. Is the unit right?",
    ),
    ("price_uncached", "0.000000003", 0, "rounded to $0. Is the unit right?"),
    (
        "price_uncached",
        "150000",
        10000,
        "“150000” is above the largest value; 10,000 is used. Is the unit right?",
    ),
    ("price_uncached", "0.15 $/1k", 1, "“0.15 $/1k” is not a number; 1 is used."),
    ("price_uncached", "0,15", "0.15", "read as $0.15."),
    ("price_uncached", "0,150", "0.15", "read as $0.15."),
    ("price_uncached", "1,234", 1234, "read as $1,234. Is the unit right?"),
    ("price_output", "0", 0, ""),
    ("price_output", "-1", 0, "“-1” is below the smallest value; 0 is used."),
)

BILLS = (  # requests whose bill is known elsewhere, or that ask for a careful display
    {"prompt_tokens": 890, "output_tokens": 53, "hit_rate": "0.6", "requests": 2_000_000},
    # 25 tokens at $0.30 a million; ten thousand of them
    {"prompt_tokens": 25, "output_tokens": 1, "hit_rate": 0, "requests": 1}
    | {"price_uncached": "0.3", "price_output": 0},
    {"prompt_tokens": 25, "output_tokens": 1, "hit_rate": 0, "requests": 10_000}
    | {"price_uncached": "0.3", "price_output": 0},
    # 538 tokens, 2,208 from cache and 197 out at three prices
    {"prompt_tokens": 2746, "output_tokens": 197, "hit_rate": "0.8041", "requests": 1}
    | {"price_uncached": "0.25", "price_cached": "0.025", "price_output": 2},
    # where a provider's second price begins, there is none here
    {"prompt_tokens": 272_000, "requests": 1, "hit_rate": 0},
    {"prompt_tokens": 272_001, "requests": 1, "hit_rate": 0},
    {"prompt_tokens": 250_000, "requests": 1, "hit_rate": "0.96"},
    # a write at a quarter more, instead of the price of a read and not on top of it
    {"prompt_tokens": 100_000, "output_tokens": 1, "hit_rate": 0, "requests": 1}
    | {"price_uncached": 3, "price_cached": "0.3", "price_written": "3.75", "price_output": 0}
    | {"write_share": "0.6"},
    # equal prices save exactly nothing; a hit rate on the break-even likewise
    {"hit_rate": 0, "price_uncached": 3, "price_written": 3, "write_share": "0.3"},
    {"hit_rate": "0.1", "price_written": "1.1", "write_share": 1},
    {"prompt_tokens": 1000, "output_tokens": 225, "hit_rate": "0.5"},
    {"price_cached": 1},
    {"price_cached": 2},
    {"price_cached": 1, "price_written": "1.25", "write_share": 1},
    {"price_written": "0.5", "write_share": 1},
    {"price_written": "0.5", "write_share": 1, "price_cached": "1.5", "hit_rate": "0.2"},
    {"price_written": "1.25", "write_share": "0.0001"},
    dict.fromkeys(PRICES, 0),
    {"price_uncached": 0, "price_cached": 0, "price_written": 0},
    {"hit_rate": 0, "write_share": 1, "price_written": 2},
    {"hit_rate": 1, "write_share": 1, "price_written": 2},
    {"prompt_tokens": 10, "hit_rate": "0.1"},
    {"prompt_tokens": 1, "output_tokens": 1, "hit_rate": "0.5", "requests": 1},
    {"prompt_tokens": 1, "output_tokens": 1, "hit_rate": "0.0001", "requests": 1},
    {"prompt_tokens": 1000, "hit_rate": "0.9999"},
    # halves: $400.50, $1.005, 12.5 machine-hours, a share of 0.25, three digits that round up
    {"prompt_tokens": 400, "output_tokens": 1, "hit_rate": 0, "requests": 1_000_000}
    | {"price_output": "0.5"},
    {"prompt_tokens": 201, "output_tokens": 1, "hit_rate": 0, "requests": 5000}
    | {"price_output": 0},
    {"prompt_tokens": 1001, "output_tokens": 999, "hit_rate": 0, "requests": 999_500}
    | {"price_output": 1},
    {"prompt_tokens": 3, "output_tokens": 1, "hit_rate": 0, "requests": 1, "price_output": 1},
    {"prompt_tokens": 999_995, "output_tokens": 5, "hit_rate": 0, "requests": 100}
    | {"price_output": 0},
)
TIES = (  # of seconds, by a machine of round figures
    {"prompt_tokens": 1125, "output_tokens": 1, "hit_rate": 0},
    {"prompt_tokens": 1125, "output_tokens": 1, "hit_rate": "0.5"},
    {"prompt_tokens": 9995, "output_tokens": 1, "hit_rate": 0},
    {"prompt_tokens": 1, "output_tokens": 1000, "hit_rate": 0},
)
ROUND = rate_set("round", "a thousand a second", {"a_s": 0.001, "c_s": 0.001, "free_tokens": 0})


def cases():
    """Sets of rates, what is asked for, and what becomes of it where that is not the same."""
    yield [CHAPTER], {}, {}
    for name, text, value, note in DOUBTFUL:
        yield [CHAPTER], {name: text}, {name: (Fraction(value), note)}
    for asked in BILLS:
        yield [CHAPTER], _exact(asked), {}
    for asked in TIES:
        yield [ROUND], _exact(asked), {}
    for given in (*SPEC["presets"], *SPEC["price_sheets"]):
        yield [CHAPTER], given["values"], {}
        yield [CHAPTER, FITTED], given["values"] | {"rates": "fitted"}, {}
    yield from _corners()
    yield from _machines()
    yield from _chosen()


def _corners():
    """Each input at either end, and all of them at once."""
    for end in ("min", "max"):
        for each in NUMBERS:
            yield [CHAPTER], {each["id"]: each[end]}, _unusual(each, each[end])
        everything = {each["id"]: each[end] for each in NUMBERS}
        by_hand = {}
        for each in NUMBERS:
            by_hand |= _unusual(each, each[end])
        for rates in (CHAPTER, FITTED):
            yield [rates], everything, by_hand


def _unusual(described, value):
    name = described["id"]
    kind = "price" if name in PRICES else name.partition("_")[0]
    note = UNUSUAL.get((kind, value))
    return {name: (Fraction(value), note)} if note else {}


def _machines():
    """Every set of rates with short and long prompts, answers of one token, no hits and all."""
    for used in SETS:
        for prompt, output, hit in (
            (890, 53, "0.6"),
            (7428, 1, 1),
            (95, 2, 0),
            (32_000, 800, "0.9"),
        ):
            asked = {"prompt_tokens": prompt, "output_tokens": output, "hit_rate": hit}
            yield [used], _exact(asked), {}
    for used in (FITTED, SHORT):
        for prompt in (used["shortest"], used["longest"]):
            yield [used], {"prompt_tokens": prompt}, {}
    gone = {"rates": ("fast", "“mine” is not among the choices.")}
    yield [FAST, SLOW], {"rates": "mine"}, gone
    yield [FAST, SLOW], {"rates": "slow"}, {}


def _chosen():
    """Any request at any price."""
    chance = random.Random(316)  # noqa: S311 — a fixed choice of cases
    for _ in range(80):
        asked = {
            "prompt_tokens": round(10 ** chance.uniform(0, 6)),
            "output_tokens": round(10 ** chance.uniform(0, 5)),
            "hit_rate": Fraction(chance.randint(0, 100), 100),
            "requests": round(10 ** chance.uniform(0, 10)),
            "write_share": Fraction(chance.choice((0, 0, 25, 60, 100)), 100),
            "machine_price": Fraction(chance.randint(1, 5000), 100),
            "at_once": Fraction(chance.randint(100, 9999), 100),
        }
        asked |= {name: Fraction(chance.randint(1, 2000), 100) for name in PRICES}
        rates = chance.sample(SETS, 2)
        yield rates, asked | {"rates": chance.choice(rates)["id"]}, {}


def _exact(asked):
    return {name: Fraction(value) for name, value in asked.items()}
