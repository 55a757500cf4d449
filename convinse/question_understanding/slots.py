"""Question understanding in four steps (rewrite, link, represent, render) with CONVINSE's structured representation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from ..config import Config
from ..encoder.checkpoint import model_path
from ..knowledge_base.items import Items
from ..knowledge_base.question_names import small_names, written_names
from ..knowledge_base.spotting import LinkedMention
from ..language.answer_types import AnswerType
from ..language.language import Language
from ..language.text import fold
from ..records.conversation import HistoryPart, Turn, Understanding
from ..records.evidence import Entity, unique_entities
from ..records.literals import is_item
from ..records.representation import QuestionEntity, Representation, render
from ..records.rewriting import FullQuestion
from ..records.written_values import find_literals
from ..resources import Resources
from .base import QuestionUnderstanding
from .referents import read_weights
from .rewriting import Rewriter
from .steps import steps_of

_TOPIC_SCORE = 0.1  # of candidates that are items of earlier turns
_NEIGHBORS = 1000  # items beside an item that are read
_WORD = re.compile(r"\w+(?:[-'’]\w+)*")
_NOUN_WINDOW = 60  # characters before a name that may have its noun ("the film Titanic")
_WORDS_BEFORE = re.compile(r"(\w+)\s+(\w+)\s+$")


class Slots(QuestionUnderstanding):
    """`context || question entities || predicate words || expected answer type`, after CONVINSE's representation.

    - `rewrite`: the question in full, by the rewrite head of `qu_rewriter`; without a model the last question, its answer and
      the question. Later turns read earlier questions in full.
    - `link`: the items in the question in full. Names that the conversation has linked keep their items.
    - `represent`: items that the question names itself are its entities, items from the history its context; if it names no
      item, items from the history are its entities. The expected answer type is that of the question in full.
    - `render`: the slots as a string.

    Args:
        config: `qu_rewriter`, `kb_path`, `clocq_params`, `sr_delimiter` and, for its answer type head, `ha_heads` are used.
        resources: the files and models that the stages of a pipeline share.
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
        return Rewriter(model, weights, self.kb, self.resources.pages, self.resources.linker, self.language)

    @property
    def kb(self) -> Items:
        """The knowledge base for linking."""
        return self.resources.kb

    def inference_on_turns(self, turns: Sequence[Turn], histories: Sequence[Sequence[Turn]]) -> list[Understanding]:
        """Return the representations of the turns; the models read all turns together."""
        readings = self.rewriter.readings(turns, histories)
        pairs = [(turn["question"], full.text) for turn, fulls in zip(turns, readings, strict=True) for full in fulls]
        typing = self.resources.answer_typing
        if typing is None:
            types = [self.language.answer_types.expected_type(text) for _, text in pairs]
        else:
            types = [likely.confident for likely in typing.likely(pairs)]
        types_left = iter(types)
        understandings = []
        for turn, history, fulls in zip(turns, histories, readings, strict=True):
            first, *others = [self._understood(turn, history, full, next(types_left)) for full in fulls]
            # "when was she born?" behind "who is dorva klint?" is about her, though nothing is known of her
            if others and "unlinked" not in first["representation"]:
                first["second_reading"] = others[0]
            understandings.append(first)
        return understandings

    def _understood(
        self, turn: Turn, history: Sequence[Turn], full_question: FullQuestion, answer_type: AnswerType
    ) -> Understanding:
        choices = {fold(meaning["name"]): meaning["item"] for meaning in turn.get("meanings", ())}
        linked = self.resources.linker.link(full_question.text, classes=True)
        mentions = link(full_question, known_items(history), linked, self.kb, choices)
        representation = represent(full_question, mentions, answer_type.label, self.language)
        representation["candidates"] += earlier_topics(history, representation["candidates"])
        names = unlinked_names(turn["question"], representation["candidates"], self.kb, self.language)
        names += unknown_small_names(full_question.text, representation["candidates"], history, self.kb, self.language)
        if full_question.row is not None:
            representation["row"] = full_question.row
        if names:
            representation["unlinked"] = [{"name": name} for name in names]
        understanding: Understanding = {
            "structured_representation": render(representation, self.config.sr_delimiter),
            "representation": representation,
            "resolved_question": full_question.text,
            "history_used": history_parts(full_question, history),
            "history_answers": unique_entities(self._said(turn["question"], history, representation)),
        }
        names_in_full = [(mention.start, mention.end) for mention in mentions]
        if steps := steps_of(full_question.text, names_in_full, history, self.kb, self.language):
            understanding["steps"] = steps
        return understanding

    def _said(self, question: str, history: Sequence[Turn], representation: Representation) -> Iterator[Entity]:
        """Yield the answers of earlier turns; "which other films?" excludes the film that they were about, too."""
        now = {entity["id"] for entity in (*representation["entities"], *representation["context"])}
        is_for_others = self.language.operations.excluding.search(question) is not None
        for turn in history:
            yield from turn.get("answers", ())
            earlier = turn.get("representation")
            if is_for_others and earlier is not None:
                yield from (topic for topic in earlier["entities"] if topic["id"] not in now)


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
        representation = turn.get("representation", {})
        topics = (*representation.get("context", ()), *representation.get("entities", ()))
        for item in (*topics, *turn.get("answers", ())):
            if item["id"] != item["label"]:
                items[fold(item["label"])] = item
        for candidate in representation.get("candidates", ()):
            if not candidate["rank"]:
                items[fold(candidate["question_word"])] = candidate["item"]
    return items


