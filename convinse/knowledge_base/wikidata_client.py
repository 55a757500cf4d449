"""A client of Wikidata and Wikipedia: items by their names, entity documents, and the items with a fact about another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec

from ..language.text import fold
from ..support.errors import one_line
from ..support.jsonlines import JSON_ERRORS
from ..support.mediawiki import FoundPage, FoundPages, MediaWikiClient, last_title
from .dump import FETCHED_ENTITY, FetchedEntity, members_of
from .names import other_forms

MANY = "many"  # items are more than are listed
MOST_IDS = 50  # of a request, as the API allows
_LIMIT = 10  # items of a name
_DIGITS = 10  # of a number of articles
_LONGEST_SEARCH = 250  # characters; CirrusSearch takes 300
_SUBJECTS = 500  # of facts about an item, as the API allows
_MAX_BYTES = 64 << 20  # of an answer: documents of countries have 2 MB
_PROPS = "info|labels|descriptions|aliases|claims|sitelinks"
_ITEM = re.compile(r"Q[1-9][0-9]{0,9}")
_REMEDY = "check ers_wikidata_api, ers_wikipedia_api, live_sparql and the network"
_QUERY = """PREFIX wd: <http://www.wikidata.org/entity/> PREFIX wikibase: <http://wikiba.se/ontology#>
SELECT DISTINCT ?item ?links WHERE {{ {{ ?item ?claim wd:{item} }} UNION {{ ?item ?claim ?statement . ?statement ?value wd:{item} }}
?item wikibase:sitelinks ?links }}
ORDER BY DESC(?links) LIMIT {limit}"""


class _Hit(msgspec.Struct):
    id: str
    match: dict[str, str] | None = None


class WikidataClient:
    """A client of Wikidata and Wikipedia's search. No request is sent before the first method is called.

    Every method raises `NetworkError` if a server cannot be reached or its answer cannot be used, and takes `until`, its deadline
    as a moment of `time.monotonic()`. `wikidata` and `wikipedia` are addresses of an `api.php`, `sparql` is that of an endpoint or
    None.
    """

    def __init__(self, wikidata: str, wikipedia: str, sparql: str | None = None) -> None:
        self.wikidata, self.wikipedia, self.sparql = wikidata, wikipedia, sparql
        parts = urlsplit(wikidata)
        self.site = f"{parts.scheme}://{parts.netloc}"
        self._client = MediaWikiClient(_REMEDY, _MAX_BYTES)

    def named(self, name: str, until: float) -> list[str]:
        """Return the items with a name as label or alias, best first."""
        wikidata = self.wikidata
        params = {"action": "wbsearchentities", "search": name[:_LONGEST_SEARCH], "language": "en", "uselang": "en",
                  "type": "item", "limit": str(_LIMIT)}  # fmt: skip
        answer = self._client.ask(wikidata, params, until) or {}
        hits = self._client.shape(wikidata, answer.get("search"), list[_Hit])
        texts = ((hit.id, (hit.match or {}).get("text", "")) for hit in hits)
        return _items(item for item, text in texts if fold(name) in map(fold, (text, *other_forms(text))))

    def search_pages(self, words: str, until: float) -> list[str]:
        """Return the items of the articles that Wikipedia finds for words, best first."""
        params = {"action": "query", "generator": "search", "gsrsearch": words[:_LONGEST_SEARCH], "gsrlimit": str(_LIMIT),
                  "gsrnamespace": "0", "gsrwhat": "text", "gsrenablerewrites": "1", "prop": "pageprops", "ppprop": "wikibase_item|disambiguation"}  # fmt: skip
        return _items(page.item for page in self._pages(self.wikipedia, params, until))

    def titled(self, titles: str, until: float) -> list[tuple[str, str]]:
        """Return the titles, of at most 50 between "|", that have an article, with its item (empty for a disambiguation page)."""
        wikipedia = self.wikipedia
        params = {"action": "query", "titles": titles, "redirects": "1", "prop": "pageprops",
                  "ppprop": "wikibase_item|disambiguation"}  # fmt: skip
        answer = self._client.ask(wikipedia, params, until) or {}
        query = self._client.shape(wikipedia, answer.get("query", {}), FoundPages)
        steps = query.steps
        items = {page.title: page.item for page in query.pages if page.missing in (None, False)}
        return [(title, items[end]) for title in titles.split("|") if (end := last_title(title, steps)) in items]

    def subjects(self, item: str, until: float) -> list[str]:
        """Return the items with an item as object or in a qualifier, the best known first; `MANY` in place of more than 500."""
        if (sparql := self.sparql) is not None:
            query = _QUERY.format(item=item, limit=_SUBJECTS)
            answer = self._client.get(sparql, {"query": query, "format": "json"}, until)
            results = self._client.shape(sparql, answer.get("results"), dict[str, Any])
            rows = self._client.shape(sparql, results.get("bindings"), list[dict[str, dict[str, str]]])
            return _items(row["item"].get("value", "").rsplit("/", 1)[-1] for row in rows if "item" in row)
        params = {"action": "query", "generator": "backlinks", "gbltitle": item, "gblnamespace": "0", "gbllimit": str(_SUBJECTS),
                  "prop": "pageprops", "ppprop": "wb-sitelinks"}  # fmt: skip
        answer = self._client.ask(self.wikidata, params, until) or {}
        if "gblcontinue" in (answer.get("continue") or ()):
            return [MANY]
        pages = self._client.shape(self.wikidata, answer.get("query", {}), FoundPages).pages
        return _items(page.title for page in sorted(pages, key=_links, reverse=True))

    def subjects_of(self, item: str, until: float, properties: Sequence[str]) -> list[str]:
        """Return the items with a fact of some properties about an item, the best known first.

        The most important properties come first; as many count as fit into a search.
        """
        search = "haswbstatement:"
        for name in properties:
            more = f"{'' if search.endswith(':') else '|'}{name}={item}"
            if len(search) + len(more) <= _LONGEST_SEARCH:
                search += more
        params = {"action": "query", "generator": "search", "gsrsearch": search, "gsrlimit": str(_SUBJECTS),
                  "gsrnamespace": "0", "gsrsort": "incoming_links_desc", "prop": "info"}  # fmt: skip
        return _items(page.title for page in self._pages(self.wikidata, params, until))

    def entities(self, ids: Sequence[str], until: float) -> list[FetchedEntity]:
        """Return the documents of at most 50 items and properties; missing entities are marked."""
        wikidata = self.wikidata
        params = {"action": "wbgetentities", "ids": "|".join(ids), "props": _PROPS, "languages": "en|mul"}
        answer = self._client.ask(wikidata, params, until) or {}
        entities = self._client.shape(wikidata, answer.get("entities"), dict[str, Any])
        try:  # decoding drops references and hashes, most of a document
            decoded = [FETCHED_ENTITY.decode(msgspec.json.encode(entity)) for entity in entities.values()]
        except JSON_ERRORS as error:
            raise self._client.strange(wikidata, f"another shape than wbgetentities' ({one_line(error)})") from None
        for entity in decoded:
            links = members_of(entity.sitelinks)
            entity.articles = sum(site.endswith("wiki") for site in links)
            entity.sitelinks = {site: link for site, link in links.items() if site == "enwiki"}
        return decoded

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _pages(self, address: str, params: dict[str, str], until: float) -> list[FoundPage]:
        answer = self._client.ask(address, params, until) or {}
        pages = self._client.shape(address, answer.get("query", {}), FoundPages).pages  # no query: nothing was found
        return sorted(pages, key=lambda page: page.index)


def _links(page: FoundPage) -> int:
    # the number of Wikipedias with an article about an item
    number = str(page.pageprops.get("wb-sitelinks", ""))
    return int(number) if number.isascii() and number.isdigit() and len(number) < _DIGITS else 0


def _items(names: Iterable[Any]) -> list[str]:
    return list(dict.fromkeys(name for name in names if isinstance(name, str) and _ITEM.fullmatch(name)))
