"""The doctor answers on every machine: nothing installed, nothing readable, nobody answering."""

import dataclasses
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.servers.scripted import Answer, Scripted, ollama_routes, unused_port
from twohalves import doctor
from twohalves.commands import main
from twohalves.doctor import asking, model, server, variables
from twohalves.server import find

PROJECT = Path(__file__).resolve().parent.parent
NAMES = [check.name for check in doctor.CHECKS]
# with much time, since these tests are about what is found and not about when
BARE = (
    "import os, runpy, sys; sys.path.insert(0, os.getcwd()); "
    "from twohalves import doctor; doctor.examine.__kwdefaults__['deadline_s'] = 60; "
    "sys.argv = ['twohalves', 'doctor', *{words!r}]; "
    "runpy.run_module('twohalves', run_name='__main__', alter_sys=True)"
)
WITH_PACKAGES = """\
import sys
from twohalves.bootstrap import Environment
Environment.inside = lambda self: True  # stay in this Python, which has the packages
from twohalves.commands import main
sys.exit(main(["doctor"]))
"""
OTHER_MODEL = {"TWOHALVES_MODEL": "llama3.2:3b"}
KEYS = {"check", "status", "says", "trouble", "next", "facts"}


def _copy(folder, *, data=True):
    """The project without .venv and without anything installed."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PROJECT / "twohalves", folder / "twohalves", ignore=ignored)
    for name in ("requirements.txt", "requirements-hosted.txt", "constraints.txt"):
        shutil.copyfile(PROJECT / name, folder / name)
    if data:
        (folder / "data" / "runs").mkdir(parents=True)
    return folder


def _bare(folder, *words, **variables):
    """The doctor in a Python that sees no package, with hardly a variable."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    program = BARE.format(words=list(words))
    return subprocess.run(
        [sys.executable, "-I", "-S", "-X", "utf8", "-c", program],
        cwd=folder,
        env={**kept, **variables},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One copy for the tests that leave it as it is."""
    return _copy(tmp_path_factory.mktemp("doctor") / "Žofie Übung #1")


def test_before_anything_is_installed_it_reports_and_says_what_waits(folder):
    """Every check has its line; those that need packages wait, and nothing else fails over it."""
    answer = _bare(folder, "--json")
    record = json.loads(answer.stdout)
    by_name = {each["check"]: each for each in record["checks"]}

    assert (0, "") == (answer.returncode, answer.stderr)
    assert NAMES == list(by_name)
    for name in ("server", "counters", "model", "window", "room"):
        assert "wait" == by_name[name]["status"]
        assert "packages" in by_name[name]["says"]
    assert "warn" == by_name["packages"]["status"]
    assert "twohalves site" in by_name["packages"]["next"]
    assert not (folder / ".venv").exists()


def test_a_broken_environment_is_one_line_with_the_fix(tmp_path):
    """A .venv whose Python is gone: FAIL, exit code 1, no traceback, and it is left as it is."""
    made = _copy(tmp_path / "p")
    python = made / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/nowhere/python3.11\n", encoding="utf-8")
    python.chmod(0o755)
    answer = _bare(made)
    [line] = [each for each in answer.stdout.splitlines() if each.startswith("FAIL")]

    assert (1, "") == (answer.returncode, answer.stderr)
    assert ".venv cannot be used: its Python does not run" in line
    assert "clean --venv" in answer.stdout
    assert python.is_file()


@pytest.mark.parametrize("damage", ["file", "empty", "link", "stamp"])
def test_any_damage_of_the_environment_is_told(tmp_path, damage):
    """A file in its place, an empty folder, a link to nowhere, a stamp of nonsense."""
    made = _copy(tmp_path / "p")
    environment = made / ".venv"
    if damage == "file":
        environment.write_text("", encoding="utf-8")
    elif damage == "link":
        environment.symlink_to(tmp_path / "gone", target_is_directory=True)
    else:
        environment.mkdir()
    if damage == "stamp":
        (environment / "twohalves.json").write_text("[1", encoding="utf-8")
    answer = _bare(made)

    assert "" == answer.stderr
    assert (0 if damage == "link" else 1) == answer.returncode
    assert len(NAMES) == sum(
        line.startswith(("OK", "WARN", "FAIL", "WAIT")) for line in answer.stdout.splitlines()
    )


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"HOME": "/nowhere", "LC_ALL": "C"},
        {"PATH": ""},
        {"HTTP_PROXY": "::::", "ALL_PROXY": "socks5://x", "NO_PROXY": ",,"},
        {"OLLAMA_HOST": "http://[", "TWOHALVES_SERVER": "ftp://x", "TWOHALVES_RENDERER": " "},
        {"TWOHALVES_MODLE": "\N{HIRAGANA LETTER A}", "SUDO_USER": "ana", "container": "oci"},
        {"COLAB_RELEASE_TAG": "release", "TMPDIR": "/nowhere"},
    ],
    ids=lambda variables: "+".join(variables) or "none",
)
def test_no_environment_makes_it_fall(folder, variables):
    """Odd and missing variables: a report, and nothing on the other stream."""
    answer = _bare(folder, "--json", **variables)

    assert "" == answer.stderr
    assert NAMES == [each["check"] for each in json.loads(answer.stdout)["checks"]]
    assert "itself failed" not in answer.stdout


def test_a_copy_without_its_data_is_incomplete_and_said(tmp_path):
    """FAIL with how to get it back."""
    answer = _bare(_copy(tmp_path / "p", data=False))

    assert 1 == answer.returncode
    assert "FAIL  disk" in answer.stdout
    assert "git checkout -- data" in answer.stdout


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_read_only_is_said(tmp_path):
    """FAIL with a way out."""
    made = _copy(tmp_path / "p")
    made.chmod(0o555)
    try:
        answer = _bare(made)
    finally:
        made.chmod(0o755)

    assert "FAIL  folder" in answer.stdout


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
@pytest.mark.parametrize("words", [[], ["--json"]], ids=["lines", "json"])
def test_every_console_can_show_it(folder, encoding, words):
    """What the console lacks is replaced by something readable."""
    program = BARE.format(words=words)
    answer = subprocess.run(
        [sys.executable, "-S", "-c", program],
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONIOENCODING": encoding,
            "PYTHONUTF8": "0",
            "LC_ALL": "C",
            "TWOHALVES_MODEL": "µ ≤ “測”",
        },
        capture_output=True,
        check=False,
    )

    assert b"" == answer.stderr
    assert answer.returncode == 0
    said = answer.stdout.decode(encoding)
    if "--json" in words:
        [settings] = [c for c in json.loads(said)["checks"] if c["check"] == "settings"]
        assert "TWOHALVES_MODEL=" in settings["says"]


def test_json_has_one_shape(monkeypatch, capsys):
    """The same keys for every check, whatever it found, and a verdict on top."""
    monkeypatch.setenv("TWOHALVES_SERVER", f"http://127.0.0.1:{unused_port()}")
    record = json.loads(doctor.as_json(doctor.examine(deadline_s=60), "macos"))

    assert {"schema", "system", "failed", "checks"} == set(record)
    assert (1, "macos", True) == (record["schema"], record["system"], record["failed"])
    for each in record["checks"]:
        assert set(each) == KEYS
        assert each["status"] in {"ok", "warn", "fail", "wait"}
        assert (each["next"] is None) == (each["status"] in {"ok", "wait"})
    [found] = [each for each in record["checks"] if each["check"] == "server"]
    assert "fail" == found["status"]
    assert "open -a Ollama" in found["next"]


def _slow(check, hold):
    def probe(_):
        hold.wait()

    return dataclasses.replace(check, probe=probe)


def test_what_hangs_is_given_up_and_the_others_are_told():
    """A probe that never comes back costs its own line, whichever it is, and nobody else's."""
    hold = threading.Event()
    first, second = doctor.CHECKS[:2]
    try:
        found = doctor.examine(checks=(_slow(first, hold), second), deadline_s=0.2)
    finally:
        hold.set()

    assert "warn" == found[0].finding.status
    assert "no answer in 0.2 s" == found[0].finding.says
    assert (True, False) == (found[0].is_silent, found[1].is_silent)
    assert "no answer" not in found[1].finding.says
    assert "twohalves doctor" in found[0].finding.next_step("linux")


def test_no_thread_holds_up_the_end():
    """By construction: each probe runs in a thread that the interpreter does not wait for."""
    hold = threading.Event()
    before = set(threading.enumerate())
    try:
        doctor.examine(checks=(_slow(doctor.CHECKS[0], hold),), deadline_s=0.01)
        left = set(threading.enumerate()) - before
    finally:
        hold.set()

    assert left
    assert all(thread.daemon for thread in left)


def test_what_builds_upon_a_silent_check_waits():
    """One line says that the server is silent, not five."""
    hold = threading.Event()
    chain = [check for check in doctor.CHECKS if "server" in {check.name, check.follows}]
    slow = [_slow(check, hold) for check in chain]
    slow = [dataclasses.replace(check, packages=()) for check in slow]
    try:
        found = doctor.examine(checks=slow, deadline_s=0.1)
    finally:
        hold.set()

    assert ["warn", "wait", "wait"] == [each.finding.status for each in found]
    assert "ollama ps" in found[0].finding.next_step("linux")


def test_a_server_that_accepts_and_never_answers_is_given_up():
    """The whole program, from the command line to its end, with such a server."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        answer = subprocess.run(
            [sys.executable, "-c", WITH_PACKAGES],
            cwd=PROJECT,
            env={**os.environ, "TWOHALVES_SERVER": url, "PYTHONUTF8": "1"},
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )

    assert "" == answer.stderr
    assert "WARN  server       no answer in 3 s" in answer.stdout
    assert "WAIT  model" in answer.stdout


def test_a_check_that_breaks_is_a_line_and_no_traceback():
    """In gathering or in judging: the error in words, and the others go on."""

    def broken(_):
        raise KeyError("no such\nthing")

    first, second = doctor.CHECKS[:2]
    checks = (
        dataclasses.replace(first, probe=broken),
        dataclasses.replace(second, judge=broken),
        doctor.CHECKS[2],
    )
    found = doctor.examine(checks=checks, deadline_s=60)

    for each in found[:2]:
        assert "warn" == each.finding.status
        assert "this check itself failed: KeyError" in each.finding.says
        assert "\n" not in each.finding.says
    assert "itself failed" not in found[2].finding.says


def test_what_the_server_says_is_told_in_full(monkeypatch):
    """Server, counters, model, digest and window of a healthy Ollama, each in its line."""
    entry = {"name": "llama3.2:3b", "digest": "a80c4f17acd5" + "0" * 52, "size": 2_019_393_189}
    show = {
        "details": {"format": "gguf", "family": "llama"},
        "model_info": {"general.architecture": "llama", "llama.context_length": 131072},
        "capabilities": ["completion"],
    }
    with Scripted(ollama_routes({**entry, "show": show}) | {"/api/ps": Answer(body={})}) as running:
        here = doctor.Here(environ={"OLLAMA_HOST": running.url})
        found = {each.check.name: each.finding for each in doctor.examine(here, deadline_s=60)}

    assert f"Ollama 0.24.0 at {running.url}" in found["server"].says
    assert "prompt_eval_count" in found["counters"].says
    assert "llama3.2:3b, digest a80c4f17acd5" == found["model"].says
    assert "131,072 tokens, asked for are 8,192" == found["window"].says


def test_a_version_whose_prefill_cannot_be_used_fails():
    """0.12.5 and 0.12.6 time the last batch only."""
    with Scripted(ollama_routes(version="0.12.6")) as running:
        facts = asking.counters(doctor.Here(environ={"OLLAMA_HOST": running.url}))
    found = server.judge_counters(facts)

    assert "fail" == found.status
    assert "winget upgrade Ollama.Ollama" in found.next_step("windows")


def test_a_short_window_is_said_with_what_is_left_out():
    """A model of 2,048 tokens holds none of the profiles' prompts beyond that, answer included."""
    show = {"model_info": {"general.architecture": "llama", "llama.context_length": 2048}}
    with Scripted(ollama_routes({"name": "old:1b", "show": show})) as running:
        facts = asking.chosen(doctor.Here(environ={"OLLAMA_HOST": running.url}))

    assert (2149, 2156, 3731, 4247, 7414, 7427) == facts.left_out
    assert "warn" == model.judge_window(facts).status


LLAMA = {
    # llama3.2:3b as its file says: 28 layers, 8 KV heads, keys and values 128 wide
    "general.architecture": "llama",
    "llama.block_count": 28,
    "llama.attention.head_count": 24,
    "llama.attention.head_count_kv": 8,
    "llama.embedding_length": 3072,
    "llama.context_length": 131072,
}
WEIGHTS = 2_019_393_189


@pytest.mark.parametrize(
    ("info", "running", "status", "says"),
    [
        (LLAMA, {}, "warn", "GiB for weights and 8,192 tokens of KV cache, 1.0 GiB free"),
        (
            LLAMA,
            {"models": [{"name": "m:3b", "size": 3 * 2**30}]},
            "ok",
            "loaded already (3.0 GiB)",
        ),
        ({"general.architecture": "llama"}, {}, "ok", "not computed: "),
        ({}, {"models": None}, "ok", "not computed: "),
    ],
    ids=["free", "loaded", "keys-missing", "nothing-told"],
)
def test_the_memory_is_compared_by_the_books_formula(tmp_path, info, running, status, says):
    """Weights, cache and margin against what is free; what cannot be computed is not made up."""
    meminfo = tmp_path / "proc" / "meminfo"
    meminfo.parent.mkdir()
    meminfo.write_text("MemTotal: 8388608 kB\nMemAvailable: 1048576 kB\n", encoding="utf-8")
    entry = {"name": "m:3b", "size": WEIGHTS, "show": {"model_info": info}}
    routes = ollama_routes(entry) | {"/api/ps": Answer(body=running)}
    with Scripted(routes) as ollama:
        here = doctor.Here(environ={"OLLAMA_HOST": ollama.url}, root=tmp_path)
        facts = asking.chosen(here)
    found = model.judge_room(facts)

    if info is LLAMA:  # 112 KiB a token, and some room to compute in
        assert 0 < facts.needed - (WEIGHTS + 112 * 1024 * 8192) < 2**29
    else:
        assert facts.needed is None
    assert status == found.status
    assert says in found.says


@pytest.mark.parametrize(
    ("names", "environ", "status", "says"),
    [
        ((), {}, "fail", "No plain local chat model"),
        (("a:1b", "b:1b"), {}, "warn", "2 to choose from"),
        (("a:1b",), {"TWOHALVES_MODEL": "phi4"}, "fail", "phi4"),
        (("a:1b", "b:1b"), {"TWOHALVES_MODEL": "b:1b"}, "ok", "b:1b"),
    ],
)
def test_the_model_is_chosen_by_the_books_rules(names, environ, status, says):
    """None, several, the wrong one, the one that was named."""
    with Scripted(ollama_routes(*({"name": name} for name in names))) as running:
        here = doctor.Here(environ={"OLLAMA_HOST": running.url, **environ})
        found = model.judge_model(asking.chosen(here))

    assert status == found.status
    assert says in found.says


def test_a_listen_address_is_asked_at_loopback_and_said():
    """OLLAMA_HOST=0.0.0.0:PORT: the server is found, and the variable is a warning."""
    with Scripted(ollama_routes()) as running:
        here = doctor.Here(environ={"OLLAMA_HOST": f"0.0.0.0:{running.port}"})
        found = {each.check.name: each.finding for each in doctor.examine(here, deadline_s=60)}

    assert "asked is 127.0.0.1" in found["server"].says
    assert "warn" == found["settings"].status


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("http://localhost", "http://localhost:11434"),
        ("http://127.0.0.1:{port}/v1", "http://127.0.0.1:{port}"),
        ("http://127.0.0.1:{port}/api/", "http://127.0.0.1:{port}"),
    ],
)
def test_an_address_that_is_nearly_right_is_corrected(written, meant):
    """No port, or an ending that belongs to the client."""
    port = unused_port()
    here = doctor.Here(environ={"TWOHALVES_SERVER": written.format(port=port)})
    found = server.judge_server(asking.who_answers(here))

    assert "fail" == found.status
    assert f"TWOHALVES_SERVER={meant.format(port=port)}`" in found.next_step("linux")


