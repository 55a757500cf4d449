"""Names in a question that no item carries, and the pages of the Wikipedia dump that tell of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from functools import cached_property, lru_cache

from ..knowledge_base.index import KnowledgeBase
from ..knowledge_base.linking import LinkedMention
from ..language.language import Language
from ..language.text import fold
from ..records.evidence import Entity
from ..records.representation import QuestionEntity, UnlinkedName
from ..wikipedia.dump import WikipediaDump

_WORD = re.compile(r"\w+(?:['’.-]\w+)*")
_OWNER = re.compile(r"['’]s$")
_SENTENCE_START = re.compile(r"(?:^|[.?!:;])\W*$")
_PAGES = 3  # that a name is looked up in: more may tell of namesakes
_SHORTEST = 3  # letters of a name without capitals
_ABBREVIATION = 3  # letters of a word of capitals that is no name


class UnlinkedNames:
    """Finds the names that linking found nothing for.

    Args:
        kb: whose items have the pages.
        language: of the questions.
        dump: the pages; None: there are none.
    """

    def __init__(self, kb: KnowledgeBase, language: Language, dump: WikipediaDump | None) -> None:
        self._kb, self._language, self._dump = kb, language, dump
        self.has_page = lru_cache(maxsize=4096)(self._has_page)

    def find(
        self, question: str, meant: Sequence[LinkedMention], known: Set[str], items: Sequence[str]
    ) -> list[UnlinkedName]:
        """The names in a question that mean no item, each with the pages that tell of it; those of `items` before others.

        In a text without capitals all rare words may be names.
        """
        names = []
        for name in self._written(question, meant, known):
            known_names = self._looked_up(name, items)
            if not any(known_name["pages"] for known_name in known_names) and " " in name:  # "Jack and Meg"
                parts = [part for part in self._parts(name) if part != name]
                in_parts = [known_name for part in parts for known_name in self._looked_up(part, items)]
                known_names = in_parts if any(part["pages"] for part in in_parts) else known_names
            names += known_names
        return names

    def _looked_up(self, name: str, items: Sequence[str]) -> list[UnlinkedName]:
        if any(self._kind(candidate.id) in ("place", "people") for candidate in self._kb.candidates(fold(name))):
            return []  # "German" says what something is like
        own: list[Entity] = [self._kb.entity(item) for item in items if self.tells(item, name)]
        pages = own or self.pages([name])
        return [UnlinkedName(name=name, pages=pages)] if pages or self._is_nowhere(name) else []

    def _kind(self, item: str) -> str:
        return self._language.answer_types.entity_kind(item, self._kb.types(item))

    def _parts(self, name: str) -> list[str]:
        parts: list[list[str]] = [[]]
        for word in name.split():
            if fold(word) in self._language.words.not_names:
                parts.append([])
            else:
                parts[-1].append(word)
        return [" ".join(part) for part in parts if part]

    def pages(self, names: Sequence[str], words: Sequence[str] = ()) -> list[Entity]:
        """The items whose pages tell of names, or else of some words; see `WikipediaDump.search`."""
        items = [] if self._dump is None else self._dump.search(names, words, _PAGES)
        return [self._kb.entity(item) for item in items if self._kb.has(item)]

    def rare(self, words: Iterable[str]) -> list[str]:
        """Those of some words that texts seldom have."""
        return [word for word in words if not self._is_common(fold(word))]

    def _is_common(self, form: str) -> bool:
        return form in self._language.common.small or self._language.words.stem(form) in self._common_stems

    def _has_page(self, item: str) -> bool:
        return self._dump is not None and self._dump.get(item) is not None

    def tells(self, item: str, name: str) -> bool:
        """Whether an item's page has a name."""
        return self._dump is not None and self._dump.tells_of(item, name)

    def _is_nowhere(self, name: str) -> bool:
        """Whether words that no page tells of are a name all the same, and no part of that of an item.

        Without capitals they are where they are several, and no page has any of them.
        """
        words = fold(name).split()
        if self._kb.search_names(words, 1):
            return False
        if not name.islower():
            return True
        searched = self._dump is not None and self._dump.has_words and len(words) > 1
        return searched and not any(self.pages([word]) for word in words)

    def _written(self, question: str, meant: Iterable[LinkedMention], known: Set[str]) -> list[str]:
        covered = {place for mention in meant for place in range(mention.start, mention.end)}
        is_cased = any(map(str.isupper, question))
        names: list[str] = []
        run: list[re.Match[str]] = []
        for word in (*_WORD.finditer(question), None):
            if word is not None and word.start() not in covered:
                joined = not run or (question[run[-1].end() : word.start()] == " " and not _OWNER.search(run[-1][0]))
                is_name = self._is_name(question, word, known, is_cased)
                if joined and (is_name or (run and self._may_join(question, word))):
                    run.append(word)
                    continue
            while run and self._is_small(run[-1]) and not run[-1][0][0].isupper():
                run.pop()
            names += [_OWNER.sub("", question[run[0].start() : run[-1].end()])] if run else []
            again = word is not None and word.start() not in covered and self._is_name(question, word, known, is_cased)
            run = [word] if word is not None and again else []
        return names

    def _may_join(self, question: str, word: re.Match[str]) -> bool:
        """Whether a word may stand in a name that has begun: "Hall (of) Fame", "Someone Like (You)"."""
        return word[0][0].isupper() or (
            self._is_small(word) and question[word.end() : word.end() + 2].strip().istitle()
        )

    def _is_small(self, word: re.Match[str]) -> bool:
        return fold(word[0]) in self._language.words.not_names

    def _is_name(self, question: str, word: re.Match[str], known: Set[str], is_cased: bool) -> bool:
        """Whether a word may stand alone as a name, or begin one."""
        words, form = self._language.words, fold(word[0])
        left_out = words.not_names | words.fillers | words.greetings
        if not form or form in known or form in left_out or not word[0][0].isalpha():
            return False
        is_common = self._is_common(form)
        if not word[0][0].isupper():
            return not (is_cased or is_common or len(form) < _SHORTEST)
        if word[0].isupper() and len(form) <= _ABBREVIATION:  # "TV"
            return False
        return not (is_common and _SENTENCE_START.search(question[: word.start()]) is not None)

    @cached_property
    def _common_stems(self) -> Set[str]:
        return self._language.words.stem_set(self._language.common.small)


def as_candidates(names: Iterable[UnlinkedName], items: Set[str]) -> list[QuestionEntity]:
    """The items whose pages tell of names, for retrieval to look at, without those of `items`; each is as likely as the next."""
    candidates: dict[str, QuestionEntity] = {}
    for name in names:
        score = 1 / max(1, len(name["pages"]))
        for rank, item in enumerate(name["pages"]):
            if item["id"] not in items:
                entity = QuestionEntity(item=item, question_word=name["name"], score=round(score, 3), rank=rank)
                candidates.setdefault(item["id"], entity)
    return list(candidates.values())
