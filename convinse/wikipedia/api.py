"""A client of the MediaWiki API: titles of items, rendered pages, and the items of linked titles.

It keeps to the manners that Wikimedia asks for: an identifying User-Agent, `maxlag`, at most two requests at once in
this process, pauses as the servers wish them.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote, urlsplit

import msgspec

from ..support.addresses import host_of
from ..support.errors import ConfigError, NetworkError, one_line
from ..support.web import WebAnswer, WebSession

MAX_TITLES = 50  # of one request, as the API allows
_MAX_QUERY = 6000  # bytes of the titles in one address; Wikimedia's servers take 8 KB in all
_MAX_BYTES = 16 << 20  # of an answer; the largest rendered articles have about 5 MB
_MAX_PARTS = 50  # continuations of one query
_SLOTS = threading.BoundedSemaphore(2)  # requests at once, over all threads and clients
_COMMON = {"format": "json", "formatversion": "2", "maxlag": "5"}
_PASSING = frozenset(("maxlag", "ratelimited", "readonly"))
_NO_PAGE = frozenset(("missingtitle", "invalidtitle", "pagecannotexist", "nosuchpageid"))
_NO_ITEM = frozenset(("no-such-entity", "invalid-entity-id", "param-missing"))
_NO_TITLE = re.compile(r"[#<>\[\]{}|\x00-\x1f\x7f]|^\s*$")
_REMEDY = "check ers_wikipedia_api, ers_wikidata_api and the network; the item is asked for again next time"

T = TypeVar("T")


class RawPage(NamedTuple):
    """A rendered page: `title` after redirects, `item` as the page itself names it (or empty), `redirected`."""

    title: str
    html: str
    revision: int
    item: str
    redirected: bool


class LinkedItem(NamedTuple):
    """The item of a linked page, and that page's title after redirects."""

    id: str
    title: str


class _Redirect(msgspec.Struct):
    to: str
    source: str = msgspec.field(name="from", default="")


class _Parsed(msgspec.Struct):
    title: str
    text: str
    revid: int = 0
    redirects: list[_Redirect] = []
    properties: dict[str, Any] = {}


class _Linked(msgspec.Struct):
    title: str
    pageprops: dict[str, Any] = {}


class _Query(msgspec.Struct):
    pages: list[_Linked] = []
    normalized: list[_Redirect] = []
    redirects: list[_Redirect] = []


class _Sitelink(msgspec.Struct):
    title: str


class _Sitelinks(msgspec.Struct):
    sitelinks: dict[str, _Sitelink] = {}


