"""The words of a question, and rules that tell names, parts of names and common words by their writing."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from ..language.language import Language
from ..language.text import fold
from ..records.literals import is_document_item
from .items import Candidate, Items

_SEGMENT = re.compile(r"[^|?!;\n]+")
_TOKEN = re.compile(r"\w+(?:['’]\w+)*\.?")


class Word(NamedTuple):
    """A word, `text[start:end]`; `form` is folded, `first` of its segment, `joined` to the word before by blanks alone."""

    start: int
    end: int
    form: str
    capital: bool
    first: bool
    possessive: bool
    joined: bool


class WordRules:
    """Rules about words by their writing and by the labels and classes of a knowledge base."""

    def __init__(self, kb: Items, language: Language) -> None:
        self._kb, self._language = kb, language
        self._not_names = language.words.not_names
        self.is_written_small = language.words.is_written_small

    def is_cased(self, tokens: list[Word]) -> bool:
        """Return True if the writer uses capitals, so that names have them."""
        return any(
            token.capital and not token.first and not token.form.isdigit() and token.form not in self._not_names
            for token in tokens
        )

    def asks(self, token: Word) -> bool:
        """Return True if a word is in the name of a property: "director", "cast" and "episode" ask, they name nothing."""
        return self._language.words.stem(token.form) in self._property_words

    def is_common(self, window: Sequence[Word], is_label: bool, cased: bool) -> bool:
        """Return True if a name may as well be common words: in a text without capitals."""
        content = [token for token in window if token.form not in self._not_names]
        has_capitals = cased or any(token.capital and not token.first for token in window)
        if has_capitals or (is_label and len(content) > 1):
            return False
        return all(self.is_written_small(token.form) or self.asks(token) for token in content)

    def is_name(self, candidate: Candidate) -> bool:
        """Return True if the label of an item is a name: with a capital, or spelt as no common noun ("a-ha", "deadmau5").

        All labels of documents are names.
        """
        if is_document_item(candidate.id):
            return True
        label = candidate.label
        first = next(filter(str.isalnum, label), "")
        if first.isupper() or first.isdigit():
            return True
        if label.isalpha() or " " in label or self.kind(candidate) not in ("person", "group", "thing"):
            return False
        return not self._kb.is_class(candidate.id)

    def kind(self, candidate: Candidate) -> str:
        """Return the kind of an item, see `AnswerTypes.entity_kind`."""
        return self._language.answer_types.entity_kind(candidate.id, self._kb.types(candidate.id))

    def is_part_of_name(
        self, tokens: list[Word], start: int, end: int, taken: Container[int] = (), is_cased: bool = True
    ) -> bool:
        """Return True if words beside `tokens[start:end]` make it a part of a longer name, as in "European Cup".

        They have a capital, or, in a text without, no text writes them in lower case ("michael corleone"). Other names are `taken`.
        """

        def may_name(place: int) -> bool:  # "Date" and "Director" of a terse question do not
            token = tokens[place]
            is_word = token.form in self._not_names or token.form.isdigit() or self.asks(token)
            is_written_so = token.capital if is_cased else not self.is_written_small(token.form)
            return is_written_so and not is_word and place not in taken

        before = start - 1
        is_preceded = start > 0 and tokens[start].joined and not (tokens[before].possessive or tokens[before].first)
        is_followed = end < len(tokens) and tokens[end].joined and not tokens[end - 1].possessive
        return (is_preceded and may_name(before)) or (is_followed and may_name(end))

    def is_adjective(self, tokens: list[Word], place: int) -> bool:
        """Return True if a word describes the next one ("British actor") and names no item by itself."""
        after = tokens[place + 1] if place + 1 < len(tokens) else None
        if after is None or not after.joined or after.capital or after.form in self._not_names:
            return False
        candidates = self._kb.candidates(tokens[place].form)
        if any(c.is_label and "country" in self._kb.types(c.id) for c in candidates):
            return False  # "the England job"
        kinds = {kind for c in candidates for name in self._kb.types(c.id) for kind in name.split()}
        is_demonym = bool(candidates) and all(not c.is_label and self.kind(c) == "place" for c in candidates)
        return is_demonym or bool(kinds & self._language.answer_types.people_types)

    @cached_property
    def _property_words(self) -> frozenset[str]:
        stems = self._language.words.stems
        return frozenset(
            word for _, label, aliases in self._kb.properties() for name in (label, *aliases) for word in stems(name)
        )


def segments(text: str) -> Iterator[list[Word]]:
    """Yield the words of each segment of a text; separators, question marks and exclamation marks end a segment."""
    for segment in _SEGMENT.finditer(text):
        words: list[Word] = []
        last = segment.start()
        for match in _TOKEN.finditer(text, *segment.span()):
            word = match[0]
            capital, possessive = word[0].isupper() or word[0].isdigit(), word[-2:] in ("'s", "’s")
            joined = not text[last : match.start()].strip()
            words.append(Word(*match.span(), fold(word), capital, not words, possessive, joined))
            last = match.end()
        yield words
