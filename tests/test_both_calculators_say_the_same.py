"""The live calculator and the static one compute the same numbers and show the same characters.

Numbers are held equal to the last bit: both halves do the same operations in the same order, and
every one of them (+ − × ÷) is exact to the last bit in both languages. The vectors, which come
from exact fractions, are met to 1e-9.
"""

import math
import random
import re
from decimal import Decimal

import pytest

from tests import parity
from tests.parity import CALLED, SPECS, by_node, by_python
from twohalves.show import numbers
from twohalves.show.calculator import accept, bars, scale, start, words

SEED = 31_06
TYPED = [
    "", " ", "NaN", "nan", "Infinity", "-inf", "abc", "5 000", "1e9", "1e999", "1e-9", "-1e999",
    "-5", "−3", "-0", "-0.0", "+7", "0", "0,5", "60", "60%", " 60 % ", "0.6", "100", "1.5",
    "100.01", "0.15 $/1k", "$3", "1,000", "1,000,000", "1,00", "12,34", "0,123", "1,234.5", ",5",
    ".5", "5.",
    "６０", "٣", "1_000", "0x10", "1e5%", "%", "0.00004", "0.00005", "0.99995", "0.00000001",
    "3e-9", "2.5", "3.5", "0.5", "1e16", "1e22", "12345678901234567890123", "999999999999999999999",
    "\t42\n", "\u00a042", "\ufeff42", "\x1c42\x85", "👍" * 25, "<b>", "true", "constructor",
]  # fmt: skip
"""What somebody types, pastes or puts into an address."""
NOT_TYPED = [None, 0, 1, 60, 0.6, 1 / 3, 1e-7, 2.5e-9, 1e22, 1e300, -1e21, 123456.789, -0.5, -0.0]
"""What a measurement or a preset gives."""
NUMBERS = [
    (name, described)
    for name, spec in SPECS.items()
    for described in spec["inputs"]
    if described["kind"] == "number"
]


def _chance():
    return random.Random(SEED)  # noqa: S311 — questions, not secrets


def _rates(chance):
    """Two sets of rates, measured or not, of some machine between a toy and a data center."""
    found = []
    for name in ("own", "chapter"):
        measured = chance.random() < 0.5
        curve = {
            "t0_s": chance.choice([0, 10 ** chance.uniform(-4, 0)]),
            "a_s": 10 ** chance.uniform(-6, -1),
            "b_s": chance.choice([0, 10 ** chance.uniform(-12, -6)]),
            "c_s": 10 ** chance.uniform(-4, 0),
            "d_s": chance.choice([0, 10 ** chance.uniform(-9, -4)]),
            "warm_s": chance.choice([0, 0.015, 10 ** chance.uniform(-3, 1)]),
            "free_tokens": chance.choice([0, 1]),
        }
        found.append(
            {
                "id": name,
                "label": f"{name} & “<{chance.randrange(100)}>”",
                "source": "a 'drawn' machine",
                "curve": curve,
                "shortest": chance.randrange(2000) if measured else None,
                "longest": chance.randrange(2000, 200_000) if measured else None,
                "off": chance.choice([0, chance.random(), 1e-5, 0.9999]) if measured else None,
                "requests": chance.randrange(5),
            }
        )
    return found


def _asked(chance, described):
    """Of a number: within the limits and evenly over the magnitudes, or anything at all."""
    if described["kind"] == "choice":
        known = described["options"]
        known = ["own", "chapter"] if known == "rates" else [each["id"] for each in known]
        return chance.choice([*known, "another"])
    if chance.random() < 0.15:
        return chance.choice(TYPED + NOT_TYPED)
    low, high = described["min"], described["max"]
    if chance.random() < 0.1:
        return chance.choice([low, high])
    if described["scale"] == "log" or chance.random() < 0.2:
        first = low or described.get("from") or 10.0 ** -described["decimals"]
        number = 10 ** chance.uniform(math.log10(first), math.log10(high))
    else:
        number = chance.uniform(low, high)
    digits = chance.choice([1, 2, 3, 17])
    number = min(max(float(f"{number:.{digits - 1}e}"), low), high)
    return chance.choice([number, str(number), f"{number:,.2f}"])


