"""A Redis server that keeps what several machines computed: bytes under keys, checked, bounded, and never needed.

A server that was reached once and is gone, is full or refuses costs time, not results: what it does not give is computed again,
and what it does not take is not kept. An entry is a checksum of its key and content, and the content; nothing is unpickled.
"""

from __future__ import annotations

import hashlib
import logging
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import urlsplit

from .addresses import is_loopback
from .errors import CacheError, DependencyError, NetworkError, one_line
from .web import offline

T = TypeVar("T")

LOGGER = logging.getLogger(__name__)
PASSWORD = "CONVINSE_CACHE_PASSWORD"  # the variable that holds it
_SCHEMES = ("redis", "rediss")
_PORT = 6379
_PREFIX = b"convinse:"
_SUM = 16
_PATIENCE = 5.0  # seconds for a connection, and for an answer
_REST = 30.0  # seconds in which a server that failed is not asked again
_LONGEST = 64 << 20  # bytes of an entry
_EXAMPLE = "redis://HOST:6379"


def is_shared(path: str) -> bool:
    """Whether an `ers_cache_path` is the address of a server."""
    return "://" in path


def check_address(path: str) -> None:
    """Raise `CacheError` where a text is no address of a server, or holds a password."""
    try:
        parts = urlsplit(path)
        port, whole = parts.port, parts.scheme in _SCHEMES and bool(parts.hostname) and not parts.query
    except ValueError:
        port, whole = None, False
    number = parts.path.strip("/") if whole else ""
    if not whole or port == 0 or (number and not (number.isascii() and number.isdigit())):
        raise CacheError(f"{path.rpartition('@')[2]!r} is no address of a shared cache; give one such as {_EXAMPLE}")
    if parts.password is not None:
        raise CacheError(f"a password does not belong in a configuration; export it as {PASSWORD}")


class SharedStore:
    """Entries of a Redis server. Threads may share an object; nothing is opened before the first use.

    Args:
        address: `redis://[USER@]HOST[:PORT][/NUMBER]`, or `rediss://` for TLS. The password is that of `CONVINSE_CACHE_PASSWORD`.
    """

    def __init__(self, address: str) -> None:
        check_address(address)
        self._address = address
        self._client: Any = None
        self._lock = threading.Lock()
        self._rests: dict[str, float] = {}  # what the server failed at -> when it is asked again

    def __str__(self) -> str:
        return self._address

    def get(self, keys: Sequence[bytes], longest: int = _LONGEST) -> list[bytes | None]:
        """The contents under keys; None where there is none, where it is longer, or where the server does not answer.

        Raises:
            CacheError: the server was not reached yet, and cannot be.
            NetworkError: nothing listens there.
        """
        names = [_name(key) for key in keys]

        def ask(client: Any) -> list[bytes]:
            with client.pipeline(transaction=False) as requests:
                for name in names:
                    requests.getrange(name, 0, _SUM + longest)  # the last byte says that there are more
                answers: list[bytes] = requests.execute()
                return answers

        answers = self._asked("read", ask) or [b""] * len(keys)
        return [self._content(*entry, longest) for entry in zip(names, answers, strict=True)]

    def put(self, entries: Mapping[bytes, bytes]) -> None:
        """Keep contents under keys, those of before are replaced; raises what `get` does."""

        def ask(client: Any) -> None:
            with client.pipeline(transaction=False) as requests:
                for key, content in entries.items():
                    name = _name(key)
                    requests.set(name, _checksum(name, content) + content)
                requests.execute()

        self._asked("written", ask)

    def close(self) -> None:
        """Close the connections; the next use opens them again."""
        if self._client is not None:
            self._client.close()

    def _content(self, name: bytes, entry: bytes, longest: int) -> bytes | None:
        if not entry:
            return None
        content = entry[_SUM:]
        if len(content) > longest or _checksum(name, content) != entry[:_SUM]:
            LOGGER.warning("%s: an entry is damaged, or not ours, and made again: %s", self, name.decode())
            return None
        return content

    def _asked(self, verb: str, ask: Callable[[Any], T]) -> T | None:
        """What the server answers; None while it rests."""
        if time.monotonic() < self._rests.get(verb, 0.0):
            return None
        client = self._opened()
        import redis

        try:
            answer = ask(client)
        except (redis.RedisError, OSError, ValueError) as error:  # ValueError: what answers is no Redis
            log = LOGGER.info if verb in self._rests else LOGGER.warning
            refused = isinstance(error, redis.ResponseError) and not isinstance(error, redis.ConnectionError)
            for failed in (verb,) if refused else ("read", "written"):
                self._rests[failed] = time.monotonic() + _REST
            log("%s: the shared cache cannot be %s (%s); going on without it", self, verb, _said(error))
            return None
        if self._rests.pop(verb, None) is not None:
            LOGGER.warning("%s: the shared cache can be %s again", self, verb)
        return answer

    def _opened(self) -> Any:
        with self._lock:
            if self._client is None:
                self._client = self._connected()
            return self._client

    def _connected(self) -> Any:
        try:
            import redis
            from redis.backoff import NoBackoff
            from redis.retry import Retry
        except ImportError:
            raise DependencyError(
                "ers_cache_path: a shared cache needs the package redis; install it: pip install 'convinse[redis]'"
            ) from None
        parts = urlsplit(self._address)
        host, port = parts.hostname or "", parts.port or _PORT
        check_listening(host, port, "is the server of ers_cache_path running?")
        client = redis.Redis(
            host, port, int(parts.path.strip("/") or 0),
            username=parts.username, password=os.environ.get(PASSWORD) or None, ssl=parts.scheme == "rediss",
            socket_connect_timeout=_PATIENCE, socket_timeout=_PATIENCE, retry=Retry(NoBackoff(), 1), protocol=2,
        )  # fmt: skip
        try:
            client.ping()
        except (redis.RedisError, OSError, ValueError) as error:
            client.close()
            raise CacheError(
                f"{self}: the shared cache cannot be used: {_said(error)}; name another one in ers_cache_path, "
                f"or its password in {PASSWORD}"
            ) from error
        return client


def _said(error: Exception) -> str:
    return one_line(error)[:200]


def _name(key: bytes) -> bytes:
    return _PREFIX + hashlib.blake2b(key, digest_size=32).hexdigest().encode()


def _checksum(name: bytes, content: bytes) -> bytes:
    made = hashlib.blake2b(name, digest_size=_SUM)
    made.update(content)
    return made.digest()


def check_listening(host: str, port: int, remedy: str) -> None:
    """Raise `NetworkError` unless something listens at an address."""
    import socket

    if offline() and not is_loopback(host):
        raise NetworkError(f"{host}:{port}: not asked, as CONVINSE_OFFLINE is set; unset it to allow requests")
    try:
        socket.create_connection((host, port), 10.0).close()
    except (OSError, OverflowError) as error:
        raise NetworkError(f"{host}:{port}: cannot be reached ({one_line(error)}); {remedy}") from error
