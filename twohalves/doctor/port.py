"""Ollama's usual port: who has it."""

from __future__ import annotations

import http.client
from dataclasses import dataclass
from typing import Literal

from twohalves.doctor.check import Here
from twohalves.doctor.findings import Finding, Steps, Trouble, ok, warn
from twohalves.doctor.listening import Listener, listener

OLLAMA = 11434
_PATIENCE_S = 2.0
_CHUNK = 80

PORT_TAKEN = Trouble(
    title="Another program has Ollama's port",
    symptoms=(
        "Error: listen tcp 127.0.0.1:11434: bind: address already in use",
        "Only one usage of each socket address (protocol/network address/port)",
        "bind: An attempt was made to access a socket in a way forbidden by its access permissions",
        "What answers at http://127.0.0.1:11434 is not Ollama",
    ),
    meaning="Ollama cannot start while another program listens on 11434; on Windows the system "
    "itself may have reserved the port. Often it is Ollama, started twice.",
    steps=Steps(
        linux="`ss -ltnp 'sport = :11434'` shows the program; or `export "
        "OLLAMA_HOST=127.0.0.1:11435` in both windows, before `ollama serve` and before the book.",
        macos="`lsof -nP -iTCP:11434 -sTCP:LISTEN` shows the program; or `export "
        "OLLAMA_HOST=127.0.0.1:11435` in both windows, before `ollama serve` and before the book.",
        windows="`Get-NetTCPConnection -LocalPort 11434 -State Listen` shows the program's number, "
        "`netsh interface ipv4 show excludedportrange protocol=tcp` what is reserved; or "
        '`$env:OLLAMA_HOST = "127.0.0.1:11435"` in both windows.',
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PortFacts:
    """What listens on Ollama's port."""

    answer: Literal["nobody", "silent", "ollama", "builtin", "stranger"]
    """What came back when it was asked for its greeting."""
    said: str
    """The first words of a stranger; "" = nothing."""
    listener: Listener | None
    """Whose it is; None = not told."""


def port(here: Here, number: int = OLLAMA) -> PortFacts:
    """Ask the port for its greeting, and the system for its owner."""
    answer, said = _greeting(number)
    owner = None if answer == "nobody" else listener(number, here.root)
    return PortFacts(answer=answer, said=said, listener=owner)


def _greeting(
    number: int,
) -> tuple[Literal["nobody", "silent", "ollama", "builtin", "stranger"], str]:
    connection = http.client.HTTPConnection("127.0.0.1", number, timeout=_PATIENCE_S)
    try:
        connection.connect()
    except OSError:
        return "nobody", ""
    try:
        connection.request("GET", "/")
        answer = connection.getresponse()
        said = " ".join(answer.read(_CHUNK).decode("utf-8", "replace").split())
    except TimeoutError:
        return "silent", ""
    except (OSError, http.client.HTTPException) as error:
        return "stranger", type(error).__name__
    finally:
        connection.close()
    if said.startswith("Ollama is running"):
        return "ollama", said
    if said.startswith("Two Halves built-in"):
        return "builtin", said
    return "stranger", f"status {answer.status}, {said[:40]!r}"


def answers(host: str, number: int, patience_s: float) -> bool:
    """Whether somebody who speaks Ollama's protocol answers."""
    connection = http.client.HTTPConnection(host, number, timeout=patience_s)
    try:
        connection.request("GET", "/api/version")
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def judge_port(facts: PortFacts) -> Finding:
    """Ollama's, our own, or free."""
    whose = by_whom(facts.listener)
    if facts.answer == "nobody":
        return ok(f"{OLLAMA} is free")
    if facts.answer == "silent":
        return warn(f"what listens on {OLLAMA}{whose} does not answer", PORT_TAKEN)
    if facts.answer == "stranger":
        return warn(f"{OLLAMA} is not Ollama's{whose}: {facts.said}", PORT_TAKEN)
    name = "Ollama" if facts.answer == "ollama" else "a built-in server of this book"
    return ok(f"{OLLAMA} is {name}'s{whose}")


def by_whom(owner: Listener | None) -> str:
    """Whose program it is, in brackets; "" = not told."""
    if owner is None or owner.user is None:
        return ""
    program = f"{owner.process}, " if owner.process else ""
    whose = "yours" if owner.is_own else f"account {owner.user}"
    return f" ({program}{whose})"
