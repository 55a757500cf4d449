"""The questions of `bench temporal`: those whose answer the knowledge base has, and retrieval can find.

An answer is in the space of a question when a fact that is retrieved for the question holds a gold answer, that is an item
of the knowledge base, a date, a year or a number, together with an item that is linked in the question and is not this
answer. What a thing is ("Paris, instance of, capital") answers nothing and does not count.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from convinse.config import parse_config
from convinse.evidence_retrieval_scoring.clocq_retriever import ClocqRetriever
from convinse.knowledge_base.index import KnowledgeBase
from convinse.knowledge_base.search_space import is_named
from convinse.records.conversation import Conversation
from convinse.records.evidence import Entity, Evidence
from convinse.records.representation import QuestionEntity
from convinse.resources import Resources
from recipes.embedded.negatives import part_of
from recipes.embedded.wikidata import is_item
from recipes.sources import needed
from recipes.temporal import FaithQuestion, answer_entity, faith_questions

from ..conversations.turns import is_right

SETS = {"timequestions": "TimeQuestions dev", "tiq": "TIQ dev"}
SEED = 5  # of the questions that are drawn
TIME_ASKED = "a time is asked for"
_CLASSES = frozenset(("P31", "P279"))  # what a thing is


class TimedQuestion(NamedTuple):
    """A question whose answer is in its space.

    Attributes:
        gold: the gold answers that the knowledge base can give.
        item: the first item that is linked in the question; questions about one item are not independent.
        held_out: whether the recipe of the embedded model keeps examples about this item for its dev part.
    """

    data_set: str
    question_id: str
    text: str
    gold: list[Entity]
    signals: tuple[str, ...]
    item: str
    held_out: bool

    @property
    def subsets(self) -> list[str]:
        """The subsets that it is counted in."""
        return ["all", *(["held out"] if self.held_out else []), *(self.signals or (TIME_ASKED,))]

    @property
    def conversation(self) -> Conversation:
        """The question as a conversation of one turn."""
        turn = {"turn": 0, "question_id": self.question_id, "question": self.text, "answers": self.gold}
        return {"conv_id": self.question_id, "domain": self.data_set, "questions": [turn]}  # type: ignore[list-item]


class TimedSet(NamedTuple):
    """The questions of a data set, and what they are chosen from."""

    looked_at: int
    gold_in_kb: int  # a gold answer is an item of the knowledge base
    in_space: int
    questions: list[TimedQuestion]  # all in the space, or those drawn of them


def read_sets(data: Path, kb: KnowledgeBase, first: int | None = None, most: int | None = None) -> dict[str, TimedSet]:
    """The questions of both data sets whose answer is in their space, as this version links and retrieves.

    Args:
        data: the folder of shared data.
        kb: the knowledge base.
        first: only so many questions of a set are looked at.
        most: of more questions of a set so many are drawn, always the same.
    """
    config = parse_config({"kb_path": str(kb.path), "ers_wikipedia_dump": None, "ers_use_cache": False})
    retriever = ClocqRetriever(config, resources=Resources(config, kb=kb))
    with closing(retriever.resources):
        sets = {}
        for name in SETS:
            questions = faith_questions(needed(data, name, "dev.json.gz"))
            sets[name] = drawn(in_space(name, islice(questions, first), retriever), most)
        return sets


def drawn(given: TimedSet, most: int | None) -> TimedSet:
    """The set with at most so many of its questions, in their order."""
    if most is None or len(given.questions) <= most:
        return given
    places = sorted(random.Random(SEED).sample(range(len(given.questions)), most))
    return given._replace(questions=[given.questions[place] for place in places])


def in_space(name: str, questions: Iterable[FaithQuestion], retriever: ClocqRetriever) -> TimedSet:
    """Of the different questions of a data set those whose answer is in their space."""
    kb = retriever.kb
    chosen: list[TimedQuestion] = []
    looked_at = gold_in_kb = 0
    for question in {question.text: question for question in questions}.values():
        looked_at += 1
        written = (answer_entity(text, kb.label) for text in question.answers)
        gold = [entity for entity in written if entity and (kb.has(entity["id"]) or not is_item(entity["id"]))]
        gold_in_kb += any(is_item(entity["id"]) for entity in gold)
        if not gold:
            continue
        facts, linked = retriever.retrieve_KB_facts(question.text)
        items = [entity["item"]["id"] for entity in linked if is_named(entity)]
        if items and any(tells(fact, gold, linked) for fact in facts):
            held_out = part_of(name, items[0]) == "dev"
            number = f"{name}-{looked_at}"
            chosen.append(TimedQuestion(name, number, question.text, gold, question.signals, items[0], held_out))
    return TimedSet(looked_at, gold_in_kb, len(chosen), chosen)


def tells(evidence: Evidence, gold: list[Entity], linked: Iterable[QuestionEntity]) -> bool:
    """Whether a fact holds a gold answer together with a linked item that is not this answer."""
    entities = evidence["wikidata_entities"]
    if evidence["fact"][1]["id"] in _CLASSES:
        return False
    present = {entity["item"]["id"] for entity in linked} & {entity["id"] for entity in entities}
    return any(is_right(entity, gold) and present - {entity["id"]} for entity in entities)
