"""A variant's name tells what its text shares with the one before, and nothing else is shared."""

import functools
import itertools
import random
import re

import pytest

from tests.servers import modelled
from tests.servers.modelled import common, tokenized
from twohalves.measure import live, measure
from twohalves.server import find

HEAD = re.compile(r"(\d{8})\. ")
TIME = re.compile(r"It is \d\d:\d\d:\d\d\.\d{3}\.")


def _measured(runs):
    """The rows of a whole `quick` run, each with its text and the text of its answer."""
    with modelled.scripted.Scripted(modelled.Modelled().routes()) as server:
        book = live(find(environ={"TWOHALVES_SERVER": server.url}), None, runs)
        run = measure(book)
        bodies = [a.json for a in server.asked if a.path == "/api/generate" and a.json["prompt"]]
    texts = [body["prompt"] for body in bodies]
    replies = ["".join(map(modelled.word, range(b["options"]["num_predict"]))) for b in bodies]
    return list(zip(run.timings, texts, replies, strict=True))


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    return _measured(tmp_path_factory.mktemp("runs"))


def _group(asked, pair):
    return [(text, reply) for row, text, reply in asked if row.pair == pair]


def _pair(asked, variant):
    (first, reply), (second, _) = _group(asked, f"broken-{variant}-b1")
    return first, reply, second


def _start(one, other):
    """What two texts begin with together."""
    both = itertools.takewhile(lambda two: two[0] == two[1], zip(one, other, strict=False))
    return "".join(letter for letter, _ in both)


def test_a_warm_prompt_is_the_same_text(asked):
    """Letter for letter, in the table's pairs and among the ways to break the cache."""
    first, _, second = _pair(asked, "warm")
    assert first == second
    for row, text, _ in asked:
        if row.variant == "warm":
            assert [text] * 2 == [t for r, t, _ in asked if r.pair == row.pair]


def test_a_time_on_top_differs_right_after_the_entry_number(asked):
    """Nothing of the prose behind it is in the beginning, and all of it comes again."""
    first, _, second = _pair(asked, "ts_top")

    for text in (first, second):
        assert TIME.match(text, HEAD.match(text).end())
    assert len(_start(first, second)) < TIME.search(first).end()
    assert TIME.split(first) == TIME.split(second)
    assert first != second


def test_a_time_at_the_bottom_leaves_all_before_it_in_the_beginning(asked):
    """Only the last sentence, the time itself, differs."""
    first, _, second = _pair(asked, "ts_bottom")

    for text in (first, second):
        assert TIME.search(text).end() == len(text)
    assert len(_start(first, second)) >= TIME.search(first).start()
    assert TIME.sub("", first) == TIME.sub("", second)
    assert first != second


def test_one_token_is_changed_and_it_is_the_twelfth(asked):
    """The token before the text, eight digits, a period: the second word differs."""
    first, _, second = map(tokenized, _pair(asked, "mid_changed"))
    [place] = [n for n, (one, two) in enumerate(zip(first, second, strict=True)) if one != two]

    assert place == 12 - 1


def test_a_conversation_goes_on_with_its_answer_and_new_text(asked):
    """Prompt, then what was answered, then about forty words that nobody has sent before."""
    first, reply, second = _pair(asked, "appended")
    new = second.removeprefix(first + reply)

    assert second == first + reply + new
    assert 40 == pytest.approx(len(tokenized(new)) - 1, abs=4)
    assert new.strip() not in first


def test_two_users_take_turns_and_never_mix(asked):
    """Each goes on with its own prompt and answer; of the other's text there is none."""
    (a, reply_a), (b, reply_b), (a_again, _), (b_again, _) = _group(asked, "broken-users-own-b1")

    assert a_again.startswith(a + reply_a)
    assert b_again.startswith(b + reply_b)
    prose_a, prose_b = HEAD.sub("", a), HEAD.sub("", b)
    assert prose_b[:60] not in a_again
    assert prose_a[:60] not in b_again
    assert common(tokenized(a_again), tokenized(b_again)) == 1  # before the digits


def test_both_layouts_hold_the_same_parts(asked):
    """Instructions that all requests of one layout begin with stand in each of the other."""
    stable = [text for text, _ in _group(asked, "traffic-stable_top")]
    volatile = [text for text, _ in _group(asked, "traffic-volatile_top")]
    instructions = HEAD.sub("", functools.reduce(_start, stable))

    assert len(tokenized(instructions)) > 300
    assert all(instructions in text for text in volatile)
    for one, other in zip(stable, volatile, strict=True):
        for part in (TIME, HEAD, re.compile(r"User \d{4} asks\.")):
            assert len(part.findall(one)) == len(part.findall(other)) == 1
        assert len(tokenized(one)) == pytest.approx(len(tokenized(other)), rel=0.1)


def test_only_with_what_is_stable_on_top_is_a_beginning_shared(asked):
    """Below a time and a user's number nothing is a beginning any more."""
    starts = {}
    for layout in ("volatile_top", "stable_top"):
        texts = [text for text, _ in _group(asked, f"traffic-{layout}")]
        starts[layout] = [_start(*two) for two in itertools.combinations(texts, 2)]

    longest = "It is 12:34:56.789. User 1234"
    assert all(len(start) < len(longest) for start in starts["volatile_top"])
    assert all(len(tokenized(start)) > 300 for start in starts["stable_top"])


def test_what_is_new_begins_like_nothing_before_it(asked):
    """No two groups, in whatever block, have an entry number in common.

    Five in a row begin with five digits, so that a server with four slots holds none of them.
    """
    belongs = {}
    for row, text, _ in asked:
        belongs.setdefault(HEAD.search(text)[1], set()).add(row.pair or row.seq)

    assert all(len(groups) == 1 for groups in belongs.values())
    heads = list(belongs)
    for at in range(len(heads) - 4):
        assert 5 == len({head[0] for head in heads[at : at + 5]})


def test_nothing_is_seeded(asked, tmp_path):
    """A seed that somebody set, or the run's own, brings no text back."""
    random.seed(1)
    once = {text for _, text, _ in _measured(tmp_path / "one")}
    random.seed(1)
    again = {text for _, text, _ in _measured(tmp_path / "two")}

    assert not once & again
    entries = [{HEAD.search(text)[1] for text in texts} for texts in (once, again)]
    assert not entries[0] & entries[1]
