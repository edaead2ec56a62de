"""What a real Ollama 0.24.0 sent, byte for byte, is understood: counts, shapes, errors."""

import pytest

from tests.servers.scripted import Answer, Scripted
from tests.wire import recorded
from twohalves import lab
from twohalves.errors import (
    ModelMissing,
    RequestTooLong,
    ServerBroke,
    ServerRefused,
    SeveralModels,
    TwoHalvesError,
)
from twohalves.formulas import bytes_per_token
from twohalves.measure import live
from twohalves.server import cache_type, choose, facts, find, models

QUESTION = {"question": "Hi"}
NAMES = ("smollm2:135m", "gemma3:270m")


def sent(name):
    """A recorded answer, sent again."""
    found = recorded.response(name)
    return Answer(status=found.status, body=found.body)


def _short(asked):
    return asked.json["model"].partition(":")[0]


def routes(**more):
    """Each path answers with what was recorded of the model that is asked for."""
    return {
        "/": sent("root_get"),
        "/api/version": sent("version"),
        "/api/tags": sent("tags"),
        "/api/ps": sent("ps_two"),
        "/api/show": lambda asked: sent(
            f"show_{_short(asked)}{'_verbose' if asked.json.get('verbose') else ''}"
        ),
        "/api/chat": lambda asked: sent(
            f"chat_{'stream' if asked.json['stream'] else 'nostream'}_{_short(asked)}"
        ),
        **more,
    }


@pytest.fixture
def asked(tmp_path):
    """Opens a book on the recorded server, for one of its models."""
    opened = []

    def book(name, **more):
        opened.append(Scripted(routes(**more)).__enter__())
        return live(find(environ={"TWOHALVES_SERVER": opened[-1].url}), name, tmp_path)

    yield book
    for server in opened:
        server.__exit__()


def test_its_models_are_listed_and_none_is_picked_silently():
    """Both are local, write text and do nothing else; which one is the reader's choice."""
    with Scripted(routes()) as server:
        listed = models(find(environ={"TWOHALVES_SERVER": server.url}))

    assert set(NAMES) == {model.name for model in listed}
    assert all(model.plain and model.writes and not model.is_cloud for model in listed)
    with pytest.raises(SeveralModels):
        choose(listed, wanted=None)
    assert choose(listed, wanted="gemma3:270M").name == "gemma3:270m"
    with pytest.raises(ModelMissing):  # no tag means latest, as Ollama has it
        choose(listed, wanted="gemma3")


@pytest.mark.parametrize(
    ("name", "growing", "windowed", "numbers"),
    [
        # 30 layers, 3 heads, keys and values of 576 / 9 numbers, two bytes each
        ("smollm2:135m", 30 * 3 * 2 * 64 * 2, 0, 134_515_008),
        # every sixth of 18 layers looks back on all, the others on 512 tokens: 1 head of 256
        ("gemma3:270m", 3 * 1 * 2 * 256 * 2, 15 * 1 * 2 * 256 * 2, 268_098_176),
    ],
)
def test_its_models_are_sized_from_what_it_shows(name, growing, windowed, numbers):
    """Metadata as it comes, vocabulary and all; what is kept of them is small."""
    with Scripted(routes()) as server:
        told = facts(find(environ={"TWOHALVES_SERVER": server.url}), name)
    shape = bytes_per_token(told.kv_shape())

    assert (growing, windowed) == (shape.growing, shape.windowed)
    assert (numbers, "gguf", ("completion",)) == (
        told.parameter_count, told.format, told.capabilities,
    )  # fmt: skip
    assert len(told.digest) == 64
    assert not any("tokenizer" in key for key in told.own_keys)


@pytest.mark.parametrize("name", NAMES)
def test_a_streamed_answer_is_counted_as_it_says(asked, name):
    """Eight tokens in as many chunks, then the record with the counters."""
    answered = lab.answer(asked(name), QUESTION, num_predict=8)
    end = recorded.response(f"chat_stream_{name.partition(':')[0]}")

    assert (end.text.strip(), 8, "length") == (
        answered.text, answered.output_tokens, answered.done_reason,
    )  # fmt: skip
    assert end.records[-1]["prompt_eval_count"] == answered.prompt_tokens


@pytest.mark.parametrize(
    ("name", "error", "said"),
    [
        ("err_missing_chat", ModelMissing, "nope:1b"),
        ("err_tools", ServerRefused, "does not support tools"),
        ("err_think", ServerRefused, "does not support thinking"),
        ("err_bad_option", ServerRefused, "option"),
        ("generate_truncate_false_smollm2", RequestTooLong, "window"),
    ],
)
def test_what_it_refuses_is_said(asked, name, error, said):
    """Its own words reach the reader, in an error of ours."""
    book = asked("smollm2:135m", **{"/api/chat": sent(name), "/api/generate": sent(name)})

    for ask in (lab.count, lab.answer):
        with pytest.raises(error, match=said):
            ask(book, QUESTION)


def test_an_answer_whose_engine_died_is_none(asked):
    """Status 200, some text, then a line with an error."""
    begun, *_ = recorded.response("chat_stream_smollm2").body.splitlines(keepends=True)
    *_, died = recorded.response("err_midstream_runner_killed").body.splitlines(keepends=True)
    book = asked("smollm2:135m", **{"/api/chat": Answer(body=begun + died)})

    with pytest.raises(ServerBroke):
        lab.answer(book, QUESTION)


def test_an_embedding_is_no_answer(asked):
    """What comes without counters is not counted."""
    embedded = sent("embed_smollm2")
    book = asked("smollm2:135m", **{"/api/chat": embedded, "/api/generate": embedded})

    for ask in (lab.count, lab.answer):
        with pytest.raises(TwoHalvesError):
            ask(book, QUESTION)


def test_what_it_holds_is_read_and_put_back():
    """Both were loaded with 4,096 tokens; a size that stays the same tells no type."""
    with Scripted(routes(**{"/api/generate": sent("generate_load_smollm2")})) as server:
        found = find(environ={"TWOHALVES_SERVER": server.url})
        told = cache_type(found, facts(found, "smollm2:135m"), agreed=True)
        loads = [each.json for each in server.asked if each.path == "/api/generate"]

    assert told.sizes == ((4096, 190_948_608),)
    assert told.slope is None
    assert [2048, 3072, 4096, 4096] == [load["options"]["num_ctx"] for load in loads]
    assert all(load["stream"] is False and "prompt" not in load for load in loads)
