"""Whatever the doctor finds amiss, it says how much, and the next command on each system."""

import dataclasses
import errno
import inspect
import pathlib
import re

import pytest

from twohalves import doctor
from twohalves.doctor import (
    disk,
    examination,
    folder,
    installed,
    machine,
    model,
    place,
    port,
    programs,
    server,
    text,
    variables,
)
from twohalves.doctor.findings import Status
from twohalves.doctor.listening import Listener

SYSTEMS = ("linux", "macos", "windows")
GIB = 2**30

PYTHON = installed.PythonFacts(version=(3, 12, 4), bits=64, implementation="CPython")
VENV = installed.VenvFacts(broken=None, is_inside=True, lacks=None, has_packages=True)
PACKAGES = installed.PackagesFacts(
    wanted={"httpx": "0.28.1", "ollama": "0.6.3"},
    found={"httpx": "0.28.1", "ollama": "0.6.3"},
    is_inside=True,
    is_exact=True,
)
DISK = disk.DiskFacts(
    project="/p",
    folder="/p/data/runs",
    is_complete=True,
    error=None,
    reason="",
    free_bytes=5_000_000_000,
    needed_bytes=200_000_000,
)
QUOTA = disk.QuotaFacts(used_bytes=None, limit_bytes=None)
FOLDER = folder.PathFacts(path="/p", synced=None, network=None, limit=None)
CORES = machine.CoresFacts(logical=8, physical=4, allowed=8, limit=None)
MEMORY = machine.MemoryFacts(available=6 * GIB, total=8 * GIB, limit=None)
POWER = machine.PowerFacts(percent=80.0, plugged=True, saving=None)
HOSTED = place.HostedFacts(name="", means="", loses_files=False)
ACCOUNT = place.AccountFacts(is_root=False, behind="", is_container=False)
OUTSIDE = place.OutsideFacts(kind=None, url=None, has_own=False, is_named=False)
PROXY = variables.ProxyFacts(named={}, beyond=None, spared=True)
SETTINGS = variables.SettingsFacts(values={}, has_run=True)
TEXT = text.TextFacts(console="utf-8", files="utf-8", preferred="UTF-8")
PORT = port.PortFacts(answer="nobody", said="", listener=None)
SERVER = server.ServerFacts(
    url="http://127.0.0.1:11434",
    host="127.0.0.1",
    is_here=True,
    name="Ollama 0.24.0",
    notes=(),
    error="",
    what="",
    likely="",
    has_engine=True,
    listener=None,
)
COUNTERS = server.CountersFacts(sentence="All is counted.", is_whole=True)
MODEL = model.ChosenFacts(
    error="",
    what="",
    name="llama3.2:3b",
    digest="a80c4f17acd55265feec403c7aef86be0c25983ab279d83f3bcd3abbcb5b8b72",
    window=131072,
    planned=8192,
    needed=3 * GIB,
    available=6 * GIB,
)
RENDERER = programs.RendererFacts(
    quarto="/q", quarto_version="1.10.18", smalldocs="0.5.4", is_inside=True
)
BROWSER = programs.BrowserFacts(program="/usr/bin/chromium")
BOB = Listener(user="bob", process=None, is_own=False, is_service=False)

