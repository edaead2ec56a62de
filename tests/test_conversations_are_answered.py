"""/api/chat: the model's own template, whole messages dropped, the forms that Ollama accepts."""

import httpx
import pytest

from tests.models import tiny
from tests.servers.builtin import builtin
from twohalves.errors import RequestRefused
from twohalves.server.builtin.requests import Message
from twohalves.server.builtin.templates import render_what_fits

MODEL = "tiny:1k"


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """A server whose template is ChatML without any message of its own."""
    with builtin(tiny.llama(tmp_path_factory.mktemp("models") / "tiny.gguf")) as url:
        yield url


def chat(url, *messages, status=200, **more):
    turns = [{"role": role, "content": content} for role, content in messages]
    options = {"num_predict": 4, "temperature": 0, "num_thread": 1} | more.pop("options", {})
    body = {"model": MODEL, "messages": turns, "stream": False, "options": options} | more
    answer = httpx.post(f"{url}/api/chat", json=body, timeout=60, trust_env=False)
    assert answer.status_code == status, answer.text
    return answer.json()


def rendered(url, *messages, **more):
    return chat(url, *messages, _debug_render_only=True, **more)["_debug_info"]["rendered_template"]


@pytest.mark.engine
def test_each_role_stands_in_the_template(url):
    """System, user and assistant, in order, and room for the next answer."""
    text = rendered(url, ("system", "S"), ("user", "Hi"), ("Assistant", "Yo"), ("user", "And?"))

    assert text == (
        "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n"
        "<|im_start|>assistant\nYo<|im_end|>\n<|im_start|>user\nAnd?<|im_end|>\n"
        "<|im_start|>assistant\n"
    )


@pytest.mark.engine
def test_a_conversation_that_ends_with_an_answer_is_closed(url):
    """The answer is no beginning to be completed: another follows it; two are no error."""
    text = rendered(url, ("user", "Hi"), ("assistant", "Yo"), ("assistant", "Well"))

    assert text.endswith("Well<|im_end|>\n<|im_start|>assistant\n")


@pytest.mark.engine
def test_an_answer_has_the_fields_of_a_message(url):
    """Role and content; the counts are those of the template's whole text."""
    answer = chat(url, ("user", "Hi"))
    letters = sum(map(len, ("user\nHi", "\n", "assistant\n")))

    assert answer["message"].keys() == {"role", "content"}
    assert answer["message"]["role"] == "assistant"
    assert (answer["eval_count"], answer["done_reason"]) == (4, "length")
    assert answer["prompt_eval_count"] == letters + 3  # two marks begin a turn, one ends it
    assert "context" not in answer


@pytest.mark.engine
def test_old_messages_go_whole_and_system_and_last_stay(url):
    """The window holds the last two: what is left begins with a whole message."""
    messages = [("system", "Be brief."), *(("user", f"{n}" * 120) for n in range(5)), ("user", "Q")]

    text = rendered(url, *messages, options={"num_ctx": 256})
    answer = chat(url, *messages, options={"num_ctx": 256})

    assert "Be brief." in text
    assert [str(n) * 120 in text for n in range(5)] == [False, False, False, False, True]
    assert text.endswith("user\nQ<|im_end|>\n<|im_start|>assistant\n")
    assert answer["prompt_eval_count"] < 256  # nothing tells that messages were dropped


@pytest.mark.engine
def test_a_last_message_longer_than_the_window_is_cut_inside(url):
    """It is never dropped: as in /api/generate the first tokens and the tail are kept."""
    answer = chat(url, ("user", "Hi"), ("user", "x" * 1000), options={"num_ctx": 256})

    assert answer["prompt_eval_count"] == 256


@pytest.mark.engine
def test_without_truncation_a_long_conversation_is_refused(url):
    """400, in the recorded words; nothing is dropped."""
    messages = [("user", "a" * 200), ("user", "b" * 200)]

    answer = chat(url, *messages, status=400, truncate=False, options={"num_ctx": 256})

    assert answer == {"error": "the input length exceeds the context length"}


@pytest.mark.engine
def test_format_shift_and_stops_hold_for_conversations(url):
    """The same options as in /api/generate, with the same effects."""
    numbers = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}
    listed = chat(url, ("user", "Two"), format=numbers, options={"num_predict": 60})
    shifted = chat(
        url, ("user", "x" * 220), shift=False, options={"num_ctx": 256, "num_predict": 99}
    )
    first = chat(url, ("user", "Hi"), options={"num_predict": 9})["message"]["content"]
    stopped = chat(url, ("user", "Hi"), options={"num_predict": 9, "stop": [first[3:5]]})

    assert listed["message"]["content"].startswith("[")
    assert shifted["prompt_eval_count"] + shifted["eval_count"] == 256
    assert shifted["done_reason"] == "length"
    assert stopped["message"]["content"] == first[: first.index(first[3:5])]
    assert stopped["done_reason"] == "stop"


