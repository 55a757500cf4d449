"""A knowledge base that grows with the questions: their items are looked up at Wikidata and Wikipedia, and cached.

Before a question is linked, its names are searched and the documents of their candidates are fetched; before its evidences are
retrieved, the documents that the facts of its items mention. Answers are cached with their dates: they count for `max_age` days,
and longer if the servers cannot be reached.
"""

from __future__ import annotations

import hashlib
import logging
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
from .dump import BadLineError, FetchedEntity, LeftOut, parse_line
from .fetched import FetchedDocuments, FetchedKnowledgeBase
from .index import KnowledgeBase
from .question_names import is_doubtful, longest, spans, written_names
from .wikidata_client import MANY, MOST_IDS, WikidataClient

LOGGER = logging.getLogger(__name__)
T = TypeVar("T")

LANGUAGES = ("en", "mul")
FIRST, LATER = 6, 2  # requests of a turn at most: for a new topic, and for a known topic
_PAGE = 2  # requests of an article and its links
_DAY = 86_400  # seconds
_VERSION = 1  # of cached entries
_NAMES = 2  # of a question that are searched
_MOST = 10_000  # documents in memory; beyond, memory is cleared and the next question reads from the cache
_ASKED = 8  # properties that a question names
_ABOUT = 25  # items with facts about another that come before the values of its other facts
# the relations of other items to people, works and organisations: requested if an item has very many
_INVERSE = (
    "P50", "P57", "P161", "P175", "P86", "P58", "P54", "P170", "P112", "P179", "P361", "P26", "P22", "P25", "P40", "P162",
    "P1441", "P674", "P144", "P286", "P264", "P69", "P108", "P166", "P1346", "P710",
)  # fmt: skip