def _questions(count):
    chance = _chance()
    found = []
    for number in range(count):
        name = list(SPECS)[number % len(SPECS)]
        asked = {
            each["id"]: _asked(chance, each)
            for each in SPECS[name]["inputs"]
            if chance.random() < 0.8
        }
        found.append({"calculator": name, "rates": _rates(chance), "asked": asked})
    return found


def test_python_and_the_script_agree_on_every_vector(node):
    """Both give what exact fractions give, and each other's numbers to the last bit."""
    vectors = parity.vectors()
    given = {"specs": SPECS, "questions": vectors}
    answers = by_node(node, parity.ANSWERED, given)
    assert sum(each["calculator"] == "worksheet" for each in vectors) >= 200
    for vector, answer in zip(vectors, answers, strict=True):
        assert parity.unlike(vector, answer) == [], vector["asked"]
        assert by_python(vector) == answer, vector["asked"]


def test_python_and_the_script_agree_on_what_nobody_foresaw(node):
    """Six hundred drawn questions, bad ones among them: numbers, words, tables and pictures."""
    questions = _questions(600)
    answers = by_node(node, parity.ANSWERED, {"specs": SPECS, "questions": questions})
    for question, answer in zip(questions, answers, strict=True):
        assert by_python(question) == answer, question


def test_every_text_is_taken_alike_by_every_input(node):
    """What is typed, pasted, measured or forged gives one value and one note in both."""
    asked = [
        (each, given, each["default"]) for _, each in NUMBERS for given in (*TYPED, *NOT_TYPED)
    ]
    answers = by_node(node, CALLED, [["acceptNumber", question] for question in asked])
    for (described, given, before), answer in zip(asked, answers, strict=True):
        taken = accept.accept_number(described, given, before)
        assert {"value": taken.value, "note": taken.note} == answer, given
        assert described["min"] <= answer["value"] <= described["max"]
        assert not re.search("nan|inf|−0|-0", answer["note"].rpartition("”")[2], re.IGNORECASE)


def test_space_is_one_thing_in_both(node):
    """Whatever either language calls space, all of the first plane, falls off both ends."""
    described = NUMBERS[0][1]
    asked = [chr(code) for code in range(0x10000) if not 0xD800 <= code < 0xE000]
    calls = [["acceptNumber", [described, f"{each}500{each}", 123]] for each in asked]
    answers = by_node(node, CALLED, calls)
    for each, answer in zip(asked, answers, strict=True):
        taken = accept.accept_number(described, f"{each}500{each}", 123)
        assert {"value": taken.value, "note": taken.note} == answer, hex(ord(each))


def test_a_start_that_was_measured_is_begun_alike(node):
    """Values in place of defaults, good and bad, with where they come from."""
    chance = _chance()
    asked = []
    for name, spec in list(SPECS.items()) * 20:
        given = {
            each["id"]: {"value": _asked(chance, each), "source": f"run “{name}”"}
            for each in spec["inputs"]
            if chance.random() < 0.5
        }
        asked.append([spec, given, _rates(chance)])
    answers = by_node(node, CALLED, [["begin", question] for question in asked])
    for (spec, given, facts), answer in zip(asked, answers, strict=True):
        started = {name: start.Start(**each) for name, each in given.items()}
        begun = start.begin(spec, started, parity.rate_sets(facts))
        assert {"values": begun.values, "sources": begun.sources, "notes": begun.notes} == answer


def test_sliders_stop_at_the_same_places(node):
    """Every stop of every slider, where it stands for any value, and its two ends."""
    chance, calls, told = _chance(), [], []
    for _, described in NUMBERS:
        first, last = scale.ends(described)
        drawn = [chance.uniform(described["min"], described["max"]) for _ in range(50)]
        drawn += [described["min"], described["max"], described["default"]]
        drawn += [10 ** chance.uniform(-8, math.log10(described["max"])) for _ in range(50)]
        drawn = [each for each in drawn if described["min"] <= each <= described["max"]]
        places = range(int(first), min(int(last), int(first) + 1000) + 1)
        calls.append(["ends", [described]])
        calls += [["position", [described, value]] for value in drawn]
        calls += [["valueAt", [described, place]] for place in places]
        told.append(list(scale.ends(described)))
        told += [scale.position(described, value) for value in drawn]
        told += [scale.value_at(described, place) for place in places]
    for call, expected, answer in zip(calls, told, by_node(node, CALLED, calls), strict=True):
        assert expected == answer, call


