"""A reader's own request is counted by the model, part by part, whatever the server leaves out."""

import dataclasses
import itertools
import json

import pytest

from tests.servers.chatting import HEADS, Chatting
from tests.servers.modelled import Counting
from tests.servers.tokenizer import token_counter
from tests.tables import rows_of
from twohalves import lab
from twohalves.errors import (
    CountsUnusable,
    NotInThisRun,
    RequestTooLong,
    RequestUnusable,
    UnknownName,
)
from twohalves.measure import live, measure, open_book
from twohalves.show import counting

REQUEST = {
    "question": "Why is the sky blue?",
    "system": "Answer in one word.",
    "tools": [{"name": "look"}],
}
COUNTS = [("system", 5), ("tools", 6), ("question", 6)]
"""Words and marks: [{" name ": " look "}] are six."""
TEMPLATE = 9
"""[ system ], [ user ] and [ assistant ]; the server's own first token comes to it."""


def _parts(counted):
    return [(part.name, part.tokens) for part in counted.parts]


def _texts(server, since=0):
    """What the server was given to read, raw or as the first message."""
    bodies = [each.json for each in server.asked[since:] if each.path in ASKING]
    return [body.get("prompt") or body["messages"][0]["content"] for body in bodies]


ASKING = {"/api/generate", "/api/chat"}


@pytest.mark.parametrize(
    ("counting_so", "slots", "own"),
    [
        (Counting(), 0, 1),
        (Counting(), 1, 1),
        (Counting(tells_shared=True), 4, 1),
        (Counting(counts_shared=False), 1, 0),
        (Counting(counts_shared=False, rereads=False), 1, 0),
    ],
    ids=["no-cache", "counted", "told-apart", "left-out", "left-out-and-missing"],
)
def test_each_part_is_what_the_count_grows_by(opened, counting_so, slots, own):
    """Given in any order, sent in one; the first token that a server leaves out is not counted."""
    book, _ = opened(Chatting(counting=counting_so, slots=slots).routes())

    for _ in range(2):
        counted = lab.count(book, REQUEST)

        assert COUNTS == _parts(counted)
        assert TEMPLATE + own == counted.template_tokens
        assert 17 + TEMPLATE + own == counted.prompt_tokens


class Deaf(Chatting):
    """Its template is {{ .Prompt }}, as of a model that was imported without one."""

    def chat(self, asked):
        spoken = [each for each in asked.json["messages"] if each["role"] != "system"]
        body = json.dumps(asked.json | {"messages": spoken}).encode()
        return super().chat(dataclasses.replace(asked, body=body))


@pytest.mark.parametrize(
    ("counting_so", "own"),
    [(Counting(), 1), (Counting(counts_shared=False, rereads=False), 0)],
    ids=["counted", "left-out-and-missing"],
)
def test_a_template_without_system_drops_the_digits_too(opened, counting_so, own):
    """What was never read is not taken off: six tokens between [ user ] and [ assistant ]."""
    book, _ = opened(Deaf(counting=counting_so, slots=1).routes())
    counted = lab.count(book, REQUEST)

    assert _parts(counted) == COUNTS
    assert counted.prompt_tokens == 6 + 2 * HEADS + own
    assert "fewer than its parts" in counting.parts(counted).data


def test_a_server_that_counts_all_is_asked_behind_one_line_of_digits(opened):
    """So that it reads each part once; another count has other digits, and finds nothing cached."""
    book, server = opened(Chatting(slots=1).routes())
    lab.count(book, REQUEST)
    first = {text.partition("\n")[0] for text in _texts(server)}
    asked = len(server.asked)
    lab.count(book, REQUEST)
    second = {text.partition("\n")[0] for text in _texts(server, asked)}

    assert len(first) == len(second) == 1
    assert not first & second


def test_a_server_that_leaves_cached_tokens_out_gets_digits_nobody_has_seen(opened):
    """After the two that gave it away no text begins like the one before."""
    book, server = opened(Chatting(slots=1, counting=Counting(counts_shared=False)).routes())
    lab.count(book, REQUEST)

    assert all(one[0] != two[0] for one, two in itertools.pairwise(_texts(server)[1:]))


def test_counting_does_not_reload_the_model(opened):
    """The options are those of the measured requests."""
    book, server = opened(Chatting().routes())
    lab.count(book, REQUEST)
    lab.count(book, REQUEST, num_ctx=2048)
    options = [each.json["options"] for each in server.asked if each.path in ASKING]

    assert {8192, 2048} == {each["num_ctx"] for each in options}
    assert all((0, 1) == (each["temperature"], each["seed"]) for each in options)


@pytest.mark.parametrize(
    "counting_so",
    [*(Counting(cut=cut) for cut in ("window", "one less", "half")), Counting(refuses=True)],
    ids=["window", "one-less", "half", "refused"],
)
@pytest.mark.parametrize("version", ["0.24.0", "0.30.1", "0.30.11", ""])
def test_a_request_that_would_be_cut_is_refused(opened, counting_so, version):
    """However this server cuts, and whatever it says it is: no count of what is left is shown."""
    book, _ = opened(Chatting(window=300, version=version, counting=counting_so).routes())
    long = REQUEST | {"context": "one more word " * 150}

    with pytest.raises(RequestTooLong, match="window of 300 tokens"):
        lab.count(book, long)
    with pytest.raises(RequestTooLong, match="window of 300 tokens"):
        lab.answer(book, long)


def test_a_window_smaller_than_asked_for_is_noticed(opened):
    """Fewer tokens than words cannot be the whole text."""
    book, _ = opened(Chatting(holds=100).routes())

    with pytest.raises(RequestTooLong):
        lab.count(book, {"context": "word " * 200})


