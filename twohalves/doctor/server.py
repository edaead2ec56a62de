"""Who answers, and what the counters of that version mean."""

from __future__ import annotations

from dataclasses import dataclass

from twohalves.doctor.findings import (
    Finding,
    Steps,
    Trouble,
    everywhere,
    fail,
    ok,
    setting,
    unix,
    wait,
    warn,
)
from twohalves.doctor.listening import Listener
from twohalves.doctor.port import by_whom
from twohalves.doctor.variables import BEHIND_PROXY

NOT_RUNNING = Trouble(
    title="Ollama does not run",
    symptoms=(
        "ConnectionError: Failed to connect to Ollama. Please check that Ollama is downloaded",
        "Error: could not connect to ollama app, is it running?",
        "Error: could not connect to ollama server, run 'ollama serve' to start it",
        "httpx.ConnectError: [Errno 111] Connection refused",
        "[WinError 10061] No connection could be made",
    ),
    meaning="Nothing listens where a server should be. Without an address of your own this book "
    "then starts its built-in server; an address that you named is never replaced by another.",
    steps=Steps(
        linux="`sudo systemctl start ollama`, or `ollama serve` in a window of its own; without "
        "Ollama `export TWOHALVES_SERVER=builtin`.",
        macos="`open -a Ollama`, or `ollama serve` in a window of its own; without Ollama "
        "`export TWOHALVES_SERVER=builtin`.",
        windows="`ollama serve` in a window of its own; without Ollama "
        '`$env:TWOHALVES_SERVER = "builtin"`.',
    ),
)
NO_ENGINE = Trouble(
    title="Nobody answers, and the built-in server is not installed",
    symptoms=(
        "The built-in engine is not installed here",
        "The built-in model is not installed",
        "ModuleNotFoundError: No module named 'xllamacpp'",
    ),
    meaning="Without Ollama a small model that comes with this book answers. It is installed by "
    "the first verb that needs it, where a package for this system exists.",
    steps=Steps(
        linux="`python3 -m twohalves site` installs it; or "
        "`curl -fsSL https://ollama.com/install.sh | sh` and `ollama pull llama3.2:3b`.",
        macos="`python3 -m twohalves site` installs it; or `brew install --cask ollama-app` and "
        "`ollama pull llama3.2:3b`.",
        windows="`py -m twohalves site` installs it; or `winget install Ollama.Ollama` and "
        "`ollama pull llama3.2:3b`.",
    ),
)
ADDRESS = Trouble(
    title="The server's address is written wrongly",
    symptoms=(
        "does not name a server",
        "httpx.UnsupportedProtocol: Request URL is missing an 'http://' or 'https://' protocol.",
        "What answers at http://localhost:80 is not Ollama",
        "404 page not found",
    ),
    meaning="http://HOST without a number means port 80, and Ollama has 11434; its address ends "
    "before /api and /v1. A variable that was set another day may name a server that is gone.",
    steps=setting("TWOHALVES_SERVER", "{url}"),
    example={"url": "http://127.0.0.1:11434"},
)
NO_HOST = Trouble(
    title="The server's host is not known",
    symptoms=(
        "[Errno -2] Name or service not known",
        "[Errno -3] Temporary failure in name resolution",
        "[Errno 11001] getaddrinfo failed",
        "nodename nor servname provided, or not known",
    ),
    meaning="The name in TWOHALVES_SERVER or OLLAMA_HOST leads to no address: a slip, or another "
    "network.",
    steps=Steps(
        linux="`getent hosts {host}` asks for it; `export TWOHALVES_SERVER=builtin` needs none.",
        macos="`dscacheutil -q host -a name {host}` asks for it; "
        "`export TWOHALVES_SERVER=builtin` needs none.",
        windows='`Resolve-DnsName {host}` asks for it; `$env:TWOHALVES_SERVER = "builtin"` needs '
        "none.",
    ),
    example={"host": "HOST"},
)
SILENT = Trouble(
    title="The server does not answer in time",
    symptoms=("httpx.ReadTimeout: timed out", "no answer in 3 s", "The server went silent"),
    meaning="It is busy with somebody's long prompt, still loads a model, or hangs. A machine that "
    "is off, or behind a firewall, is silent too.",
    steps=Steps(
        linux="`ollama ps` shows what it does; `sudo systemctl restart ollama` begins anew; "
        "`export TWOHALVES_SERVER=builtin` does without it.",
        macos="`ollama ps` shows what it does; `killall Ollama; open -a Ollama` begins anew; "
        "`export TWOHALVES_SERVER=builtin` does without it.",
        windows="`ollama ps` shows what it does; `Stop-Process -Name ollama*; ollama serve` begins "
        'anew; `$env:TWOHALVES_SERVER = "builtin"` does without it.',
    ),
)
OTHERS_SERVER = Trouble(
    title="The Ollama that answers is another account's",
    symptoms=(
        "times jump without a reason",
        "load_duration is large in the middle of a run",
        "the model was loaded again",
    ),
    meaning="On a shared machine the port belongs to who came first. Their requests stand in your "
    "timings, their window evicts your model, and their models are not yours.",
    steps=unix(
        "`OLLAMA_HOST=127.0.0.1:{free} ollama serve` in a window of its own, then "
        "`export OLLAMA_HOST=127.0.0.1:{free}` here.",
        windows='`$env:OLLAMA_HOST = "127.0.0.1:{free}"; ollama serve` in a window of its own, '
        "then the first half here.",
    ),
    example={"free": "11435"},
)
OTHER_MACHINE = Trouble(
    title="The server runs on another machine",
    symptoms=("cores and memory of the page are not the server's",),
    meaning="Its own clocks are right, but the times that the client takes hold the network, and "
    "cores and memory that are noted with a run are this machine's.",
    steps=everywhere(
        "For timings run this book where the server runs; to look only, go on: "
        "`python3 -m twohalves measure`."
    ),
)
OLD_COUNTERS = Trouble(
    title="This version of Ollama times only part of a prompt",
    symptoms=(
        "prefill of more than 100,000 tokens per second",
        "times only the last batch of a prompt",
    ),
    meaning="Versions 0.12.5 and 0.12.6 report the time of the last batch as that of the whole "
    "prompt: no prefill rate can be had from them, and measuring refuses them.",
    steps=Steps(
        linux="`curl -fsSL https://ollama.com/install.sh | sh`",
        macos="`brew upgrade --cask ollama-app`, or the menu of Ollama › Restart to update; then "
        "`open -a Ollama`.",
        windows="`winget upgrade Ollama.Ollama`",
    ),
)

