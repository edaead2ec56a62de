"""What the makers of vectors share: how exact fractions are said, and how a vector is laid out.

Written apart from the code under test: no float takes part before the last digit is rounded.
Halves go away from zero, on the fourteen digits that a reader could see.
"""

import json
from fractions import Fraction
from pathlib import Path

HERE = Path(__file__).parent
DESCRIBED = json.loads(
    (HERE.parents[1] / "data" / "worksheet.json").read_text(encoding="utf-8"),
    parse_float=Fraction,
)["calculators"]


def order(value):
    """The power of ten of the first digit."""
    power, size = 0, abs(Fraction(value))
    while size >= 10:
        power, size = power + 1, size / 10
    while size < 1:
        power, size = power - 1, size * 10
    return power


def rounded(value, power):
    """The nearest multiple of that power of ten."""
    step = Fraction(10) ** power
    near = (abs(value) / step + Fraction(1, 2)).__floor__() * step
    return near if value >= 0 else -near


def seen(value):
    """Fourteen digits."""
    return rounded(value, order(value) - 13) if value else value


def fixed(value, decimals=0):
    count = rounded(seen(value), -decimals) * 10**decimals
    digits = str(abs(int(count))).rjust(decimals + 1, "0")
    whole, rest = (digits[:-decimals], "." + digits[-decimals:]) if decimals else (digits, "")
    return f"{'-' if count < 0 else ''}{int(whole):,}{rest}"


def significant(value, digits=3):
    if not value:
        return "0"
    near = rounded(seen(value), order(seen(value)) - digits + 1)
    return fixed(near, max(0, digits - 1 - order(near)))


def short(text):
    """Decimals without zeros at their end."""
    return text.rstrip("0").rstrip(".") if "." in text else text


def number(value):
    return short(significant(value))


def amount(value):
    return fixed(value) if value >= 100 else number(value)


def seconds(value):
    sign, size = "−" if value < 0 else "", abs(value)
    if seen(size) >= Fraction(9995, 10_000):
        return f"{sign}{significant(size)} s"
    return f"{sign}{significant(size * 1000)} ms"


def share(value):
    if 0 < value < Fraction(1, 1000):
        return "<0.1%"
    return ">99.9%" if Fraction(999, 1000) < value < 1 else f"{fixed(value * 100, 1)}%"


def percent(value):
    if 0 < value < Fraction(1, 20_000):
        return "<0.01%"
    if Fraction(19_999, 20_000) <= value < 1:
        return ">99.99%"
    return f"{short(fixed(value * 100, 2))}%"


def dollars(value):
    sign, size = "−" if value < 0 else "", abs(value)
    if not size:
        return "$0"
    if size >= Fraction("99.995"):
        return f"{sign}${fixed(size)}"
    if size >= 1:
        return f"{sign}${fixed(size, 2)}"
    whole, _, cents = short(significant(size, 4)).partition(".")
    return f"{sign}${whole}.{cents.ljust(2, '0')}"


FORMATS = {
    "amount": amount,
    "count": fixed,
    "dollars": dollars,
    "exact": lambda value: short(fixed(value, 3)),
    "millions": lambda value: f"{amount(Fraction(value) / 10**6)} M",
    "number": number,
    "percent": percent,
    "seconds": seconds,
    "share": share,
}


def counted(count, noun):
    return f"{fixed(count)} {noun}{'' if count == 1 else 's'}"


def rate_set(name, label, curve, **trust):
    """A set of rates as a page and a session.json carry it."""
    flat = {"t0_s": 0, "a_s": 0, "b_s": 0, "c_s": 0, "d_s": 0, "warm_s": 0, "free_tokens": 1}
    trust = {"shortest": None, "longest": None, "off": None, "requests": 0} | trust
    return {"id": name, "label": label, "source": "a test", "curve": flat | curve, **trust}


def exactly(curve):
    """Its numbers as the fractions that those doubles are."""
    return {name: Fraction(value) for name, value in curve.items()}


def prefill_of(curve, tokens, cached=0):
    """Seconds: each token costs a, and each pair of tokens of which one is new costs b."""
    read = tokens - cached
    work = read * curve["a_s"] + curve["b_s"] * (read * read + 2 * read * cached)
    return curve["t0_s"] + work + (curve["warm_s"] if cached else 0)


def decode_of(curve, tokens, written):
    """Seconds: so many steps, each of which finds the prompt and half of the answer on average."""
    steps = max(written - curve["free_tokens"], 0)
    return steps * (curve["c_s"] + curve["d_s"] * (tokens + Fraction(written) / 2))


def rate_notes(used, tokens):
    """What is said of the rates: where the prompt leaves them, and whose they are."""
    ends = (used["shortest"], used["longest"])
    found = []
    for name, end, beyond in zip(("shortest", "longest"), ends, (-1, 1), strict=True):
        if end is not None and (tokens - end) * beyond > 0:
            found.append(f"Extrapolated: the {name} measured prompt has {fixed(end)} tokens.")
    told = f"Rates: {used['label']} ({used['source']})"
    if used["off"] is None:
        return [*found, f"{told}."]
    lengths = counted(used["requests"], "measured length")
    return [*found, f"{told}; at most {share(Fraction(used['off']))} off on {lengths}."]


def taken(calculator, rates, asked, by_hand):
    """The values after what was asked for, and the notes on it.

    `by_hand` says what becomes of an input that is not simply taken: its value, and the note.
    """
    values, notes = {}, []
    for each in DESCRIBED[calculator]["inputs"]:
        name = each["id"]
        first = rates[0]["id"] if name == "rates" else each["default"]
        values[name], note = by_hand.get(name, (asked.get(name, first), ""))
        if note:
            notes.append(f"{each['label']}: {note}")
    return values, notes


def shown(calculator, values, results):
    described = DESCRIBED[calculator]
    texts = {
        each["id"]: FORMATS[each["format"]](values[each["id"]])
        for each in described["inputs"]
        if each["kind"] == "number"
    }
    for each in described["outputs"]:
        result = results[each["id"]]
        texts[each["id"]] = each["none"] if result is None else FORMATS[each["format"]](result)
    return texts


def plain(values):
    """Fractions as JSON numbers."""
    return {
        name: value
        if value is None or isinstance(value, str)
        else int(value)
        if value == int(value)
        else float(value)
        for name, value in values.items()
    }


def written(name, vectors):
    """Write a list of vectors, one a line."""
    lines = ",\n".join(json.dumps(each, ensure_ascii=False) for each in vectors)
    (HERE / f"{name}.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")
