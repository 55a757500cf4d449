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

_SPOKEN = 0.1  # score of earlier topics of a conversation
_NEIGHBORS = 1000  # items beside an item that are read
_WORD = re.compile(r"\w+(?:[-'’]\w+)*")
_BESIDE = 60  # characters before a name in which its noun is looked for
_BEFORE = re.compile(r"(\w+)\s+(\w+)\s+$")


class Slots(QuestionUnderstanding):
    """`context || question entities || predicate words || expected answer type`, after CONVINSE's representation.

    - `rewrite`: the question in full, by the rewrite head of `qu_rewriter`; without it the question before, its answer and the
      question. Later turns read earlier questions in full.
    - `link`: the items in the question in full. Earlier names keep their items.
    - `represent`: items that the question names itself are its entities, items from the history its context; if it names no
      item, items from the history are its entities. The expected answer type is that of the question in full.
    - `render`: the slots as a string.

    Args:
        config: `qu_rewriter`, `kb_path`, `clocq_params`, `sr_delimiter` and, for its answer type head, `ha_heads` are used.
        resources: shared by the stages of a pipeline.
    """

    def __init__(self, config: Config, resources: Resources | None = None) -> None:
        super().__init__(config, resources)
        if config.qu_rewriter is not None:
            self.conversations_at_once = 4

    @cached_property
    def rewriter(self) -> Rewriter:
        """The rewriter with the model of `qu_rewriter`, loaded on first use."""
        model, name = self.resources.rewriter(), self.config.qu_rewriter
        weights = None if name is None else read_weights(Path(model_path(name)), "qu_rewriter")
        return Rewriter(model, weights, self.kb, self.resources.linker, self.language)

    @property
    def kb(self) -> KnowledgeBase:
        """The knowledge base for linking."""
        return self.resources.kb

    def inference_on_turns(self, turns: Sequence[Turn], histories: Sequence[Sequence[Turn]]) -> list[Understanding]:
        """Fill the slots of all turns, which the models read together; see the base class."""
        questions = [turn["question"] for turn in turns]
        in_full = self.rewriter.rewrite(questions, histories)
        typing = self.resources.answer_typing
        if typing is None:
            types = [self.language.answer_types.expected_type(full.text) for full in in_full]
        else:
            pairs = [(question, full.text) for question, full in zip(questions, in_full, strict=True)]
            types = [likely.confident for likely in typing.likely(pairs)]
        return list(map(self._understood, turns, histories, in_full, types))

    def _understood(
        self, turn: Turn, history: Sequence[Turn], in_full: FullQuestion, answer_type: AnswerType
    ) -> Understanding:
        chosen = {fold(meaning["name"]): meaning["item"] for meaning in turn.get("meanings", ())}
        linked = self.resources.linker.link(in_full.text, classes=True)
        mentions = link(in_full, known_items(history), linked, self.kb, chosen)
        representation = represent(in_full, mentions, answer_type.label, self.language)
        representation["candidates"] += spoken_of(history, representation["candidates"])
        names = unlinked_names(turn["question"], representation["candidates"], self.kb, self.language)
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
    """A name in a question in full, `text[start:end]`, and its possible items, best first."""

    start: int
    end: int
    meanings: tuple[QuestionEntity, ...]
    is_own: bool  # False: the name is from the history


