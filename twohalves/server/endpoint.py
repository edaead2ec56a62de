"""Where a server is: the forms that people write, read into one URL.

The same rules as the official client, so that both mean the same server; what that client
would silently lose or misread is refused or said.
"""

from __future__ import annotations

import dataclasses
import ipaddress
import re
import urllib.parse

import httpx

from twohalves.errors import EndpointMalformed
from twohalves.server.loopback import is_loopback

DEFAULT_PORT = 11434
_PORTS = {"http": 80, "https": 443}
_NAME = re.compile(r"[\w.-]+")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One server's address."""

    scheme: str
    """http or https."""
    host: str
    """Name or address, without brackets."""
    port: int
    """TCP port."""
    path: str
    """What stands before /api, with a slash first; "" = nothing."""
    likely: str
    """The URL that was probably meant, if nothing answers here; "" = this one."""
    notes: tuple[str, ...]
    """What was read otherwise than written: a sentence each."""

    @property
    def url(self) -> str:
        """The whole address, without a slash at the end."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.path}"

    @property
    def is_loopback(self) -> bool:
        """True if it is this machine, for which no proxy may be asked."""
        return is_loopback(self.host)


def parse_endpoint(text: str, variable: str) -> Endpoint:
    """Read a host, a host and port, or a URL.

    Args:
        text: as written, such as `0.0.0.0`, `localhost:11434`, `https://gateway/ollama/`.
        variable: where it stands, for errors.

    Raises:
        EndpointMalformed: it names no server.
    """
    plain = text.strip().strip("\"'").strip()
    text = re.sub("//[^/]*@", "//…@", text)  # shown in errors
    scheme, mark, rest = plain.partition("://")
    scheme = scheme.lower()
    if not mark:
        scheme, rest = "http", _bracketed(plain)
    if scheme not in _PORTS:
        raise EndpointMalformed(variable, text, f"{scheme} is neither http nor https")
    try:
        parts = urllib.parse.urlsplit(f"{scheme}://{rest}")
        written = parts.port
    except ValueError as error:
        raise EndpointMalformed(variable, text, str(error).lower()) from error
    _refuse(parts, variable, text)
    host, notes = _target(parts.hostname or "127.0.0.1", variable)
    path = parts.path.strip("/")
    endpoint = Endpoint(
        scheme=scheme,
        host=host,
        port=written or (_PORTS[scheme] if mark else DEFAULT_PORT),
        path=f"/{path}" if path else "",
        likely="",
        notes=notes,
    )
    try:
        httpx.URL(endpoint.url).host.encode("idna")  # as connecting will do
    except (httpx.InvalidURL, UnicodeError) as error:
        raise EndpointMalformed(variable, text, f"{host!r} is no host name") from error
    return _with_likely(endpoint, implied=bool(mark) and written is None)


def _bracketed(text: str) -> str:
    """An IPv6 address written without its brackets gets them."""
    try:
        return f"[{text}]" if ipaddress.ip_address(text).version == 6 else text
    except ValueError:
        return text


def _refuse(parts: urllib.parse.SplitResult, variable: str, text: str) -> None:
    reasons = {
        "what stands after ? or # would be lost": parts.query or parts.fragment,
        "a user name or password cannot be passed on": parts.username or parts.password,
        "port 0 is no port": parts.port == 0,
        "the host is missing": not parts.hostname and not parts.netloc.startswith(":"),
    }
    name = parts.hostname or "localhost"
    if not _NAME.fullmatch(name) and ":" not in name:
        reasons[f"{name!r} is no host name"] = True
    for reason, applies in reasons.items():
        if applies:
            raise EndpointMalformed(variable, text, reason)


def _target(host: str, variable: str) -> tuple[str, tuple[str, ...]]:
    """The address to ask where an address to listen on was written."""
    targets = {"0.0.0.0": "127.0.0.1", "::": "localhost"}  # noqa: S104  # nothing listens there
    if host not in targets:
        return host, ()
    note = f"{variable} names {host}, an address to listen on; asked is {targets[host]}."
    return targets[host], (note,)


def _with_likely(endpoint: Endpoint, *, implied: bool) -> Endpoint:
    """Two likely mistakes, told only if nothing answers: no port, and a path too long."""
    fixed = endpoint
    ending = endpoint.path.rpartition("/")[2]
    if ending in {"v1", "api"}:
        fixed = dataclasses.replace(fixed, path=endpoint.path.removesuffix(f"/{ending}"))
    if implied and endpoint.scheme == "http":
        fixed = dataclasses.replace(fixed, port=DEFAULT_PORT)
    return endpoint if fixed == endpoint else dataclasses.replace(endpoint, likely=fixed.url)
