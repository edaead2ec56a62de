"""Writes latency.json: what both calculators must compute and show.

Derived apart from both of them, in exact fractions: no float takes part before the last digit is
rounded. Run it again after a change of wording: ``python3 tests/vectors/make_latency.py``.
"""

import json
import random
from fractions import Fraction
from pathlib import Path

HERE = Path(__file__).parent
RATES = (
    ("2000", "190"),  # the chapter's round figures
    ("1848", "161.2"),  # the longest row of its table
    ("180.2", "52.1"),  # a small machine
    ("250000", "4000"),  # far beyond it
    ("3.5", "0.25"),  # far below it
)
CORNERS = ((100, 1), (100, 2000), (32000, 1), (32000, 2000), (4247, 32), (890, 53), (120, 800))


def round_half_up(value):
    return (value + Fraction(1, 2)).__floor__()


def fixed(value, decimals):
    whole = str(round_half_up(value * 10**decimals)).rjust(decimals + 1, "0")
    integer, rest = (whole[:-decimals], "." + whole[-decimals:]) if decimals else (whole, "")
    return f"{int(integer):,}{rest}"


def three_digits(value):
    if value >= 100:
        places = -(len(str(value.__floor__())) - 3)
        rounded = round_half_up(value * Fraction(10) ** places) / Fraction(10) ** places
        return fixed(rounded, 0)
    decimals = 0
    while value * 10**decimals < 100:
        decimals += 1
    if round_half_up(value * 10**decimals) >= 1000:
        decimals -= 1
    return fixed(value, decimals)


def seconds(value):
    return f"{three_digits(value)} s" if value >= 1 else f"{three_digits(value * 1000)} ms"


def share(value):
    if value < Fraction(1, 1000):
        return "<0.1%"
    return ">99.9%" if value > Fraction(999, 1000) else f"{fixed(value * 100, 1)}%"


def tokens(count):
    return f"{count:,} token" + ("" if count == 1 else "s")


def vector(prompt, output, prefill_rate, decode_rate):
    read = Fraction(prompt) / Fraction(prefill_rate)
    write = Fraction(output) / Fraction(decode_rate)
    whole = read + write
    shown = {
        "prefill_s": seconds(read),
        "decode_s": seconds(write),
        "total_s": seconds(whole),
        "prefill_share": share(read / whole),
    }
    said = (
        f"{tokens(prompt)} in and {tokens(output)} out take {shown['total_s']}: "
        f"{shown['prefill_s']} to read and {shown['decode_s']} to write; "
        f"{shown['prefill_share']} of the time is prefill."
    )
    return {
        "inputs": {"prompt_tokens": prompt, "output_tokens": output},
        "rates": {"prefill_tok_s": float(prefill_rate), "decode_tok_s": float(decode_rate)},
        "results": {
            "prefill_s": float(read),
            "decode_s": float(write),
            "total_s": float(whole),
            "prefill_share": float(read / whole),
        },
        "shown": shown,
        "sentence": said,
    }


def vectors():
    cases = [(*corner, *rates) for corner in CORNERS for rates in RATES]
    cases += [(1250, 8, "1000", "1000"), (125, 5, "1000", "2000"), (999, 1, "1000", "1000")]
    chance = random.Random(31)  # noqa: S311 — a fixed choice of cases
    for _ in range(60):
        rates = (f"{chance.uniform(20, 9000):.3f}", f"{chance.uniform(1, 400):.3f}")
        cases.append((chance.randint(100, 32000), chance.randint(1, 2000), *rates))
    return [vector(*case) for case in cases]


def text():
    return json.dumps(vectors(), ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    (HERE / "latency.json").write_text(text(), encoding="utf-8")
