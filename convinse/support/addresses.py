"""Addresses of servers: their names in messages, and the check for this machine."""

from __future__ import annotations

import ipaddress
from contextlib import suppress
from urllib.parse import urlsplit

from .errors import NetworkError


def host_of(url: str) -> str:
    """Host and port of a URL, as messages name it; without a user name or a password in it."""
    with suppress(ValueError):
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and parts.hostname:
            host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
            return f"{host}:{parts.port}" if parts.port is not None else host
    raise NetworkError(f"{url}: not an address; give one such as http://localhost:7777")


def is_loopback(host: str) -> bool:
    """Whether a name or an address is that of this machine alone."""
    if host in ("localhost", "ip6-localhost") or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
