"""Rewriting: the question in full, from the question and its history."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..encoder.rewriter import Pointers, QuestionRewriter
from ..knowledge_base.index import KnowledgeBase
from ..knowledge_base.linking import EntityLinker
from ..language.language import Language
from ..language.text import fold
from ..records.conversation import Turn
from ..records.rewriting import EarlierTurn, FullQuestion, Inserted, concatenated, history_text, origin, rewritten
from .history import answer_text
from .referents import FeatureReader, NoneFeatures, ReferentWeights, Spoken, spoken_of

_HALF = 6  # words of half a sentence
_LONGEST = 40  # tokens of a span
_LIKELY = 0.1  # probability of what a second pronoun may mean
_PRONOUN = re.compile(r"(?i)\b(?:this|that|these|those)(?: ones?\b|(?=\W*$))|\w+")


class Name(NamedTuple):
    """A name in the text of a history, `text[start:end]`, and the id of what it names."""

    start: int
    end: int
    item_id: str


class Rewriter:
    """Puts questions in full.

    A model points at what goes where: spans of the history that open a question ("and in 1998?"), and the names of what was
    spoken of. Which of these the question is about decides a logit; its name goes in the place of a pronoun, or behind the question.

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
        text = history_text(earlier)
        inserted, removed = self._opening(text, earlier, pointers)
        spoken = spoken_of(history)
        if not inserted and self._leans(question, [thing.entity["id"] for thing in spoken]):
            inserted = [Inserted(0, earlier[-1].question, len(earlier) - 1, "question")]
        shares = pointed(spoken, list(names_in(text, history)), pointers)
        linked = self._linker.link(question, classes=True)
        named = {own.candidates[0].id for own in linked if own.is_name and own.is_certain}
        features = self._reader.read(question, spoken, len(history), shares, named)
        chances = weights.probabilities(features, NoneFeatures(float(bool(named)))) if spoken else np.zeros(0)
        order = sorted(range(len(spoken)), key=lambda place: -chances[place])
        if order and chances[order[0]] > 1 - chances.sum():
            about = [spoken[place] for place in order if place == order[0] or chances[place] >= _LIKELY]
            inserted, gone = self._names(question, about, inserted)
            removed += gone
        return rewritten(question, inserted, removed)

    def _leans(self, question: str, spoken: Sequence[str]) -> bool:
        """Return True of half a sentence ("and in 1965?", "When?") that asks for no property of what was spoken of."""
        words = self._language.words
        own = fold(question).split()
        if len(own) > _HALF or self._reader.pronouns(question):
            return False
        if words.common.issuperset(own):
            return True
        begins = own[0] in words.fillers or own[0] in words.no_noun
        asks = not words.stop_words.difference(words.fillers, words.articles, words.no_noun).isdisjoint(own)
        if not begins or asks or self._language.answer_types.is_existential(question):
            return False
        return not any(self._reader.has_property(item, question) for item in spoken)

    def _opening(
        self, text: str, earlier: Sequence[EarlierTurn], pointers: Pointers
    ) -> tuple[list[Inserted], list[tuple[int, int]]]:
        """The span of an earlier question that opens half a sentence, and the words of this that it replaces ("and")."""
        if pointers.starts[0, 0] + pointers.ends[0, 0] >= 1:
            return [], []
        start, end = _likeliest(_parts(pointers.tokens, text), pointers, 0)
        words = Inserted(0, text[start:end], *origin(earlier, start))
        return [words], [(first, last) for first, last in pointers.removed if first == 0]

    def _names(
        self, question: str, about: Sequence[Spoken], opening: list[Inserted]
    ) -> tuple[list[Inserted], list[tuple[int, int]]]:
        """The names of what a question is about: each in the place of a pronoun, the first else behind the question."""
        inserted, removed = list(opening), []
        words = self._language.words
        gendered = frozenset().union(*words.genders.values())
        pronouns = [match for match in _PRONOUN.finditer(question) if self._points(match, question)]
        left = list(about)
        for match in sorted(pronouns, key=lambda match: match[0].casefold() not in gendered):
            first = match[0].casefold().split()[0]
            meant = next((thing for thing in left if self._reader.may_mean(first, thing.entity["id"])), None)
            if meant is not None and not (match.start() == 0 and opening):
                left.remove(meant)  # "did they find her": two words are two things
                inserted.append(_named(match.start(), meant))
                removed.append(match.span())
        topic = about[0].entity
        said = (question, *(own.text for own in opening))
        is_said = any(topic["label"].casefold() in text.casefold() for text in said)
        if about[0] in left and not is_said:
            inserted.append(_named(len(question.rstrip(" ?.!")), about[0]))
        return inserted, removed

    def _points(self, match: re.Match[str], question: str) -> bool:
        """Return True of a pronoun that needs something said before: "he", "that one", "that" at the end."""
        words = self._language.words
        word = match[0].casefold().split()[0]
        is_last = not question[match.end() :].strip(" ?.!")
        return word in words.personal or (word in words.pointing and (" " in match[0] or is_last))


def _named(place: int, thing: Spoken) -> Inserted:
    is_answer = not thing.asked or (thing.answered and thing.answered[-1] > thing.asked[-1])
    turn = thing.answered[-1] if is_answer else thing.asked[-1]
    return Inserted(place, thing.entity["label"], turn, "answer" if is_answer else "question", thing.entity)


def earlier_turn(turn: Turn) -> EarlierTurn:
    """An earlier turn as it is read by who rewrites a later question."""
    return EarlierTurn(turn.get("resolved_question") or turn["question"], answer_text(turn))


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


def _likeliest(parts: np.ndarray, pointers: Pointers, gap: int) -> tuple[int, int]:
    """The likeliest span within one question or answer."""
    start = int(np.where(parts >= 0, pointers.starts[gap, 1:], 0).argmax())
    beyond = start + int((parts[start:] == parts[start]).argmin() or len(parts) - start)
    end = start + int(pointers.ends[gap, 1 + start : 1 + min(beyond, start + _LONGEST)].argmax())
    return int(pointers.tokens[start, 0]), int(pointers.tokens[end, 1])


def _parts(tokens: np.ndarray, history: str) -> np.ndarray:
    """[t] the number of the question or answer that each token of a history is in; -1 of the signs between them."""
    parts, number = [], 0
    for start, end in tokens:
        is_sign = history[start:end] in ("=", "|")
        number += is_sign
        parts.append(-1 if is_sign else number)
    return np.array(parts, dtype=np.int64)