def test_a_run_that_is_named_must_be_there(tmp_path):
    """Looked for in the project's own folder of runs."""
    environ = {"TWOHALVES_RUN": "mine"}
    here = doctor.Here(project=tmp_path, environ=environ)
    missing = variables.settings(here).has_run
    (tmp_path / "data" / "runs" / "mine").mkdir(parents=True)
    (tmp_path / "data" / "runs" / "mine" / "session.json").touch()

    assert (False, True) == (missing, variables.settings(here).has_run)
    assert variables.settings(doctor.Here(project=tmp_path, environ={})).has_run


def test_an_address_of_yesterday_gives_way_to_who_answers(monkeypatch):
    """Nobody answers where the variable points, and Ollama does at its usual place."""
    old = f"http://127.0.0.1:{unused_port()}"
    with Scripted(ollama_routes()) as usual:

        def found(*, environ, start_builtin):
            return find(environ=environ or {"OLLAMA_HOST": usual.url}, start_builtin=start_builtin)

        monkeypatch.setattr(asking, "find", found)
        facts = asking.who_answers(doctor.Here(environ={"TWOHALVES_SERVER": old}))

    assert "fail" == server.judge_server(facts).status
    assert f"TWOHALVES_SERVER={usual.url}`" in server.judge_server(facts).next_step("linux")


