"""Is a name or address this machine's own?"""

from __future__ import annotations

import ipaddress


def is_loopback(name: str | None) -> bool:
    """True for localhost and the loopback addresses; never asks a name server.

    >>> is_loopback("127.0.0.2"), is_loopback("::1"), is_loopback("192.168.0.1")
    (True, True, False)
    """
    if name is None:
        return False
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