@pytest.mark.parametrize("number", [1, 4, 6])
def test_a_server_that_does_not_count_is_named(opened, number):
    """At the first text, at a part, at the whole request: never a count made up."""
    modelled = Chatting()
    modelled.faults[number] = lambda final: _without(final, "prompt_eval_count")
    book, _ = opened(modelled.routes())

    with pytest.raises(CountsUnusable, match="prompt_eval_count"):
        lab.count(book, {"system": "One.", "question": "Two?"})


def test_counts_that_shrink_are_not_believed(opened):
    """More text and fewer tokens: nothing is subtracted from that."""
    modelled = Chatting()
    modelled.faults[5] = lambda final: final | {"prompt_eval_count": 12}
    book, _ = opened(modelled.routes())

    with pytest.raises(CountsUnusable, match="fewer"):
        lab.count(book, {"system": "One word, and more.", "question": "Two?"})


def _without(record, name):
    return {key: value for key, value in record.items() if key != name}


@pytest.mark.parametrize(
    ("request_", "error", "said"),
    [
        ({"sistem": "x"}, UnknownName, "system"),
        ({1: "x"}, UnknownName, "Known: system, tools"),
        ({}, RequestUnusable, "no text"),
        ({"system": " \n", "tools": [], "question": None}, RequestUnusable, "no text"),
        ("Why?", RequestUnusable, "type str"),
        (None, RequestUnusable, "NoneType"),
        ({"question": 7}, RequestUnusable, "'question' is of the type int"),
        ({"context": ["a"]}, RequestUnusable, "'context' is of the type list"),
        ({"tools": {1, 2}}, RequestUnusable, "neither text nor JSON"),
        ({"tools": [float("nan")]}, RequestUnusable, "neither text nor JSON"),
        ({"system": "\ud83d"}, RequestUnusable, "half a character"),
    ],
)
def test_what_is_no_request_is_answered(opened, request_, error, said):
    """Before anybody is asked."""
    book, server = opened(Chatting().routes())

    for ask in (lab.count, lab.answer):
        with pytest.raises(error, match=said):
            ask(book, request_)
    assert not [each for each in server.asked if each.path in ASKING]


def test_in_replay_the_same_request_has_the_same_counts(opened):
    """What was counted while the run was recorded is given again; another request is an error."""
    book, server = opened(Chatting(slots=1).routes())
    run = measure(book, experiment="prefill_decode")
    record = {"TWOHALVES_RUN": run.id, "TWOHALVES_RECORD": server.url}
    recorded = lab.count(open_book(record, book.runs), REQUEST)
    asked = len(server.asked)
    replayed = open_book({"TWOHALVES_RUN": run.id}, book.runs)

    assert COUNTS == _parts(recorded)
    assert recorded == lab.count(replayed, REQUEST)
    assert asked == len(server.asked)
    with pytest.raises(NotInThisRun):
        lab.count(replayed, REQUEST | {"question": "And why is it red at night?"})


def test_the_table_adds_up(opened):
    """Each part with its share, and the template with the rest."""
    book, _ = opened(Chatting().routes())
    rows = rows_of(counting.parts(lab.count(book, REQUEST)))

    assert rows == [
        ["system", "5", "18.5%"],
        ["tools", "6", "22.2%"],
        ["question", "6", "22.2%"],
        ["the model's template", "10", "37.0%"],
        ["the whole request", "27", ""],
    ]


@pytest.fixture(scope="module")
def tokens_of():
    """Counts with the built-in model's own tokenizer."""
    return token_counter()


@pytest.mark.engine
@pytest.mark.parametrize(
    "own",
    [
        {"system": "You are a careful editor.", "question": "What is a lighthouse for?"},
        {
            "context": "Ein Leuchtturm steht am Meer. " * 4,
            "question": "日本語で答えて 🙂\n\n- kurz",
        },
        {"tools": [{"name": "look_up", "parameters": {"word": "string"}}], "examples": "A -> B\n"},
        {"system": "Hi"},
        {"question": "7"},
    ],
    ids=["plain", "unicode", "tools", "system-alone", "one-digit"],
)
def test_the_builtin_model_counts_as_its_tokenizer_does(builtin_server, tmp_path, tokens_of, own):
    """Parts after a line's end, and the whole in the marks that this model's template writes."""
    book = live(builtin_server, None, tmp_path)
    counted = lab.count(book, own, num_ctx=2048)

    texts = [
        own[name] for name in ("system", "tools", "examples", "context", "question") if name in own
    ]
    texts = [text if isinstance(text, str) else json.dumps(text) for text in texts]
    ends = [
        "\n" + "\n\n".join(text.strip() for text in texts[:n]) for n in range(1, len(texts) + 1)
    ]
    sizes = [tokens_of("7\n"), *(tokens_of("7" + end) for end in ends)]
    assert [two - one for one, two in itertools.pairwise(sizes)] == [n for _, n in _parts(counted)]
    assert counted.prompt_tokens == lab.answer(book, own, num_predict=1, num_ctx=2048).prompt_tokens
    assert counted.prompt_tokens == tokens_of(_rendered(own))


def _rendered(own):
    """As /api/show's template of this model would write it."""
    stable = [own[name] for name in ("system", "tools", "examples") if name in own]
    rest = [own[name] for name in ("context", "question") if name in own]
    texts = [
        "\n\n".join((each if isinstance(each, str) else json.dumps(each)).strip() for each in half)
        for half in (stable, rest)
    ]
    if not texts[0]:
        texts[0] = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
    said = "".join(
        f"<|im_start|>{role}\n{text}<|im_end|>\n"
        for role, text in zip(("system", "user"), texts, strict=True)
        if text
    )
    return f"{said}<|im_start|>assistant\n"
