"""Requests to the API of a MediaWiki, with the manners that Wikimedia asks for.

They have an identifying User-Agent and `maxlag`, at most two are under way at once in this process, pauses are those that the servers
wish. A redirect is an error: no other server is asked than the one that is configured.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, TypeVar

import msgspec

from .addresses import host_of
from .errors import ConfigError, NetworkError, one_line
from .jsonlines import JSON_ERRORS
from .web import WebSession

_SLOTS = threading.BoundedSemaphore(2)  # requests at once, over all threads and clients
_COMMON = {"format": "json", "formatversion": "2", "maxlag": "5"}
_PASSING = frozenset(("maxlag", "ratelimited", "readonly"))

T = TypeVar("T")


class MediaWikiClient:
    """A client of the `api.php` of one or several wikis; `sent` counts requests, each once however often it was tried.

    `remedy` ends messages. The largest rendered articles have about 5 MB.
    """

    def __init__(self, remedy: str, max_bytes: int = 16 << 20) -> None:
        self._remedy = remedy
        self.sent = 0
        self._web = WebSession(
            read_timeout=30.0,
            deadline=600.0,
            max_bytes=max_bytes,
            remedy=remedy,
            passing=_passing_fault,
            redirects=False,
        )

    def ask(
        self, address: str, params: dict[str, str], until: float, absent: frozenset[str] = frozenset()
    ) -> dict[str, Any] | None:
        """Return the answer to a request of the API; None if it has one of the `absent` codes. Raises `NetworkError`."""
        answer = self.get(address, {**params, **_COMMON}, until)
        code, text = _error(answer)
        if code in absent:
            return None
        if code:
            raise self.strange(address, text)
        return answer

    def get(self, address: str, params: dict[str, str], until: float) -> dict[str, Any]:
        """The JSON object that a request answers. Raises `NetworkError` as `ask` does."""
        if not _SLOTS.acquire(timeout=max(0.0, until - time.monotonic())):
            raise NetworkError(f"{host_of(address)}: not asked, as other requests took all the time; {self._remedy}")
        self.sent += 1
        try:
            answer = self._web.get_json(address, params, until)
        finally:
            _SLOTS.release()
        if not isinstance(answer, dict):
            raise self.strange(address, f"a {type(answer).__name__}")
        return answer

    def shape(self, address: str, value: Any, shape: type[T]) -> T:
        """A part of an answer in its shape. Raises `NetworkError` if it has another one."""
        try:
            return msgspec.convert(value, shape)
        except msgspec.ValidationError as error:
            raise self.strange(address, f"another shape than the MediaWiki API's ({one_line(error)})") from None

    def strange(self, address: str, answer: str) -> NetworkError:
        """The error of an answer that cannot be used."""
        return NetworkError(f"{host_of(address)}: answered {answer}; {self._remedy}")

    def close(self) -> None:
        """Close the connections."""
        self._web.close()


class TitleStep(msgspec.Struct):
    """A step from a title to its normalised form, or along a redirect."""

    to: str
    source: str = msgspec.field(name="from", default="")


class FoundPage(msgspec.Struct):
    """A page of a query's answer; `index` is its place in a search."""

    title: str = ""
    index: int = 0
    pageprops: dict[str, Any] = {}
    missing: Any = None

    @property
    def item(self) -> str:
        """The item of an article; empty for a disambiguation page."""
        return "" if "disambiguation" in self.pageprops else str(self.pageprops.get("wikibase_item", ""))


class FoundPages(msgspec.Struct):
    """The answer of a query."""

    pages: list[FoundPage] = []
    normalized: list[TitleStep] = []
    redirects: list[TitleStep] = []

    @property
    def steps(self) -> dict[str, str]:
        """The steps from the titles that were asked for, see `last_title`."""
        return {step.source: step.to for step in (*self.normalized, *self.redirects)}


def last_title(title: str, steps: Mapping[str, str]) -> str:
    """Return the title at the end of normalisations and redirects, which may be circular."""
    seen: set[str] = set()
    while title in steps and title not in seen:
        seen.add(title)
        title = steps[title]
    return title


def check_addresses(addresses: Mapping[str, str | None]) -> None:
    """Raise `ConfigError`, with its key, for an address without a host."""
    for key, address in addresses.items():
        try:
            _ = address and host_of(address)
        except NetworkError as error:
            raise ConfigError(f"{key}: {error}") from None


def until(seconds: float) -> float:
    """The moment of `time.monotonic()` that is some seconds away."""
    return time.monotonic() + seconds


def _error(answer: Any) -> tuple[str, str]:
    error = answer.get("error") if isinstance(answer, dict) else None
    if not error:
        return "", ""
    code, info = (error.get("code"), error.get("info", "")) if isinstance(error, dict) else ("unknown", error)
    text = " ".join(str(info)[:200].split())
    return str(code), f"the error '{code}'{f' ({text})' if text else ''}"


def _passing_fault(body: bytes) -> str | None:
    """MediaWiki says in answers of status 200 that it is too busy."""
    if b'"error"' in body[:2000]:
        with suppress(*JSON_ERRORS):
            code, text = _error(msgspec.json.decode(body))
            if code in _PASSING or code.startswith("internal_api_error"):
                return f"answered {text}"
    return None
