"""What a question points at: "he", "the film", "that one" mean something that was said before, also where nothing chose it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from ..knowledge_base.index import KnowledgeBase
from ..language.language import Language
from ..language.text import fold
from ..records.conversation import Turn
from .referents import GENDER, GENDERS, Focus, Referent, kinds_of, may_mean

_WORD = re.compile(r"\w+")
_NAME = re.compile(r"[^\W\d_][\w.'’-]*(?: [^\W\d_][\w.'’-]*)+")
_NAMESAKES = 50  # people of a given name who are looked at


class Name(NamedTuple):
    """A name, or a role, in a question, `question[start:end]`, and what it stands for."""

    start: int
    end: int
    referent: Referent


class Pointing:
    """Finds what the words of a question point at.

    Args:
        kb: knows the gender of people, and so that of given names.
        language: of the questions.
        is_a: whether a referent is of the class that a noun names.
        is_rival: whether one of some items is of the class of a referent, and not beside it in a fact.
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        language: Language,
        is_a: Callable[[Referent, str], bool],
        is_rival: Callable[[Referent, Iterable[Referent]], bool],
    ) -> None:
        self._kb, self._language, self._is_a, self._is_rival = kb, language, is_a, is_rival
        self._gender = lru_cache(maxsize=1024)(self._gender_of)

    # -- people who are no items ---------------------------------------------------------------------------------------

    def told(self, turn: Turn) -> tuple[Referent, ...]:
        """The people among the answers of a turn whom the knowledge base does not know; the turn has a representation."""
        if turn["representation"]["answer_type"] not in ("person", ""):
            return ()
        labels = [answer["label"] for answer in turn.get("answers", []) if answer["id"] == answer["label"]]
        people = filter(self._is_person, labels)
        return tuple(Referent(name, name, "person", self._gender(name.split()[0])) for name in people)

    def _is_person(self, name: str) -> bool:
        """Whether a name is written as those of people are: two words or more, with capitals."""
        particles = self._language.names.particles
        written = _NAME.fullmatch(name) is not None and fold(name).split()[0] not in self._language.words.not_names
        return written and all(word[0].isupper() or word in particles for word in name.split())

    def _gender_of(self, given_name: str) -> str:
        form = fold(given_name)
        namesakes = self._kb.search_names([form], _NAMESAKES) if form else []
        people = [person.id for person in namesakes if fold(person.label).split()[:1] == [form]]
        items = chain.from_iterable(self._kb.objects(person, GENDER)[:1] for person in people)
        genders = Counter(GENDERS[item] for item in items if item in GENDERS)
        return genders.most_common(1)[0][0] if genders else ""

    # -- what words point at -------------------------------------------------------------------------------------------

    def lacking(
        self, question: str, names: Sequence[Name], meant: Sequence[Referent], foci: Sequence[Focus]
    ) -> list[Referent]:
        """What the words of a question point at and nothing of `meant` is: of each word the latest that it may mean.

        "That one" is always among them, and first. With somebody who is no item come the things that were asked about then.
        """
        pointed = self._the_one(question, names, foci)
        lacking = [] if pointed is None else [pointed]
        ordered = (item for focus in reversed(foci) for item in (*focus.answered, *focus.told, *focus.asked))
        talked_about = list(dict.fromkeys(ordered))
        for noun in self._nouns(question, names):
            of_class = [item for item in talked_about if self._is_a(item, noun)]
            if not any(self._is_a(item, noun) for item in (*lacking, *meant)):
                lacking += of_class[:1]
        for pronoun in self._pronouns(question, names):
            lacking += self._meant_by(pronoun, talked_about, (*lacking, *meant), foci[-1])
        for focus in foci:  # who is no item has no page: what was asked about tells of them
            if not set(lacking).isdisjoint(focus.told):
                lacking += [
                    item for item in focus.asked if item.kind in ("thing", "group") and item not in (*lacking, *meant)
                ]
        return lacking

    def unmeant(self, question: str, names: Sequence[Name], meant: Sequence[Referent]) -> list[str]:
        """The pronouns for a man or a woman before which a question names nobody, and that nothing of `meant` is."""
        words = self._language.words
        gendered = {form for forms in words.genders.values() for form in forms}
        return [
            pronoun
            for pronoun in self._pronouns(question, names)
            if pronoun in gendered and not any(may_mean(pronoun, item, words) for item in meant)
        ]

    def _meant_by(
        self, pronoun: str, talked_about: Sequence[Referent], meant: Sequence[Referent], last: Focus
    ) -> list[Referent]:
        """What a pronoun means and nothing of `meant` is.

        Who answered last is meant rather than who was there before; who is no item cannot have been chosen.
        """
        fitting = [item for item in talked_about if may_mean(pronoun, item, self._language.words)]
        if "group" in kinds_of(pronoun, self._language.words):  # or people of whom nothing was said
            fitting = [item for item in fitting if item.kind != "person"]
        if fitting and fitting[0] in last.told:
            return [item for item in fitting[:1] if item not in meant]
        is_there = any(may_mean(pronoun, item, self._language.words) for item in meant)
        return [] if is_there else fitting[:1]

    def _the_one(self, question: str, names: Sequence[Name], foci: Sequence[Focus]) -> Referent | None:
        """What "that one" means, unless it is named before: the latest thing like a name behind it, else the last answer."""
        phrase = self._language.conversation.that_one.search(question)
        if phrase is None or any(name.end <= phrase.start() for name in names):
            return None
        named = [name.referent for name in names]
        for item in chain.from_iterable(focus.by_salience for focus in reversed(foci)):
            if self._is_rival(item, named) if named else item.kind in ("thing", "group"):
                return item
        return None

    def _nouns(self, question: str, names: Sequence[Name]) -> list[str]:
        """The nouns of classes that stand alone behind "the" or "that": not "the film Titanic", "the band of her brother"."""
        nouns = []
        for match in self._language.conversation.noun_alone.finditer(question):
            beside = any(name.start - 1 <= match.end(1) and match.start(1) <= name.end + 1 for name in names)
            following = _WORD.search(question, match.end(1))
            compound = following is not None and self._language.answer_types.names_class(following[0].lower())
            if not (beside or compound) and self._language.answer_types.names_class(match[1].lower()):
                nouns.append(match[1].lower())
        return nouns

    def _pronouns(self, question: str, names: Sequence[Name]) -> list[str]:
        words = self._language.words
        pronouns = []
        for match in _WORD.finditer(question):
            pronoun = match[0].lower()
            kinds = kinds_of(pronoun, words) if pronoun in words.personal - words.pronouns["place"] else ()
            if kinds and not any(name.end <= match.start() and name.referent.kind in kinds for name in names):
                pronouns.append(pronoun)
        return list(dict.fromkeys(pronouns))
