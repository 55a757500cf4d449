"""A knowledge base that grows with the questions: their items are looked up at Wikidata and Wikipedia, and cached.

Before a question is linked, its names are searched and the documents of their candidates are fetched; before its evidences are
retrieved, the documents that the facts of its items mention. Answers are cached with their dates: they count for `max_age` days,
and longer if the servers cannot be reached.
"""

from __future__ import annotations

import hashlib
import logging
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timezone
from functools import partial
from typing import Any, TypeVar

import msgspec

from ..language.language import Language
from ..language.text import fold
from ..records.conversation import LiveLookup
from ..records.evidence import Origin
from ..support.cache import Cache
from ..support.errors import NetworkError, one_line
from ..support.mediawiki import until
from .dump import LANGUAGES, BadLineError, FetchedEntity, LeftOut, parse_line
from .fetched import FetchedDocuments, FetchedKnowledgeBase
from .index import KnowledgeBase
from .question_names import is_doubtful, longest, spans, written_names
from .wikidata_client import MANY, MOST_IDS, WikidataClient

LOGGER = logging.getLogger(__name__)
T = TypeVar("T")

NEW_TOPIC, KNOWN_TOPIC = 6, 2  # requests of a turn at most: about a new topic, and about a known one
_PAGE_REQUESTS = 2  # requests for an article and its links
_DAY = 86_400  # seconds
SECONDS = 10.0  # for the names of a turn, and again for its facts
_VERSION = 1  # of cached entries
_MAX_NAMES = 2  # names of a question that are searched
_LIMIT = 10_000  # documents, searches or pages in memory: if there are more, all are dropped
_MAX_PROPERTIES = 8  # properties in the words of a question by which facts about an item are searched
_AHEAD = 25  # items with facts about an item that are fetched before the values of its facts
# the relations of other items to people, works and organisations: requested if an item has very many
_INVERSE = (
    "P50", "P57", "P161", "P175", "P86", "P58", "P54", "P170", "P112", "P179", "P361", "P26", "P22", "P25", "P40", "P162",
    "P1441", "P674", "P144", "P286", "P264", "P69", "P108", "P166", "P1346", "P710",
)  # fmt: skip


class Articles:
    """The articles that may be fetched while a question is answered: all; fetched ones stay.

    Attributes:
        max_age: days after which a cached article is fetched again.
    """

    max_age = math.inf

    def record_of(self, item_id: str) -> LiveLookup | None:
        """Return the record to which the requests for an item's article are added; None if it may not be fetched now."""
        return {"requests": [], "failures": []}

    def fetch_again(self, item_id: str) -> None:
        """Let a later turn fetch an article that could not be fetched."""


