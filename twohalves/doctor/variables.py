"""Environment variables: proxies, and the settings of Ollama and of this book."""

from __future__ import annotations

import difflib
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass

from twohalves.doctor.check import Here
from twohalves.doctor.findings import Finding, Trouble, fail, ok, setting, unset, warn

KNOWN = (
    "TWOHALVES_MODEL",
    "TWOHALVES_RECORD",
    "TWOHALVES_RENDERER",
    "TWOHALVES_REQUIRE_BROWSER",
    "TWOHALVES_REQUIRE_QUARTO",
    "TWOHALVES_RUN",
    "TWOHALVES_SERVER",
    "TWOHALVES_TEST_HOSTED",
)
"""All that are read."""
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
_LOOPBACK = ("localhost", "127.", "::1", "0.0.0.0", "[::")  # noqa: S104 — nothing listens there
_EVERYWHERE = ("0.0.0.0", "[::]", "::")  # noqa: S104 — nothing listens there

BEHIND_PROXY = Trouble(
    title="A proxy stands between here and the server",
    symptoms=(
        "503 Service Unavailable",
        "Bad Gateway",
        "407 Proxy Authentication Required",
        "The proxy answered in place of",
        "Cannot connect to proxy",
        "ProxyError",
    ),
    meaning="Programs send their requests to the proxy that HTTP_PROXY names, also those to a "
    "server in your own network. This book never asks a proxy for a server on this machine; one "
    "on another host must stand in NO_PROXY.",
    steps=setting("NO_PROXY", "localhost,127.0.0.1,{host}"),
    example={"host": "HOST"},
)
SOCKS = Trouble(
    title="A SOCKS proxy is named",
    symptoms=(
        "ImportError: Using SOCKS proxy, but the 'socksio' package is not installed.",
        "Missing dependencies for SOCKS support",
        "No connection can be made with the settings in ALL_PROXY",
    ),
    meaning="Neither the installer nor the client speaks SOCKS as it comes. A server on this "
    "machine is not affected.",
    steps=unset("{name} {small}", ", or name one with http:// in HTTPS_PROXY"),
    example={"name": "ALL_PROXY", "small": "all_proxy"},
)
LISTENS_EVERYWHERE = Trouble(
    title="OLLAMA_HOST names an address to listen on",
    symptoms=(
        "OLLAMA_HOST=0.0.0.0",
        "[WinError 10049] The requested address is not valid in its context",
    ),
    meaning="0.0.0.0 means “on all networks” to a server and nothing to a client; this book asks "
    "127.0.0.1 instead. An Ollama started so answers everybody in the network, and their requests "
    "stand in your timings.",
    steps=setting("OLLAMA_HOST", "127.0.0.1:{port}", "and start Ollama again"),
    example={"port": "11434"},
)
UNKNOWN_VARIABLE = Trouble(
    title="A variable of this book has a name that nothing reads",
    symptoms=("the setting has no effect",),
    meaning="Names that begin with TWOHALVES_ are this book's; this one is not among them.",
    steps=unset("{name}", "; meant was perhaps {near}"),
    example={"name": "TWOHALVES_MODLE", "near": "TWOHALVES_MODEL"},
)
BAD_RENDERER = Trouble(
    title="TWOHALVES_RENDERER names no renderer",
    symptoms=("No program to render the pages was found (looked for",),
    meaning="It may be quarto or smalldocs.",
    steps=setting("TWOHALVES_RENDERER", "smalldocs"),
)
NO_RUN = Trouble(
    title="TWOHALVES_RUN names a run that is not there",
    symptoms=("There is no run named",),
    meaning="The pages show the run that TWOHALVES_RUN names; without it your own newest one.",
    steps=unset("TWOHALVES_RUN"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyFacts:
    """Proxies that the environment names."""

    named: dict[str, str]
    """Proxy by variable, without the password that may stand in it."""
    beyond: str | None
    """The host of a server that the variables name and that is not this machine; None = none."""
    spared: bool
    """Whether NO_PROXY names that host."""


def proxy(here: Here) -> ProxyFacts:
    """Read the variables, in capitals and in small letters."""
    known = {name.upper(): value.strip() for name, value in here.environ.items() if value.strip()}
    beyond = other_host(known)
    return ProxyFacts(
        named={name: _without_password(known[name]) for name in _PROXIES if name in known},
        beyond=beyond,
        spared=_is_spared(beyond, known.get("NO_PROXY", "")),
    )


def named_server(environ: Mapping[str, str]) -> str:
    """The address in TWOHALVES_SERVER or OLLAMA_HOST, as it is written; "" = there is none."""
    choice = environ.get("TWOHALVES_SERVER", "").strip()
    if choice.lower() == "builtin":
        return ""
    if choice.lower() in {"", "ollama"}:
        return environ.get("OLLAMA_HOST", "").strip()
    return choice


def other_host(environ: Mapping[str, str]) -> str | None:
    """The host that the variables name, unless it is this machine."""
    named = named_server(environ).strip("\"'")
    if not named or named.startswith(":"):
        return None
    try:
        host = urllib.parse.urlsplit(named if "://" in named else f"//{named}").hostname or ""
    except ValueError:
        return None
    return None if not host or host.startswith(_LOOPBACK) else host


def _is_spared(host: str | None, no_proxy: str) -> bool:
    if host is None:
        return True
    names = [name.strip().lstrip(".") for name in no_proxy.split(",") if name.strip()]
    return "*" in names or any(host == name or host.endswith(f".{name}") for name in names)


def _without_password(url: str) -> str:
    scheme, mark, rest = url.rpartition("://")
    return f"{scheme}{mark}{rest.rpartition('@')[2]}"


def judge_proxy(facts: ProxyFacts) -> Finding:
    """No proxy, or none in the way."""
    if not facts.named:
        return ok("none is set")
    said = ", ".join(f"{name}={value}" for name, value in facts.named.items())
    socks = next((n for n, value in facts.named.items() if value.lower().startswith("socks")), "")
    if socks:
        return warn(said, SOCKS, name=socks, small=socks.lower())
    if facts.beyond and not facts.spared:
        return warn(
            f"{said}, and {facts.beyond} is asked through it", BEHIND_PROXY, host=facts.beyond
        )
    return ok(f"{said}; a server on this machine is asked without it")


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsFacts:
    """Variables of Ollama and of this book that are set."""

    values: dict[str, str]
    """Value by name."""
    has_run: bool
    """Whether the run that is named is there; True where none is named."""


def settings(here: Here) -> SettingsFacts:
    """Read those that begin with OLLAMA_ or TWOHALVES_; a key stays secret."""
    run = here.environ.get("TWOHALVES_RUN", "")
    return SettingsFacts(
        values={
            name: "(set)" if "KEY" in name or "TOKEN" in name else value
            for name, value in sorted(here.environ.items())
            if name.startswith(("OLLAMA_", "TWOHALVES_"))
        },
        has_run=not run or (here.project / "data" / "runs" / run / "session.json").is_file(),
    )


def judge_settings(facts: SettingsFacts) -> Finding:
    """Values that mean something, names that are read, and an address that can be asked."""
    values = facts.values
    said = ", ".join(f"{name}={value}" for name, value in values.items()) or "none is set"
    renderer = values.get("TWOHALVES_RENDERER", "smalldocs")
    if not any(name in renderer for name in ("quarto", "smalldocs")):
        return fail(f"TWOHALVES_RENDERER={renderer} names no renderer", BAD_RENDERER)
    if not facts.has_run:
        return fail(f"TWOHALVES_RUN={values['TWOHALVES_RUN']} is not in data/runs", NO_RUN)
    ours = (name for name in values if name.startswith("TWOHALVES_"))
    unread = next((name for name in ours if name not in KNOWN), None)
    if unread is not None:
        near = difflib.get_close_matches(unread, KNOWN, n=1)
        meant = near[0] if near else "TWOHALVES_SERVER or TWOHALVES_MODEL"
        said = f"{unread} is not read by anything"
        return warn(said, UNKNOWN_VARIABLE, name=unread, near=meant)
    host = values.get("OLLAMA_HOST", "").strip().strip("\"'").rpartition("//")[2]
    if host.startswith(_EVERYWHERE):
        port = host.rpartition(":")[2] if host.count(":") == 1 or "]:" in host else ""
        blanks = {"port": port} if port.isdecimal() else {}
        return warn(f"{said}; a client asks 127.0.0.1 instead", LISTENS_EVERYWHERE, **blanks)
    return ok(said)
