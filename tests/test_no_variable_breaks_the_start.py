"""Variables that the official client cannot read break nothing before they are used."""

import ast
import os
import pathlib
import subprocess
import sys

import pytest

from tests.servers.scripted import Scripted, ollama_routes
from twohalves.runs.choose import newest_sample
from twohalves.server.official import ollama

PROJECT = pathlib.Path(__file__).resolve().parents[1]
BAD_HOSTS = ("127.0.0.1:99999", "127.0.0.1:abc", "[::1", "http://127.0.0.1:-1", "a..b", "x" * 70)
BAD_CONNECTIONS = (
    {"ALL_PROXY": "socks5://127.0.0.1:1"},
    {"HTTP_PROXY": "foo://x"},
    {"http_proxy": "http://[::1"},
    {"HTTP_PROXY": "http://127.0.0.1:1", "NO_PROXY": "[::1]"},
    {"http_proxy": "http://127.0.0.1:1", "no_proxy": "localhost,fe80::/10"},
    {"SSL_CERT_FILE": "/nonexistent"},
    {"SSL_CERT_FILE": __file__},
)
OPENS = """\
import sys
from twohalves.errors import TwoHalvesError
from twohalves.measure import open_book
import twohalves.lab
try:
    print(open_book().says)
except TwoHalvesError as error:
    sys.exit(f"{type(error).__name__}: {error}")
"""
MAKES = """\
from twohalves.server import Server, client, find, sender
from twohalves.errors import VariablesNotUnderstood
far = Server(url="https://ollama.example:11434", kind="ollama", version=None)
for make in (find, lambda: client(far), lambda: sender(far)):
    try:
        make()
    except VariablesNotUnderstood as error:
        print(error)
"""


def _python(program, variables):
    clean = {k: v for k, v in os.environ.items() if not k.upper().endswith("_PROXY")}
    return subprocess.run(
        [sys.executable, "-X", "utf8", "-c", program],
        cwd=PROJECT,
        env={**clean, **variables},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def _one(variables):
    return " ".join(f"{name}={value[:20]}" for name, value in variables.items())


@pytest.mark.parametrize("host", BAD_HOSTS)
def test_a_malformed_host_is_one_sentence_when_it_is_used(host):
    """Ours, with the variable and the text that stands in it."""
    answer = _python(OPENS, {"OLLAMA_HOST": host})

    assert answer.stderr.startswith(f"EndpointMalformed: OLLAMA_HOST={host} does not name")
    assert "Traceback" not in answer.stderr


@pytest.mark.parametrize(
    "variables", [{"OLLAMA_HOST": "127.0.0.1:abc"}, *BAD_CONNECTIONS], ids=_one
)
def test_in_replay_they_do_not_matter(variables):
    """A run answers, whatever stands in them."""
    answer = _python(OPENS, {**variables, "TWOHALVES_RUN": newest_sample()})

    assert answer.stdout.startswith("Replayed from the run "), answer.stderr


@pytest.mark.parametrize(
    "variables", [{"OLLAMA_HOST": "127.0.0.1:abc"}, *BAD_CONNECTIONS], ids=_one
)
def test_on_this_machine_they_do_not_matter(variables):
    """A server on loopback that was chosen is asked without them."""
    model = {"name": "m:1b", "show": {"capabilities": ["completion"]}}
    with Scripted(ollama_routes(model)) as server:
        answer = _python(OPENS, {**variables, "TWOHALVES_SERVER": server.url})

    assert "answers with m:1b" in answer.stdout, answer.stderr


@pytest.mark.parametrize("variables", BAD_CONNECTIONS, ids=_one)
def test_for_another_machine_they_are_named(variables):
    """Finding, asking and timing end in one error with the variables' names, not a traceback."""
    answer = _python(MAKES, {**variables, "OLLAMA_HOST": "https://ollama.example:11434"})

    assert (0, "") == (answer.returncode, answer.stderr)
    listed = " and ".join(sorted(variables))
    assert f"settings in {listed}: " in answer.stdout
    assert f"Next: Correct or unset {listed}, then" in answer.stdout


def test_the_official_client_is_imported_in_one_place():
    """A second one would run before the variables are out of the way."""
    named = set()
    for path in (PROJECT / "twohalves").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            named |= {path.name for name in names if name.partition(".")[0] == "ollama"}

    assert {"official.py"} == named


def test_what_was_hidden_is_there_again():
    """The variables stand as the reader set them, also for a client of the reader's own."""
    program = (
        "import os, twohalves.server; print(os.environ['OLLAMA_HOST'], os.environ['NO_PROXY'])"
    )
    answer = _python(program, {"OLLAMA_HOST": "h:abc", "NO_PROXY": "n", "HTTP_PROXY": "foo://x"})

    assert "h:abc n" == answer.stdout.strip()
    assert callable(ollama.Client)