@pytest.mark.engine
def test_the_built_in_model_is_told_before_its_server_is_started():
    """Name, digest, window and memory, from its file; a name that it does not have is a FAIL."""
    here = doctor.Here(environ={"TWOHALVES_SERVER": "builtin"})
    facts = asking.chosen(here)
    wrong = asking.chosen(dataclasses.replace(here, environ={**here.environ, **OTHER_MODEL}))

    assert "smollm2:135m, digest " in model.judge_model(facts).says
    assert model.judge_window(facts).says.startswith("8,192 tokens")
    assert "8,192 tokens of KV cache" in model.judge_room(facts).says
    assert "fail" == model.judge_model(wrong).status
    assert "unset TWOHALVES_MODEL" in model.judge_model(wrong).next_step("linux")


@pytest.mark.parametrize(
    ("written", "readable"),
    [
        ("ftp://x", "http://127.0.0.1:11434"),
        ("http://[", "http://127.0.0.1:11434"),
        ("http://h:99999", "http://127.0.0.1:11434"),
        ("::::", "http://127.0.0.1:11434"),
        ("buildin", '"builtin"'),
        ("a b", '"builtin"'),
    ],
)
def test_an_address_that_nobody_can_read_is_said(written, readable):
    """FAIL with a form that can be read."""
    here = doctor.Here(environ={"TWOHALVES_SERVER": written})
    found = server.judge_server(asking.who_answers(here))

    assert "fail" == found.status
    assert readable in found.next_step("windows")


