"""An experiment gets a server of its own, laid out as asked, and leaves nothing behind."""

import json
import os
import pathlib
import stat
import subprocess
import sys

import httpx
import psutil
import pytest

from tests.servers.scripted import until
from twohalves import errors
from twohalves.server import Started, private, start

MODEL = "smollm2:135m"
PROSE = "It was a quiet morning in the harbor, and nobody had seen the boat. " * 6


def cached(server, text):
    """Tokens of the prompt that the server took from its cache."""
    body = {"model": MODEL, "prompt": text, "raw": True, "stream": False,
            "options": {"num_predict": 1, "num_ctx": 512}}  # fmt: skip
    answer = httpx.post(f"{server.url}/api/generate", json=body, timeout=120, trust_env=False)
    return answer.json()["prompt_eval_cached_count"]


def turns(server):
    """Two users in turn: what the third and fourth request find in the cache."""
    first, second = f"Anna. {PROSE}", f"Once more from the start, Ben. {PROSE[9:]}"
    return [cached(server, text) for text in (first, second, first, second)][2:]


@pytest.mark.engine
def test_one_slot_remembers_the_last_prompt_only():
    """Two users in turn never find their own prompt."""
    with start(window=512) as server:
        assert server.settings == Started(
            slots=1, kv_type="f16", flash_attention=None, host_cache_mib=0
        )
        assert max(turns(server)) < 5


@pytest.mark.engine
@pytest.mark.parametrize("given", [{"slots": 2}, {"host_cache": 64}], ids=["slots", "host"])
def test_two_slots_or_host_memory_remember_both(given):
    """Each finds all but the last token of its prompt: about a hundred."""
    with start(window=512, **given) as server:
        assert min(turns(server)) > 80


@pytest.mark.engine
def test_the_cache_type_changes_what_is_kept_and_the_answer_still_comes():
    """Blocks of 8 bits, with the engine's own choice of flash attention."""
    with start(kv_type="q8_0", window=512) as server:
        assert server.settings.kv_type == "q8_0"
        assert cached(server, PROSE) < 5
        assert cached(server, PROSE) > 80


@pytest.mark.engine
def test_it_is_gone_afterwards_and_others_are_not(builtin_server):
    """Its process, its engine and its port."""
    with start(window=512) as server:
        cached(server, "Hi")
        own = psutil.Process(server.stopper.__self__.process.pid)
        family = [own, *own.children(recursive=True)]
        assert len(family) == 2

    assert until(lambda: not any(each.is_running() for each in family))
    assert not server.is_alive
    assert httpx.get(builtin_server.url, trust_env=False).status_code == 200


@pytest.mark.engine
def test_what_does_not_fit_is_not_started():
    """200 slots of 8,192 tokens take 23,040 bytes a token: 38 GB at f16, 75 GB at f32."""
    with pytest.raises(errors.DoesNotFit, match=r"7\d\.\d GiB"):
        start(slots=200, window=8192, kv_type="f32")


def test_an_unknown_type_of_cache_is_named():
    """With the nearest that exists."""
    with pytest.raises(errors.UnknownName, match="q8_0"):
        start(kv_type="q8")


@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        ({"slots": 0}, errors.SettingUnusable, "slots=0"),
        ({"slots": 257}, errors.SettingUnusable, "from 1 to 256"),
        ({"host_cache": -1}, errors.SettingUnusable, "host_cache=-1"),
        ({"window": 0}, errors.SettingUnusable, "window=0"),
        ({"program": "vllm"}, errors.UnknownName, "builtin"),
        ({"kv_type": "q8_0", "flash_attention": False}, errors.FlashAttentionNeeded, "q8_0"),
        ({"kv_type": "q5_1", "program": "ollama"}, errors.UnknownName, "q4_0"),
    ],
)
def test_what_no_server_can_be_is_named(given, kind, words):
    """As it was given, before anything is started; never another layout without a word."""
    with pytest.raises(kind) as caught:
        start(**({"agreed": True} | given))

    assert words in str(caught.value)


