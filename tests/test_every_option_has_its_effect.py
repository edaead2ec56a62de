"""Options reach the engine: what each should change changes, and what it should not does not."""

import collections
import json

import httpx
import pytest

from tests.models import tiny
from tests.servers.builtin import builtin

pytestmark = pytest.mark.engine

SMOLLM2 = "smollm2:135m"
HOT = {"temperature": 5.0, "num_predict": 16, "top_k": 0, "top_p": 1.0, "repeat_penalty": 1.0}


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """A tiny model, so that a reload costs nothing."""
    with builtin(tiny.llama(tmp_path_factory.mktemp("models") / "tiny.gguf")) as url:
        yield url


@pytest.fixture(scope="module")
def echo(tmp_path_factory):
    """A tiny model that says one letter again and again if nothing stops it."""
    model = tiny.gemma3(tmp_path_factory.mktemp("models") / "echo.gguf", name=("tiny", "1K"))
    with builtin(model) as url:
        yield url


def ask(url, model="tiny:1k", prompt="The sky is", **options):
    body = {"model": model, "prompt": prompt, "raw": True, "stream": False, "options": options}
    answer = httpx.post(f"{url}/api/generate", json=body, timeout=60, trust_env=False)
    assert answer.status_code == 200, answer.text
    return answer.json()


def text(url, **options):
    return ask(url, **options)["response"]


def test_a_high_temperature_with_a_seed_repeats(builtin_server):
    """The same seed says the same, another something else."""
    said = [text(builtin_server.url, model=SMOLLM2, **HOT, seed=seed) for seed in (1, 1, 2)]

    assert said[0] == said[1] != said[2]


@pytest.mark.parametrize(
    "narrow", [{"top_k": 1}, {"top_p": 1e-6}, {"min_p": 1.0}, {"typical_p": 1e-6, "top_k": 1}]
)
def test_only_the_likeliest_is_left(builtin_server, narrow):
    """However hot: one candidate is a greedy answer, whatever the seed."""
    greedy = text(builtin_server.url, model=SMOLLM2, **HOT | {"temperature": 0})

    for seed in (1, 2):
        assert text(builtin_server.url, model=SMOLLM2, **HOT | narrow, seed=seed) == greedy


def test_a_temperature_of_zero_needs_no_seed(builtin_server):
    """Greedy is greedy."""
    said = {text(builtin_server.url, model=SMOLLM2, temperature=0, num_predict=8) for _ in range(3)}

    assert len(said) == 1


@pytest.mark.parametrize(
    "penalty", [{"repeat_penalty": 10.0}, {"presence_penalty": 50.0}, {"frequency_penalty": 50.0}]
)
def test_a_penalty_ends_the_repeats(echo, penalty):
    """Punished, a letter is not said again and again."""
    plain = {"temperature": 0, "num_predict": 40, "repeat_penalty": 1.0}

    repeats = collections.Counter(text(echo, **plain)).most_common(1)[0][1]
    punished = collections.Counter(text(echo, **plain | penalty)).most_common(1)[0][1]

    assert repeats > 30
    assert punished < repeats / 2


def test_a_penalty_looks_back_as_far_as_told(echo):
    """Over no tokens it does nothing; over the whole window more than over one."""
    hard = {"temperature": 0, "num_predict": 40, "presence_penalty": 50.0, "repeat_penalty": 1.0}

    none = text(echo, **hard, repeat_last_n=0)
    one, all_of_them = (len(set(text(echo, **hard, repeat_last_n=n))) for n in (1, -1))

    assert none == text(echo, temperature=0, num_predict=40, repeat_penalty=1.0)
    assert 1 < one < all_of_them == 40


def test_a_stop_text_cuts_the_answer(builtin_server):
    """At the first of several, before it; the reason is `stop`."""
    plain = {"model": SMOLLM2, "prompt": "1, 2, 3, 4,", "temperature": 0, "num_predict": 20}

    whole = text(builtin_server.url, **plain)
    cut = ask(builtin_server.url, **plain, stop=["never said", " 8", " 7,"])

    assert whole.startswith(" 5, 6, 7, 8")
    assert (cut["response"], cut["done_reason"]) == (" 5, 6,", "stop")


@pytest.mark.parametrize("stop", [[], [""], None])
def test_no_stop_text_stops_nothing(url, stop):
    """An empty text would end every answer: it is none."""
    answer = ask(url, temperature=0, num_predict=5, stop=stop)

    assert (answer["eval_count"], answer["done_reason"]) == (5, "length")


@pytest.mark.parametrize("longest", [1, 2, 7])
def test_an_answer_is_as_long_as_asked(url, longest):
    """num_predict tokens, and the reason is `length`."""
    answer = ask(url, temperature=0, num_predict=longest)

    assert (answer["eval_count"], answer["done_reason"]) == (longest, "length")


def test_no_limit_is_ten_windows(url):
    """0 and -1 are no limit; a model that never ends is ended after ten windows."""
    for unlimited in (0, -1, -2):
        assert ask(url, temperature=0, num_predict=unlimited, num_ctx=64)["eval_count"] == 640


def test_a_cut_keeps_the_tokens_it_is_told_to_keep(url):
    """The same tail after the same first tokens is the same prompt: the cache knows it."""
    window = {"num_ctx": 128, "num_predict": 1, "temperature": 0}
    tail = "".join(chr(0x61 + n * n % 26) for n in range(400))

    for keep, head in ((4, "abcdXXXX"), (6, "abcdefXX")):
        ask(url, prompt=head[:keep] + tail[-(128 - keep) :], **window)
        cut = ask(url, prompt=head + tail, num_keep=keep, **window)
        assert cut["prompt_eval_count"] == 128
        assert cut["prompt_eval_cached_count"] == 127


@pytest.mark.parametrize("option", [{"num_batch": 64}, {"num_thread": 1}, {"num_ctx": 512}])
def test_what_loads_anew_forgets_the_prefix(url, option):
    """Window, batch and threads are the loaded engine's; the prompt is then computed whole."""
    prompt = "abc" * 30
    ask(url, prompt=prompt, num_predict=1)

    again = ask(url, prompt=prompt, num_predict=1)
    anew = ask(url, prompt=prompt, num_predict=1, **option)

    assert again["prompt_eval_cached_count"] == 89
    assert anew["prompt_eval_cached_count"] == 0
    assert anew["prompt_eval_count"] == 90


@pytest.mark.parametrize("option", [{"num_gpu": 3}, {"main_gpu": 1}, {"use_mmap": False}])
def test_what_concerns_a_gpu_changes_nothing(url, option):
    """Not even a reload: the prefix is still known. The type is checked all the same."""
    prompt = "xyz" * 30
    ask(url, prompt=prompt, num_predict=1)

    again = ask(url, prompt=prompt, num_predict=1, **option)
    body = {"model": "tiny:1k", "prompt": "x", "options": dict.fromkeys(option, "yes")}
    refused = httpx.post(f"{url}/api/generate", content=json.dumps(body), trust_env=False)

    assert again["prompt_eval_cached_count"] == 89
    assert refused.status_code == 500
    assert f'option "{next(iter(option))}" must be of type' in refused.json()["error"]
