"""Wikipedia as a source of evidences: from a dump, from the cache of pages read before, or from the MediaWiki API."""

from __future__ import annotations

import copy
import logging
import re
import threading
from collections.abc import Callable
from datetime import datetime, timezone
from functools import lru_cache
from os import PathLike
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec

from ...config import Config, read_config
from ...records.evidence import Entity, Evidence, Origin, Row, merge_duplicates
from ...records.literals import is_item
from ...resources import Resources
from ...support.errors import NetworkError, one_line
from ...support.mediawiki import until
from ...wikipedia import page as pages
from ...wikipedia.api import LinkedItem, MediaWikiApi

_VERSION = 1  # of cached live pages and links; to be raised if the same answers of the API give other values
_ITEM = re.compile(r"Q[1-9]\d*")
_LOCKS = 64  # of items, by hash
_DAY = 86_400  # seconds
_MISSING_DAYS = 30  # until a page that was missing is asked for again
_DEADLINE = 60.0  # seconds for one page with its redirects and links


class WikipediaRetriever:
    """The sentences, table rows and infobox entries of items' Wikipedia pages.

    An item is looked up in the dump, then in the cache of live pages, then, with `ers_on_the_fly`, at the MediaWiki API. A missing
    page is cached as missing and looked up again after 30 days; a failure is logged as an error, gives an empty
    list and is never cached. Files are opened and servers are contacted at the first retrieval; a retriever may serve several threads.

    Args:
        config: a configuration or its name; `ers_wikipedia_*`, `ers_on_the_fly`, the `evr_*` filters, `kb_path` and the cache settings are used.
        titles: returns the title of an item's English article; by default from the knowledge base. If it is empty, the title
            is looked up at Wikidata.
        labels: returns the label of an item; by default from the knowledge base. If it is empty or the id itself, the item is
            named by its title without its bracket.
        api: the client to use instead of a new one.
        resources: the dump, the knowledge base and the cache; by default the retriever has its own.
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
        self._locks = [threading.Lock() for _ in range(_LOCKS)]  # so that several threads look an item up once

    def retrieve_wp_evidences(self, item_id: str = "", *, question_entity_id: str = "") -> list[Evidence]:
        """Return the evidences of an item's page, without `retrieved_for_entity`; empty without a page.

        `question_entity_id` is CONVINSE's name of `item_id`.

        The filters `evr_min_evidence_length`, `evr_max_evidence_length` (characters), `evr_max_entities`, `evr_min_letter_share` and
        `evr_require_entity` are applied here, so that changes need neither a new dump nor a new download.
        """
        try:
            evidences: list[Evidence] = msgspec.json.decode(
                self._recent(item_id or question_entity_id)
            )  # the cheapest deep copy
        except _NoPageError:
            return []
        return evidences

    def table(self, row: Row) -> list[Row]:
        """Return all rows of the table of a row, in order; `start` of a cell is a place in the text of its evidence.

        The page is read from the dump or the cache, without requests. Empty if the row does not name its table.
        """
        page, table = row.get("page"), row.get("table")
        if page is None or table is None:
            return []
        if rows := self.resources.pages.table(page, table):
            return copy.deepcopy(rows)  # the dump shares them
        try:
            return pages.whole_rows(self._labelled(self.cache.get(*self._key(page))), table)
        except _NoPageError:
            return []

    def store_dump(self) -> None:
        """Close the cache, as `store_cache` does; the method has the name that CONVINSE uses."""
        self.store_cache()

    def store_cache(self) -> None:
        """Close the cache, whose entries are on disk already, and the connections."""
        self.cache.close()
        self._api.close()

    def _filtered(self, item_id: str) -> bytes:
        """Return the evidences that pass the filters, as JSON. Raises `_NoPageError`, so that a miss is not cached."""
        evidences = self.resources.pages.get(item_id)
        if evidences is None:
            evidences = self._live(item_id)
        if self.resources.row_form == "ranked":
            evidences = pages.with_ranked_rows(evidences)
        config, passing = self.config, []
        for evidence in merge_duplicates(evidences):
            text, min_share = evidence["evidence_text"], config.evr_min_letter_share
            ids = [entity["id"] for entity in evidence["wikidata_entities"]]
            has_length = config.evr_min_evidence_length <= len(text) <= config.evr_max_evidence_length
            has_letters = not min_share or sum(map(str.isalpha, text)) / max(1, len(text)) >= min_share
            has_entity = not config.evr_require_entity or any(entity_id != item_id for entity_id in ids)
            has_few_items = sum(map(is_item, ids)) <= config.evr_max_entities
            if has_length and has_letters and has_entity and has_few_items:
                passing.append(evidence)
        return msgspec.json.encode(passing)

    def _live(self, item_id: str) -> list[Evidence]:
        if _ITEM.fullmatch(item_id) is None or not (self.cache.enabled or self.config.ers_on_the_fly):
            raise _NoPageError
        with self._locks[hash(item_id) % _LOCKS]:
            key = self._key(item_id)
            cached = self.cache.get(*key)
            if not self.config.ers_on_the_fly:
                return self._labelled(cached)
            if self._titles is not None:
                title = self._titles(item_id) or ""
            else:
                title = self.resources.kb.text(item_id).title if self._api.site == "enwiki" else ""
            if cached is not None and cached["asked_for"] == title and self._is_fresh(cached):
                return self._labelled(cached)
            lookup = self.resources.articles.record_of(item_id)
            if lookup is None:
                return self._labelled(cached)
            sent_before = self._api.sent
            try:
                fetched = self._fetch(item_id, title)
            except NetworkError as error:
                self.logger.error("%s: no Wikipedia evidences: %s", item_id, error)
                lookup["failures"].append(one_line(error))
                self.resources.articles.fetch_again(item_id)
                return self._labelled(cached)
            sent = self._api.sent - sent_before
            lookup["requests"] += [f"article {title}", *[f"links of {title}"] * (sent - 1)][:sent]
            self.cache.put(*key, value=fetched)
            return self._labelled(fetched)

    def _key(self, item_id: str) -> tuple[str | int, ...]:
        return "wikipedia_page", self.config.ers_wikipedia_api, self._api.site, pages.FORMAT, _VERSION, item_id

    def _fetch(self, item_id: str, known_title: str) -> dict[str, Any]:
        deadline = until(_DEADLINE)
        missing = {"asked_for": known_title, "missing": True, "date": now().isoformat()}
        title = known_title or self._api.title_of(item_id, deadline)
        raw = self._api.page(title, deadline) if title else None
        if raw is None:
            self.logger.info("%s: no Wikipedia page%s", item_id, f" '{title}'" if title else "")
            return missing
        if raw.redirects and raw.item not in ("", item_id):
            self.logger.info("%s: '%s' leads to the page of %s, '%s'", item_id, title, raw.item, raw.title)
            return missing
        try:
            page = pages.parse_page(raw.title, raw.html)
            linked = self._linked_items(raw.title, page.targets, deadline)
            item: Entity = {"id": item_id, "label": _without_bracket(raw.title)}
            evidences = pages.page_evidences(page, item, linked)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:  # of the parsers
            raise NetworkError(f"the page '{raw.title}' cannot be parsed ({one_line(error)})") from error
        return {**missing, "missing": False, "title": raw.title, "revision": raw.revision, "evidences": evidences}

    def _linked_items(self, page: str, titles: set[str], deadline: float) -> dict[str, Entity]:
        key = ("wikipedia_item", self.config.ers_wikipedia_api, _VERSION)
        items: dict[str, LinkedItem | None] = {}
        for title in titles:
            cached = self.cache.get(*key, title)
            if cached is not None and self._is_fresh(cached):
                items[title] = None if cached["missing"] else (cached["id"], cached["title"])
        for batch in self._api.items_of(sorted(titles - items.keys()), deadline, page):
            date = now().isoformat()
            for title, item in batch.items():
                value = {
                    "missing": item is None,
                    "date": date,
                    **({} if item is None else {"id": item[0], "title": item[1]}),
                }
                self.cache.put(*key, title, value=value)
            items.update(batch)
        linked = ((title, *item) for title, item in items.items() if item is not None)
        return {title: {"id": item_id, "label": _without_bracket(name)} for title, item_id, name in linked}

    def _is_fresh(self, cached: dict[str, Any]) -> bool:
        days = _MISSING_DAYS if cached["missing"] else self.resources.articles.max_age
        return 0 <= (now() - datetime.fromisoformat(cached["date"])).total_seconds() < days * _DAY

    def _labelled(self, cached: dict[str, Any] | None) -> list[Evidence]:
        """Return the evidences of a cached page with their origin; labels of items are those of the knowledge base, if any."""
        if cached is None or cached["missing"]:
            raise _NoPageError
        label_of = self._labels or self.resources.kb.label
        evidences: list[Evidence] = cached["evidences"]
        address, path = urlsplit(self.config.ers_wikipedia_api), quote(cached["title"].replace(" ", "_"))
        site = f"{address.scheme}://{address.netloc}"
        origin = Origin(
            url=f"{site}/wiki/{path}",
            revision_url=f"{site}/w/index.php?title={path}&oldid={cached['revision']}",
            date=cached["date"][:10],
        )
        for evidence in evidences:
            evidence["origin"] = origin
            lists = [evidence["wikidata_entities"]]
            if "row" in evidence:
                lists += [cell["entities"] for cell in evidence["row"]["cells"]]
            if "attribute" in evidence:
                lists += [value["entities"] for value in evidence["attribute"]["values"]]
            for entities in lists:
                for place, entity in enumerate(entities):
                    name = entity["id"]
                    label = label_of(name) if _ITEM.fullmatch(name) else ""
                    entities[place] = {"id": name, "label": label if label and label != name else entity["label"]}
        return evidences


class _NoPageError(Exception):
    """The item has no evidences now; the next call looks again."""


def _without_bracket(title: str) -> str:
    return re.sub(r"(?<=\S)\s+\([^()]*\)$", "", title)


def now() -> datetime:
    """Return the time in UTC."""
    return datetime.now(timezone.utc)
