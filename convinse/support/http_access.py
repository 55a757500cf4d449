"""Who may ask a server that knows no users: requests that name it, and that no page of another site has sent.

A page of any site may make the browser of its reader send requests to this machine. Two things tell them: `Host` has the name
that the page used, which its owner may point here (DNS rebinding), and `Origin` has the page's own site.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from .addresses import is_loopback

Scope = MutableMapping[str, Any]
AsgiApp = Callable[[Scope, Callable[[], Awaitable[Any]], Callable[[Any], Awaitable[None]]], Awaitable[None]]
_PORTS = {"http": 80, "https": 443}


def refusal(scope: Scope, names: Iterable[str] = (), origins: Iterable[str] = ()) -> tuple[int, str] | None:
    """The status and the text that refuse a request, or None where it may be answered.

    Args:
        scope: of an ASGI server.
        names: host names by which the server may be asked, besides this machine's own and the address that was connected to.
        origins: of other sites whose pages may ask, such as `https://example.org`.
    """
    headers = {name: value.decode("latin-1") for name, value in scope["headers"]}  # the last of several
    host = headers.get(b"host", "")
    name = _name(host)
    if name is None or not (is_loopback(name) or name in names or _is_address(name, scope.get("server"))):
        return 403, f"Host: {host[:100]!r} is no name of this server; whoever runs it allows one with --allow-host"
    origin = headers.get(b"origin")
    if origin is not None and origin not in origins and not _is_of(origin, host):
        return 403, f"Origin: {origin[:100]!r} is another site; pages of other sites are not answered"
    kind = headers.get(b"content-type", "application/json").partition(";")[0].strip().lower()
    if scope["method"] == "POST" and kind != "application/json":
        return 415, f"Content-Type: {kind[:100]!r} is not taken; send application/json (curl: --json, in place of -d)"
    return None


def _name(host: str) -> str | None:
    """The name or the address of a Host header, without the port; None for what is none."""
    try:
        parts = urlsplit(f"//{host}")
        name = parts.hostname if parts.netloc == host and "@" not in host else None
        return name and name.rstrip(".") + (str(parts.port) and "")
    except ValueError:  # of the port, or of brackets
        return None


def _is_of(origin: str, host: str) -> bool:
    """Whether an origin is that of a Host header; the `null` of a page without a site is of none."""
    try:
        site = urlsplit(origin)
        own = urlsplit(f"{site.scheme}://{host}")
        usual = _PORTS[site.scheme]
        return site.hostname == own.hostname and (site.port or usual) == (own.port or usual)
    except (KeyError, ValueError):
        return False


def _is_address(name: str, server: tuple[str, int | None] | None) -> bool:
    """Whether a host is the address that the client has connected to."""
    if server is None:
        return False
    try:
        asked, own = ipaddress.ip_address(name), ipaddress.ip_address(server[0].partition("%")[0])
    except ValueError:
        return False
    return own in (asked, getattr(asked, "ipv4_mapped", None)) or getattr(own, "ipv4_mapped", None) == asked
