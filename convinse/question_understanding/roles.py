"""Roles: "the author", "the drummer" of what a conversation is about, by the knowledge base's properties and classes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence, Set
from functools import cached_property
from typing import NamedTuple

from ..knowledge_base.index import KnowledgeBase
from ..knowledge_base.linking import LinkedMention
from ..language.language import Language
from ..language.text import fold
from .referents import Referent

_MOST = 2  # people of a role: of more, "the actor" does not say which
_WORDS = 2  # of a role: "lead singer"
_WORD = re.compile(r"\w+(?:['’]\w+)*")
_POSSESSIVE = re.compile(r"['’]s$")
_OF = re.compile(r" of (\w+)(?: (\w+))?", re.IGNORECASE)
_CLASS_PROPERTIES = frozenset({"P31", "P279"})


class Role(NamedTuple):
    """A role in a question, `question[start:end]`, and who has it; nobody where there is none."""

    start: int = 0
    end: int = 0
    meant: tuple[Referent, ...] = ()

    def outside(self, question: str) -> str:
        """The question with blanks in the place of the role."""
        return question[: self.start] + " " * (self.end - self.start) + question[self.end :]

    def named(self, question: str) -> str:
        """The question with the name behind the role: "the director James Cameron"."""
        if not self.meant:
            return question
        names = " and ".join(referent.label for referent in self.meant)
        return f"{question[: self.end]} {names}{question[self.end :]}"


class Roles:
    """Finds who is meant by a role.

    Args:
        kb: its properties name roles (director, author), as do the classes of people (drummer).
        language: of the questions and the knowledge base.
        referent: makes a referent of the id and the label of an item.
        neighbors: the ids of the items beside a referent in its facts.
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        language: Language,
        referent: Callable[[str, str], Referent],
        neighbors: Callable[[Referent], Set[str]],
    ) -> None:
        self._kb, self._language = kb, language
        self._referent, self._neighbors = referent, neighbors

    @cached_property
    def _properties(self) -> dict[frozenset[str], set[str]]:
        named: dict[frozenset[str], set[str]] = defaultdict(set)
        for name, label, aliases in self._kb.properties():
            if name not in _CLASS_PROPERTIES:
                for form in (label, *aliases):
                    named[self._language.properties.keywords(form)].add(name)
        named.pop(frozenset(), None)
        return dict(named)

    def find(self, question: str, mentions: Sequence[LinkedMention], topics: Iterable[Referent]) -> Role:
        """The first role in a question of which a topic has one or two people, unless it is the role that is asked for."""
        words = list(_WORD.finditer(question))
        definite, topics = self._language.words.definite, list(topics)
        for place, word in enumerate(words):
            if word[0].lower() not in definite:
                continue
            for size in range(_WORDS, 0, -1):
                phrase = words[place + 1 : place + 1 + size]
                if len(phrase) < size or phrase[-1][0].lower() in self._language.words.common:
                    continue
                complement = self._complement(question, phrase[-1].end(), mentions)
                if complement is None or not self._is_open(question, complement, mentions):
                    continue
                start, end = phrase[0].start(), phrase[-1].end() - len(_POSSESSIVE.findall(phrase[-1][0])) * 2
                if any(mention.start < end and start < mention.end for mention in mentions):
                    continue
                people = self._people(question[start:end], topics)
                if people:
                    return Role(start, end, people)
        return Role()

    def _complement(self, question: str, end: int, mentions: Sequence[LinkedMention]) -> int | None:
        """Where "of Titanic" or "of the film" behind a role ends, or the role itself; None where it is a role of something else."""
        of = _OF.match(question, end)
        if of is None:
            return end
        mention = next((mention for mention in mentions if of.start(1) <= mention.start <= of.end(1)), None)
        if mention is not None:
            return mention.end
        return of.end() if of[2] and self._language.answer_types.names_class(of[2].lower()) else None

    def _is_open(self, question: str, end: int, mentions: Sequence[LinkedMention]) -> bool:
        """Whether something is asked about the role that ends there: "When did the author die?", not "Who is the author?"."""
        rest = list(question)
        for mention in mentions:
            rest[mention.start : mention.end] = " " * (mention.end - mention.start)
        if set(fold("".join(rest[end:])).split()) - self._language.words.common:
            return True
        return self._language.answer_types.expected_type(question).kind in ("date", "number", "place")

    def _people(self, role: str, topics: Sequence[Referent]) -> tuple[Referent, ...]:
        """The people who have a role of the first topic that has such; none where they are more than two.

        They are the values of a property of that name, else the people beside a thing or a group who are of that class.
        """
        stems, types = frozenset(self._language.words.stems(role)), self._language.answer_types
        properties = sorted(self._properties.get(self._language.properties.keywords(role), ()))
        for topic in topics:
            if topic.id.startswith("Q"):
                values = (item for name in properties for item in self._kb.objects(topic.id, int(name[1:])))
                if people := self._known_people(values):
                    return people if len(people) <= _MOST else ()
        for topic in topics:
            if len(stems) == 1 and topic.kind in ("thing", "group"):
                beside = (item for item in self._neighbors(topic) if stems <= types.heads(self._kb.types(item)))
                if people := self._known_people(beside):
                    return people if len(people) <= _MOST else ()
        return ()

    def _known_people(self, items: Iterable[str]) -> tuple[Referent, ...]:
        ordered = sorted(set(items), key=lambda item: int(item[1:]))
        known = (self._referent(item, self._kb.label(item)) for item in ordered)
        return tuple(referent for referent in known if referent.kind == "person")

    # -- properties ----------------------------------------------------------------------------------------------------

    def asked_properties(self, predicate: Iterable[str]) -> set[str]:
        """The properties whose names, of one or two words, stand as a whole among the words of a predicate."""
        own = self._language.properties.keywords(" ".join(predicate))
        pairs = (frozenset((first, second)) for first in own for second in own)
        return {name for stems in {*pairs} for name in self._properties.get(stems, ())}

    def asks_property(self, predicate: Iterable[str]) -> bool:
        """Whether a predicate names a property, so that nothing of the question before is missing in it."""
        return bool(self.asked_properties(predicate))

    def is_property(self, text: str) -> bool:
        """Whether a text is the name of a property and nothing else: "The music?"."""
        return self._language.properties.keywords(text) in self._properties

    def has_any(self, referent: Referent, properties: Set[str]) -> bool:
        """Whether the knowledge base has a value of one of some properties for an item."""
        return referent.id.startswith("Q") and not properties.isdisjoint(self._kb.properties_of(referent.id))