VARIABLES = Trouble(
    title="Proxy or certificate settings with which no connection can be made",
    symptoms=(
        "No connection can be made with the settings in",
        "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed",
        "FileNotFoundError: SSL_CERT_FILE",
    ),
    meaning="A variable names a proxy of a kind that is not passed, or a file of certificates that "
    "is not there or not readable.",
    steps=unix(
        "`env | grep -i -E 'proxy|ssl'` shows them; `unset NAME` takes one away.",
        windows="`Get-ChildItem Env: | Where-Object Name -Match 'proxy|ssl'` shows them; "
        "`Remove-Item Env:NAME` takes one away.",
    ),
)

WRONG = {
    "VariablesNotUnderstood": VARIABLES,
    "ServerUnreachable": NOT_RUNNING,
    "NoServer": NO_ENGINE,
    "HostUnknown": NO_HOST,
    "ProxyUnreachable": BEHIND_PROXY,
    "ProxyAnswered": BEHIND_PROXY,
    "ServerSilent": SILENT,
    "ServerBusy": SILENT,
}
"""What it means when finding the server ends in such an error; any other is the address's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    """Who answers, by the rules of this book, without starting anybody."""

    url: str
    """Its address; "" = nobody answers."""
    host: str
    """The host in that address, or in the one that was tried."""
    is_here: bool
    """Whether it runs on this machine, as far as its address tells."""
    name: str
    """What it is, with its version; "" = nobody answers."""
    notes: tuple[str, ...]
    """What was read otherwise than it was written."""
    error: str
    """Name of the error that finding it ended in; "" = none."""
    what: str
    """What that error says, in one line."""
    likely: str
    """The address that was probably meant; "" = the one that is written."""
    has_engine: bool
    """Whether the built-in server could be started."""
    listener: Listener | None
    """Whose process it is; None = not told."""


def judge_server(facts: ServerFacts) -> Finding:
    """One's own, on this machine."""
    if facts.error:
        return _nobody(facts)
    said = " ".join([f"{facts.name} at {facts.url}{by_whom(facts.listener)}", *facts.notes])
    if not facts.is_here:
        return warn(f"{said}: another machine", OTHER_MACHINE)
    owner = facts.listener
    if owner is not None and owner.is_own is False and owner.is_service is False:
        return warn(f"{said}: not yours", OTHERS_SERVER)
    return ok(said)


def _nobody(facts: ServerFacts) -> Finding:
    if facts.error == "NoServer" and facts.has_engine:
        return ok("no Ollama answers; the built-in server is installed and is started when needed")
    if facts.error == "NoServer":
        return warn("no Ollama answers, and the built-in server is not installed", NO_ENGINE)
    if facts.likely:
        return fail(facts.what, ADDRESS, url=facts.likely)
    if facts.error == "VariableUnusable":  # a word that is neither an address nor a known one
        return fail(facts.what, ADDRESS, url="builtin")
    return fail(facts.what, WRONG.get(facts.error, ADDRESS), host=facts.host)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountersFacts:
    """What the counters of that server mean."""

    sentence: str
    """For a reader; "" = there is no server to tell."""
    is_whole: bool
    """Whether a prefill rate can be computed from them."""


def judge_counters(facts: CountersFacts) -> Finding:
    """A version whose prefill can be used."""
    if not facts.sentence:
        return wait("waits for the server")
    if not facts.is_whole:
        return fail(facts.sentence, OLD_COUNTERS)
    return ok(facts.sentence)
