"""Which model is used: the wanted one, the book's, the only plain one, or the reader is asked."""

import pytest

from tests.servers.scripted import Answer, Scripted, ollama_routes
from twohalves import errors
from twohalves.server import (
    Model,
    Server,
    choose,
    client,
    facts,
    models,
    pull,
    translated,
)


def entry(name, capabilities=("completion",), family="llama", **more):
    info = {"general.architecture": family, f"{family}.context_length": 8192}
    return {
        "name": name,
        "model": name,
        "size": 1000,
        "digest": "ab" * 32,
        "details": {
            "format": "gguf",
            "family": family,
            "families": [family],
            "parameter_size": "1B",
            "quantization_level": "Q4_0",
        },
        "show": {
            "details": {},
            "model_info": info,
            **({"capabilities": list(capabilities)} if capabilities else {}),
        },
    } | more


def listed(*entries):
    with Scripted(ollama_routes(*entries)) as server:
        return models(Server(url=server.url, kind="ollama", version="0.24.0"))


def test_the_wanted_model_is_taken_whatever_it_is():
    """Also one that thinks; a name without a tag means latest."""
    has = listed(entry("deepseek-r1:8b", ["completion", "thinking"]), entry("mine:latest"))

    assert choose(has, wanted="deepseek-r1:8b").name == "deepseek-r1:8b"
    assert choose(has, wanted=" mine ").name == "mine:latest"
    assert choose(has, wanted="Mine:Latest").name == "mine:latest"


def test_the_books_model_goes_first():
    """Of many plain ones llama3.2:3b is taken without asking."""
    has = listed(entry("a:1b"), entry("llama3.2:3b"), entry("llama3.2:1b"))

    assert choose(has, wanted=None).name == "llama3.2:3b"


def test_the_only_plain_model_is_taken():
    """Those that see, think, embed or live elsewhere do not count."""
    has = listed(
        entry("nomic-embed-text:latest", ["embedding"], "nomic-bert"),
        entry("llava:7b", ["completion", "vision"]),
        entry("qwen3:4b", ["completion", "tools", "thinking"], "qwen3"),
        entry("gpt-oss:120b-cloud", remote_host="https://ollama.com:443"),
        entry("plain:1b", ["completion", "tools"]),
    )

    assert [model.name for model in has if model.plain] == ["plain:1b"]
    assert choose(has, wanted="").name == "plain:1b"


def test_with_several_the_reader_is_asked():
    """The error holds the names and one example of a choice."""
    with pytest.raises(errors.SeveralModels, match="TWOHALVES_MODEL=a:1b") as caught:
        choose(listed(entry("a:1b"), entry("b:1b"), entry("c:1b", ["embedding"])), wanted=None)

    assert caught.value.names == ("a:1b", "b:1b")


def test_none_installed_gives_the_command():
    """The exact pull command."""
    with pytest.raises(errors.NoModelInstalled, match=r"`ollama pull llama3\.2:3b`"):
        choose((), wanted=None)


def test_only_others_installed_names_them():
    """And how to use one of them all the same."""
    with pytest.raises(errors.NoModelInstalled, match="TWOHALVES_MODEL=r:1b") as caught:
        choose(listed(entry("r:1b", ["completion", "thinking"])), wanted=None)

    assert "ollama pull llama3.2:3b" in caught.value.next_step


def _others():
    return [
        entry("nomic-embed-text:latest", ["embedding"], "nomic-bert"),
        entry("bge-m3:latest", (), "bert"),
        entry("gpt-oss:120b-cloud", ["completion"]),
        entry("glm:latest", remote_host="https://ollama.com:443"),
    ]


def test_only_what_is_here_and_writes_is_suggested():
    """What embeds and what runs in a cloud is named as such, and never as the way out."""
    with pytest.raises(errors.NoModelInstalled) as caught:
        choose(listed(*_others()), wanted=None)
    assert "in the cloud, so that" in caught.value.what
    assert "machine: gpt-oss:120b-cloud, glm:latest." in caught.value.what
    assert "unable to write text: nomic-embed-text:latest, bge-m3:latest." in caught.value.what
    assert "`ollama pull llama3.2:3b`" == caught.value.next_step

    with pytest.raises(errors.NoModelInstalled, match="TWOHALVES_MODEL=r:1b"):
        choose(listed(*_others(), entry("r:1b", ["completion", "thinking"])), wanted=None)
    with pytest.raises(errors.ModelMissing) as caught:
        choose(listed(*_others()), wanted="nomic")
    assert "`ollama pull nomic`" == caught.value.next_step


def test_the_built_in_server_says_what_it_has():
    """It fetches nothing, so fetching is not what to do next; also for a name in a request."""
    with Scripted(ollama_routes(entry("smollm2:135m"))) as server:
        builtin = Server(url=server.url, kind="builtin", version="1")
        with pytest.raises(errors.NotBuiltIn, match=r"It serves smollm2:135m only\.") as caught:
            choose(models(builtin), wanted="wrong")
        with pytest.raises(errors.NotBuiltIn), translated(builtin), client(builtin) as asking:
            asking.show("wrong")

    assert caught.value.next_step.startswith("Name no model")