def link(
    full_question: FullQuestion,
    earlier_items: Mapping[str, Entity],
    linked: Sequence[LinkedMention],
    kb: Items,
    choices: Mapping[str, Entity] = MappingProxyType({}),
) -> list[QuestionMention]:
    """Return the names of a question with their items, sorted by place.

    Names inserted from the history keep their items. Other names mean the item of `choices`, else an earlier item of the
    conversation if possible. A doubtful name keeps only neighbours of the other items of the question and the history, if any.

    Args:
        full_question: the question with the insertions of its rewriting.
        earlier_items: the items of the conversation, see `known_items`.
        linked: the mentions of the question.
        kb: the knowledge base, which has the neighbours of items.
        choices: items by folded names, from replies to clarification questions.
    """
    mentions = []
    for span in full_question.insertions:
        if span.entity is not None and is_item(span.entity["id"]):
            name = full_question.text[span.start : span.end]
            meaning = QuestionEntity(item=span.entity, question_word=name, score=1.0, rank=0)
            mentions.append(QuestionMention(span.start, span.end, (meaning,), False))
    inserted = list(mentions)
    earlier_ids = {item["id"] for item in earlier_items.values()}
    certain = [mention for mention in linked if mention.is_name and mention.is_certain]
    neighbors: set[str] | None = None
    for mention in linked:
        if not mention.is_name or any(mention.start < span.end and span.start < mention.end for span in inserted):
            continue
        meanings = mention.meanings
        earlier = [meaning for meaning in meanings if meaning["item"]["id"] in earlier_ids]
        namesake = earlier_items.get(fold(mention.surface))
        if (choice := choices.get(fold(mention.surface))) is not None:
            meanings = [QuestionEntity(item=choice, question_word=mention.surface, score=1.0, rank=0)]
        elif earlier:
            meanings = earlier[:1]
        elif namesake is not None and is_item(namesake["id"]):
            meanings = [QuestionEntity(item=namesake, question_word=mention.surface, score=1.0, rank=0)]
        elif not mention.is_certain and (certain or earlier_ids):
            if neighbors is None:
                items = [name.candidates[0].id for name in certain]
                items += [item for item in earlier_ids if is_item(item)]
                neighbors = {neighbor for item in items for neighbor in kb.neighbors(item, _NEIGHBORS)}
            meanings = [meaning for meaning in meanings if meaning["item"]["id"] in neighbors]
        if meanings:
            is_own = not any(span.start <= mention.start < span.end for span in full_question.insertions)
            mentions.append(QuestionMention(mention.start, mention.end, tuple(meanings), is_own))
    return sorted(mentions)


def earlier_topics(history: Sequence[Turn], candidates: Sequence[QuestionEntity]) -> list[QuestionEntity]:
    """Return the items of the first and the last turn that are not among the candidates; their evidences may answer, too."""
    items = []
    for turn in (*history[:1], *history[-1:]):
        representation = turn.get("representation")
        items += [*representation["entities"], *representation["context"]] if representation else []
    present = {candidate["item"]["id"] for candidate in candidates}
    return [
        QuestionEntity(item=item, question_word=item["label"], score=_TOPIC_SCORE, rank=1)
        for item in unique_entities(items)
        if item["id"] not in present and is_item(item["id"])
    ]


