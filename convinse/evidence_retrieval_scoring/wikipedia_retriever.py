"""Wikipedia as a source of evidences: from a dump, from the cache of pages read before, or from the MediaWiki API."""

from __future__ import annotations

import copy
import logging
import math
import re
import threading
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from functools import lru_cache
from os import PathLike
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec

from ..config import Config, read_config
from ..records.evidence import Entity, Evidence, Origin, Row, merge_duplicates
from ..resources import Resources
from ..support.errors import NetworkError, one_line
from ..support.keywords import also_named
from ..support.mediawiki import until
from ..wikipedia import page as pages
from ..wikipedia.api import LinkedItem, MediaWikiApi

__path__: list[str] = []  # CONVINSE has the class in a module below this name; see `original`
_VERSION = 1  # of cached live pages and links; raised when the same answers of the API give other values
_ITEM = re.compile(r"Q[1-9]\d*")
_LOCKS = 64
_DAY = 86_400  # seconds


class WikipediaRetriever:
    """The sentences, table rows and infobox entries of items' Wikipedia pages.

    An item is looked up in the dump, then in the cache of live pages (so that a rebuilt dump is honoured), then, with
    `ers_on_the_fly`, asked for at the MediaWiki API. A page that does not exist is cached as missing and asked for
    again after `ers_missing_ttl` days; a failure is logged as an error, gives an empty list and is never cached.
    Nothing is opened or asked before the first retrieval; one retriever may serve several threads.

    Args:
        config: a configuration or its name; `ers_wikipedia_*`, `ers_on_the_fly`, the `evr_*` filters, `kb_path` and the cache settings are used.
        titles: item id -> title of its English article, or an empty string; else that of the knowledge base. Wikidata is
            asked for the titles of other items.
        labels: item id -> label, or the id itself or an empty string; else that of the knowledge base. Items without a
            label are named by their title without its bracket.
        api: the client to use instead of one of its own.
        resources: dump, knowledge base and cache; by default its own.
    """

    def __init__(
        self,
        config: Config | str | PathLike[str] = "config.yml",
        titles: Callable[[str], str] | None = None,
        labels: Callable[[str], str] | None = None,
        api: MediaWikiApi | None = None,
        resources: Resources | None = None,
    ) -> None:
        self.config = config = read_config(config)
        self.logger = logging.getLogger(f"{__name__}.{type(self).__name__}")
        self.resources = resources or Resources(config)
        self.cache = self.resources.cache
        self._titles = titles
        self._labels = labels
        self._api = api or self.resources.mediawiki
        self._recent = lru_cache(maxsize=512)(self._filtered)
        self._locks = [threading.Lock() for _ in range(_LOCKS)]  # an item is asked for once, also by several threads

    @also_named(question_entity_id="item_id")
    def retrieve_wp_evidences(self, item_id: str) -> list[Evidence]:
        """The evidences of an item's page, without `retrieved_for_entity`; empty where there is no page to be had.

        The filters `evr_min_evidence_length`, `evr_max_evidence_length` (characters), `evr_max_entities`,
        `evr_min_letter_share` and `evr_require_entity` are applied here, so that changing them needs no new dump and no
        new download.
        """
        try:
            evidences: list[Evidence] = msgspec.json.decode(self._recent(item_id))  # the cheapest deep copy
        except _NoPageError:
            return []
        return evidences

    def table(self, row: Row) -> list[Row]:
        """All rows of the table that a row is from, whole and in their order; `start` of a cell counts in its own evidence.

        Its page is that of the dump, else the cached one: nothing is asked for. Empty where the row does not tell its
        table.
        """
        page, table = row.get("page"), row.get("table")
        if page is None or table is None:
            return []
        if rows := self.resources.rows(page, table):
            return copy.deepcopy(rows)  # the dump keeps its own
        try:
            return pages.whole_rows(self._labelled(self.cache.get(*self._key(page))), table)
        except _NoPageError:
            return []

    def store_dump(self) -> None:
        """As `store_cache`, by CONVINSE's name: pages that the dump lacks are kept in the cache, and a dump never changes."""
        self.store_cache()

    def store_cache(self) -> None:
        """Close the cache and the connections; everything put into the cache is on disk already."""
        self.cache.close()
        self._api.close()

    # -- filters -------------------------------------------------------------------------------------------------------

    def _filtered(self, item_id: str) -> bytes:
        """The evidences that pass, as JSON. Raises `_NoPageError`, which keeps a miss out of the memory of results."""
        evidences = dump.get(item_id) if (dump := self.resources.wikipedia) is not None else None
        if evidences is None:
            evidences = self._live(item_id)
        if self.resources.row_form == "ranked":
            evidences = pages.with_ranked_rows(evidences)
        merged = merge_duplicates(evidences)
        return msgspec.json.encode([evidence for evidence in merged if self._passes(evidence, item_id)])

    def _passes(self, evidence: Evidence, item_id: str) -> bool:
        text = evidence["evidence_text"]
        ids = [entity["id"] for entity in evidence["wikidata_entities"]]
        config = self.config
        return (
            config.evr_min_evidence_length <= len(text) <= config.evr_max_evidence_length
            and (not config.evr_min_letter_share or _letter_share(text) >= config.evr_min_letter_share)
            and sum(entity_id[:1] == "Q" for entity_id in ids) <= config.evr_max_entities
            and (not config.evr_require_entity or any(entity_id != item_id for entity_id in ids))
        )

    # -- live pages ----------------------------------------------------------------------------------------------------

    def _live(self, item_id: str) -> list[Evidence]:
        if _ITEM.fullmatch(item_id) is None or not (self.cache.enabled or self.config.ers_on_the_fly):
            raise _NoPageError
        with self._locks[hash(item_id) % _LOCKS]:
            key = self._key(item_id)
            kept = self.cache.get(*key)
            if not self.config.ers_on_the_fly:
                return self._labelled(kept)
            if self._titles is not None:
                title = self._titles(item_id) or ""
            else:
                title = self.resources.kb.text(item_id).title if self._api.site == "enwiki" else ""
            if kept is not None and kept["asked_for"] == title and self._is_fresh(kept):
                return self._labelled(kept)
            live = self.resources.live
            lookup = live.pages.get(item_id) if live is not None else None
            if live is not None and lookup is None:  # a turn asks for few pages
                return self._labelled(kept)
            before = self._api.sent
            try:
                fetched = self._fetch(item_id, title)
            except NetworkError as error:
                self.logger.error("%s: no Wikipedia evidences: %s", item_id, error)
                if live is not None and lookup is not None:
                    lookup["failures"].append(one_line(error))
                    del live.pages[item_id]  # a later turn may ask again
                    return self._labelled(kept)
                raise _NoPageError from error
            if lookup is not None:
                sent = self._api.sent - before
                lookup["requests"] += [f"article {title}", *[f"links of {title}"] * (sent - 1)][:sent]
            self.cache.put(*key, value=fetched)
            return self._labelled(fetched)

    def _key(self, item_id: str) -> tuple[str | int, ...]:
        return "wikipedia_page", self.config.ers_wikipedia_api, self._api.site, pages.FORMAT, _VERSION, item_id

    def _fetch(self, item_id: str, known_title: str) -> dict[str, Any]:
        end = until(self.config.ers_deadline)
        missing = {"asked_for": known_title, "missing": True, "date": now().isoformat()}
        title = known_title or self._api.title_of(item_id, end)
        raw = self._api.page(title, end) if title else None
        if raw is None:
            self.logger.info("%s: no Wikipedia page%s", item_id, f" '{title}'" if title else "")
            return missing
        if raw.redirected and raw.item not in ("", item_id):
            self.logger.info("%s: '%s' leads to the page of %s, '%s'", item_id, title, raw.item, raw.title)
            return missing
        try:
            page = pages.parse_page(raw.title, raw.html)
            linked = self._linked_items(raw.title, page.targets, end)
            item: Entity = {"id": item_id, "label": _plain(raw.title)}
            evidences = pages.page_evidences(page, item, linked)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:  # of the parsers
            raise NetworkError(f"the page '{raw.title}' cannot be parsed ({one_line(error)})") from error
        return {**missing, "missing": False, "title": raw.title, "revision": raw.revision, "evidences": evidences}

    def _linked_items(self, page: str, titles: set[str], end: float) -> dict[str, Entity]:
        kind = ("wikipedia_item", self.config.ers_wikipedia_api, _VERSION)
        items: dict[str, LinkedItem | None] = {}
        for title in titles:
            kept = self.cache.get(*kind, title)
            if kept is not None and self._is_fresh(kept):
                items[title] = None if kept["missing"] else LinkedItem(kept["id"], kept["title"])
        for batch in self._api.items_of(sorted(titles - items.keys()), end, page):
            date = now().isoformat()
            for title, item in batch.items():
                value = {"missing": item is None, "date": date, **(item._asdict() if item is not None else {})}
                self.cache.put(*kind, title, value=value)
            items.update(batch)
        known = ((title, item) for title, item in items.items() if item is not None)
        return {title: {"id": item.id, "label": _plain(item.title)} for title, item in known}

    def _is_fresh(self, kept: dict[str, Any]) -> bool:
        """Whether a cached value counts: what exists does for ever, or beside live facts for `live_max_age` days; what is missing for `ers_missing_ttl`."""
        is_live, config = self.resources.live is not None, self.config
        days = config.ers_missing_ttl if kept["missing"] else config.live_max_age if is_live else math.inf
        return 0 <= (now() - datetime.fromisoformat(kept["date"])).total_seconds() < days * _DAY

    def _labelled(self, kept: dict[str, Any] | None) -> list[Evidence]:
        if kept is None or kept["missing"]:
            raise _NoPageError
        label_of = self._labels or self.resources.kb.label
        evidences: list[Evidence] = kept["evidences"]
        address, path = urlsplit(self.config.ers_wikipedia_api), quote(kept["title"].replace(" ", "_"))
        site = f"{address.scheme}://{address.netloc}"
        origin = Origin(
            url=f"{site}/wiki/{path}",
            revision_url=f"{site}/w/index.php?title={path}&oldid={kept['revision']}",
            date=kept["date"][:10],
        )
        for evidence in evidences:
            evidence["origin"] = origin
            for listed in _entity_lists(evidence):
                listed[:] = [{"id": entity["id"], "label": _label(entity, label_of)} for entity in listed]
        return evidences


class _NoPageError(Exception):
    """There are no evidences of an item, and the next call is to look again."""


def _entity_lists(evidence: Evidence) -> Iterator[list[Entity]]:
    yield evidence["wikidata_entities"]
    if "row" in evidence:
        yield from (cell["entities"] for cell in evidence["row"]["cells"])
    if "attribute" in evidence:
        yield from (value["entities"] for value in evidence["attribute"]["values"])


def _label(entity: Entity, label_of: Callable[[str], str]) -> str:
    """The label that an item has in the knowledge base, else its own; dates and numbers keep theirs."""
    if _ITEM.fullmatch(entity["id"]) is None:
        return entity["label"]
    label = label_of(entity["id"])
    return label if label and label != entity["id"] else entity["label"]


def _letter_share(text: str) -> float:
    return sum(map(str.isalpha, text)) / len(text)


def _plain(title: str) -> str:
    return re.sub(r"(?<=\S)\s+\([^()]*\)$", "", title)


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(timezone.utc)
