"""Finds the words by which a question asks for a property or an attribute."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from functools import cached_property, lru_cache
from typing import NamedTuple

from .text import Words
from .word_lists import Renamed, Table, WordLists, WordSet

_SHORTEST = 4  # a shorter word is not an agent


class PropertyWords(WordLists):
    """The forms of words for properties in questions and evidences; see `properties.txt`."""

    file = "properties.txt"
    words: Words
    counting: WordSet
    quantities: WordSet
    forms: Renamed
    phrases: Table
    bridging: WordSet
    expansions: Table
    light: WordSet

    @cached_property
    def keywords(self) -> Callable[[str], WordSet]:
        """The stems of a text's content words; forms of a word and its agent (directed, director) share a stem."""
        # cached: a question has the same names in many evidences
        return lru_cache(maxsize=8_000)(lambda text: frozenset(map(self._shared_form, self.words.stems(text))))

    def keyword(self, word: str) -> str:
        """Return the keyword of a folded word."""
        return self._shared_form(self.words.stem(word))

    def keyword_set(self, words: Iterable[str]) -> WordSet:
        """Return the keywords of some words, without stop words."""
        return self.keywords(" ".join(words))

    def with_synonyms(self, words: WordSet) -> WordSet:
        """Return keywords with those by which evidences say the same: guitarist beside "guitar"."""
        return words.union(*(self.expansions[word] for word in words if word in self.expansions))

    def holds(self, text: AbstractSet[str], word: str) -> bool:
        """Return True if the keywords of a text have a keyword, or all of its synonymous phrase (`oscar`: academy award)."""
        return word in text or (word in self.phrases and self.phrases[word] <= text)

    def _shared_form(self, word: str) -> str:
        agent = word.endswith("tor") and len(word) > _SHORTEST
        return self.forms.get(word) or (word.removesuffix("or") if agent else word)

    @cached_property
    def counting_stems(self) -> WordSet:
        """The stems of `counting`."""
        return self.words.stem_set(self.counting)

    @cached_property
    def quantity_stems(self) -> WordSet:
        """The stems of `quantities`."""
        return self.words.stem_set(self.quantities)

    @cached_property
    def light_keywords(self) -> WordSet:
        """The keywords of words that an evidence for yes may lack."""
        return self.keyword_set(self.light | self.words.telling)

    @cached_property
    def not_bridges(self) -> WordSet:
        """Stop words beside which a content word of a name does not refer to the property: "is a", "of which"."""
        return self.words.common - self.bridging


class PropertyLabel(NamedTuple):
    """The label of a property or an attribute, and the property's id if it is known."""

    text: str
    id: str = ""


class PropertyNames:
    """The names of properties, also for the same relations in tables and infoboxes.

    Args:
        properties: (id, label, aliases) of the knowledge base's properties.
        words: of their language.
    """

    def __init__(self, properties: Iterable[tuple[str, str, list[str]]], words: PropertyWords) -> None:
        self._words = words
        self._properties: dict[str, list[WordSet]] = {}  # by id
        self._labels: dict[WordSet, list[WordSet]] = {}
        self._aliases: dict[WordSet, list[WordSet]] = defaultdict(list)
        entries = [(name, self._name(label), list(map(self._name, aliases))) for name, label, aliases in properties]
        labels = {label for _, label, _ in entries}
        for property_id, label, aliases in entries:
            # an alias that is the label of another property names that property: "member of" is not an "instance of"
            names = [label, *(alias for alias in aliases if alias not in labels)] if label else []
            self._properties[property_id] = names
            self._labels.setdefault(label, names)
            for name in names:
                self._aliases[name] += names

    def coverage(self, label: PropertyLabel, words: AbstractSet[str]) -> float:
        """Return the largest fraction of a name that is among some stems, from 0 to 1 (a whole name).

        Args:
            label: of a property, or the header or attribute of an evidence; if it has no known id and is not the label of a
                property, the names of the properties that it is an alias of count, too.
            words: stems of a question, see `PropertyWords.keywords`.
        """
        return max((len(name & words) / len(name) for name in self._names(label)), default=0.0)

    def asking(self, label: PropertyLabel, words: AbstractSet[str]) -> WordSet:
        """Return the words that ask for a property: the words of its names that are among `words` as a whole."""
        return frozenset().union(*(name for name in self._names(label) if name <= words))

    def is_of(self, label: PropertyLabel, property_id: str) -> bool:
        """Return True if a label is that of a property: its id, or one of its names for "Born" of an infobox."""
        return label.id == property_id if label.id else self._name(label.text) in self._properties.get(property_id, ())

    def _names(self, label: PropertyLabel) -> list[WordSet]:
        text = self._name(label.text)
        names = self._properties.get(label.id) or self._labels.get(text) or [text, *self._aliases.get(text, ())]
        return [name for name in names if name]

    def _name(self, label: str) -> WordSet:
        words = self._words.keywords(label)
        return words - self._words.counting_stems or words