def test_a_proxy_does_not_reach_loopback(monkeypatch):
    """A proxy that answers 503 to everything changes nothing for a server on this machine."""
    with (
        Scripted({"*": Answer(status=503, body="<html>")}) as proxy,
        Scripted(ollama_routes()) as o,
    ):
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        here = doctor.Here(environ={"OLLAMA_HOST": o.url, "HTTP_PROXY": proxy.url})
        found = {each.check.name: each.finding for each in doctor.examine(here, deadline_s=60)}

    assert {"ok"} == {found["server"].status, found["proxy"].status}
    assert [] == proxy.asked


def test_the_proxys_answer_is_reported_as_the_proxys(monkeypatch):
    """For a server elsewhere: not “this is not Ollama”."""
    with Scripted({"*": Answer(status=503, body="<html>")}) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        here = doctor.Here(environ={"OLLAMA_HOST": "http://ollama.test:80"})
        found = server.judge_server(asking.who_answers(here))

    assert "fail" == found.status
    assert "The proxy" in found.says
    assert "NO_PROXY=localhost,127.0.0.1,ollama.test" in found.next_step("linux")


def test_the_verb_ends_with_the_verdict(monkeypatch, capsys):
    """Exit code 1 with a FAIL, and the closing line counts."""
    monkeypatch.setattr("twohalves.bootstrap.Environment.inside", lambda _: True)
    monkeypatch.setenv("TWOHALVES_RENDERER", "pandoc")
    assert 1 == main(["doctor"])
    said = capsys.readouterr().out.splitlines()

    assert any(line.startswith("FAIL  settings     TWOHALVES_RENDERER=pandoc") for line in said)
    assert said[-1].startswith(f"{len(NAMES)} checks: ")