class LiveSource(Articles):
    """A source of the items of questions at Wikidata, with a cache.

    Args:
        at_hand: a knowledge base with labels of classes, countries and properties, so that these are not requested.
        max_age: days after which a cached answer is requested again.
        pages: whether the caller fetches articles, too, for which requests are set aside.

    Attributes:
        kb: a knowledge base of the documents in memory; replaced by each call that fetches documents.
    """

    def __init__(
        self,
        client: WikidataClient,
        cache: Cache,
        at_hand: KnowledgeBase,
        language: Language,
        *,
        max_age: float,
        pages: bool,
    ) -> None:
        self._client, self._cache, self._at_hand, self._language = client, cache, at_hand, language
        self.max_age, self._has_pages = max_age, pages
        self._answers: dict[tuple[str, str], dict[str, Any]] = {}  # of searches
        self._pages: dict[str, LiveLookup] = {}
        self._forget()
        self.kb = self._snapshot()

    def _forget(self) -> None:
        self._documents = FetchedDocuments()
        self._dates: dict[str, str] = {}  # of answers by item or property, missing ones included
        self._redirects: dict[str, str] = {}
        self._digest = hashlib.sha256(self._client.site.encode())

    def renew(self) -> KnowledgeBase:
        """Drop all documents if the oldest is too old or there are too many; return `kb` as it is, until the next fetch."""
        if len(self._dates) > _LIMIT or not self._is_fresh(min(self._dates.values(), default=_now().isoformat())):
            self._forget()
        return self.kb

    def _snapshot(self) -> FetchedKnowledgeBase:
        build_id = f"live {self._digest.hexdigest()[:16]}"
        return FetchedKnowledgeBase(self._documents, self._redirects, self._at_hand, build_id)

    def record_of(self, item_id: str) -> LiveLookup | None:
        """See the base class; a turn fetches few articles."""
        return self._pages.get(item_id)

    def fetch_again(self, item_id: str) -> None:
        """See the base class."""
        self._pages.pop(item_id, None)

    # -- turns ---------------------------------------------------------------------------------------------------------

    def look_up_names(self, question: str, spoken: Iterable[str] | None) -> LiveLookup:
        """Search the names of a question, fetch the documents of their candidates, and return the record of requests.

        Names in `spoken`, the texts of the conversation so far, are not searched; it is None for a first question.
        """
        folded = f" {' | '.join(map(fold, spoken or ()))} "
        requests = _TurnRequests(NEW_TOPIC, until(SECONDS))
        items: list[str] = []
        names = written_names(question, self._language)
        pieces = spans(question, self._language) if is_doubtful(question, self._language) else []
        pieces = [piece for piece in pieces if f" {fold(piece)} " not in folded]
        titled: dict[str, str] = {}
        if pieces and (names or spoken is None):
            titled = dict(self._search(requests, "titled", "|".join(pieces), self._client.titled))
            items += filter(None, titled.values())
            names = longest(question, [*titled, *names])
        names = [name for name in names if f" {fold(name)} " not in folded][:_MAX_NAMES]
        for name in names:
            if titled.get(name) and len(names) > 1 and " " in name:
                continue  # a name of several words seldom has other meanings
            owners = self._search(requests, "named", name, self._client.named)
            if not owners and not titled.get(name):
                owners = self._search(requests, "told", name, self._client.search_pages)
            items += owners
        if not names and spoken is None:
            words = " ".join(word for word in fold(question).split() if word not in self._language.words.stop_words)
            items += self._search(requests, "told", words, self._client.search_pages) if words else []
        self._fetch(requests, items[:MOST_IDS])
        return requests.record

    def look_up_facts(
        self, lookup: LiveLookup, question: str, about: Sequence[str], candidates: Sequence[str], is_first: bool
    ) -> None:
        """Fetch the documents that the facts of a question's items mention, and the items with facts about them.

        Args:
            lookup: the record of `look_up_names`, to which requests are added.
            question: the question in full.
            about: the items of the question, the most important first.
            candidates: other items that the names of the question may mean.
            is_first: whether it is the first question of the conversation.
        """
        limit = NEW_TOPIC if is_first or lookup["requests"] else KNOWN_TOPIC
        requests = _TurnRequests(limit - len(lookup["requests"]), until(SECONDS), lookup)
        self._fetch(requests, about)
        words = self._language.properties.keywords(question)
        subjects: list[str] = []
        items = list(dict.fromkeys([*about, *candidates])) if about else []
        for item in items[: max(1, requests.left - 1)]:  # a batch of documents comes before facts about a second item
            subjects += self._subjects(requests, item, words)
        wants_page = bool(self._has_pages and about and about[0] not in self._pages and self.kb.text(about[0]).title)
        for_page = _PAGE_REQUESTS if wants_page and requests.left > _PAGE_REQUESTS else 0  # facts come first
        requests.left -= for_page
        while missing := self._missing(about, candidates, words, subjects):  # fetched documents may mention others
            self._fetch(requests, missing[:MOST_IDS])
            if requests.left <= 0:
                break
        requests.left += for_page
        if len(self._pages) > _LIMIT:
            self._pages.clear()
        if wants_page and requests.left >= _PAGE_REQUESTS:
            self._pages[about[0]] = lookup

    def _subjects(self, requests: _TurnRequests, item: str, words: frozenset[str]) -> list[str]:
        # the items with facts about an item; of very many, only by properties that are in the question or frequent
        subjects = self._search(requests, "about", item, self._client.subjects)
        if MANY not in subjects:
            return subjects
        shares = []
        for prop, label, aliases in self.kb.properties():
            keywords = filter(None, map(self._language.properties.keywords, (label, *aliases)))
            share = max((len(name & words) / len(name) for name in keywords), default=0.0)
            if share:
                shares.append((-share, int(prop[1:]), prop))
        properties = list(dict.fromkeys([*(prop for _, _, prop in sorted(shares)[:_MAX_PROPERTIES]), *_INVERSE]))
        return self._search(
            requests,
            "asked about",
            f"{item} {' '.join(properties)}",
            lambda _, end: self._client.subjects_of(item, end, properties),
        )

    def _missing(
        self, about: Sequence[str], candidates: Sequence[str], words: frozenset[str], subjects: Sequence[str]
    ) -> list[str]:
        # the items and properties to fetch, the most important first
        kb, keywords = self.kb, self._language.properties.keywords
        classes = [name for item in (*about, *candidates) for name in kb.classes(item)]
        classes = [name for name in classes if kb.label(name) == name]
        properties: list[str] = []
        values: list[str] = []  # of properties that the question names
        further: list[str] = []
        for item in (*about, *candidates):
            for prop, missing, at_hand in kb.not_fetched(item):
                is_named = not words.isdisjoint(keywords(" ".join((kb.label(prop), *kb.aliases(prop)))))
                properties += (name for name in missing if name[:1] == "P")
                (values if is_named else further).extend(name for name in missing if name[:1] == "Q")
                values += at_hand if is_named else ()  # the next question may be about it
        ranked = (*properties, *classes, *values, *subjects[:_AHEAD], *further, *subjects[_AHEAD:])
        return [name for name in dict.fromkeys(ranked) if name not in self._dates]

    # -- answers -------------------------------------------------------------------------------------------------------

    def _search(self, requests: _TurnRequests, kind: str, text: str, ask: Callable[[str, float], list[T]]) -> list[T]:
        # the results of a search, from memory, the cache or the server; an old answer counts if the server has none
        search = (kind, text)
        client = self._client
        key = ("live search", kind, client.wikidata, client.wikipedia, client.sparql, _VERSION, text)
        answer = self._answers.get(search) or self._cache.get(*key)
        if answer is None or not self._is_fresh(answer["date"]):
            items = requests.ask(f"{kind} {text}", partial(ask, text))
            if items is not None:
                answer = {"date": _now().isoformat(), "items": items}
                self._cache.put(*key, value=answer)
        if answer is None:
            return []
        if len(self._answers) > _LIMIT:
            self._answers.clear()
        self._answers[search] = answer
        return list(answer["items"])

    def _fetch(self, requests: _TurnRequests, names: Iterable[str]) -> None:
        # reads documents into memory, from the cache or the server; an old document counts if the server has none
        new = [name for name in dict.fromkeys(names) if name not in self._dates]
        entries = {name: entry for name in new if (entry := self._cache.get(*self._key(name))) is not None}
        missing = [name for name in new if name not in entries or not self._is_fresh(entries[name]["date"])]
        for start in range(0, len(missing), MOST_IDS):
            batch = missing[start : start + MOST_IDS]
            entities = requests.ask(f"entities {len(batch)}", partial(self._client.entities, batch))
            if entities is None:
                break
            date = _now().isoformat()
            for entity in entities:
                source = entity.id if entity.redirects is None else entity.redirects.get("from", "")
                if source in batch:
                    line = None if entity.is_missing else msgspec.json.encode(entity).decode()
                    entries[source] = {"date": date, "entity": line}
                    self._cache.put(*self._key(source), value=entries[source])
        for name, entry in entries.items():
            self._dates[name] = entry["date"]
            self._digest.update(f"{name} {entry['date']}".encode())
            if entry["entity"] is not None:
                self._read(name, entry["entity"])
        if entries:
            self.kb = self._snapshot()

    def _read(self, name: str, line: str) -> None:
        entity = msgspec.json.decode(line, type=FetchedEntity)
        if entity.id != name:
            self._redirects[name] = entity.id
        if entity.id in self._documents.origins:
            return
        try:
            document = parse_line(line.encode(), LANGUAGES, LeftOut())
        except BadLineError as error:
            LOGGER.warning("%s: %s", name, error)
            return
        if document is not None:
            page = f"{self._client.site}/w/index.php?title={entity.id}&oldid={entity.lastrevid}"
            origin = Origin(url=f"{self._client.site}/wiki/{entity.id}", revision_url=page, date=entity.modified[:10])
            self._documents.add(document, origin, entity.articles)

    def _key(self, name: str) -> tuple[str | int, ...]:
        return "live entity", self._client.wikidata, _VERSION, name

    def _is_fresh(self, date: str) -> bool:
        return 0 <= (_now() - datetime.fromisoformat(date)).total_seconds() < _DAY * self.max_age

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


class _TurnRequests:
    """The requests of a turn: at most `left`, sent before the time `end`, and none after a failure."""

    def __init__(self, left: int, end: float, record: LiveLookup | None = None) -> None:
        self.left, self._end = left, end
        self.record: LiveLookup = {"requests": [], "failures": []} if record is None else record

    def ask(self, shown: str, send: Callable[[float], T]) -> T | None:
        """Send a request and return the answer; None if it fails or no requests are left. The record has it as `shown`."""
        if self.left <= 0:
            return None
        self.left -= 1
        try:
            self.record["requests"].append(shown)
            return send(self._end)
        except NetworkError as error:
            LOGGER.info("%s: %s", shown, error)
            self.record["failures"].append(one_line(error))
            self.left = 0
            return None


def cached_entities(cache: Cache, wikidata: str) -> Iterator[str]:
    """Yield the cached documents of the Wikidata at an address, as lines of a dump."""
    for text in cache.keys():  # noqa: SIM118 - a method of the cache
        key = msgspec.json.decode(text)
        if key[:3] == ["live entity", wikidata, _VERSION]:
            entry = cache.get(*key)
            if entry is not None and entry["entity"] is not None:
                yield entry["entity"]


def _now() -> datetime:
    return datetime.now(timezone.utc)
