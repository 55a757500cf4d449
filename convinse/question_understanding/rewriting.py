"""Rewriting: the question in full, from the question and its history."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..encoder.rewriter import Pointers, QuestionRewriter
from ..knowledge_base.index import KnowledgeBase
from ..knowledge_base.linking import EntityLinker, LinkedMention
from ..language.language import Language
from ..language.text import fold
from ..records.conversation import Turn
from ..records.rewriting import EarlierTurn, FullQuestion, Inserted, Insertion, concatenated, history_text, rewritten
from .history import answer_text
from .referents import FeatureReader, ReferentWeights, Spoken, spoken_of

_LIKELY = 0.1  # probability of what a second pronoun may mean
_WORD = re.compile(r"\w+")


class Name(NamedTuple):
    """A name in the text of a history, `text[start:end]`, and the id of what it names."""

    start: int
    end: int
    item_id: str


class Rewriter:
    """Puts questions in full.

    A model points at what half a sentence changes in the question before ("and in 1998?"), and at the names of what was
    spoken of. Which of these a question is about decides a logit; its name goes in the place of a pronoun, or behind the question.

    Args:
        model: points; None: the question before and its answer are put before the question.
        weights: of the logit; None as `model`.
        kb: knows the items.
        linker: finds what a question names itself.
        language: knows the pronouns.
    """

    def __init__(
        self,
        model: QuestionRewriter | None,
        weights: ReferentWeights | None,
        kb: KnowledgeBase,
        linker: EntityLinker,
        language: Language,
    ) -> None:
        self._model, self._weights, self._linker, self._language = model, weights, linker, language
        self._reader = FeatureReader(kb, language)

    def rewrite(self, questions: Sequence[str], histories: Sequence[Sequence[Turn]]) -> list[FullQuestion]:
        """Return the questions in full, each with its history."""
        earlier = [list(map(earlier_turn, history)) for history in histories]
        if self._model is None or self._weights is None:
            return [concatenated(question, turns) for question, turns in zip(questions, earlier, strict=True)]
        pointers = self._model.pointers(questions, list(map(history_text, earlier)))
        return [
            FullQuestion(question) if own is None else self._in_full(question, history, turns, own, self._weights)
            for question, history, turns, own in zip(questions, histories, earlier, pointers, strict=True)
        ]

    def _in_full(
        self,
        question: str,
        history: Sequence[Turn],
        earlier: Sequence[EarlierTurn],
        pointers: Pointers,
        weights: ReferentWeights,
    ) -> FullQuestion:
        spoken = spoken_of(history)
        changed = self._changed(question, earlier, pointers)
        if changed and (not spoken or self._names_anything(changed.text, spoken)):
            return changed
        shares = pointed(spoken, list(names_in(history_text(earlier), history)), pointers)
        named = named_items(self._linker.link(question, classes=True))
        features = self._reader.read(question, spoken, len(history), shares, named)
        nothing = self._reader.read_nothing(question, named)
        chances = weights.probabilities(features, nothing) if spoken else np.zeros(0)
        order = sorted(range(len(spoken)), key=lambda place: -chances[place])
        if not order or chances[order[0]] <= 1 - chances.sum() or self._reader.stands_alone(question):
            return changed or FullQuestion(question)
        about = [spoken[place] for place in order if place == order[0] or chances[place] >= _LIKELY]
        if changed:
            return _about(changed, about[0])
        return rewritten(question, *self._names(question, about), self._language.words.owns)

    def _names_anything(self, question: str, spoken: Sequence[Spoken]) -> bool:
        """Return True if a question names an item, or a thing that was spoken of."""
        folded = question.casefold()
        return bool(named_items(self._linker.link(question, classes=True))) or any(
            thing.entity["label"].casefold() in folded for thing in spoken
        )

    def _changed(self, question: str, earlier: Sequence[EarlierTurn], pointers: Pointers) -> FullQuestion | None:
        """The question before with half a sentence in the place of a part of it ("and in 1998?"); None of another question."""
        before = earlier[-1].question
        within = np.flatnonzero(pointers.tokens[:, 1] <= len(before))
        starts, ends = pointers.replaced
        if starts[0] + ends[0] >= 1 or not len(within):
            return None
        first = int(starts[1 + within].argmax())
        last = first + int(ends[1 + first : 1 + len(within)].argmax())
        start, end = int(pointers.tokens[first, 0]), int(pointers.tokens[last, 1])
        half = self._half(question, before[:start], before[start:end])
        turn = len(earlier) - 1
        insertions = [Insertion(0, start, turn, "question")] if start else []
        if rest := before[end:].strip(" ?.!"):
            insertions.append(Insertion(start + len(half) + 1, start + len(half) + 1 + len(rest), turn, "question"))
        return FullQuestion(f"{before[:start]}{half} {rest}".rstrip() + "?", tuple(insertions))

    def _half(self, question: str, before: str, replaced: str) -> str:
        """The words of half a sentence, without "and" or "what about", and without those that stand before its place already.

        Args:
            question: half a sentence.
            before: what stands before its place.
            replaced: what stands in its place; of a number only numbers take the place ("and the one from 2008?").
        """
        words = question.strip(" ?.!").split()
        numbers = [place for place, word in enumerate(words) if word[0].isdigit()]
        if replaced[0].isdigit() and numbers:
            return " ".join(words[numbers[0] : numbers[-1] + 1])
        leaving = self._language.words.fillers | {"what", "how", "about"}
        while len(words) > 1 and fold(words[0]) in leaving:
            words.pop(0)
        told = before.split()
        while len(words) > 1 and told and fold(words[0]) == fold(told[-1]):
            words.pop(0)
        return " ".join(words)

    def _names(self, question: str, about: Sequence[Spoken]) -> tuple[list[Inserted], list[tuple[int, int]]]:
        """The names of what a question is about: each in the place of a pronoun, the first else behind the question."""
        inserted: list[Inserted] = []
        removed: list[tuple[int, int]] = []
        words = self._language.words
        gendered = frozenset().union(*words.genders.values())
        pronouns = [match for match in _WORD.finditer(question) if match[0].casefold() in words.personal]
        pronouns += words.pointing_phrase.finditer(question)
        left = list(about)
        for match in sorted(pronouns, key=lambda match: (match[0].casefold() not in gendered, match.start())):
            first = match[0].casefold().split()[0]
            meant = next((thing for thing in left if self._reader.may_mean(first, thing.entity["id"])), None)
            if meant is not None:
                left.remove(meant)  # "did they find her": two words are two things
                inserted.append(_named(match.start(), meant))
                removed.append(match.span())
        topic = about[0].entity
        if about[0] in left and topic["label"].casefold() not in question.casefold():
            inserted.append(_named(len(question.rstrip(" ?.!")), about[0]))
        return inserted, removed


def _named(place: int, thing: Spoken) -> Inserted:
    is_answer = not thing.asked or (thing.answered and thing.answered[-1] > thing.asked[-1])
    turn = thing.answered[-1] if is_answer else thing.asked[-1]
    return Inserted(place, thing.entity["label"], turn, "answer" if is_answer else "question", thing.entity)


def _about(changed: FullQuestion, thing: Spoken) -> FullQuestion:
    """A changed question with the name of the thing that it is about behind it."""
    text, inserted = changed.text.rstrip(" ?"), _named(0, thing)
    start = len(text) + 2
    name = Insertion(start, start + len(inserted.text), *inserted[2:])
    return FullQuestion(f"{text} ({inserted.text})?", (*changed.insertions, name))


def earlier_turn(turn: Turn) -> EarlierTurn:
    """An earlier turn as it is read by who rewrites a later question."""
    return EarlierTurn(turn.get("resolved_question") or turn["question"], answer_text(turn))


def named_items(linked: Iterable[LinkedMention]) -> dict[str, int]:
    """Where a question surely names items, by their ids."""
    return {mention.candidates[0].id: mention.start for mention in linked if mention.is_name and mention.is_certain}


def names_in(text: str, history: Iterable[Turn]) -> Iterator[Name]:
    """The names of what a conversation spoke of, wherever the text of its history has them."""
    names: dict[str, str] = {}
    for turn in history:
        spoken = turn.get("representation", {})
        for candidate in spoken.get("candidates", ()):
            if not candidate["rank"]:
                names[candidate["question_word"].casefold()] = candidate["item"]["id"]
        for item in (*spoken.get("context", ()), *spoken.get("entities", ()), *turn.get("answers", ())):
            names[item["label"].casefold()] = item["id"]
    folded = text.casefold()
    for name, item_id in names.items():
        for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", folded) if name else ():
            yield Name(match.start(), match.end(), item_id)


def pointed(spoken: Sequence[Spoken], names: Sequence[Name], pointers: Pointers) -> list[float]:
    """Of each thing the greatest share of the pointers that one of its names has anywhere in the question."""
    shares = dict.fromkeys((thing.entity["id"] for thing in spoken), 0.0)
    for name in names:
        within = np.flatnonzero((pointers.tokens[:, 0] >= name.start) & (pointers.tokens[:, 1] <= name.end))
        if len(within) and name.item_id in shares:
            own = pointers.starts[:, 1 + within[0]] * pointers.ends[:, 1 + within[-1]]
            shares[name.item_id] = max(shares[name.item_id], float(own.max()))
    return list(shares.values())