def known_items(history: Iterable[Turn]) -> dict[str, Entity]:
    """Return the items of a conversation by their folded names; the latest item of a repeated name counts."""
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
    before: Mapping[str, Entity],
    linked: Sequence[LinkedMention],
    kb: KnowledgeBase,
    chosen: Mapping[str, Entity] = MappingProxyType({}),
) -> list[QuestionMention]:
    """Return the names of a question with their items.

    Inserted names keep their items, and folded names have their `chosen` meanings. A name means an earlier item of the
    conversation if possible; a doubtful name needs a neighbouring item, unless the question and the history name nothing else.

    Args:
        in_full: the question with the insertions of its rewriting.
        before: the items of the conversation, see `known_items`.
        linked: the mentions of the question.
        kb: with the neighbours of items.
        chosen: items by folded names, from replies to clarification questions.
    """
    mentions = []
    for span in in_full.insertions:
        if span.entity is not None and span.entity["id"].startswith("Q"):
            name = in_full.text[span.start : span.end]
            meaning = QuestionEntity(item=span.entity, question_word=name, score=1.0, rank=0)
            mentions.append(QuestionMention(span.start, span.end, (meaning,), False))
    taken = list(mentions)
    ids = {item["id"] for item in before.values()}
    sure = [mention for mention in linked if mention.is_name and mention.is_certain]
    near: set[str] | None = None
    for mention in linked:
        if not mention.is_name or any(mention.start < span.end and span.start < mention.end for span in taken):
            continue
        meanings = mention.meanings
        spoken = [meaning for meaning in meanings if meaning["item"]["id"] in ids]
        same = before.get(fold(mention.surface))
        if (choice := chosen.get(fold(mention.surface))) is not None:
            meanings = [QuestionEntity(item=choice, question_word=mention.surface, score=1.0, rank=0)]
        elif spoken:
            meanings = spoken[:1]
        elif same is not None and same["id"].startswith("Q"):
            meanings = [QuestionEntity(item=same, question_word=mention.surface, score=1.0, rank=0)]
        elif not mention.is_certain and (sure or ids):
            if near is None:
                about = [name.candidates[0].id for name in sure] + [item for item in ids if item.startswith("Q")]
                near = {neighbor for item in about for neighbor in kb.neighbors(item, _NEIGHBORS)}
            meanings = [meaning for meaning in meanings if meaning["item"]["id"] in near]
        if meanings:
            is_own = not any(span.start <= mention.start < span.end for span in in_full.insertions)
            mentions.append(QuestionMention(mention.start, mention.end, tuple(meanings), is_own))
    return sorted(mentions)


def spoken_of(history: Sequence[Turn], candidates: Sequence[QuestionEntity]) -> list[QuestionEntity]:
    """Return the items of the first and the last turn of a conversation, except some candidates; their evidences may answer, too."""
    items = []
    for turn in (*history[:1], *history[-1:]):
        spoken = turn.get("representation")
        items += [*spoken["entities"], *spoken["context"]] if spoken else []
    present = {candidate["item"]["id"] for candidate in candidates}
    return [
        QuestionEntity(item=item, question_word=item["label"], score=_SPOKEN, rank=1)
        for item in unique_entities(items)
        if item["id"] not in present and item["id"].startswith("Q")
    ]


def represent(
    in_full: FullQuestion, mentions: Sequence[QuestionMention], answer_type: str, language: Language
) -> Representation:
    """Return the slots of a question, and all possible items of its names."""
    entities = unique_entities(mention.meanings[0]["item"] for mention in mentions if mention.is_own)
    earlier = unique_entities(mention.meanings[0]["item"] for mention in mentions if not mention.is_own)
    earlier = [item for item in earlier if item not in entities]
    rest = list(in_full.text)
    for mention in mentions:
        start = mention.start
        before = _BEFORE.search(in_full.text, max(0, start - _BESIDE), start) if mention.is_own else None
        is_definite = before is not None and fold(before[1]) in language.words.definite
        if before and is_definite and language.answer_types.names_class(before[2].lower()):
            start = before.start(2)  # "film Titanic" in "the film Titanic"
        rest[start : mention.end] = " " * (mention.end - start)
    words = [word for word in _WORD.findall("".join(rest)) if fold(word) not in language.words.stop_words]
    candidates: dict[str, QuestionEntity] = {}
    meanings = (meaning for mention in mentions for meaning in mention.meanings)
    for meaning in sorted(meanings, key=lambda meaning: meaning["rank"]):
        candidates.setdefault(meaning["item"]["id"], meaning)
    return {
        "context": earlier if entities else [],
        "entities": entities or earlier,
        "predicate": " ".join(dict.fromkeys(words)),
        "answer_type": answer_type,
        "candidates": list(candidates.values()),
    }


def unlinked_names(
    question: str, candidates: Iterable[QuestionEntity], kb: KnowledgeBase, language: Language
) -> list[str]:
    """Return the capitalised names of a question that no item has; a partly linked name is unlinked.

    Args:
        question: as typed.
        candidates: the items of its names.
        kb: its names are never unlinked.
        language: of the question.
    """
    linked = [f" {fold(text)} " for entity in candidates for text in (entity["question_word"], entity["item"]["label"])]
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
    """Return the parts of the history in a question in full."""
    return [
        {
            "turn": history[span.turn].get("turn", span.turn),
            "part": span.part,
            "text": in_full.text[span.start : span.end],
        }
        for span in in_full.insertions
    ]
