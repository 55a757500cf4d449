"""Finds the type of answer that a question asks for, from its words, without a model."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import NamedTuple

from ..records.literals import is_date, is_number
from .text import Words, fold
from .word_lists import Table, WordLists, WordSet

_OTHER_PLACE = 0.4  # fit of a place of another class than the expected
_MISFIT = 0.0  # a literal for an item or the reverse is not an answer
_MOST_WORDS = 3  # behind "what" that may name the type
NAMED_KINDS = ("date", "number", "person", "place")
_YES_OR_NO = "yes or no"  # in the last slot of a representation, in all languages


class AnswerType(NamedTuple):
    """`kind` is yesno, date, number, person, place, item or any; `words` name the type of an item, the class of a place."""

    kind: str
    words: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The type in words, as the last slot of a representation."""
        return " ".join(self.words) if self.words else {"yesno": _YES_OR_NO, "any": ""}.get(self.kind, self.kind)

    @property
    def is_of_things(self) -> bool:
        """True if it asks for people or things, or for yes or no: neither for a place nor for a value."""
        return self.kind in ("yesno", "person", "item")


_ANY = AnswerType("any")


class AnswerTypes(WordLists):
    """The words by which a language asks for types of answers; `answer_types.txt` explains the lists."""

    file = "answer_types.txt"
    words: Words
    existential: WordSet
    permission: re.Pattern[str]
    opening_words: WordSet
    requesting: WordSet
    polite: re.Pattern[str]
    question_words: WordSet
    measuring: WordSet
    amount_verbs: WordSet
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
        """Return True if a question asks for yes or no: its first word, fillers aside, is a form of be, do, have, can, will or must.

        False for "Can you tell me who ...", which asks for a person.
        """
        tokens = self._spoken(question)
        text = " ".join(tokens)
        is_begun_so = not self.existential.isdisjoint(tokens[:1]) and not self.polite.match(text)
        return is_begun_so or self.permission.match(text) is not None

    def asks_what(self, question: str) -> bool:
        """Return True if a question begins with a word that asks for more than yes or no, fillers aside: "Who was ...?"."""
        return not self.opening_words.isdisjoint(self._spoken(question)[:1])

    def is_request(self, text: str) -> bool:
        """Return True if a text asks for things without a question: "All invoices above 50 euros", "parking fee hall b"."""
        spoken = self._spoken(text)
        is_question = "?" in text or self.is_existential(text) or not self.existential.isdisjoint(spoken)
        return not is_question or not self.requesting.isdisjoint(spoken[:1])

    def asks(self, text: str) -> bool:
        """Return True if a text is a question by its first word."""
        return self.asks_what(text) or self.is_existential(text)

    def _spoken(self, question: str) -> list[str]:
        written = unicodedata.normalize("NFC", question.lower())  # or the accent of "Dóra" may end the word "do"
        spoken = re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)*", written)
        return [token for token in spoken if token not in self.words.fillers]

    def expected_type(self, question: str) -> AnswerType:
        """Return the type of answer that a question asks for; `any` if its words do not tell."""
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
                if following[0] in self.existential and not self.amount_verbs.isdisjoint(low[place + 2 :]):
                    return AnswerType("number")  # "what does a wash cost"
                # "which of his films"
                owned = following[0] == "of" and self.words.common.issuperset(following)
                start = place + (3 if owned else 1)
                named = self._noun_type(low[start:], tokens[start:])
                if named.kind != "any":
                    return named
        if not self.question_words & set(low) or "what" in low or self.which_is.search(question):
            # "what was the year that the league began", "director of the film?": the noun before names the type;
            # "and the director?", "what was his wife's name?": the last noun that names a type does
            end = next((place for place, token in enumerate(low) if token in self.relating and place), len(low))
            before = self._first_type(reversed(low[:end]))
            return before if before.kind != "any" else self._first_type(reversed(low))
        return _ANY

    def asks_for_year(self, question: str) -> bool:
        """Return True if a question asks for a year rather than a day ("in which year", "release year?")."""
        words = fold(question).split()
        return "year" in words and self.more_than_a_year.isdisjoint(words)

    def parse_label(self, label: str) -> AnswerType:
        """Return the type with a label; the inverse of `AnswerType.label`."""
        label = label.strip()
        if label in NAMED_KINDS:
            return AnswerType(label)
        if label in self.place_classes:
            return AnswerType("place", (label,))
        if label == _YES_OR_NO:
            return AnswerType("yesno")
        return AnswerType("item", tuple(label.split())) if label else _ANY

    def _noun_type(self, low: list[str], tokens: list[str]) -> AnswerType:
        """Return the type that the words after "what" or "which" name: "which record label", "what year", "what kind of music"."""
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
            forms = (noun, noun.rstrip("s"))
            if noun in self.date_nouns:
                return AnswerType("date")
            if noun in self.number_nouns:
                return AnswerType("number")
            if not self.person_nouns.isdisjoint(forms):
                return AnswerType("person")
            classes = [form for form in forms if form in self.place_classes]
            if classes or not self.place_nouns.isdisjoint(forms):
                return AnswerType("place", tuple(classes[:1]))
            if self.names_class(noun):
                return AnswerType("item", (noun,))
        return _ANY

    # -- classes of items ----------------------------------------------------------------------------------------------

    def noun_types(self, noun: str) -> WordSet:
        """Return the stems of class names that a noun of a question stands for ("movies" -> film)."""
        return self._class_stems.get(self.words.stem(noun)) or frozenset(self.words.stems(noun))

    def names_class(self, noun: str) -> bool:
        """Return True if a noun is a known word for a class of items."""
        return self.words.stem(noun) in self._class_stems and noun.lower() not in self.adjectives

    def types_from_label(self, label: str) -> tuple[str, ...]:
        """Return the type in the label of an item without classes: "award" for "Award for Best Director"."""
        if not label[:1].isupper():
            return ()
        return tuple(word for word in fold(label).split() if self.names_class(word))[:1]

    def head(self, name: str) -> str:
        """Return the folded head noun of the name of a class: "city" of "city of the United States"."""
        return " ".join(fold(self._linking.split(name)[0]).split()[-1:])

    def heads(self, types: Iterable[str]) -> WordSet:
        """Return the stems of the head nouns of class names: a "film director" is not a film."""
        return frozenset(stem for stem in map(self._head_stem, types) if stem is not None)

    @cached_property
    def _head_stem(self) -> Callable[[str], str | None]:
        return lru_cache(maxsize=50_000)(lambda name: self.words.stem(self.head(name)) if fold(name) else None)

    def of_class(self, name: str) -> AnswerType:
        """Return the type of the items of a class, by its label (lower case): a "human settlement" is a place."""
        if name in self.person_types:
            return AnswerType("person")
        if self.heads([name]) & self._type_stems["place"]:
            return AnswerType("place", (name,) if name in self.place_classes else ())
        return AnswerType("item", tuple(name.split()))

    def is_character(self, types: Iterable[str]) -> bool:
        """Return True if an item is a fictional character."""
        return any(word in name for name in types for word in self.character_types)

    def fit(self, expected: AnswerType, entity_id: str, types: Iterable[str]) -> float:
        """Return the fit of an entity to the expected type, from 0 to 1; unknown types fit a little.

        Args:
            expected: of the question.
            entity_id: the id of the candidate: an item, a date or a number.
            types: labels of the item's classes, lower case.
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
            classes = frozenset().union(*map(self.noun_types, expected.words))
            return 1.0 if heads & classes else 0.05
        return 0.8

    def entity_kind(self, entity_id: str, types: Iterable[str]) -> str:
        """Return person, group, place, people (a nation, a language), date, number or thing, which pronouns distinguish."""
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
        """Return True if an item is a country."""
        return bool(self.heads(types) & self._type_stems["country"])

    # -- stems of the lists --------------------------------------------------------------------------------------------

    @cached_property
    def _linking(self) -> re.Pattern[str]:
        return re.compile(f" (?:{'|'.join(map(re.escape, self.linking_words))}) ")

    @cached_property
    def _class_stems(self) -> Table:
        nouns = {noun: frozenset([noun]) for noun in self.plain_classes} | {**self.class_nouns}
        return self._stem_table({self.words.stem(noun): names for noun, names in nouns.items()})

    @cached_property
    def _place_class_stems(self) -> Table:
        return self._stem_table(self.place_classes)

    def _stem_table(self, table: Mapping[str, WordSet]) -> Table:
        return MappingProxyType({key: self.words.stem_set(names) for key, names in table.items()})

    @cached_property
    def _type_stems(self) -> Table:
        kinds = ("group", "people", "place", "site", "country")
        return self._stem_table({kind: getattr(self, f"{kind}_types") for kind in kinds})
