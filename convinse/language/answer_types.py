"""The type of answer that a question asks for, from its words; no model."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import NamedTuple

from ..records.literals import is_date, is_number
from .text import Words, fold
from .word_lists import Table, WordSet

_OTHER_PLACE = 0.4  # how well a place fits that is not of the wanted class
_MISFIT = 0.0  # a literal for an item or the reverse is no answer
_MOST_WORDS = 3  # behind "what" that may name the type
NAMED_KINDS = ("date", "number", "person", "place")
_YES_OR_NO = "yes or no"  # as the last slot of a representation says it, in all languages


class AnswerType(NamedTuple):
    """`kind` is yesno, date, number, person, place, item or any; `words` name the type of an item, the class of a place."""

    kind: str
    words: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The type in words, as the last slot of a representation."""
        return " ".join(self.words) if self.words else {"yesno": _YES_OR_NO, "any": ""}.get(self.kind, self.kind)


_ANY = AnswerType("any")


@dataclass(frozen=True, eq=False)
class AnswerTypes:
    """How a language asks for types of answers; `answer_types.txt` says what each list is for."""

    words: Words
    existential: WordSet
    opening_words: WordSet
    polite: re.Pattern[str]
    question_words: WordSet
    measuring: WordSet
    relating: WordSet
    which_is: re.Pattern[str]
    more_than_a_year: WordSet
    date_nouns: WordSet
    number_nouns: WordSet
    person_nouns: WordSet
    place_nouns: WordSet
    place_classes: Table
    plain_classes: WordSet
    class_nouns: Table
    adjectives: WordSet
    class_answers: WordSet
    person_types: WordSet
    character_types: WordSet
    group_types: WordSet
    people_types: WordSet
    place_types: WordSet
    site_types: WordSet
    country_types: WordSet
    linking_words: WordSet

    # -- questions -----------------------------------------------------------------------------------------------------

    def is_existential(self, question: str) -> bool:
        """Whether a question asks for yes or no: its first word, fillers aside, is a form of be, do, have, can or will.

        "Can you tell me who ..." asks for what follows.
        """
        tokens = self._spoken(question)
        return bool(tokens) and tokens[0] in self.existential and not self.polite.match(" ".join(tokens))

    def asks_what(self, question: str) -> bool:
        """Whether a question begins with a word that asks for more than yes or no, fillers aside: "Who was ...?"."""
        return not self.opening_words.isdisjoint(self._spoken(question)[:1])

    def _spoken(self, question: str) -> list[str]:
        written = unicodedata.normalize("NFC", question.lower())  # or the accent of "Dóra" may end the word "do"
        spoken = re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)*", written)
        return [token for token in spoken if token not in self.words.fillers]

    def expected_type(self, question: str) -> AnswerType:
        """The type of answer that a question asks for; `any` when its words do not say."""
        if self.is_existential(question):
            return AnswerType("yesno")
        tokens = re.findall(r"[^\W_]+(?:['’][a-z]+)?", question)
        low = [re.sub(r"['’]s$", "", token.lower()) for token in tokens]
        for place, token in enumerate(low):
            following = low[place + 1 : place + 3]
            if token in ("who", "whom", "whose"):
                return AnswerType("person")
            if token == "when":
                return AnswerType("date")
            if token == "where":
                return AnswerType("place")
            if token == "how" and following and following[0] in self.measuring:
                return AnswerType("number")
            if token in ("what", "which") and following:
                if following[0] == "about":
                    continue
                owned = following[0] == "of" and self.words.common.issuperset(following)  # "which of his films"
                start = place + (3 if owned else 1)
                named = self._noun_type(low[start:], tokens[start:])
                if named.kind != "any":
                    return named
        if not self.question_words & set(low) or "what" in low or self.which_is.search(question):
            # "what was the year that the league began", "director of the film?": the noun before is what is asked for;
            # "and the director?", "what was his wife's name?": the last noun that names a type
            end = next((place for place, token in enumerate(low) if token in self.relating and place), len(low))
            before = self._first_type(reversed(low[:end]))
            return before if before.kind != "any" else self._first_type(reversed(low))
        return _ANY

    def asks_for_year(self, question: str) -> bool:
        """Whether a year answers a question ("in which year", "release year?"), not a day: `1952` for `11 March 1952`."""
        asked = fold(question).split()
        return "year" in asked and self.more_than_a_year.isdisjoint(asked)

    def parse_label(self, label: str) -> AnswerType:
        """The inverse of `AnswerType.label`."""
        label = label.strip()
        if label in NAMED_KINDS:
            return AnswerType(label)
        if label in self.place_classes:
            return AnswerType("place", (label,))
        if label == _YES_OR_NO:
            return AnswerType("yesno")
        return AnswerType("item", tuple(label.split())) if label else _ANY

    def _noun_type(self, low: list[str], tokens: list[str]) -> AnswerType:
        """The type that the words after "what" or "which" name: "which record label", "what year", "what kind of music"."""
        head: list[str] = []
        for token, written in zip(low, tokens, strict=True):
            if token in self.words.common or (written[0].isupper() and head):
                break
            head.append(token)
            if len(head) == _MOST_WORDS:
                break
        named = self._first_type(head)
        return AnswerType("item", tuple(head[:1])) if head and named.kind == "any" else named

    def _first_type(self, nouns: Iterable[str]) -> AnswerType:
        for noun in nouns:
            kind = self._kind_of_noun(noun)
            if kind == "place":
                classes = [form for form in (noun, noun.rstrip("s")) if form in self.place_classes]
                return AnswerType(kind, tuple(classes[:1]))
            if kind != "any":
                return AnswerType(kind)
            if self.names_class(noun):
                return AnswerType("item", (noun,))
        return _ANY

    def _kind_of_noun(self, noun: str) -> str:
        if noun in self.date_nouns:
            return "date"
        if noun in self.number_nouns:
            return "number"
        if noun in self.person_nouns or noun.rstrip("s") in self.person_nouns:
            return "person"
        places = self.place_nouns | self.place_classes.keys()
        return "place" if noun in places or noun.rstrip("s") in places else "any"

    # -- classes of items ----------------------------------------------------------------------------------------------

    def noun_types(self, noun: str) -> WordSet:
        """The stems of class names that a noun of a question stands for ("movies" -> film)."""
        return self._class_stems.get(self.words.stem(noun)) or frozenset(self.words.stems(noun))

    def names_class(self, noun: str) -> bool:
        """Whether a noun is a known word for a class of items."""
        return self.words.stem(noun) in self._class_stems and noun.lower() not in self.adjectives

    def types_from_label(self, label: str) -> tuple[str, ...]:
        """What the label of an item without classes says that it is: an "Award for Best Director" is an award."""
        return tuple(word for word in fold(label).split() if self.names_class(word))[:1] if label[:1].isupper() else ()

    def head(self, name: str) -> str:
        """The folded noun that the name of a class is built on: "city" of "city of the United States"."""
        return " ".join(fold(self._linking.split(name)[0]).split()[-1:])

    def heads(self, types: Iterable[str]) -> WordSet:
        """The stems of the nouns that class names are built on: a "film director" is no film."""
        return frozenset(stem for stem in map(self._head_stem, types) if stem is not None)

    @cached_property
    def _head_stem(self) -> Callable[[str], str | None]:
        return lru_cache(maxsize=50_000)(lambda name: self.words.stem(self.head(name)) if fold(name) else None)

    def of_class(self, name: str) -> AnswerType:
        """The type of the items of a class, by its label (lower case): a "human settlement" is a place."""
        if name in self.person_types:
            return AnswerType("person")
        if self.heads([name]) & self._type_stems["place"]:
            return AnswerType("place", (name,) if name in self.place_classes else ())
        return AnswerType("item", tuple(name.split()))

    def is_character(self, types: Iterable[str]) -> bool:
        """Whether an item is a made-up being."""
        return any(word in name for name in types for word in self.character_types)

    def fit(self, expected: AnswerType, entity_id: str, types: Iterable[str]) -> float:
        """How well an entity fits the expected type, from 0 to 1; unknown types fit a little.

        Args:
            expected: what the question asks for.
            entity_id: the id of the candidate: an item, a date or a number.
            types: labels of what the item is, lower case.
        """
        date, number = is_date(entity_id), is_number(entity_id)
        if expected.kind == "date":
            return 1.0 if date else _MISFIT
        if expected.kind == "number":
            return 1.0 if number else _MISFIT
        if date or number:
            return 0.15 if expected.kind == "any" else _MISFIT
        types = tuple(types)
        if not types:
            return 0.3
        heads = self.heads(types)
        if expected.kind == "person":
            if self.is_character(types):
                return 0.3
            return 1.0 if self.person_types.intersection(types) else 0.4 if heads & self._type_stems["group"] else 0.01
        if expected.kind == "place":
            if expected.words and heads & self._type_stems["place"]:
                return 1.0 if heads & self._place_class_stems[expected.words[0]] else _OTHER_PLACE
            return 1.0 if heads & self._type_stems["place"] else 0.5 if heads & self._type_stems["site"] else 0.02
        if expected.kind == "item":
            wanted = frozenset().union(*map(self.noun_types, expected.words))
            return 1.0 if heads & wanted else 0.05
        return 0.8

    def entity_kind(self, entity_id: str, types: Iterable[str]) -> str:
        """person, group, place, people (a nation, a language), date, number or thing: what pronouns tell apart."""
        if is_date(entity_id):
            return "date"
        if is_number(entity_id):
            return "number"
        types = tuple(types)
        heads = self.heads(types)
        if self.person_types.intersection(types) or self.is_character(types):
            return "person"
        if heads & self._type_stems["group"]:
            return "group"
        if heads & self._type_stems["people"]:
            return "people"
        return "place" if heads & self._type_stems["place"] else "thing"

    def is_country(self, types: Iterable[str]) -> bool:
        """Whether an item is a country."""
        return bool(self.heads(types) & self._type_stems["country"])

    # -- stems of the lists --------------------------------------------------------------------------------------------

    @cached_property
    def _linking(self) -> re.Pattern[str]:
        return re.compile(f" (?:{'|'.join(map(re.escape, self.linking_words))}) ")

    @cached_property
    def _class_stems(self) -> Table:
        plain = {noun: frozenset([noun]) for noun in self.plain_classes}
        return self._stem_table(
            {self.words.stem(noun): names for noun, names in (plain | {**self.class_nouns}).items()}
        )

    @cached_property
    def _place_class_stems(self) -> Table:
        return self._stem_table(self.place_classes)

    def _stem_table(self, table: Mapping[str, WordSet]) -> Table:
        return MappingProxyType({key: self.words.stem_set(names) for key, names in table.items()})

    @cached_property
    def _type_stems(self) -> Table:
        kinds = ("group", "people", "place", "site", "country")
        return self._stem_table({kind: getattr(self, f"{kind}_types") for kind in kinds})