def represent(
    full_question: FullQuestion, mentions: Sequence[QuestionMention], answer_type: str, language: Language
) -> Representation:
    """Return the slots of a question, and all possible items of its names."""
    entities = unique_entities(mention.meanings[0]["item"] for mention in mentions if mention.is_own)
    context = unique_entities(mention.meanings[0]["item"] for mention in mentions if not mention.is_own)
    context = [item for item in context if item not in entities]
    characters = list(full_question.text)
    for mention in mentions:
        start = mention.start
        before = _WORDS_BEFORE.search(full_question.text, max(0, start - _NOUN_WINDOW), start)
        is_definite = mention.is_own and before is not None and fold(before[1]) in language.words.definite
        if before and is_definite and language.answer_types.names_class(before[2].lower()):
            start = before.start(2)  # "film Titanic" in "the film Titanic"
        characters[start : mention.end] = " " * (mention.end - start)
    words = [word for word in _WORD.findall("".join(characters)) if fold(word) not in language.words.stop_words]
    candidates: dict[str, QuestionEntity] = {}
    meanings = (meaning for mention in mentions for meaning in mention.meanings)
    for meaning in sorted(meanings, key=lambda meaning: meaning["rank"]):
        candidates.setdefault(meaning["item"]["id"], meaning)
    return {
        "context": context if entities else [],
        "entities": entities or context,
        "predicate": " ".join(dict.fromkeys(words)),
        "answer_type": answer_type,
        "candidates": list(candidates.values()),
    }


def unlinked_names(question: str, candidates: Iterable[QuestionEntity], kb: Items, language: Language) -> list[str]:
    """Return the capitalised names of a question that are not linked as a whole and not names in the knowledge base.

    Args:
        question: the question as typed.
        candidates: the items that the question was linked to.
        kb: the knowledge base.
        language: the language of the question.
    """
    linked = [f" {fold(text)} " for entity in candidates for text in (entity["question_word"], entity["item"]["label"])]
    names = []
    for name in written_names(question, language):
        forms = {fold(name), language.words.without_article(fold(name))}
        noun = re.match(r" ([a-z]+)", question[question.find(name) + len(name) :]) if name.isupper() else None
        if noun is not None and language.answer_types.names_class(noun[1]):
            continue  # "TV series"
        is_date = any((value.start, value.end) == (0, len(name)) for value in find_literals(name))
        is_kind = any(fold(name) in words for words in language.operations.addresses.values())
        if is_date or is_kind or language.times.seasons(name) is not None:
            continue  # "March 2025", "IBAN", "Mondays"
        is_linked = any(f" {form} " in text for form in forms for text in linked)
        if not is_linked and not any(map(kb.candidates, forms)):
            names.append(name)
    return names


def unknown_small_names(
    question: str, candidates: Iterable[QuestionEntity], history: Iterable[Turn], kb: Items, language: Language
) -> list[str]:
    """Return the names in lower case that are not linked: of two words or more, behind "who is", or unlinked before."""
    linked: set[str] = set()
    for entity in candidates:
        linked.update(fold(f"{entity['question_word']} {entity['item']['label']}").split())
    before: set[str] = set()
    for turn in history:
        if "representation" in turn:
            for unlinked in turn["representation"].get("unlinked", ()):
                before.update(fold(unlinked["name"]).split())
    names = []
    for start, end in small_names(question, language):
        name = question[start:end]
        words = fold(name).split()
        if (
            len(name) == 1
            or not name.islower()
            or not linked.isdisjoint(words)
            or any(map(kb.candidates, [fold(name), *words]))
        ):
            continue
        if len(words) > 1 or not before.isdisjoint(words) or language.steps.identifying.fullmatch(question[:start]):
            names.append(name)
    return names


def history_parts(full_question: FullQuestion, history: Sequence[Turn]) -> list[HistoryPart]:
    """Return the parts of a question in full that are from the history."""
    return [
        {
            "turn": history[span.turn].get("turn", span.turn),
            "part": span.part,
            "text": full_question.text[span.start : span.end],
        }
        for span in full_question.insertions
    ]