class LiveSource:
    """Looks up the items of questions.

    Args:
        at_hand: a knowledge base with labels of classes, countries and properties, which are not requested.
        max_age: days for which a cached answer counts.
        seconds: for the names of a turn, and as many for its facts.
        pages: whether the caller fetches articles, too; they count among the requests.

    Attributes:
        kb: the documents fetched so far; replaced by each call that fetches something.
        pages: the items whose article may be fetched, and the record of requests of their turn.
    """

    def __init__(
        self,
        client: WikidataClient,
        cache: Cache,
        at_hand: KnowledgeBase,
        language: Language,
        *,
        max_age: float,
        seconds: float,
        pages: bool,
    ) -> None:
        self._client, self._cache, self._at_hand, self._language = client, cache, at_hand, language
        self._max_age, self._seconds, self._has_pages = max_age * _DAY, seconds, pages
        self._answers: dict[tuple[str, str], dict[str, Any]] = {}  # of searches
        self.pages: dict[str, LiveLookup] = {}
        self._forget()
        self.kb = self._snapshot()

    def _forget(self) -> None:
        self._documents = FetchedDocuments()
        self._dates: dict[str, str] = {}  # of documents in memory, or missing at Wikidata
        self._redirects: dict[str, str] = {}
        self._digest = hashlib.sha256(self._client.site.encode())

    def renew(self) -> KnowledgeBase:
        """Forget all documents if they are too old or too many; return the knowledge base so far."""
        if len(self._dates) > _MOST or not self._is_fresh(min(self._dates.values(), default=_now().isoformat())):
            self._forget()
        return self.kb

    def _snapshot(self) -> FetchedKnowledgeBase:
        build_id = f"live {self._digest.hexdigest()[:16]}"
        return FetchedKnowledgeBase(self._documents, self._redirects, self._at_hand, build_id)

    # -- of a turn -----------------------------------------------------------------------------------------------------

    def look_up_names(self, question: str, spoken: Iterable[str] | None) -> LiveLookup:
        """Search the names of a question, fetch the documents of their candidates, and return the record of requests.

        Names in `spoken`, which the conversation mentioned, are not searched; it is None for a first question.
        """
        mentioned = f" {' | '.join(map(fold, spoken or ()))} "
        errand = _Errand(FIRST, until(self._seconds))
        items: list[str] = []
        names = written_names(question, self._language)
        pieces = spans(question, self._language) if is_doubtful(question, self._language) else []
        pieces = [piece for piece in pieces if f" {fold(piece)} " not in mentioned]
        titled: dict[str, str] = {}
        if pieces and (names or spoken is None):
            titled = dict(self._search(errand, "titled", "|".join(pieces), self._client.titled))
            items += filter(None, titled.values())
            names = longest(question, [*titled, *names])
        names = [name for name in names if f" {fold(name)} " not in mentioned][:_NAMES]
        for name in names:
            if titled.get(name) and len(names) > 1 and " " in name:
                continue  # few other things have a name of several words
            named = self._search(errand, "named", name, self._client.named)
            if not named and not titled.get(name):
                named = self._search(errand, "told", name, self._client.search_pages)
            items += named
        if not names and spoken is None:
            words = " ".join(word for word in fold(question).split() if word not in self._language.words.stop_words)
            items += self._search(errand, "told", words, self._client.search_pages) if words else []
        self._fetch(errand, items[:MOST_IDS])
        return errand.record

    def look_up_facts(
        self, lookup: LiveLookup, question: str, about: Sequence[str], candidates: Sequence[str], is_first: bool
    ) -> None:
        """Fetch the documents that the facts of a question's items mention, and the items with facts about them.

        Args:
            lookup: the record of `look_up_names`, to which requests are added.
            question: in full.
            about: the items of the question, the most important first.
            candidates: other items that its names may mean.
            is_first: whether it is the first question of the conversation.
        """
        most = FIRST if is_first or lookup["requests"] else LATER
        errand = _Errand(most - len(lookup["requests"]), until(self._seconds), lookup)
        self._fetch(errand, about)
        words = self._language.properties.keywords(question)
        subjects: list[str] = []
        items = list(dict.fromkeys([*about, *candidates])) if about else []
        for item in items[: max(1, errand.left - 1)]:  # a batch of documents comes before facts about a second item
            subjects += self._subjects(errand, item, words)
        wants_page = bool(self._has_pages and about and about[0] not in self.pages and self.kb.text(about[0]).title)
        for_page = _PAGE if wants_page and errand.left > _PAGE else 0  # facts come first
        errand.left -= for_page
        while missing := self._missing(about, candidates, words, subjects):  # fetched documents may mention others
            self._fetch(errand, missing[:MOST_IDS])
            if errand.left <= 0:
                break
        errand.left += for_page
        if len(self.pages) > _MOST:
            self.pages.clear()
        if wants_page and errand.left >= _PAGE:
            self.pages[about[0]] = lookup

    def _subjects(self, errand: _Errand, item: str, words: frozenset[str]) -> list[str]:
        """The items with facts about an item; of very many, the items with a property that is in the question or frequent."""
        subjects = self._search(errand, "about", item, self._client.subjects)
        if MANY not in subjects:
            return subjects
        named = []
        for prop, label, aliases in self.kb.properties():
            keywords = filter(None, map(self._language.properties.keywords, (label, *aliases)))
            share = max((len(name & words) / len(name) for name in keywords), default=0.0)
            if share:
                named.append((-share, int(prop[1:]), prop))
        properties = list(dict.fromkeys([*(prop for _, _, prop in sorted(named)[:_ASKED]), *_INVERSE]))
        return self._search(
            errand,
            "asked about",
            f"{item} {' '.join(properties)}",
            lambda _, end: self._client.subjects_of(item, end, properties),
        )

    def _missing(
        self, about: Sequence[str], candidates: Sequence[str], words: frozenset[str], subjects: Sequence[str]
    ) -> list[str]:
        """The items and properties to fetch, the most important first."""
        kb, keywords = self.kb, self._language.properties.keywords
        classes = [name for item in (*about, *candidates) for name in kb.classes(item) if kb.label(name) == name]
        properties: list[str] = []
        values: list[str] = []  # of properties that the question names
        beside: list[str] = []
        for item in (*about, *candidates):
            for prop, missing, at_hand in kb.not_fetched(item):
                is_asked = not words.isdisjoint(keywords(" ".join((kb.label(prop), *kb.aliases(prop)))))
                properties += (name for name in missing if name[:1] == "P")
                (values if is_asked else beside).extend(name for name in missing if name[:1] == "Q")
                values += at_hand if is_asked else ()  # the next question may be about it
        ranked = (*properties, *classes, *values, *subjects[:_ABOUT], *beside, *subjects[_ABOUT:])
        return [name for name in dict.fromkeys(ranked) if name not in self._dates]

    # -- answers -------------------------------------------------------------------------------------------------------

    def _search(self, errand: _Errand, kind: str, text: str, ask: Callable[[str, float], list[T]]) -> list[T]:
        """The items that a search finds, from the cache or the server."""
        place = (kind, text)
        key = ("live search", kind, *self._client.addresses, _VERSION, text)
        answer = self._answers.get(place) or self._cache.get(*key)
        if answer is None or not self._is_fresh(answer["date"]):
            items = errand.ask(f"{kind} {text}", partial(ask, text))
            if items is not None:
                answer = {"date": _now().isoformat(), "items": items}
                self._cache.put(*key, value=answer)
        if answer is None:
            return []
        if len(self._answers) > _MOST:
            self._answers.clear()
        self._answers[place] = answer
        return list(answer["items"])

    def _fetch(self, errand: _Errand, names: Iterable[str]) -> None:
        """Bring the documents of items and properties into memory, from the cache or the server."""
        new = [name for name in dict.fromkeys(names) if name not in self._dates]
        entries = {name: entry for name in new if (entry := self._cache.get(*self._key(name))) is not None}
        missing = [name for name in new if name not in entries or not self._is_fresh(entries[name]["date"])]
        for start in range(0, len(missing), MOST_IDS):
            batch = missing[start : start + MOST_IDS]
            entities = errand.ask(f"entities {len(batch)}", partial(self._client.entities, batch))
            if entities is None:
                break
            date = _now().isoformat()
            for entity in entities:
                source = entity.id if entity.redirects is None else entity.redirects.source
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
        return "live entity", self._client.addresses.wikidata, _VERSION, name

    def _is_fresh(self, date: str) -> bool:
        return 0 <= (_now() - datetime.fromisoformat(date)).total_seconds() < self._max_age

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


class _Errand:
    """The requests of a turn: a number of them until a moment; none after a failure."""

    def __init__(self, left: int, end: float, record: LiveLookup | None = None) -> None:
        self.left, self._end = left, end
        self.record: LiveLookup = {"requests": [], "failures": []} if record is None else record

    def ask(self, shown: str, send: Callable[[float], T]) -> T | None:
        """Return the answer of a request; None if it fails or may not be sent."""
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
    """Yield the cached documents of a Wikidata, as lines of a dump."""
    for text in cache.keys():  # noqa: SIM118 - a method of the cache
        key = msgspec.json.decode(text)
        if isinstance(key, list) and key[:3] == ["live entity", wikidata, _VERSION]:
            entry = cache.get(*key)
            if entry is not None and entry["entity"] is not None:
                yield entry["entity"]


def _now() -> datetime:
    return datetime.now(timezone.utc)