def test_a_missing_model_lists_what_there_is():
    """With the command that fetches it and the nearest name."""
    with pytest.raises(errors.ModelMissing) as caught:
        choose(listed(entry("llama3.2:1b"), entry("other:7b")), wanted="llama3.2")

    assert "other:7b" in caught.value.what
    assert "`ollama pull llama3.2`" in caught.value.next_step
    assert "TWOHALVES_MODEL=llama3.2:1b" in caught.value.next_step


@pytest.mark.parametrize(
    ("name", "family", "plain"),
    [
        ("llama3.2:3b", "llama", True),
        ("mistral:7b", "llama", True),
        ("qwen2.5:7b", "qwen2", True),
        ("nomic-embed-text:latest", "nomic-bert", False),
        ("mxbai-embed-large:latest", "bert", False),
        ("all-minilm:33m", "bert", False),
        ("bge-m3:latest", "bert", False),
        ("llava:13b", "clip", False),
        ("llama3.2-vision:11b", "mllama", False),
        ("qwen2.5vl:7b", "qwen25vl", False),
        ("deepseek-r1:1.5b", "qwen2", False),
        ("qwq:32b", "qwen2", False),
        ("gpt-oss:20b", "gptoss", False),
        ("qwen3-coder:480b-cloud", "qwen3moe", False),
        ("kimi-k2:1t-cloud", "", False),
    ],
)
def test_an_old_server_tells_no_capabilities(name, family, plain):
    """Then names and families decide."""
    (model,) = listed(entry(name, (), family))

    assert model.capabilities == ()
    assert model.plain is plain


def test_a_cloud_model_is_told_by_its_remote_host():
    """Only /api/show may say so."""
    stub = entry("glm:latest")
    stub["show"]["remote_host"] = "https://ollama.com:443"
    (model,) = listed(stub)

    assert (model.plain, model.remote_host) == (False, "https://ollama.com:443")


def test_a_model_that_cannot_be_shown_is_still_listed():
    """Its facts are then not known, not zero."""
    broken = entry("broken:1b")
    routes = ollama_routes(broken)
    routes["/api/show"] = Answer(status=500, body={"error": "blob is missing"})
    with Scripted(routes) as server:
        (model,) = models(Server(url=server.url, kind="ollama", version=None))

    assert (model.name, model.context_length, model.capabilities) == ("broken:1b", None, ())


def test_facts_keep_unknown_apart_from_zero():
    """Missing keys are None; a per-layer list stays a list, a zero stays a zero."""
    given = entry("lfm:1b", family="lfm2")
    given["show"]["model_info"] |= {
        "lfm2.attention.head_count_kv": [0, 0, 8],
        "lfm2.embedding_length": 0,
        "general.parameter_count": 5,
    }
    with Scripted(ollama_routes(given)) as server:
        told = facts(Server(url=server.url, kind="ollama", version=None), "lfm:1b")
        assert server.asked[0].json == {"model": "lfm:1b", "verbose": True}

    assert told.head_count_kv == (0, 0, 8)
    assert (told.embedding_length, told.block_count, told.key_length) == (0, None, None)
    assert (told.context_length, told.parameter_count) == (8192, 5)
    assert told.as_facts()["digest"] == "ab" * 32


def test_facts_of_a_missing_model_are_an_error():
    """The same error as everywhere."""
    with Scripted(ollama_routes()) as server, pytest.raises(errors.ModelMissing, match="nope"):
        facts(Server(url=server.url, kind="ollama", version=None), "nope:1b")


@pytest.mark.engine
def test_the_built_in_server_has_one_plain_model(builtin_server):
    """It is chosen without asking."""
    model = choose(models(builtin_server), wanted=None)

    assert (model.name, model.plain, model.context_length) == ("smollm2:135m", True, 8192)
    assert isinstance(model, Model)
    told = facts(builtin_server, model.name)
    assert (told.block_count, told.head_count, told.head_count_kv) == (30, 9, 3)
    assert (told.quantization, told.format, told.digest) == ("Q4_1", "gguf", model.digest)


def test_a_model_is_fetched_with_progress():
    """Bytes so far and in all, step by step."""
    steps = [
        {"status": "pulling manifest"},
        {"status": "pulling abc", "digest": "sha256:abc", "total": 100, "completed": 40},
        {"status": "success"},
    ]
    with Scripted({"/api/pull": Answer(chunks=[(0, step) for step in steps])}) as server:
        seen = list(pull(Server(url=server.url, kind="ollama", version=None), "llama3.2:3b"))
        assert server.asked[0].json["model"] == "llama3.2:3b"

    assert [(p.status, p.completed_bytes, p.total_bytes) for p in seen] == [
        ("pulling manifest", None, None),
        ("pulling abc", 40, 100),
        ("success", None, None),
    ]


def test_a_fetch_that_fails_is_an_error_of_ours():
    """Also in the middle of the stream."""
    lines = [(0, {"status": "pulling manifest"}), (0, {"error": "pull model manifest: no host"})]
    with Scripted({"/api/pull": Answer(chunks=lines)}) as server:
        steps = pull(Server(url=server.url, kind="ollama", version=None), "x")
        assert next(steps).status == "pulling manifest"
        with pytest.raises(errors.ServerBroke, match="no host"):
            next(steps)


def test_the_built_in_server_fetches_nothing():
    """Said before anything is asked."""
    builtin = Server(url="http://127.0.0.1:1", kind="builtin", version=None)
    with pytest.raises(errors.CannotPull, match=r"ollama pull llama3\.2:3b"):
        next(pull(builtin, "llama3.2:3b"))