class MediaWikiApi:
    """The three questions that evidences of live pages need. No request is sent before the first of them is asked.

    Every method takes `until`, the moment of `time.monotonic()` by which it must be done.

    Args:
        wikipedia: address of the Wikipedia's `api.php`.
        wikidata: address of Wikidata's `api.php`.
        contact: sent with the User-Agent; None: what `CONVINSE_CONTACT` says.

    Raises:
        ConfigError: one of the addresses is none.
    """

    def __init__(self, wikipedia: str, wikidata: str, contact: str | None = None) -> None:
        for key, address in (("ers_wikipedia_api", wikipedia), ("ers_wikidata_api", wikidata)):
            try:
                host_of(address)
            except NetworkError as error:
                raise ConfigError(f"{key}: {error}") from None
        self.wikipedia = wikipedia
        self.wikidata = wikidata
        self.site = _site(wikipedia)
        self._web = WebSession(
            read_timeout=30.0,
            deadline=600.0,
            max_bytes=_MAX_BYTES,
            remedy=_REMEDY,
            contact=contact,
            passing=_passing_fault,
        )

    def title_of(self, item_id: str, until: float) -> str | None:
        """The title of an item's article, by its sitelink on Wikidata; None when it has none.

        Raises:
            NetworkError: the server cannot be asked, or its answer cannot be used.
        """
        answer = self._ask(
            self.wikidata,
            {"action": "wbgetentities", "ids": item_id, "props": "sitelinks", "sitefilter": self.site},
            until,
            _NO_ITEM,
        )
        if answer is None:
            return None
        entities = self._shape(self.wikidata, answer.get("entities"), dict[str, _Sitelinks])
        for entity in entities.values():  # one; under another id where the item was merged into it
            link = entity.sitelinks.get(self.site)
            return link.title if link is not None else None
        raise self._strange(self.wikidata, "no entity in it")

    def page(self, title: str, until: float) -> RawPage | None:
        """An article as MediaWiki renders it, redirects followed; None when there is no such page.

        Raises:
            NetworkError: the server cannot be asked, or its answer cannot be used.
        """
        answer = self._ask(
            self.wikipedia,
            {
                "action": "parse",
                "page": title,
                "prop": "text|revid|properties",
                "redirects": "1",
                "disableeditsection": "1",
                "disablelimitreport": "1",
            },
            until,
            _NO_PAGE,
        )
        if answer is None:
            return None
        page = self._shape(self.wikipedia, answer.get("parse"), _Parsed)
        if not page.text.strip():
            raise self._strange(self.wikipedia, f"an empty page for '{title}'")
        item = page.properties.get("wikibase_item")
        return RawPage(page.title, page.text, page.revid, item if isinstance(item, str) else "", bool(page.redirects))

    def items_of(self, titles: Iterable[str], until: float) -> Iterator[dict[str, LinkedItem | None]]:
        """Title -> item, batch by batch, for titles as they are linked; None for a page without an item or no page.

        Raises:
            NetworkError: the server cannot be asked, or its answer cannot be used; what was yielded before is good.
        """
        for batch in _batches(titles):
            pages: dict[str, str] = {}
            forward: dict[str, str] = {}
            params = {"action": "query", "prop": "pageprops", "ppprop": "wikibase_item", "redirects": "1"}
            more: dict[str, str] = {}
            for _ in range(_MAX_PARTS):
                answer = self._ask(self.wikipedia, {**params, "titles": "|".join(batch), **more}, until) or {}
                query = self._shape(self.wikipedia, answer.get("query"), _Query)
                forward.update({step.source: step.to for step in (*query.normalized, *query.redirects)})
                for page in query.pages:
                    item = page.pageprops.get("wikibase_item")
                    if isinstance(item, str) and item:
                        pages[page.title] = item
                if not isinstance(answer.get("continue"), dict):
                    break
                more = {name: str(value) for name, value in answer["continue"].items()}
            else:
                raise self._strange(self.wikipedia, "a query that continues without end")
            yield {title: _follow(title, forward, pages) for title in batch}

    def close(self) -> None:
        """Close the connections."""
        self._web.close()

    def _ask(
        self, address: str, params: dict[str, str], until: float, absent: frozenset[str] = frozenset()
    ) -> dict[str, Any] | None:
        """The answer to a request; None when the API says in one of the `absent` codes that there is nothing."""
        if not _SLOTS.acquire(timeout=max(0.0, until - time.monotonic())):
            raise NetworkError(f"{host_of(address)}: not asked, as other requests took all the time; {_REMEDY}")
        try:
            answer = self._web.get_json(address, {**params, **_COMMON}, until)
        finally:
            _SLOTS.release()
        if not isinstance(answer, dict):
            raise self._strange(address, f"a {type(answer).__name__}")
        code, info = _error(answer)
        if code in absent:
            return None
        if code:
            raise self._strange(address, f"the error '{code}'{f' ({info})' if info else ''}")
        return answer

    def _shape(self, address: str, value: Any, shape: type[T]) -> T:
        try:
            return msgspec.convert(value, shape)
        except msgspec.ValidationError as error:
            raise self._strange(address, f"another shape than the MediaWiki API's ({one_line(error)})") from None

    @staticmethod
    def _strange(address: str, what: str) -> NetworkError:
        return NetworkError(f"{host_of(address)}: answered {what}; {_REMEDY}")


def until(seconds: float) -> float:
    """The moment of `time.monotonic()` that is some seconds away."""
    return time.monotonic() + seconds


def _site(address: str) -> str:
    """Wikidata's name of the Wikipedia at an address: `enwiki`, also where the address does not tell."""
    match = re.fullmatch(r"([a-z-]+)\.(?:m\.)?wikipedia\.org", urlsplit(address).hostname or "")
    return f"{match[1].replace('-', '_')}wiki" if match and match[1] != "www" else "enwiki"


def _batches(titles: Iterable[str]) -> Iterator[list[str]]:
    """At most 50 titles each, and no more than fit into an address; what is no title at all is left out."""
    batch: list[str] = []
    size = 0
    for title in dict.fromkeys(titles):
        if _NO_TITLE.search(title) or len(title.encode()) > 255:
            continue
        length = len(quote(title, safe="")) + 3
        if batch and (len(batch) == MAX_TITLES or size + length > _MAX_QUERY):
            yield batch
            batch, size = [], 0
        batch.append(title)
        size += length
    if batch:
        yield batch


def _follow(title: str, forward: dict[str, str], pages: dict[str, str]) -> LinkedItem | None:
    """From a title as linked over its normal form and redirects to the page and its item."""
    seen: set[str] = set()
    while title in forward and title not in seen:
        seen.add(title)
        title = forward[title]
    return LinkedItem(pages[title], title) if title in pages else None


def _error(answer: Any) -> tuple[str, str]:
    """Code and text of an API's error; empty where there is none."""
    error = answer.get("error") if isinstance(answer, dict) else None
    if not error:
        return "", ""
    if not isinstance(error, dict):
        return "unknown", " ".join(str(error)[:200].split())
    return str(error.get("code") or "unknown"), " ".join(str(error.get("info", ""))[:200].split())


def _passing_fault(answer: WebAnswer) -> str | None:
    """MediaWiki says in answers of status 200 that it is too busy; a cut answer may also look whole to HTTP."""
    body = answer.body
    if body[:200].lstrip()[:1] != b"{":
        return None
    if b'"error"' in body[:2000]:
        try:
            code, info = _error(msgspec.json.decode(body))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        if code in _PASSING or code.startswith("internal_api_error"):
            return f"answered the error '{code}'{f' ({info})' if info else ''}"
    elif body.rstrip()[-1:] != b"}":
        return "the answer broke off"
    return None