def _hard_numbers():
    """Magnitudes from nothing to the largest bill, halves, and the neighbors of both."""
    chance = _chance()
    exact = [0, 1, 0.5, 1.5, 2.5, 2.675, 1.005, 0.125, 8.5, 99.995, 99.994999, 400.5, 0.045, 1e-5]
    exact += [
        float(f"{digits}e{power}")
        for digits in (1, 995, 9995, 99995, 25, 5)
        for power in range(-12, 18)
    ]
    exact += [chance.randrange(10**6) / 8 for _ in range(100)]
    exact += [
        float(f"{chance.uniform(1, 10):.{chance.randrange(16)}f}e{chance.randrange(-12, 18)}")
        for _ in range(500)
    ]
    found = []
    for each in exact:
        found += [each, math.nextafter(each, math.inf), math.nextafter(each, 0.0)]
    return [*found, *(-each for each in found)]


def test_every_number_becomes_the_same_text(node):
    """All formats over thirty magnitudes, on halves and beside them, above and below zero."""
    drawn = _hard_numbers()
    pairs = [("fixed", lambda value: numbers.fixed(value, 0)), ("seconds", numbers.seconds)]
    pairs += [("significant", numbers.significant), ("percent", numbers.percent)]
    pairs += [(name, getattr(words, name)) for name in ("share", "number", "amount", "millions")]
    pairs += [("exactPercent", words.exact_percent), ("dollars", words.dollars)]
    asked = [(name, function, [value]) for name, function in pairs for value in drawn]
    asked += [
        ("fixed", numbers.fixed, [value, decimals]) for decimals in range(1, 9) for value in drawn
    ]
    answers = by_node(node, CALLED, [[name, given] for name, _, given in asked])
    for (name, function, given), answer in zip(asked, answers, strict=True):
        assert function(*given) == answer, (name, given)


def test_every_input_is_said_with_the_same_unit(node):
    """What a screen reader says of a slider: one token, two tokens, dollars before the number."""
    asked = [
        (described, value)
        for _, described in NUMBERS
        for value in (0, 1, 2, 0.1, 0.9999, 1.5, described["min"], described["max"])
    ]
    answers = by_node(node, CALLED, [["withUnit", question] for question in asked])
    assert [words.with_unit(*question) for question in asked] == answers


def test_every_picture_is_the_same_to_the_character(node):
    """Bars of any length, with labels that a careless page would take for markup."""
    chance = _chance()
    asked = []
    for _ in range(300):
        rows = [
            [chance.choice(["<i>", "a & b", "“q” 'q' \"q\""]), *_seconds(chance)]
            for _ in range(chance.choice([1, 2, 3]))
        ]
        asked.append([rows, "told <title> & 'more'"])
    answers = by_node(node, CALLED, [["bars", question] for question in asked])
    assert [bars.bars(*question) for question in asked] == answers
    longest = [0, *(10 ** chance.uniform(-10, 9) for _ in range(500)), 5e-9, 0.5, 1, 2.5, 10, 50]
    answers = by_node(node, CALLED, [["ticks", [each]] for each in longest])
    assert [[list(tick) for tick in bars.ticks(each)] for each in longest] == answers


def _seconds(chance):
    return [chance.choice([0, 10 ** chance.uniform(-6, 6), chance.randrange(64) / 8]) for _ in "pd"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(2.675, "2.68"), (1.005, "1.01"), (-2.675, "-2.68"), (0.125, "0.13"), (-0.001, "0.00")],
)
def test_halves_round_as_on_paper(node, value, text):
    """Away from zero, on the decimal digits; nothing is ever minus nothing."""
    assert Decimal(repr(value)) == Decimal(str(value))
    assert numbers.fixed(value, 2) == text
    assert by_node(node, CALLED, [["fixed", [value, 2]]]) == [text]
