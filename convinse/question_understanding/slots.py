"""CONVINSE's structured representation in four steps: rewrite, link, represent, render."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from ..config import Config
from ..encoder.checkpoint import model_path
from ..knowledge_base.index import KnowledgeBase
from ..knowledge_base.linking import LinkedMention
from ..knowledge_base.question_names import written_names
from ..language.answer_types import AnswerType
from ..language.language import Language
from ..language.text import fold
from ..records.conversation import HistoryPart, Turn, Understanding
from ..records.evidence import Entity, unique_entities
from ..records.representation import QuestionEntity, Representation, render
from ..records.rewriting import FullQuestion
from ..resources import Resources
from .base import QuestionUnderstanding
from .referents import read_weights
from .rewriting import Rewriter

_SPOKEN = 0.1  # score of what a conversation was about before
_NEIGHBORS = 1000  # items beside an item that are looked at
_WORD = re.compile(r"\w+(?:[-'’]\w+)*")
_BESIDE = 60  # characters before a name in which its noun is looked for
_BEFORE = re.compile(r"(\w+)\s+(\w+)\s+$")


class Slots(QuestionUnderstanding):
    """`context || question entities || predicate words || expected answer type`, after CONVINSE's representation.

    - `rewrite`: the question in full, by the rewrite head of `qu_rewriter`; without one the question before, its answer and the
      question. What was rewritten stays so: later turns read earlier questions in full.
    - `link`: the items that the question in full mentions. What was linked before keeps its id.
    - `represent`: items that the question names itself are its entities, those from the history its context; if it names
      none, those from the history are its entities. The expected answer type is that of the question in full.
    - `render`: the slots as a string.

    Args:
        config: `qu_rewriter`, `kb_path`, `clocq_params`, `sr_delimiter` and, for its answer type head, `ha_heads` are used.
        resources: what the stages of a pipeline share.
    """

    def __init__(self, config: Config, resources: Resources | None = None) -> None:
        super().__init__(config, resources)
        if config.qu_rewriter is not None:
            self.conversations_at_once = 4

    @cached_property
    def rewriter(self) -> Rewriter:
        """Puts questions in full, by the model of `qu_rewriter`, loaded on first use."""
        model, name = self.resources.rewriter(), self.config.qu_rewriter
        weights = None if name is None else read_weights(Path(model_path(name)), "qu_rewriter")
        return Rewriter(model, weights, self.kb, self.resources.linker, self.language)

    @property
    def kb(self) -> KnowledgeBase:
        """The knowledge base that questions are linked to."""
        return self.resources.kb

    def inference_on_turns(self, turns: Sequence[Turn], histories: Sequence[Sequence[Turn]]) -> list[Understanding]:
        """Fill the slots of all turns, whose models read them together; see the base class."""
        questions = [turn["question"] for turn in turns]
        in_full = self.rewriter.rewrite(questions, histories)
        types = self._answer_types(questions, in_full)
        chosen = [{fold(own["name"]): own["item"] for own in turn.get("meanings", ())} for turn in turns]
        return [self._understood(*parts) for parts in zip(questions, histories, in_full, types, chosen, strict=True)]

    def _answer_types(self, questions: Sequence[str], in_full: Sequence[FullQuestion]) -> list[AnswerType]:
        typing = self.resources.answer_typing
        if typing is None:
            return [self.language.answer_types.expected_type(question.text) for question in in_full]
        pairs = [(question, full.text) for question, full in zip(questions, in_full, strict=True)]
        return [likely.told for likely in typing.likely(pairs)]

    def _understood(
        self,
        question: str,
        history: Sequence[Turn],
        in_full: FullQuestion,
        answer_type: AnswerType,
        chosen: Mapping[str, Entity],
    ) -> Understanding:
        known = known_items(history)
        mentions = link(in_full, known, self.resources.linker.link(in_full.text, classes=True), self.kb, chosen)
        representation = represent(in_full, mentions, answer_type.label, self.language)
        representation["candidates"] += spoken_of(history, representation["candidates"])
        names = unlinked_names(question, representation["candidates"], self.kb, self.language)
        if names:
            representation["unlinked"] = [{"name": name} for name in names]
        return {
            "structured_representation": render(representation, self.config.sr_delimiter),
            "representation": representation,
            "resolved_question": in_full.text,
            "history_used": notes(in_full, history),
            "history_answers": unique_entities(answer for turn in history for answer in turn.get("answers", ())),
        }


class QuestionMention(NamedTuple):
    """A name in a question in full, `text[start:end]`, and the items that it may mean, best first."""

    start: int
    end: int
    meanings: tuple[QuestionEntity, ...]
    is_own: bool  # False: the name is from the history


def known_items(history: Iterable[Turn]) -> dict[str, Entity]:
    """The items that a conversation spoke of, by their folded names; a name that was said twice means the latest."""
    items: dict[str, Entity] = {}
    for turn in history:
        spoken = turn.get("representation", {})
        for item in (*spoken.get("context", ()), *spoken.get("entities", ()), *turn.get("answers", ())):
            if item["id"] != item["label"]:
                items[fold(item["label"])] = item
        for candidate in spoken.get("candidates", ()):
            if not candidate["rank"]:
                items[fold(candidate["question_word"])] = candidate["item"]
    return items


def link(
    in_full: FullQuestion,
    known: Mapping[str, Entity],
    linked: Sequence[LinkedMention],
    kb: KnowledgeBase,
    chosen: Mapping[str, Entity] = MappingProxyType({}),
) -> list[QuestionMention]:
    """The names of a question and their items.

    What the rewrite put in keeps its item, and folded names have the meanings that are `chosen`. A name means an item that the conversation spoke of before if it may; a doubtful
    one needs an item beside it, or nothing else that is named.
    """
    mentions = []
    for span in in_full.insertions:
        if span.entity is not None and span.entity["id"].startswith("Q"):
            name = in_full.text[span.start : span.end]
            meaning = QuestionEntity(item=span.entity, question_word=name, score=1.0, rank=0)
            mentions.append(QuestionMention(span.start, span.end, (meaning,), False))
    taken = list(mentions)
    ids = {item["id"] for item in known.values()}
    sure = [mention for mention in linked if mention.is_name and mention.is_certain]
    near: set[str] | None = None
    for mention in linked:
        if not mention.is_name or any(mention.start < own.end and own.start < mention.end for own in taken):
            continue
        meanings = mention.meanings
        spoken = [meaning for meaning in meanings if meaning["item"]["id"] in ids]
        same = known.get(fold(mention.surface))
        if (meant := chosen.get(fold(mention.surface))) is not None:
            meanings = [QuestionEntity(item=meant, question_word=mention.surface, score=1.0, rank=0)]
        elif spoken:
            meanings = spoken[:1]
        elif same is not None and same["id"].startswith("Q"):
            meanings = [QuestionEntity(item=same, question_word=mention.surface, score=1.0, rank=0)]
        elif not mention.is_certain and (sure or ids):
            if near is None:
                about = [own.candidates[0].id for own in sure] + [item for item in ids if item.startswith("Q")]
                near = {item for own in about for item in kb.neighbors(own, _NEIGHBORS)}
            meanings = [meaning for meaning in meanings if meaning["item"]["id"] in near]
        if meanings:
            is_own = not any(span.start <= mention.start < span.end for span in in_full.insertions)
            mentions.append(QuestionMention(mention.start, mention.end, tuple(meanings), is_own))
    return sorted(mentions)


def spoken_of(history: Sequence[Turn], candidates: Sequence[QuestionEntity]) -> list[QuestionEntity]:
    """What a conversation was about at its beginning and last, besides some candidates: evidences of it may answer, too."""
    items = []
    for turn in (*history[:1], *history[-1:]):
        spoken = turn.get("representation")
        items += [*spoken["entities"], *spoken["context"]] if spoken else []
    known = {candidate["item"]["id"] for candidate in candidates}
    return [
        QuestionEntity(item=item, question_word=item["label"], score=_SPOKEN, rank=1)
        for item in unique_entities(items)
        if item["id"] not in known and item["id"].startswith("Q")
    ]


def represent(
    in_full: FullQuestion, mentions: Sequence[QuestionMention], answer_type: str, language: Language
) -> Representation:
    """The slots of a question, and all items that its names may mean."""
    own = unique_entities(mention.meanings[0]["item"] for mention in mentions if mention.is_own)
    told = unique_entities(mention.meanings[0]["item"] for mention in mentions if not mention.is_own)
    told = [item for item in told if item not in own]
    rest = list(in_full.text)
    for mention in mentions:
        start = start_with_class(in_full.text, mention, language) if mention.is_own else mention.start
        rest[start : mention.end] = " " * (mention.end - start)
    words = [word for word in _WORD.findall("".join(rest)) if fold(word) not in language.words.stop_words]
    candidates: dict[str, QuestionEntity] = {}
    meanings = (meaning for mention in mentions for meaning in mention.meanings)
    for meaning in sorted(meanings, key=lambda meaning: meaning["rank"]):
        candidates.setdefault(meaning["item"]["id"], meaning)
    return {
        "context": told if own else [],
        "entities": own or told,
        "predicate": " ".join(dict.fromkeys(words)),
        "answer_type": answer_type,
        "candidates": list(candidates.values()),
    }


def start_with_class(text: str, mention: QuestionMention, language: Language) -> int:
    """Where a name begins, with the noun before it that says what is named, not what is asked: "the film Titanic"."""
    before = _BEFORE.search(text, max(0, mention.start - _BESIDE), mention.start)
    if before and fold(before[1]) in language.words.definite and language.answer_types.names_class(before[2].lower()):
        return before.start(2)
    return mention.start


def unlinked_names(
    question: str, candidates: Iterable[QuestionEntity], kb: KnowledgeBase, language: Language
) -> list[str]:
    """The names of a question, as its capitals show them, that no item has; also those of which only a part was linked.

    Args:
        question: as it was asked.
        candidates: the items of its names.
        kb: whatever has a name there is known, whether it was linked or not.
        language: of the question.
    """
    linked = [f" {fold(text)} " for own in candidates for text in (own["question_word"], own["item"]["label"])]
    names = []
    for name in written_names(question, language):
        forms = {fold(name), language.words.without_article(fold(name))}
        noun = re.match(r" ([a-z]+)", question[question.find(name) + len(name) :]) if name.isupper() else None
        if noun is not None and language.answer_types.names_class(noun[1]):
            continue  # "TV series"
        if not any(f" {form} " in text for form in forms for text in linked) and not any(map(kb.candidates, forms)):
            names.append(name)
    return names


def notes(in_full: FullQuestion, history: Sequence[Turn]) -> list[HistoryPart]:
    """Which parts of the history a question in full has."""
    return [
        {
            "turn": history[span.turn].get("turn", span.turn),
            "part": span.part,
            "text": in_full.text[span.start : span.end],
        }
        for span in in_full.insertions
    ]
