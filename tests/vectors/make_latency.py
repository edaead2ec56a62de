"""Writes latency.json: what the calculator of section 31.1 must compute and show everywhere.

Derived apart from the code under test, in exact fractions. Run it again after a change of
wording, from the project's folder: ``python3 -m tests.vectors.make_latency``.
"""

import random

from tests.vectors import exact

RATES = (
    (2000, 190),  # the chapter's round figures
    (1848, 161.2),  # the longest row of its table
    (180.2, 52.1),  # a small machine
    (250_000, 4000),  # far beyond it
    (3.5, 0.25),  # far below it
)
CORNERS = ((100, 1), (100, 2000), (32000, 1), (32000, 2000), (4247, 32), (890, 53), (120, 800))
ASKED = (  # text, what becomes of it, and the note
    ("4247", 4247, ""),
    (" 890 ", 890, ""),
    ("2,000", 2000, ""),
    ("1e3", 1000, ""),
    ("99", 100, "“99” is below the smallest value; 100 is used."),
    ("-5", 100, "“-5” is below the smallest value; 100 is used."),
    ("−3", 100, "“-3” is below the smallest value; 100 is used."),
    ("1000000", 32000, "“1000000” is above the largest value; 32,000 is used."),
    ("1e999", 32000, "“1e999” is above the largest value; 32,000 is used."),
    ("", 4247, "nothing was entered; 4,247 is used."),
    ("NaN", 4247, "“NaN” is not a number; 4,247 is used."),
    ("Infinity", 4247, "“Infinity” is not a number; 4,247 is used."),
    ("0x100", 4247, "“0x100” is not a number; 4,247 is used."),
    ("512.5", 513, "rounded to 513."),
    ("512,5", 513, "read as 513."),
)


def rates(prefill, decode, **trust):
    """Two constants: all output is charged to decode."""
    curve = {"a_s": 1 / prefill, "c_s": 1 / decode, "free_tokens": 0}
    return exact.rate_set("own", "two constants", curve, **trust)


def vector(used, asked, by_hand):
    values, notes = exact.taken("latency", [used], asked, by_hand)
    prompt, output = values["prompt_tokens"], values["output_tokens"]
    curve = exact.exactly(used["curve"])
    read, write = exact.prefill_of(curve, prompt), exact.decode_of(curve, prompt, output)
    whole = read + write
    results = {
        "prefill_s": read,
        "decode_s": write,
        "total_s": whole,
        "prefill_share": read / whole,
    }
    shown = exact.shown("latency", values, results)
    said = (
        f"{exact.counted(prompt, 'token')} in and {exact.counted(output, 'token')} out take "
        f"{shown['total_s']}: {shown['prefill_s']} to read and {shown['decode_s']} to write; "
        f"{shown['prefill_share']} of the time is prefill."
    )
    return {
        "calculator": "latency",
        "rates": [used],
        "asked": asked,
        "values": values,
        "taken_notes": notes,
        "results": exact.plain(results),
        "shown": shown,
        "sentence": said,
        "notes": exact.rate_notes(used, prompt),
    }


def _cases():
    yield {}, {}, rates(2000, 190)
    for text, value, note in ASKED:
        yield {"prompt_tokens": text}, {"prompt_tokens": (value, note)}, rates(2000, 190)
    for prompt, output in CORNERS:
        for prefill, decode in RATES:
            yield {"prompt_tokens": prompt, "output_tokens": output}, {}, rates(prefill, decode)
    for prompt, output, prefill, decode in ((1250, 8, 1000, 1000), (125, 5, 1000, 2000)):
        yield {"prompt_tokens": prompt, "output_tokens": output}, {}, rates(prefill, decode)
    for prompt in (399, 400, 1000, 1001):
        yield {"prompt_tokens": prompt}, {}, rates(2000, 190, shortest=400, longest=1000)
    yield {}, {}, rates(2000, 190, off=0.1295, requests=1)
    yield {"rates": "gone"}, {"rates": ("own", "“gone” is not among the choices.")}, rates(9, 8)
    chance = random.Random(31)  # noqa: S311 — a fixed choice of cases
    for _ in range(60):
        asked = {
            "prompt_tokens": chance.randint(100, 32000),
            "output_tokens": chance.randint(1, 2000),
        }
        yield asked, {}, rates(round(chance.uniform(20, 9000), 3), round(chance.uniform(1, 400), 3))


def vectors():
    return [vector(used, asked, by_hand) for asked, by_hand, used in _cases()]


if __name__ == "__main__":
    exact.written("latency", vectors())
