"""The variables that httpx reads by itself: the proxies, and the certificates to trust.

What stands in them is the reader's, or their company's, and may be more than httpx understands.
"""

from __future__ import annotations

import contextlib
import os
import urllib.parse
import urllib.request
from collections.abc import Iterator

import httpx

from twohalves.errors import VariablesNotUnderstood
from twohalves.server.loopback import is_loopback

NOT_UNDERSTOOD = (ImportError, OSError, ValueError, httpx.InvalidURL)
"""What making a client raises over them; a SOCKS proxy needs a package, hence ImportError."""

_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE")
_KEY = "OLLAMA_API_KEY"


@contextlib.contextmanager
def hidden() -> Iterator[None]:
    """Take these variables, and those of Ollama, out of the environment for a moment."""
    names = [name for name in os.environ if _is_proxy(name) or name.startswith("OLLAMA_")]
    taken = {name: os.environ.pop(name) for name in [*names, *_CERTIFICATES] if name in os.environ}
    os.environ["NO_PROXY"] = "*"  # or the settings of the system would be read in their place
    try:
        yield
    finally:
        del os.environ["NO_PROXY"]
        os.environ.update(taken)


@contextlib.contextmanager
def understood() -> Iterator[None]:
    """Say which variables a client cannot be made with; only the making stands inside.

    Raises:
        VariablesNotUnderstood: in place of what httpx and ssl raise over them.
    """
    try:
        yield
    except NOT_UNDERSTOOD as error:
        names = _meant(error)
        if not names:
            raise
        raise VariablesNotUnderstood(names, _reason(error)) from error


def proxy_for(url: str) -> str | None:
    """The proxy that a request to a server passes, as a URL; None = it goes straight there."""
    parts = urllib.parse.urlsplit(url)
    if is_loopback(parts.hostname) or urllib.request.proxy_bypass(parts.netloc):
        return None
    proxies = urllib.request.getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    return f"http://{proxy}" if proxy and "://" not in proxy else proxy or None


def named_proxy(url: str) -> str | None:
    """The same for a reader's eyes, without a password that may stand in it."""
    proxy = proxy_for(url)
    return None if proxy is None else proxy.rpartition("@")[2].rpartition("//")[2]


def _is_proxy(name: str) -> bool:
    return name.lower().endswith("_proxy")


def _meant(error: Exception) -> tuple[str, ...]:
    """The variables that are set and that such an error comes from."""
    if isinstance(error, OSError):
        file, folder, log = (name if os.environ.get(name) else "" for name in _CERTIFICATES)
        return tuple(filter(None, (file or folder, log)))  # with a file the folder is not read
    if isinstance(error, UnicodeError):
        return (_KEY,) if os.environ.get(_KEY) else ()
    read = {"http_proxy", "https_proxy", "all_proxy", "no_proxy"}
    return tuple(sorted(n for n, text in os.environ.items() if text and n.lower() in read))


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    if isinstance(error, ImportError):
        return "a SOCKS proxy is named, and only http:// and https:// ones are passed"
    if isinstance(error, UnicodeError):
        return "it holds letters that a key cannot have"
    return str(error)
