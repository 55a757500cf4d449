"""Rewriting: the question in full, from the question and its history."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..encoder.question_readers import Pointers, QuestionRewriter
from ..knowledge_base.index import KnowledgeBase
from ..knowledge_base.linking import EntityLinker, LinkedMention
from ..language.language import Language
from ..language.text import fold
from ..records.conversation import Turn
from ..records.rewriting import EarlierTurn, FullQuestion, Inserted, Insertion, concatenated, history_text, rewritten
from .history import answer_text
from .referents import FeatureReader, ReferentWeights, Spoken, spoken_of

_LIKELY = 0.1  # least probability of the referent of a second pronoun
_WORD = re.compile(r"\w+")


class Name(NamedTuple):
    """A name in the text of a history, `text[start:end]`, and the id of its thing."""

    start: int
    end: int
    item_id: str


class Rewriter:
    """Rewrites follow-ups as questions in full.

    A model points at the part of the question before that an ellipsis replaces ("and in 1998?"), and at the names of things in
    the history. A logit chooses the referent; its name takes the place of a pronoun, or goes behind the question.

    Args:
        model: the pointers; if None, the question before and its answer are put before the question.
        weights: of the logit; None without a model.
        kb: with the items.
        linker: of the question's names.
        language: of the questions.
    """

    def __init__(
        self,
        model: QuestionRewriter | None,
        weights: ReferentWeights | None,
        kb: KnowledgeBase,
        linker: EntityLinker,
        language: Language,
    ) -> None:
        self._model, self._weights, self._kb, self._linker, self._language = model, weights, kb, linker, language
        self._reader = FeatureReader(kb, language)

    def rewrite(self, questions: Sequence[str], histories: Sequence[Sequence[Turn]]) -> list[FullQuestion]:
        """Return the questions in full."""
        earlier = [list(map(earlier_turn, history)) for history in histories]
        if self._model is None or self._weights is None:
            return [concatenated(question, turns) for question, turns in zip(questions, earlier, strict=True)]
        pointers = self._model.pointers(questions, list(map(history_text, earlier)))
        return [
            FullQuestion(question) if points is None else self._in_full(question, history, turns, points, self._weights)
            for question, history, turns, points in zip(questions, histories, earlier, pointers, strict=True)
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
        if changed:
            folded = changed.text.casefold()
            if (
                not spoken
                or named_items(self._linker.link(changed.text, classes=True))
                or any(thing.entity["label"].casefold() in folded for thing in spoken)
            ):
                return changed
        shares = pointed(spoken, list(names_in(history_text(earlier), history)), pointers)
        named = named_items(self._linker.link(question, classes=True))
        features = self._reader.read(question, spoken, len(history), shares, named)
        nothing = self._reader.read_nothing(question, named)
        chances = weights.probabilities(features, nothing) if spoken else np.zeros(0)
        order = sorted(range(len(spoken)), key=lambda place: -chances[place])
        # without facts to link it, a question without pronoun does not refer to the history
        stands_alone = not self._kb.has_facts and not self._reader.pronouns(question)
        if not order or chances[order[0]] <= 1 - chances.sum() or stands_alone:
            return changed or FullQuestion(question)
        about = [spoken[place] for place in order if place == order[0] or chances[place] >= _LIKELY]
        if changed:  # the referent goes behind it, in brackets
            text, inserted = changed.text.rstrip(" ?"), _named(0, about[0])
            start = len(text) + 2
            name = Insertion(start, start + len(inserted.text), *inserted[2:])
            return FullQuestion(f"{text} ({inserted.text})?", (*changed.insertions, name))
        return rewritten(question, *self._names(question, about), self._language.words.owns)

    def _changed(self, question: str, earlier: Sequence[EarlierTurn], pointers: Pointers) -> FullQuestion | None:
        """Return the question before with an ellipsis ("and in 1998?") in the place of a part of it; None for other questions."""
        before = earlier[-1].question
        within = np.flatnonzero(pointers.tokens[:, 1] <= len(before))
        starts, ends = pointers.replaced
        if starts[0] + ends[0] >= 1 or not len(within):
            return None
        first = int(starts[1 + within].argmax())
        last = first + int(ends[1 + first : 1 + len(within)].argmax())
        start, end = int(pointers.tokens[first, 0]), int(pointers.tokens[last, 1])
        ellipsis = self._ellipsis(question, before[:start], before[start:end])
        turn = len(earlier) - 1
        insertions = [Insertion(0, start, turn, "question")] if start else []
        if rest := before[end:].strip(" ?.!"):
            begin = start + len(ellipsis) + 1
            insertions.append(Insertion(begin, begin + len(rest), turn, "question"))
        return FullQuestion(f"{before[:start]}{ellipsis} {rest}".rstrip() + "?", tuple(insertions))

    def _ellipsis(self, question: str, before: str, replaced: str) -> str:
        """Return the words of a question that take the place of `replaced` behind `before`, without "and" or "what about"."""
        words = question.strip(" ?.!").split()
        numbers = [place for place, word in enumerate(words) if word[0].isdigit()]
        if replaced[0].isdigit() and numbers:  # "and the film from 2008?"
            return " ".join(words[numbers[0] : numbers[-1] + 1])
        leaving = self._language.words.fillers | {"what", "how", "about"}
        while len(words) > 1 and fold(words[0]) in leaving:
            words.pop(0)
        last = fold(before.split()[-1]) if before.split() else None
        while len(words) > 1 and fold(words[0]) == last:
            words.pop(0)
        return " ".join(words)

    def _names(self, question: str, about: Sequence[Spoken]) -> tuple[list[Inserted], list[tuple[int, int]]]:
        """Return the names of the referents, which take the place of pronouns; the first else goes behind the question."""
        inserted: list[Inserted] = []
        removed: list[tuple[int, int]] = []
        words = self._language.words
        gendered = frozenset().union(*words.genders.values())
        pronouns = [match for match in _WORD.finditer(question) if match[0].casefold() in words.personal]
        pronouns += words.pointing_phrase.finditer(question)
        left = list(about)
        for match in sorted(pronouns, key=lambda match: (match[0].casefold() not in gendered, match.start())):
            first = match[0].casefold().split()[0]
            referent = next((thing for thing in left if self._reader.may_mean(first, thing.entity["id"])), None)
            if referent is not None:
                left.remove(referent)  # "did they find her": two words are two things
                inserted.append(_named(match.start(), referent))
                removed.append(match.span())
        if about[0] in left and about[0].entity["label"].casefold() not in question.casefold():
            inserted.append(_named(len(question.rstrip(" ?.!")), about[0]))
        return inserted, removed


def _named(place: int, thing: Spoken) -> Inserted:
    is_answer = not thing.questions or (thing.answers and thing.answers[-1] > thing.questions[-1])
    turn = thing.answers[-1] if is_answer else thing.questions[-1]
    return Inserted(place, thing.entity["label"], turn, "answer" if is_answer else "question", thing.entity)


def earlier_turn(turn: Turn) -> EarlierTurn:
    """Return an earlier turn as the rewriting of a later question reads it."""
    return EarlierTurn(turn.get("resolved_question") or turn["question"], answer_text(turn))


def named_items(linked: Iterable[LinkedMention]) -> dict[str, int]:
    """Return the places of the items that a question surely names, by their ids."""
    return {mention.candidates[0].id: mention.start for mention in linked if mention.is_name and mention.is_certain}


def names_in(text: str, history: Iterable[Turn]) -> Iterator[Name]:
    """Yield the names of things in the text of a history, wherever they stand."""
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
    """Return for each thing the greatest probability of a pointer from the question to a name of it."""
    shares = dict.fromkeys((thing.entity["id"] for thing in spoken), 0.0)
    for name in names:
        within = np.flatnonzero((pointers.tokens[:, 0] >= name.start) & (pointers.tokens[:, 1] <= name.end))
        if len(within) and name.item_id in shares:
            probabilities = pointers.starts[:, 1 + within[0]] * pointers.ends[:, 1 + within[-1]]
            shares[name.item_id] = max(shares[name.item_id], float(probabilities.max()))
    return list(shares.values())