CASES = [
    # check, facts when all is well, what is changed, status, in the line, in the Linux step
    ("python", PYTHON, {"version": (3, 10, 2)}, "fail", "3.10.2", "python3.11 -m twohalves site"),
    ("python", PYTHON, {"bits": 32}, "fail", "32 bits", "apt install python3.11"),
    (
        "environment",
        VENV,
        {"broken": "it was made for /old"},
        "fail",
        "made for /old",
        "clean --venv",
    ),
    (
        "environment",
        VENV,
        {"broken": "", "has_packages": False, "lacks": "ensurepip"},
        "fail",
        "ensurepip",
        "apt install python3-venv",
    ),
    ("packages", PACKAGES, {"wanted": {}}, "fail", "requirements.txt", "git checkout -- req"),
    (
        "packages",
        PACKAGES,
        {"found": {"httpx": "0.27.0", "ollama": "0.6.3"}},
        "warn",
        "1 of 2 differ: httpx 0.27.0 (tested: 0.28.1)",
        "`.venv/bin/python -m pip install -r requirements.txt",
    ),
    (
        "packages",
        PACKAGES,
        {"found": {"httpx": "0.27.0", "ollama": "0.6.3"}, "is_inside": False},
        "warn",
        "1 of 2 differ",
        "twohalves site",
    ),
    (
        "packages",
        PACKAGES,
        {"found": {"httpx": "0.28.1", "ollama": None}},
        "fail",
        "1 of 2 are missing: ollama",
        "pip install",
    ),
    (
        "packages",
        PACKAGES,
        {"found": {"httpx": None, "ollama": None}, "is_inside": False},
        "warn",
        "2 of 2",
        "twohalves site",
    ),
    ("disk", DISK, {"is_complete": False}, "fail", "data", "git checkout -- data"),
    (
        "disk",
        DISK,
        {"error": errno.EROFS, "reason": "Read-only file system"},
        "fail",
        "Read-only",
        'cp -r "/p" ~',
    ),
    ("disk", DISK, {"error": errno.ENOSPC, "reason": "No space left"}, "fail", "No space", "du -"),
    ("disk", DISK, {"error": errno.EDQUOT, "reason": "Quota exceeded"}, "fail", "Quota", "quota"),
    ("disk", DISK, {"free_bytes": 20_000_000}, "fail", "20 MB free", "du -xh"),
    ("disk", DISK, {"free_bytes": 150_000_000}, "warn", "150 MB free, about 200", "du -xh"),
    (
        "quota",
        QUOTA,
        {"used_bytes": 999_000_000, "limit_bytes": 1_000_000_000},
        "fail",
        "1 of 1,000 MB",
        "quota -s",
    ),
    (
        "quota",
        QUOTA,
        {"used_bytes": 900_000_000, "limit_bytes": 1_000_000_000},
        "warn",
        "100 of 1,000 MB",
        "quota -s",
    ),
    ("folder", FOLDER, {"synced": "OneDrive"}, "warn", "OneDrive", "cp -r"),
    ("folder", FOLDER, {"network": "nfs4"}, "warn", "network (nfs4)", "&& cd "),
    ("folder", FOLDER, {"path": "C:\\" + "x" * 130, "limit": 120}, "warn", "133 letters", "pwd"),
    ("cores", CORES, {"limit": 2.5}, "warn", "limited to 2.5", "--cpus=2 --cpuset-cpus=0-1"),
    ("memory", MEMORY, {"available": GIB}, "warn", "1.0 of 8.0 GiB free", "ps aux"),
    ("memory", MEMORY, {"available": GIB // 8}, "fail", "0.1 of 8.0", "TWOHALVES_SERVER=builtin"),
    ("power", POWER, {"plugged": False}, "warn", "battery at 80 %", "powerprofilesctl"),
    ("power", POWER, {"saving": "governor powersave"}, "warn", "powersave", "performance"),
    (
        "hosted",
        HOSTED,
        {"name": "Kaggle", "means": "Files go.", "loses_files": True},
        "warn",
        "Kaggle. Files go.",
        "lab.download(run)",
    ),
    ("account", ACCOUNT, {"is_root": True, "behind": "ana"}, "warn", "sudo of ana", "chown -R ana"),
    (
        "container",
        OUTSIDE,
        {"kind": "WSL 2", "url": "http://172.20.0.1:11434"},
        "warn",
        "WSL 2",
        "TWOHALVES_SERVER=http://172.20.0.1:11434",
    ),
    (
        "proxy",
        PROXY,
        {"named": {"HTTP_PROXY": "http://p:8118"}, "beyond": "gpu.lan", "spared": False},
        "warn",
        "gpu.lan is asked through it",
        "NO_PROXY=localhost,127.0.0.1,gpu.lan",
    ),
    (
        "proxy",
        PROXY,
        {"named": {"HTTPS_PROXY": "socks5://p:1080"}},
        "warn",
        "socks5",
        "`unset HTTPS_PROXY https_proxy`",
    ),
    (
        "settings",
        SETTINGS,
        {"values": {"OLLAMA_HOST": "0.0.0.0:8080"}},
        "warn",
        "OLLAMA_HOST=0.0.0.0:8080; a client asks 127.0.0.1 instead",
        "OLLAMA_HOST=127.0.0.1:8080",
    ),
    (
        "settings",
        SETTINGS,
        {"values": {"TWOHALVES_MODLE": "x"}},
        "warn",
        "TWOHALVES_MODLE",
        "TWOHALVES_MODEL",
    ),
    (
        "settings",
        SETTINGS,
        {"values": {"TWOHALVES_RENDERER": "pandoc"}},
        "fail",
        "TWOHALVES_RENDERER=pandoc names no renderer",
        "smalldocs",
    ),
    (
        "settings",
        SETTINGS,
        {"values": {"TWOHALVES_RUN": "2026-x", "TWOHALVES_X": "1"}, "has_run": False},
        "fail",
        "TWOHALVES_RUN=2026-x is not in data/runs",
        "`unset TWOHALVES_RUN`",
    ),
    ("text", TEXT, {"console": "cp1252"}, "warn", "console cp1252", "LC_ALL=C.UTF-8"),
    ("port", PORT, {"answer": "silent"}, "warn", "does not answer", "ss -ltnp"),
    ("port", PORT, {"answer": "stranger", "said": "status 404, 'x'"}, "warn", "404", "ss -ltnp"),
    ("server", SERVER, {"error": "NoServer", "has_engine": False}, "warn", "no Ollama", "site"),
    (
        "server",
        SERVER,
        {"error": "ServerUnreachable", "what": "No server answers."},
        "fail",
        "No server answers.",
        "systemctl start ollama",
    ),
    (
        "server",
        SERVER,
        {"error": "HostUnknown", "what": "No.", "host": "gpu"},
        "fail",
        "No.",
        "getent hosts gpu",
    ),
    (
        "server",
        SERVER,
        {"error": "ProxyAnswered", "what": "503.", "host": "gpu"},
        "fail",
        "503",
        "NO_PROXY=localhost,127.0.0.1,gpu",
    ),
    (
        "server",
        SERVER,
        {"error": "VariablesNotUnderstood", "what": "No."},
        "fail",
        "No.",
        "env | grep",
    ),
    (
        "server",
        SERVER,
        {"error": "VariableUnusable", "what": "buildin means nothing."},
        "fail",
        "means nothing",
        "TWOHALVES_SERVER=builtin",
    ),
    (
        "server",
        SERVER,
        {"error": "EndpointMalformed", "what": "No."},
        "fail",
        "No.",
        "TWOHALVES_SERVER=http://127.0.0.1:11434",
    ),
    ("server", SERVER, {"is_here": False}, "warn", "another machine", "twohalves measure"),
    (
        "server",
        SERVER,
        {"listener": BOB},
        "warn",
        "account bob",
        "OLLAMA_HOST=127.0.0.1:11435 ollama serve",
    ),
    ("counters", COUNTERS, {"is_whole": False}, "fail", "All is counted", "ollama.com/install.sh"),
    (
        "model",
        MODEL,
        {"name": "", "error": "SeveralModels", "names": ("a:1b", "b:2b")},
        "warn",
        "2 to choose from: a:1b, b:2b",
        "TWOHALVES_MODEL=a:1b",
    ),
    (
        "model",
        MODEL,
        {"name": "", "error": "NoModelInstalled", "what": "None."},
        "fail",
        "None.",
        "ollama pull llama3.2:3b",
    ),
    (
        "model",
        MODEL,
        {"name": "", "error": "ModelMissing", "what": "No.", "wanted": "phi4"},
        "fail",
        "No.",
        "ollama pull phi4",
    ),
    (
        "model",
        MODEL,
        {"name": "", "error": "NotBuiltIn", "what": "No."},
        "fail",
        "No.",
        "unset TWOHALVES_MODEL",
    ),
    (
        "window",
        MODEL,
        {"window": 2048, "planned": 2048, "left_out": (2156, 4247)},
        "warn",
        "prompts of 2,156, 4,247 tokens are left out",
        "ollama pull llama3.2:3b",
    ),
    ("window", MODEL, {"window": 64, "fits_none": True}, "fail", "no prompt fits", "ollama pull"),
    ("room", MODEL, {"available": GIB}, "warn", "3.0 GiB for weights", "ollama stop"),
    ("pages", RENDERER, {"quarto_version": None}, "warn", "/q does not tell", "quarto check"),
    (
        "pages",
        RENDERER,
        {"quarto": None, "quarto_version": None, "smalldocs": None},
        "fail",
        "neither",
        "pip install",
    ),
    ("browser", BROWSER, {"program": None}, "warn", "not found", "apt install chromium"),
]
WELL = {case[0]: case[1] for case in CASES}


def _check(name):
    return next(check for check in doctor.CHECKS if check.name == name)


@pytest.mark.parametrize("name", [check.name for check in doctor.CHECKS])
def test_a_check_is_content_when_all_is_well(name):
    """OK, with nothing to do."""
    found = _check(name).judge(WELL[name])

    assert "ok" == found.status
    assert found.says
    assert found.next_step("linux") is None


@pytest.mark.parametrize(
    ("name", "well", "change", "status", "says", "step"),
    CASES,
    ids=[f"{case[0]}-{'-'.join(case[2])}-{position}" for position, case in enumerate(CASES)],
)
def test_what_is_amiss_is_said_with_its_figure_and_the_next_command(
    name, well, change, status, says, step
):
    """Each check, with one fact changed."""
    check = _check(name)
    found = check.judge(dataclasses.replace(well, **change))

    assert status == found.status
    assert says in found.says
    assert step in found.next_step("linux")
    assert "\n" not in found.says
    assert found.trouble in check.troubles


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_every_system_has_its_own_command(case):
    """A command in backticks each, no blank left open, and on Windows nothing of a Linux shell."""
    name, well, change = case[:3]
    found = _check(name).judge(dataclasses.replace(well, **change))
    for system in SYSTEMS:
        step = found.next_step(system)
        assert re.search("`[^`]+`", step) or "Docker Desktop" in step, step
        assert not re.search(r"\{\w+\}", step), step
    windows = found.next_step("windows")
    for foreign in ("export ", "python3 -m", "sudo ", "unset ", "apt ", "brew "):
        assert foreign not in windows, windows
    assert "apt " not in found.next_step("macos")


def _all_troubles():
    own = [trouble for check in doctor.CHECKS for trouble in check.troubles]
    return [*own, examination.NO_ANSWER, examination.CHECK_BROKE]


def test_no_trouble_is_left_without_a_finding():
    """Each that a check names comes from some facts, so that none is on the page for nothing."""
    found = {_check(c[0]).judge(dataclasses.replace(c[1], **c[2])).trouble.title for c in CASES}
    silent = {check.silence.title for check in doctor.CHECKS if check.silence}
    general = {examination.NO_ANSWER.title, examination.CHECK_BROKE.title}

    assert {trouble.title for trouble in _all_troubles()} == found | silent | general


@pytest.mark.parametrize("trouble", _all_troubles(), ids=lambda trouble: trouble.title)
def test_a_trouble_can_be_searched_for(trouble):
    """Messages as people see them, a meaning, and steps that need no machine to be printed."""
    assert trouble.symptoms
    assert trouble.meaning.endswith(".")
    for system in SYSTEMS:
        assert not re.search(r"\{\w+\}", trouble.next_step(system))


@pytest.mark.parametrize("trouble", _all_troubles(), ids=lambda trouble: trouble.title)
def test_a_folder_with_spaces_stays_one_word(trouble):
    """Wherever a command names the project's folder, it can be pasted as it is."""
    for system in SYSTEMS:
        step = trouble.next_step(system, {"folder": "/a b/Füße"})
        assert step.count("/a b/Füße") == step.count('"/a b/Füße"')


def test_packages_of_another_python_are_no_trouble_of_the_book():
    """What is to come into .venv is waited for, and nothing is installed beside it."""
    without = dataclasses.replace(RENDERER, quarto=None, quarto_version=None, smalldocs=None)
    outside = dataclasses.replace(without, is_inside=False)

    assert "wait" == programs.judge_renderer(outside).status


def test_what_is_not_told_is_no_trouble():
    """None is "not told": no figure is made up and nobody is alarmed."""
    for name, change in {
        "disk": {"free_bytes": None},
        "cores": {"logical": None, "physical": None, "allowed": None},
        "power": {"percent": None, "plugged": None},
        "window": {"window": None},
        "room": {"needed": None, "unknown": "the server does not tell"},
    }.items():
        found = _check(name).judge(dataclasses.replace(WELL[name], **change))
        assert "ok" == found.status
        assert "0.0" not in found.says

    nothing = machine.MemoryFacts(available=None, total=None, limit=None)
    assert "wait" == machine.judge_memory(nothing).status


def test_a_service_account_is_no_stranger():
    """Ollama's own installer runs it as the account ollama; a container's as root."""
    service = Listener(user="ollama", process=None, is_own=False, is_service=True)
    found = server.judge_server(dataclasses.replace(SERVER, listener=service))

    assert "ok" == found.status
    assert "account ollama" in found.says


def test_without_ollama_the_built_in_server_is_in_order():
    """A reader without Ollama is not told that something is wrong."""
    nobody = dataclasses.replace(SERVER, error="NoServer", url="", name="")
    assert "ok" == server.judge_server(nobody).status
    waiting = model.ChosenFacts(error="NoServer", what="")
    judges = (model.judge_model, model.judge_window, model.judge_room)
    assert {"wait"} == {judge(waiting).status for judge in judges}


def test_a_model_that_is_loaded_already_needs_no_more_room():
    """Its memory is no longer free because it is in use for just this."""
    loaded = dataclasses.replace(MODEL, available=GIB, loaded=3 * GIB)
    assert "ok" == model.judge_room(loaded).status


def test_a_hosted_machine_keeps_its_own_versions():
    """There only what is missing matters."""
    own = dataclasses.replace(
        PACKAGES, is_inside=False, is_exact=False, found={"httpx": "0.27.0", "ollama": "0.6.1"}
    )
    assert "ok" == installed.judge_packages(own).status


def test_loopback_is_asked_without_the_proxy_and_that_is_said():
    """A company's proxy alone is no trouble."""
    found = variables.judge_proxy(dataclasses.replace(PROXY, named={"HTTP_PROXY": "http://p:1"}))

    assert "ok" == found.status
    assert "without it" in found.says


@pytest.mark.parametrize(
    ("environ", "named", "beyond", "spared"),
    [
        ({"http_proxy": "http://ana:secret@p:8118"}, {"HTTP_PROXY": "http://p:8118"}, None, True),
        ({"OLLAMA_HOST": "0.0.0.0:80"}, {}, None, True),
        ({"OLLAMA_HOST": "[::1]:11434"}, {}, None, True),
        ({"OLLAMA_HOST": "http://gpu.lan:80", "NO_PROXY": ".lan"}, {}, "gpu.lan", True),
        ({"TWOHALVES_SERVER": "gpu.lan", "no_proxy": "other"}, {}, "gpu.lan", False),
        ({"TWOHALVES_SERVER": "builtin", "OLLAMA_HOST": "gpu"}, {}, None, True),
        ({"TWOHALVES_SERVER": "ollama", "OLLAMA_HOST": "gpu", "NO_PROXY": "*"}, {}, "gpu", True),
        ({"OLLAMA_HOST": "http://["}, {}, None, True),
    ],
)
def test_proxies_are_read_as_programs_read_them(environ, named, beyond, spared):
    """In capitals and small letters, without the password, and only for other hosts."""
    facts = variables.proxy(doctor.Here(environ=environ))

    assert (named, beyond, spared) == (facts.named, facts.beyond, facts.spared)


def test_a_key_is_not_shown():
    """What people paste into a question holds no secret."""
    facts = variables.settings(doctor.Here(environ={"OLLAMA_API_KEY": "s3cret", "PATH": "/bin"}))

    assert {"OLLAMA_API_KEY": "(set)"} == facts.values


def test_every_variable_of_this_book_is_known():
    """None that the code reads is taken for a slip."""
    files = (pathlib.Path(inspect.getfile(doctor)).parents[1]).rglob("*.py")
    read = {
        name for f in files for name in re.findall(r"\bTWOHALVES_[A-Z_]+\b", f.read_text("utf-8"))
    }
    made_up = set(variables.UNKNOWN_VARIABLE.example.values())

    assert read - made_up - {"TWOHALVES_"} <= set(variables.KNOWN)


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [(["ok", "wait"], False), (["ok", "warn"], False), (["warn", "fail"], True)],
)
def test_only_a_fail_fails(statuses, expected):
    """A warning leaves the exit code 0."""
    finding = doctor.Finding
    examined = [
        doctor.Examined(
            check=doctor.CHECKS[0],
            finding=finding(status=Status(status), says="x"),
            facts=None,
            is_silent=False,
        )
        for status in statuses
    ]
    assert expected == doctor.failed(examined)
