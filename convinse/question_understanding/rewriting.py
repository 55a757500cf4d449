"""Rewriting: the question in full, from the question and its history."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..encoder.rewriter import Pointers, QuestionRewriter
from ..knowledge_base.index import KnowledgeBase
from ..language.language import Language
from ..records.conversation import Turn
from ..records.rewriting import EarlierTurn, Edits, FullQuestion, concatenated, history_text, rewritten
from .history import answer_text

_LONGEST = 40  # tokens of a span
_GENDER = 21  # Wikidata's property "sex or gender"
_GENDERS = {"Q6581097": "male", "Q6581072": "female"}
_WORD = re.compile(r"(?i)(?:this|that) one\b|\w+")
# the kinds that a pronoun of a kind may mean: a band is an "it" and a "they", several people are "they"
_KINDS = {"thing": ("thing", "group"), "group": ("group", "person")}


class Name(NamedTuple):
    """A name in the text of a history, `text[start:end]`, of an item, or of words that are no item."""

    start: int
    end: int
    item_id: str


class Rewriter:
    """Puts questions in full.

    A model points at what goes where. In the place of a pronoun go names that the conversation knows only, and of these the
    likeliest that the pronoun may mean, by the kind and the gender of its item.

    Args:
        model: points; None: the question before and its answer are put before the question.
        kb: knows the items.
        language: knows the pronouns.
    """

    def __init__(self, model: QuestionRewriter | None, kb: KnowledgeBase, language: Language) -> None:
        self._model, self._kb, self._language = model, kb, language

    def rewrite(self, questions: Sequence[str], histories: Sequence[Sequence[Turn]]) -> list[FullQuestion]:
        """Return the questions in full, each with its history."""
        earlier = [list(map(earlier_turn, history)) for history in histories]
        if self._model is None:
            return [concatenated(question, turns) for question, turns in zip(questions, earlier, strict=True)]
        texts = list(map(history_text, earlier))
        full = []
        for number, pointers in enumerate(self._model.pointers(questions, texts)):
            edits = Edits()
            if pointers is not None:
                names = list(names_in(texts[number], histories[number]))
                edits = self._edits(questions[number], texts[number], names, pointers)
            full.append(rewritten(questions[number], earlier[number], edits))
        return full

    def _edits(self, question: str, history: str, names: Sequence[Name], pointers: Pointers) -> Edits:
        parts = _parts(pointers.tokens, history)
        pronouns = {
            match.start(): match
            for match in _WORD.finditer(question)
            if match[0].casefold().split()[0] in self._language.words.all_pronouns
        }
        inserted: dict[int, tuple[int, int]] = {}
        removed = set()
        for gap in np.flatnonzero(pointers.starts[:, 0] + pointers.ends[:, 0] < 1).tolist():
            place = int(pointers.gaps[gap])
            pronoun = pronouns.get(place)
            if pronoun is not None:
                removed.add((place, pronoun.end()))
            words = "" if pronoun is None else pronoun[0].casefold()
            span = None if pronoun is None and 0 in (place, *inserted) else self._named(words, names, pointers, gap)
            inserted[place] = span or _likeliest(parts, pointers, gap)
        removed |= {(start, end) for start, end in pointers.removed if start == 0 and 0 in inserted}
        return Edits(tuple(sorted(removed)), tuple((place, *span) for place, span in sorted(inserted.items())))

    def _named(self, pronoun: str, names: Sequence[Name], pointers: Pointers, gap: int) -> tuple[int, int] | None:
        """The likeliest name that a pronoun may mean; without a pronoun the likeliest of all."""
        best, most = None, 0.0
        for name in names:
            within = np.flatnonzero((pointers.tokens[:, 0] >= name.start) & (pointers.tokens[:, 1] <= name.end))
            if not len(within) or not self._may_mean(pronoun, name.item_id):
                continue
            share = float(pointers.starts[gap, 1 + within[0]] * pointers.ends[gap, 1 + within[-1]])
            if share > most:
                best, most = (name.start, name.end), share
        return best

    def _may_mean(self, pronoun: str, item_id: str) -> bool:
        words, types = self._language.words, self._language.answer_types
        if pronoun not in words.personal or not item_id.startswith("Q"):
            return True
        kind = types.entity_kind(item_id, self._kb.types(item_id))
        named = next(name for name, forms in words.pronouns.items() if pronoun in forms)
        if kind not in _KINDS.get(named, (named,)):
            return False
        genders = {gender for gender, forms in words.genders.items() if pronoun in forms}
        own = {_GENDERS[value] for value in self._kb.objects(item_id, _GENDER) if value in _GENDERS}
        return not genders or not own or not genders.isdisjoint(own)


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