@pytest.mark.engine
@pytest.mark.parametrize(
    ("body", "status", "text"),
    [
        ({"model": "tiny:1k", "messages": 5}, 400, "ChatRequest.messages of type []api.Message"),
        ({"model": "tiny:1k", "messages": ["Hi"]}, 400, "string into Go struct field"),
        (
            {"model": "tiny:1k", "messages": [{"role": "user", "content": [{"type": "text"}]}]},
            400,
            "array into Go struct field ChatRequest.messages.content of type string",
        ),
        ({"model": "tiny:1k", "messages": [{"role": 1}]}, 400, "ChatRequest.messages.role"),
        ({"messages": []}, 400, "model is required"),
        ({"model": "tiny:1k", "top_logprobs": 21}, 400, "top_logprobs must be between 0 and 20"),
        ({"model": "tiny:1k", "messages": [{"images": ["aGk="]}]}, 400, "not support images"),
        ({"model": "tiny:1k", "messages": [{}], "think": True}, 400, "does not support thinking"),
        ({"model": "tiny:1k", "messages": [{}], "tools": [{}]}, 400, "does not support tools"),
        ({"model": "tiny:1k", "messages": [{}], "format": "xml"}, 500, "invalid format"),
        ({"model": "tiny:1k", "messages": [{}], "options": {"stop": "x"}}, 500, "of type array"),
    ],
)
def test_what_is_no_conversation_is_refused(url, body, status, text):
    """With Ollama's status and words."""
    answer = httpx.post(f"{url}/api/chat", json=body, timeout=60, trust_env=False)

    assert answer.status_code == status
    assert text in answer.json()["error"]


@pytest.mark.engine
def test_a_message_may_lack_its_content(url):
    """An empty text, as in Ollama; any role is passed to the template."""
    assert rendered(url, ("user", None)).startswith("<|im_start|>user\n<|im_end|>")
    assert rendered(url, ("critic", "Hm")).startswith("<|im_start|>critic\nHm<|im_end|>")


@pytest.mark.engine
def test_no_messages_load_and_unload(url):
    """`load`, then it is listed; `unload`, then it is not."""
    loads = chat(url)
    listed = httpx.get(f"{url}/api/ps", trust_env=False).json()["models"]
    unloads = chat(url, keep_alive=0)

    assert (loads["done_reason"], unloads["done_reason"]) == ("load", "unload")
    assert loads["message"] == {"role": "assistant", "content": ""}
    assert [each["name"] for each in listed] == [MODEL]
    assert httpx.get(f"{url}/api/ps", trust_env=False).json()["models"] == []


@pytest.mark.engine
def test_the_files_own_template_is_counted(builtin_server):
    """SmolLM2's adds a system message where a request has none; both endpoints render alike."""
    body = {"model": "smollm2:135m", "stream": False, "options": {"num_predict": 1}}

    def ask(path, **more):
        address = f"{builtin_server.url}/api/{path}"
        return httpx.post(address, json=body | more, timeout=60, trust_env=False).json()

    shown = ask("generate", prompt="Hi", _debug_render_only=True)["_debug_info"]
    text = shown["rendered_template"]
    alone = ask("generate", prompt="Hi")["prompt_eval_count"]
    raw = ask("generate", prompt=text, raw=True)["prompt_eval_count"]
    chatted = ask("chat", messages=[{"role": "user", "content": "Hi"}])["prompt_eval_count"]
    with_system = ask("generate", prompt="Hi", system="S", _debug_render_only=True)["_debug_info"]

    assert text.startswith("<|im_start|>system\nYou are a helpful AI assistant named SmolLM")
    assert alone == raw == chatted
    assert "SmolLM" not in with_system["rendered_template"]


@pytest.mark.engine
def test_the_models_own_end_ends_an_answer(builtin_server):
    """No stop text is needed: its end token ends the answer, and is not seen in it."""
    messages = [{"role": "user", "content": "Say hello."}]
    options = {"num_predict": 300, "temperature": 0}
    body = {"model": "smollm2:135m", "messages": messages, "stream": False, "options": options}
    url = f"{builtin_server.url}/api/chat"
    answer = httpx.post(url, json=body, timeout=60, trust_env=False).json()

    assert (answer["done_reason"], answer["message"]["role"]) == ("stop", "assistant")
    assert "<|" not in answer["message"]["content"]
    assert 1 < answer["eval_count"] < 300


class _Alternating:
    """An engine whose template insists on the user's turn first, and counts letters."""

    settings = type("Settings", (), {"num_ctx": 12})

    def render(self, messages):
        spoken = [each for each in messages if each["role"] != "system"]
        if spoken[0]["role"] != "user":
            raise RequestRefused(400, "roles must alternate")
        return "".join(each["content"] for each in messages)

    def tokenize(self, text):
        return list(text)


def test_a_template_that_insists_on_the_users_turn_gets_it():
    """Dropping goes on until the template takes what is left."""
    model = type("Model", (), {"template": "insists"})
    turns = ("system", "S"), ("user", "aaaaaaaa"), ("assistant", "bbb"), ("user", "cc")
    messages = [Message(role=role, content=content) for role, content in turns]

    assert render_what_fits(messages, model, _Alternating()) == "Scc"
    with pytest.raises(RequestRefused, match="alternate"):
        render_what_fits(messages[2:], model, _Alternating())