@pytest.mark.skipif(sys.platform == "win32", reason="a script stands in for the program")
class TestTheReadersOwnOllama:
    """A script named `ollama` stands in for the program; it notes what it was started with."""

    SCRIPT = """\
import http.server, json, os, pathlib, sys
noted = {{name: value for name, value in os.environ.items() if name[:6] in ("OLLAMA", "LLAMA_")}}
pathlib.Path({note!r}).write_text(json.dumps([sys.argv[1:], noted, os.getpid()]))
SHOWN = {{"details": {{"format": "gguf"}}, "model_info": {{
    "general.architecture": "llama", "llama.block_count": 16, "llama.attention.head_count": 32,
    "llama.attention.head_count_kv": 8, "llama.embedding_length": 2048,
    "llama.context_length": 131072}}, "capabilities": ["completion"]}}
TAGS = {{"models": [{{"name": "llama3.2:1b", "size": 1321098329}}]}}
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        length = int(self.headers.get("Content-Length", 0))
        self.rfile.read(length)
        known = {{"/api/version": {{"version": "0.24.0"}}, "/api/show": SHOWN, "/api/tags": TAGS}}
        body = json.dumps(known[self.path]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    do_POST = do_GET
host, port = os.environ["OLLAMA_HOST"].split(":")
http.server.HTTPServer((host, int(port)), Handler).serve_forever()
"""

    @pytest.fixture
    def note(self, tmp_path, monkeypatch):
        note = tmp_path / "note.json"
        program = tmp_path / "bin" / "ollama"
        program.parent.mkdir()
        script = tmp_path / "ollama.py"
        script.write_text(self.SCRIPT.format(note=str(note)), encoding="utf-8")
        # by a shell: the first line of a script cannot name a path with a space
        text = f"#!/bin/sh\nexec '{sys.executable}' '{script}' \"$@\"\n"
        program.write_text(text, encoding="utf-8")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
        monkeypatch.setenv("OLLAMA_HOST", "0.0.0.0:11434")
        monkeypatch.setenv("OLLAMA_MODELS", str(tmp_path))
        return note

    def test_it_is_started_with_what_was_asked_for_and_ended(self, note):
        """On a port of its own, on loopback, with the reader's models, tidying nothing up."""
        with start(program="ollama", model="llama3.2:1b", agreed=True,
                   slots=4, kv_type="q8_0", host_cache=0, window=2048) as server:  # fmt: skip
            arguments, noted, number = json.loads(note.read_text(encoding="utf-8"))
            process = psutil.Process(number)
            assert (server.kind, server.version, server.settings.slots) == ("ollama", "0.24.0", 4)
            assert server.settings.flash_attention is True

        assert arguments == ["serve"]
        assert noted == {
            "OLLAMA_HOST": server.url.removeprefix("http://"),
            "OLLAMA_MODELS": str(pathlib.Path(noted["OLLAMA_MODELS"])),
            "OLLAMA_NUM_PARALLEL": "4",
            "OLLAMA_KV_CACHE_TYPE": "q8_0",
            "OLLAMA_FLASH_ATTENTION": "1",
            "OLLAMA_CONTEXT_LENGTH": "2048",
            "OLLAMA_MAX_LOADED_MODELS": "1",
            "OLLAMA_NOPRUNE": "1",
            "LLAMA_ARG_CACHE_RAM": "0",
        }
        assert server.url.startswith("http://127.0.0.1:")
        assert until(lambda: not process.is_running())

    def test_nobody_starts_it_unasked(self, note):
        """The error says what would be started, and how to agree."""
        with pytest.raises(errors.NotAgreed, match="2 slots") as caught:
            start(program="ollama", model="llama3.2:1b", slots=2)

        assert "agreed=True" in caught.value.next_step
        assert not note.exists()

    def test_it_is_ended_again_if_the_model_does_not_fit(self, note):
        """16 layers of 8 heads of 64: 32,768 bytes a token; 256 windows of 131,072 take 1 TB."""
        with pytest.raises(errors.DoesNotFit, match=r"llama3\.2:1b"):
            start(program="ollama", model="llama3.2:1b", agreed=True, slots=256, window=131072)

        number = json.loads(note.read_text(encoding="utf-8"))[2]
        assert until(lambda: not psutil.pid_exists(number))

    def test_the_only_model_needs_no_name_and_a_wrong_one_is_told(self, note):
        """As elsewhere: nothing is picked silently, and nothing is left running."""
        with start(program="ollama", agreed=True) as server:
            assert server.is_alive
        with pytest.raises(errors.ModelMissing, match=r"llama3\.2:1b"):
            start(program="ollama", model="llama3.2:7b", agreed=True)

        number = json.loads(note.read_text(encoding="utf-8"))[2]
        assert until(lambda: not psutil.pid_exists(number))

    def test_without_the_program_it_says_where_to_get_it(self, monkeypatch, tmp_path):
        """And that the built-in server can do the same."""
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(errors.OllamaMissing, match="ollama"):
            start(program="ollama", model="llama3.2:1b", agreed=True)

    @pytest.mark.parametrize("command", ["sleep 600 & wait", "sleep 600 & exit 3"])
    def test_what_it_has_started_ends_with_it(self, tmp_path, command):
        """When it is ended and when it crashes, and also if its log cannot be removed."""
        guard = [sys.executable, str(pathlib.Path(private.__file__).with_name("guard.py"))]
        script = f"echo $$; {command}"
        with subprocess.Popen(
            [*guard, "sh", "-c", script, "--log", str(tmp_path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="ascii",
        ) as process:
            group = int(process.stdout.readline())
            process.stdin.close()
            process.wait(20)

        assert until(lambda: not _is_there(group))


def _is_there(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
