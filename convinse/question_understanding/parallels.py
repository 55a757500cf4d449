"""What half a sentence puts in the place of what, by the tables of a page: two names in a column are alternatives."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import NamedTuple

from ..language.language import Language
from ..language.text import fold
from ..wikipedia.dump import WikipediaDump

_WORD = re.compile(r"\w+(?:['’.-]\w+)*")
_OWNER = re.compile(r"['’]s?$")
_ADDED = re.compile(r" \([^()]*\)(?=\W*$)")  # names behind a question that says them nowhere else
_MOST_WORDS = 6  # of half a sentence


class Parallel(NamedTuple):
    """A name that takes the place of another one.

    Attributes:
        in_full: the earlier question with the new name in the place of the old one.
        start, end: of the new name in the question.
        old: the words that it takes the place of.
        page: the item whose page has both.
        items: that the new name is, by that page.
    """

    in_full: str
    start: int
    end: int
    old: str
    page: str
    items: AbstractSet[str]


class _CellName(NamedTuple):
    words: frozenset[str]
    items: frozenset[str]


class _Said(NamedTuple):
    words: frozenset[str]
    start: int
    end: int
    is_whole: bool


class Parallels:
    """Finds what half a sentence puts in the place of a name of an earlier question.

    Args:
        dump: the pages; None: there are none.
        language: of the questions.
    """

    def __init__(self, dump: WikipediaDump | None, language: Language) -> None:
        self._dump, self._language = dump, language
        self._columns = lru_cache(maxsize=256)(self._read_columns)

    def find(self, question: str, before: str, pages: Iterable[str]) -> Parallel | None:
        """The name that a question gives and the one that it takes the place of; None where no column has both.

        A name is said by all of its words or by rare ones ("Mia" of Mia Wallace); the question's other words are in the question
        before, too.
        """
        own = self._words(question)
        if not own or len(own) > _MOST_WORDS:
            return None
        stem = self._language.words.stem
        earlier = {stem(word) for word in fold(before).split()}
        given = [place for place in own if stem(place.word) not in earlier]
        told = self._words(_ADDED.sub(lambda added: " " * len(added[0]), before))
        best: tuple[tuple[bool, bool, int], Parallel] | None = None
        for page in pages:
            for cells in self._columns(page):
                new = self._said(given, cells)
                if new is None or len(new[1].words) < len({place.word for place in given}):
                    continue
                old = self._said(told, [cell for cell in cells if cell.words.isdisjoint(new[1].words)])
                if old is None:
                    continue
                (cell, name), (_, replaced) = new, old
                rank = (name.is_whole, replaced.is_whole, len(replaced.words))
                if best is None or rank > best[0]:
                    start, end = self._start(question, name.start), self._start(before, replaced.start)
                    in_full = f"{before[:end]}{question[start : name.end]}{before[replaced.end :]}"
                    parallel = Parallel(
                        in_full, start, name.end, before[replaced.start : replaced.end], page, cell.items
                    )
                    best = rank, parallel
        return None if best is None else best[1]

    def _read_columns(self, page: str) -> Sequence[Sequence[_CellName]]:
        columns: Mapping[tuple[int, int], dict[frozenset[str], frozenset[str]]] = defaultdict(dict)
        for evidence in (self._dump.get(page) if self._dump is not None else None) or ():
            for cell in evidence.get("row", {}).get("cells", ()):
                words = frozenset(place.word for place in self._words(cell["text"]))
                if words and not all(word[:1].isdigit() for word in words):
                    key = evidence["row"].get("table", 0), cell["column"]
                    items = frozenset(entity["id"] for entity in cell["entities"])
                    columns[key][words] = columns[key].get(words, frozenset()) | items
        return [[_CellName(*pair) for pair in names.items()] for names in columns.values() if len(names) > 1]

    def _said(self, text: Sequence[_Place], cells: Iterable[_CellName]) -> tuple[_CellName, _Said] | None:
        best: tuple[tuple[bool, int], _CellName, _Said] | None = None
        for cell in cells:
            places = [place for place in text if place.word in cell.words]
            words = frozenset(place.word for place in places)
            is_whole = words == cell.words
            if not is_whole and all(word in self._language.common.small for word in words):
                continue
            between = [place for place in text if places[0].number <= place.number <= places[-1].number]
            if len(between) > len(places):  # "Mozart's wife in Amadeus" is not Wolfgang Amadeus Mozart
                continue
            rank = is_whole, len(words)
            if best is None or rank > best[0]:
                best = rank, cell, _Said(words, places[0].start, places[-1].end, is_whole)
        return None if best is None else best[1:]

    def _start(self, text: str, start: int) -> int:
        before = list(_WORD.finditer(text[:start]))[-1:]
        return before[0].start() if before and fold(before[0][0]) in self._language.words.definite else start

    def _words(self, text: str) -> list[_Place]:
        left_out = self._language.words.common
        places = []
        for number, word in enumerate(_WORD.finditer(text)):
            plain = _OWNER.sub("", word[0])
            for form in fold(plain).split():
                if form not in left_out:
                    places.append(_Place(form, number, word.start(), word.start() + len(plain)))
        return places


class _Place(NamedTuple):
    word: str
    number: int
    start: int
    end: int
