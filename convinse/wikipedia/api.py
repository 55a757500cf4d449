"""A client of the MediaWiki API: titles of items, rendered pages, and the items of linked titles."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec

from ..support.mediawiki import FoundPages, MediaWikiClient, TitleStep, check_addresses, last_title

MAX_TITLES = 50  # of one request, as the API allows
_MAX_QUERY = 6000  # bytes of the titles in one address; Wikimedia's servers take 8 KB in all
_MAX_PARTS = 50  # continuations of one query
_NO_PAGE = frozenset(("missingtitle", "invalidtitle", "pagecannotexist", "nosuchpageid"))
_NO_ITEM = frozenset(("no-such-entity", "invalid-entity-id", "param-missing"))
_NO_TITLE = re.compile(r"[#<>\[\]{}|\x00-\x1f\x7f]|^\s*$")
_REMEDY = "check ers_wikipedia_api, ers_wikidata_api and the network; the item is asked for again next time"


LinkedItem = tuple[str, str]  # the item of a linked page, and that page's title after redirects


class RawPage(msgspec.Struct):
    """A rendered page as the API answers it; `title` is that after redirects."""

    title: str
    html: str = msgspec.field(name="text")
    revision: int = msgspec.field(name="revid", default=0)
    redirects: list[TitleStep] = []
    properties: dict[str, Any] = {}

    @property
    def item(self) -> str:
        """The item of the page; empty without one."""
        item = self.properties.get("wikibase_item")
        return item if isinstance(item, str) else ""


class MediaWikiApi:
    """A client of the `api.php` of a Wikipedia and of Wikidata, with the requests that evidences of live pages need.

    Every method takes `until`, its deadline as a moment of `time.monotonic()`, and raises `NetworkError` if the server cannot be
    reached or its answer cannot be used.
    """

    def __init__(self, wikipedia: str, wikidata: str) -> None:
        check_addresses({"ers_wikipedia_api": wikipedia, "ers_wikidata_api": wikidata})
        self.wikipedia, self.wikidata = wikipedia, wikidata
        # Wikidata's name of the Wikipedia; `enwiki` for other addresses
        match = re.fullmatch(r"([a-z-]+)\.(?:m\.)?wikipedia\.org", urlsplit(wikipedia).hostname or "")
        self.site = f"{match[1].replace('-', '_')}wiki" if match and match[1] != "www" else "enwiki"
        self._client = MediaWikiClient(_REMEDY)

    def title_of(self, item_id: str, until: float) -> str | None:
        """Return the title of an item's article, by its sitelink on Wikidata; None without a sitelink."""
        answer = self._client.ask(
            self.wikidata,
            {"action": "wbgetentities", "ids": item_id, "props": "sitelinks", "sitefilter": self.site},
            until,
            _NO_ITEM,
        )
        if answer is None:
            return None
        entities = self._client.shape(self.wikidata, answer.get("entities"), dict[str, dict[str, Any]])
        for entity in entities.values():  # a single one, with another id if the item was merged into it
            links = self._client.shape(self.wikidata, entity.get("sitelinks", {}), dict[str, dict[str, Any]])
            link = links.get(self.site)
            return None if link is None else self._client.shape(self.wikidata, link.get("title"), str)
        raise self._client.strange(self.wikidata, "no entity in it")

    def page(self, title: str, until: float) -> RawPage | None:
        """Return an article as MediaWiki renders it, redirects followed; None if it does not exist."""
        answer = self._client.ask(
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
        page = self._client.shape(self.wikipedia, answer.get("parse"), RawPage)
        if not page.html.strip():
            raise self._client.strange(self.wikipedia, f"an empty page for '{title}'")
        return page

    def items_of(
        self, titles: Iterable[str], until: float, page: str | None = None
    ) -> Iterator[dict[str, LinkedItem | None]]:
        """Yield title -> item, batch by batch, for linked titles; None for a missing page or a page without an item.

        At most 50 titles make a request; more titles that a `page` links to are requested as its links, 500 at once.
        """
        batches = list(_batches(titles))
        if page is not None and len(batches) > 1:
            links = {"titles": page, "generator": "links", "gplnamespace": "0", "gpllimit": "max"}
            forward, items = self._pages(links, until)
            all_titles = list(itertools.chain.from_iterable(batches))
            linked = {
                title: _linked(title, forward, items) for title in all_titles if last_title(title, forward) in items
            }
            yield linked
            batches = list(_batches(title for title in all_titles if title not in linked))
        for batch in batches:
            forward, items = self._pages({"titles": "|".join(batch)}, until)
            yield {title: _linked(title, forward, items) for title in batch}

    def _pages(self, query_params: dict[str, str], until: float) -> tuple[dict[str, str], dict[str, str]]:
        # normalised and redirected titles, and the items of pages by title, or an empty string
        items: dict[str, str] = {}
        forward: dict[str, str] = {}
        params = {"action": "query", "prop": "pageprops", "ppprop": "wikibase_item", "redirects": "1", **query_params}
        more: dict[str, str] = {}
        for _ in range(_MAX_PARTS):
            answer = self._client.ask(self.wikipedia, {**params, **more}, until) or {}
            query = self._client.shape(self.wikipedia, answer.get("query"), FoundPages)
            forward.update(query.steps)
            for page in query.pages:
                items[page.title] = page.item or items.get(page.title, "")
            if not isinstance(answer.get("continue"), dict):
                return forward, items
            more = {name: str(value) for name, value in answer["continue"].items()}
        raise self._client.strange(self.wikipedia, "a query that continues without end")

    @property
    def sent(self) -> int:
        """The number of requests so far."""
        return self._client.sent

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def _linked(title: str, forward: Mapping[str, str], items: Mapping[str, str]) -> LinkedItem | None:
    last = last_title(title, forward)
    return (item, last) if (item := items.get(last)) else None


def _batches(titles: Iterable[str]) -> Iterator[list[str]]:
    """Batches of at most 50 titles that fit into an address; invalid titles are left out."""
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
