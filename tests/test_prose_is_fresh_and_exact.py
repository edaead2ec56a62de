"""Promise: prompts are exact in length, correct in form, and never begin or go on alike."""

import bisect
import itertools
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twohalves.measure import prose
from twohalves.measure.lexicon import lexicon

LONGEST = 4300
TEXTS = 100
WINDOW = 1000

# Sounds, not letters, decide between a and an. Words whose first letter misleads:
CONSONANT_SOUND = {"one", "once", "use", "used", "useful", "user", "usual", "unit", "union"}
VOWEL_SOUND = {"hour", "honest", "honor", "heir"}


def chance(seed):
    """Repeatable chance; nothing here is secret."""
    return random.Random(seed)  # noqa: S311 - a seed is the point


def units_of(text):
    """Count by hand, letter by letter: a unit ends where letters, marks and spaces meet."""
    kinds = ["space" if c.isspace() else "letter" if c.isalpha() else "mark" for c in text]
    return sum(kind != "space" for kind, _ in itertools.groupby(kinds))


def a_story(seed, units=LONGEST):
    """The sentences of one long text."""
    told, total = [], 0
    for sentence in prose.sentences(chance(seed)):
        told.append(sentence)
        total += units_of(sentence.text)
        if total >= units:
            return told
    return told


@pytest.fixture(scope="module")
def stories():
    """A hundred texts, as sentences."""
    return [a_story(seed) for seed in range(TEXTS)]


@pytest.mark.parametrize(
    "units", [*range(1, 41), 85, 96, 298, 572, 1095, 2156, 4247, 4299, LONGEST]
)
def test_a_text_has_exactly_the_units_asked_for(units):
    """Length is what was asked for, whoever counts."""
    text = prose.write(units, chance(units))

    assert units == units_of(text) == prose.count(text)


@settings(max_examples=60)
@given(units=st.integers(1, LONGEST), seed=st.integers(0, 2**64))
def test_any_length_is_one_clean_line_that_ends_in_the_middle_of_a_sentence(units, seed):
    """Plain ASCII, single spaces, none at the ends, and a word last, so that a model goes on."""
    text = prose.write(units, chance(seed))

    assert units == units_of(text)
    assert text.isascii()
    assert "\n" not in text
    assert "  " not in text
    assert text == text.strip()
    assert text[-1].isalpha()
    assert not re.search(r"[{}\d'\-]", text)
    assert text.lstrip('"')[0].isupper()


@pytest.mark.parametrize("units", [0, -1])
def test_a_text_without_units_is_refused(units):
    """The message names the parameter, the rule and the value."""
    with pytest.raises(ValueError, match=f"units must be .* at least 1, got {units}"):
        prose.write(units, chance(0))


def test_the_same_state_of_chance_writes_the_same_text():
    """Deterministic, and only by the generator handed in."""
    random.seed(1)
    first = prose.write(900, chance(7))
    random.seed(2)

    assert first == prose.write(900, chance(7))
    assert first != prose.write(900, chance(8))


def test_the_systems_own_randomness_works_too():
    """Timed prompts use it, so that nothing is ever repeated."""
    system = random.SystemRandom()

    assert prose.write(200, system) != prose.write(200, system)


def test_there_are_at_least_150_templates():
    """Enough to keep a window of 1,000 units free of repetition."""
    templates = [t.text for t in (*lexicon().openings, *lexicon().templates)]

    assert len(templates) >= 150
    assert len(templates) == len(set(templates))


def test_no_template_comes_more_than_twice_in_any_thousand_units(stories):
    """Slides a window over every text; a sentence counts if any part of it lies inside."""
    for story in stories:
        ends = list(itertools.accumulate(units_of(s.text) for s in story))
        starts = [0, *ends[:-1]]
        uses = {}
        for index, sentence in enumerate(story):
            uses.setdefault(sentence.template, []).append(index)
        for indices in uses.values():
            for first, third in zip(indices, indices[2:], strict=False):
                assert starts[third] - ends[first] + 1 >= WINDOW


def test_no_sentence_comes_twice_in_a_text(stories):
    """Not even far apart."""
    for story in stories:
        texts = [sentence.text for sentence in story]

        assert len(texts) == len(set(texts))


def test_texts_part_within_their_first_words():
    """Of 300 texts no two share their first 40 units, and most part within a few."""
    beginnings = sorted(prose.write(60, chance(seed)).split() for seed in range(300))
    shared = [
        next(i for i, (one, other) in enumerate(zip(*pair, strict=False)) if one != other)
        for pair in itertools.pairwise(beginnings)
    ]

    assert max(shared) < 30
    assert bisect.bisect_left(sorted(shared), 7) >= len(shared) * 0.9


def test_a_sentence_begins_with_a_capital_and_ends_with_a_mark(stories):
    """Quotations too, and quotation marks come in pairs."""
    for sentence in itertools.chain.from_iterable(stories):
        assert re.match(r'"?[A-Z]', sentence.text)
        assert re.search(r'[.?]"?$', sentence.text)
        assert sentence.text.count('"') % 2 == 0
        assert not re.search(r"\s[.,;?]|[.,;?]{2}|[.,;?][A-Za-z]", sentence.text)


def test_sentences_are_neither_very_short_nor_very_long(stories):
    """Between 4 and 36 units, and of many different lengths."""
    lengths = {units_of(s.text) for s in itertools.chain.from_iterable(stories)}

    assert min(lengths) >= 4
    assert max(lengths) <= 36
    assert len(lengths) >= 20


def test_a_and_an_agree_with_the_sound_that_follows(stories):
    """An independent rule over every article in a hundred texts."""
    found = {"a": 0, "an": 0}
    for sentence in itertools.chain.from_iterable(stories):
        for article, word in re.findall(r"\b([Aa]n?) ([A-Za-z]+)", sentence.text):
            vowel = word in VOWEL_SOUND or (word[0] in "aeiou" and word not in CONSONANT_SOUND)

            assert ("an" if vowel else "a") == article.lower(), sentence.text
            found[article.lower()] += 1
    assert min(found.values()) > 100


def test_one_sentence_uses_no_word_of_content_twice(stories):
    """No "looked for a place to look": what fills the slots of a sentence does not overlap."""
    nouns = {
        filler.forms["thing"]
        for scene in lexicon().scenes
        for filler in (*scene.fillers["things"], *scene.fillers["sights"])
    }
    for sentence in itertools.chain.from_iterable(stories):
        if "{fact}" in sentence.template:
            continue  # a saying may repeat a word on purpose: a lost book is a book
        words = re.findall(r"[a-z]+", sentence.text.lower())
        twice = {word for word in nouns if words.count(word) > 1}

        assert not twice, sentence.text


def test_every_scene_can_be_told():
    """Each act has its verb, each template only slots that every scene can fill."""
    scenes = lexicon().scenes

    assert len(scenes) >= 10
    for scene in scenes:
        assert {"things", "sights", "spots", "acts", "events", "states", "facts", "aims"} < set(
            scene.fillers
        )
        assert len(set(scene.jobs)) >= 4
        for act in scene.fillers["acts"]:
            assert set(act.forms) == {"do", "did", "done", "doing"}
