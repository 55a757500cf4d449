"""Follow-ups that compare what the last two questions were about: "which of them is longer?", "who is older?", "by how much?"."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import zip_longest
from typing import Literal

from ..knowledge_base.items import Items
from ..language.language import Language
from ..language.text import fold
from ..records.conversation import Turn
from ..records.literals import is_item
from ..records.rewriting import FullQuestion, Insertion

_PARTS: tuple[Literal["question", "answer"], ...] = ("question", "answer")  # of a turn, in which things are looked for
_WORD = re.compile(r"\w+")


class PairFollowUps:
    """Reads follow-ups as questions for one of two things.

    Args:
        kb: the kinds of things.
        language: the language of the questions.
    """

    def __init__(self, kb: Items, language: Language) -> None:
        self._kb, self._language = kb, language

    def about_pair(
        self, question: str, history: Sequence[Turn], earlier: str, named: Collection[str]
    ) -> FullQuestion | None:
        """Return a follow-up in full, with the things that it compares; None if it compares nothing, or names what it compares.

        Args:
            question: the follow-up.
            history: the earlier turns, oldest first.
            earlier: the last question in full.
            named: the items that the follow-up names itself.
        """
        operations = self._language.operations
        if named:
            return self._apart_from_last(question, history, named)
        if (of_couple := self._of_couple(question, history, earlier)) is not None:
            return of_couple
        if operations.apart.match(question):
            return self._how_far_apart(question, history, earlier)
        pair = self._pair(history, self._kinds(question)) if self._compares(question) else None
        if pair is None:
            return None
        beginning = f"{question.rstrip(' ?.!')}{self._measure(question, earlier)}"
        return _with_names([f"{beginning}, ", f" {min(operations.offering)} ", "?"], pair)

    def _of_couple(self, question: str, history: Sequence[Turn], earlier: str) -> FullQuestion | None:
        """Return a follow-up about two people in full: "when did they marry?" behind "who was her second husband?"."""
        words, last = self._language.words, len(history) - 1
        pronouns = [match for match in _WORD.finditer(question) if match[0].lower() in words.pronouns["group"]]
        found = history[last].get("answers") or [] if "abstained" not in history[last] else []
        if len(pronouns) != 1 or len(found) != 1 or words.couples.isdisjoint(_WORD.findall(fold(earlier))):
            return None
        is_for_person = self._language.answer_types.expected_type(earlier).kind == "person"
        people = [
            topic
            for topic in self._topics(history, last)
            if topic.entity and self._kind(topic.entity["id"]) == "person"
        ]
        if not is_for_person or not people or people[0].entity == found[0]:
            return None
        start, end = pronouns[0].span()
        answer = Insertion(0, 0, last, "answer", found[0])
        return _with_names([question[:start], " and ", question[end:]], [people[0], answer])

    def _how_far_apart(self, question: str, history: Sequence[Turn], earlier: str) -> FullQuestion | None:
        """Return a bare question for a difference in full: "by how much?" behind "who is older?", "how much longer is that?"."""
        operations = self._language.operations
        offered = self._topics(history, len(history) - 1)  # "which is longer, Alien or Jaws?"
        names_both = operations.offers(earlier) or operations.than in fold(earlier).split()
        is_choice = len(offered) == 2 and names_both
        pair = offered if is_choice else self._pair(history[:-1]) or self._pair(history)
        if pair is None:
            return None
        if is_choice:
            start = len(question.rstrip(" ?.!")) + len(": ")
            text = f"{question.rstrip(' ?.!')}: {earlier}"
            return FullQuestion(text, (Insertion(start, len(text), len(history) - 1, "question"),))
        beside, _ = self._pair(history) or pair  # "how tall is she?", of which the last one is the second
        is_dated = self._language.answer_types.expected_type(earlier).kind == "date"
        to_other = operations.years_to if is_dated else operations.compared_to
        beginning = f"{earlier.rstrip(' ?.!')}{to_other.split('{}')[0]}"
        full = _with_names([beginning, "?"], [beside])
        whole = Insertion(0, len(earlier.rstrip(" ?.!")), len(history) - 1, "question")
        return full._replace(insertions=(whole, *full.insertions))

    def _apart_from_last(self, question: str, history: Sequence[Turn], named: Collection[str]) -> FullQuestion | None:
        """Return a question that compares one thing in full, with the other one: "by how much is Titanic longer?", "is Titanic longer?"."""
        operations, than = self._language.operations, self._language.operations.than
        words = _WORD.findall(fold(question))
        is_yes_no = self._language.answer_types.expected_type(question).kind == "yesno"
        is_compared = is_yes_no and words[-1:] and operations.compares(words[-1]) and words[-1] not in operations.places
        if len(named) != 1 or than in words or not (operations.differing.search(question) or is_compared):
            return None
        topics = [topic for number in reversed(range(len(history))) for topic in self._topics(history, number)]
        other = next((topic for topic in topics if topic.entity is not None and topic.entity["id"] not in named), None)
        if other is None or other.entity is None:
            return None
        # names in lower case are no names beside one with a capital
        label = other.entity["label"].lower() if question == question.lower() else other.entity["label"]
        start = len(question.rstrip(" ?.!")) + len(than) + 2
        text = f"{question.rstrip(' ?.!')} {than} {label}?"
        return FullQuestion(text, (other._replace(start=start, end=start + len(label)),))

    def _topics(self, history: Sequence[Turn], number: int) -> list[Insertion]:
        """Return the things that an earlier turn was about."""
        representation = history[number].get("representation")
        topics = [*representation["entities"], *representation["context"]] if representation else []
        return [Insertion(0, 0, number, "question", topic) for topic in topics if is_item(topic["id"])]

    def _compares(self, question: str) -> bool:
        """Return True if a question asks which of two things is more, and names none: not "which film came first?"."""
        operations, types = self._language.operations, self._language.answer_types
        words = _WORD.findall(fold(question))
        is_choice = operations.choosing_one.match(question) and operations.compares(question)
        if not is_choice or operations.offers(question):
            return False
        is_bare = operations.is_of_degree(words[-1]) and not any(map(types.names_class, words))
        # "which has the bigger budget?", not "which film was first?"
        is_bare = is_bare or (operations.comparison(question) is not None and not types.names_class(words[1]))
        return is_bare or operations.of_two.search(question) is not None

    def _kinds(self, question: str) -> Collection[str]:
        """Return the kinds of things that a question may choose from: people if it asks "who"."""
        kinds = self._language.words.pronouns
        expected = self._language.answer_types.expected_type(question).kind
        return (expected,) if expected in kinds else kinds

    def _pair(self, history: Sequence[Turn], kinds: Collection[str] = ()) -> list[Insertion] | None:
        """Return what the last two turns were about, or else found, two things of one of the kinds; None without them."""
        for part in _PARTS:
            pair = []
            for number in range(len(history))[-2:]:
                representation = history[number].get("representation")
                topics = representation["entities"] if representation else []
                found = history[number].get("answers") or [] if "abstained" not in history[number] else []
                pair += [Insertion(0, 0, number, part, each) for each in (topics if part == "question" else found)[:1]]
            of_kinds = [self._kind(each.entity["id"]) for each in pair if each.entity is not None]
            is_pair = len({each.entity["id"] for each in pair if each.entity is not None}) == len(pair) > 1
            if is_pair and len({*of_kinds}) == 1 and of_kinds[0] in (kinds or self._language.words.pronouns):
                return pair
        return None

    def _kind(self, item: str) -> str:
        return self._language.answer_types.entity_kind(item, self._kb.types(item)) if is_item(item) else ""

    def _measure(self, question: str, earlier: str) -> str:
        """Return what was counted before, for "which has more?"; empty if the question says what it compares."""
        properties, literals = self._language.properties, self._language.literals
        counted = literals.counted.search(earlier)
        measures, _ = self._language.operations.comparison(question) or (frozenset[str](), True)
        if counted is None or measures or self._language.operations.compares_dates(question) is not None:
            return ""
        nouns = earlier[counted.end() :].split()[:1]
        return "" if not nouns or properties.keywords(nouns[0]) <= properties.keywords(question) else f" {nouns[0]}"


def _with_names(pieces: Sequence[str], pair: Sequence[Insertion]) -> FullQuestion:
    """Return a question in full: its pieces, with the names of two things between them."""
    text, insertions = "", []
    for piece, insertion in zip_longest(pieces, pair):
        text += piece
        if insertion is not None and insertion.entity is not None:
            start = len(text)
            text += insertion.entity["label"]
            insertions.append(insertion._replace(start=start, end=len(text)))
    return FullQuestion(text, tuple(insertions))
