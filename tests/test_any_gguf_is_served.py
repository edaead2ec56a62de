"""Whatever GGUF file is named: with any template or none, with attention that slides, anywhere."""

import httpx
import pytest

from tests.models import tiny
from tests.servers.builtin import builtin

pytestmark = pytest.mark.engine

TEXT = "".join(chr(0x21 + n * n * 7 % 90) for n in range(1000))


def ask(url, model, prompt, **more):
    options = {"num_predict": 1, "temperature": 0, "num_ctx": 2048, "num_thread": 1}
    options |= more.pop("options", {})
    body = {"model": model, "prompt": prompt, "stream": False, "options": options} | more
    answer = httpx.post(f"{url}/api/generate", json=body, timeout=60, trust_env=False)
    return answer.json() | {"status": answer.status_code}


@pytest.fixture(scope="module")
def sliding(tmp_path_factory):
    """A gemma3 without a template whose five of six layers see 64 tokens."""
    with builtin(tiny.gemma3(tmp_path_factory.mktemp("models") / "gemma3.gguf")) as url:
        yield url


@pytest.fixture(scope="module")
def with_turns(tmp_path_factory):
    """The same with a template of its own, which begins with the first token."""
    folder = tmp_path_factory.mktemp("models")
    model = tiny.gemma3(folder / "turns.gguf", template=tiny.TURNS, name=("turns", "1K"))
    with builtin(model) as url:
        yield url


def test_a_sliding_window_tells_what_it_reused(sliding):
    """Whatever was reused of a long prompt: the count is whole, one token is always computed."""
    n_tokens = 1 + len(TEXT)
    cold = ask(sliding, "gemma3:270m", TEXT, raw=True)
    again = ask(sliding, "gemma3:270m", TEXT, raw=True)
    longer = ask(sliding, "gemma3:270m", TEXT + "more", raw=True)
    other = ask(sliding, "gemma3:270m", "?" + TEXT, raw=True)

    assert cold["prompt_eval_cached_count"] == 0
    assert other["prompt_eval_cached_count"] <= 1
    for answer, count in ((again, n_tokens), (longer, n_tokens + 4), (other, n_tokens + 1)):
        assert answer["prompt_eval_count"] == count
        assert answer["prompt_eval_cached_count"] <= count - 1
    assert again["response"] == cold["response"]


def test_what_was_reused_costs_no_time(sliding):
    """The duration and the count agree: ten times fewer tokens computed take less time."""
    cold = ask(sliding, "gemma3:270m", "new" + TEXT, raw=True)
    again = ask(sliding, "gemma3:270m", "new" + TEXT, raw=True)

    computed = again["prompt_eval_count"] - again["prompt_eval_cached_count"]
    if computed < cold["prompt_eval_count"] / 10:
        assert again["prompt_eval_duration"] < cold["prompt_eval_duration"]


def test_an_answer_that_repeats_itself_is_whole(sliding):
    """A hundred times the same letter is an answer of a hundred tokens, with its counts."""
    options = {"num_predict": 100, "repeat_penalty": 1.0}
    answer = ask(sliding, "gemma3:270m", "x", raw=True, options=options)

    assert len(set(answer["response"][40:])) == 1
    assert (answer["eval_count"], answer["done"], answer["done_reason"]) == (100, True, "length")


def test_without_a_template_the_prompt_is_bare(sliding):
    """Nothing around it: only the token that begins every text of this model; no system."""
    raw = ask(sliding, "gemma3:270m", "Hi", raw=True)
    plain = ask(sliding, "gemma3:270m", "Hi", system="Be brief.")
    body = {"model": "gemma3:270m", "_debug_render_only": True}
    turns = [("system", "S"), ("user", "a"), ("user", "b"), ("assistant", "c"), ("user", "d")]
    messages = [{"role": role, "content": content} for role, content in turns]
    shown = httpx.post(f"{sliding}/api/chat", json=body | {"messages": messages}, trust_env=False)

    assert raw["prompt_eval_count"] == plain["prompt_eval_count"] == 3
    assert shown.json()["_debug_info"] == {"rendered_template": "a\n\nbcd"}
    assert httpx.post(f"{sliding}/api/show", json=body, trust_env=False).json()["template"] == (
        "{{ .Prompt }}"
    )


def test_a_template_of_its_own_is_used(with_turns):
    """Its marks are single tokens, and the first token is not put twice."""
    shown = ask(with_turns, "turns:1k", "Hi", _debug_render_only=True)["_debug_info"]
    counted = ask(with_turns, "turns:1k", "Hi")["prompt_eval_count"]

    text = "<start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\n"
    letters = len("user\nHi" + "\n" + "model\n")
    assert shown["rendered_template"] == text
    assert counted == 1 + 3 + letters


def test_what_a_template_refuses_is_told_in_its_words(with_turns):
    """This one knows no critics: the client reads why, and the next request is served."""
    body = {"model": "turns:1k", "messages": [{"role": "critic", "content": "Hm"}]}
    answer = httpx.post(f"{with_turns}/api/chat", json=body, timeout=60, trust_env=False)

    assert answer.status_code in {400, 500}
    assert "no critics here" in answer.json()["error"]
    assert ask(with_turns, "turns:1k", "Hi")["status"] == 200


def test_a_context_goes_on_without_a_second_beginning(with_turns):
    """The token that begins a text stands once, however often the answer is continued."""
    first = ask(with_turns, "turns:1k", "Hi")
    second = ask(with_turns, "turns:1k", "And?", context=first["context"])

    assert first["context"][0] == 2
    assert second["context"].count(2) == 1
    assert second["context"][: len(first["context"])] == first["context"]
    assert second["prompt_eval_count"] > len(first["context"])


def test_it_is_named_by_its_metadata(with_turns):
    """Base name and size, with a tag; its window is what it was trained for."""
    (entry,) = httpx.get(f"{with_turns}/api/tags", trust_env=False).json()["models"]
    ask(with_turns, "turns:1k", "Hi", options={"num_ctx": 1_000_000})
    (loaded,) = httpx.get(f"{with_turns}/api/ps", trust_env=False).json()["models"]

    assert entry["name"] == "turns:1k"
    assert entry["details"]["family"] == "gemma3"
    assert loaded["context_length"] == 32768


def test_a_file_without_a_name_has_one(tmp_path):
    """No metadata, and no letter of its name that a model's name may have."""
    model = tiny.llama(tmp_path / "模型.gguf", name=("", ""))
    with builtin(model) as url:
        assert ask(url, "model", "Hi")["eval_count"] == 1
        assert ask(url, "", "Hi")["status"] == 404


@pytest.mark.parametrize("folder", ["Žofie Übung #1 (測)", "mit Leerzeichen & 100%"])
def test_any_letters_in_the_path_and_in_the_temporary_folder(tmp_path, folder):
    """Umlauts, spaces, marks and Chinese: it loads, answers, and writes nothing elsewhere."""
    home = tmp_path / folder
    home.mkdir()
    model = tiny.llama(home / "Modell ä#測.gguf")
    named = {"TMPDIR": str(home), "TEMP": str(home), "TMP": str(home)}

    with builtin(model, **named) as url:
        answer = ask(url, "tiny:1k", "Hi")

    assert (answer["status"], answer["eval_count"]) == (200, 1)
    assert [path.name for path in home.iterdir()] == [model.name]
