"""Temporal questions over wikidata-27k with its dated statements: how well TimeQuestions (dev) and TIQ (dev) are answered from facts.

    bash run.sh bench temporal [--full]

Only questions whose answer is in their space are put: a fact that is retrieved for the question holds a gold answer together with an
item that is linked in the question and is not this answer. The class of a thing ("Paris, instance of, capital") does not count. By
default at most 400 of a data set are drawn with a fixed seed. Gold texts count as the date or the number that they hold, a bare year
as any date in it. To rank and to read the embedded model has learned from questions of TimeQuestions; "held out" are those about
items that it kept for its dev part.
"""

import random
from collections.abc import Iterable
from contextlib import closing
from itertools import islice
from typing import NamedTuple

from convinse.config import load_config, parse_config
from convinse.evidence_retrieval_scoring.clocq_retriever import ClocqRetriever
from convinse.knowledge_base.search_space import is_named
from convinse.pipeline import Pipeline
from convinse.records.conversation import Conversation, Turn
from convinse.records.evidence import Entity, Evidence
from convinse.records.literals import is_item
from convinse.records.representation import QuestionEntity
from convinse.resources import Resources
from recipes.embedded.negatives import part_of
from recipes.embedded.turns import FaithQuestion, answer_entity, faith_questions
from recipes.embedded.wikidata import knowledge_base

from .conversations import COLUMNS, figures, is_right
from .harness import Bench, Figures, Spec, note, run

SETS = {"timequestions": "TimeQuestions dev", "tiq": "TIQ dev"}
SEED = 5  # of the questions that are drawn
CONFIGURATIONS = ("wikidata-27k.yml", "lexical.yml")
COUNTS = {
    "different": ("looked_at", "{}"), "gold item in the knowledge base": ("gold_in_kb", "{}"),
    "answer in the space": ("in_space", "{}"), "asked": ("asked", "{}"),
}  # fmt: skip
_CLASSES = frozenset(("P31", "P279"))


class TimedQuestion(NamedTuple):
    conversation: Conversation
    subsets: list[str]


class Size(NamedTuple):
    """How many questions of a data set are looked at, and put at the most; None for all."""

    first: int | None = None
    most: int | None = None


def in_space(
    name: str, questions: Iterable[FaithQuestion], retriever: ClocqRetriever, most: int | None
) -> tuple[Figures, list[TimedQuestion]]:
    """Return counts, and of the different questions of a data set those whose answer is in their space, or some of them."""
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
            held_out = ["held out"] if part_of(name, items[0]) == "dev" else []
            turn: Turn = {"turn": 0, "question_id": f"{name}-{looked_at}", "question": question.text, "answers": gold}
            signals = question.signals or ("a time is asked for",)
            conversation: Conversation = {"conv_id": f"{name}-{looked_at}", "domain": name, "questions": [turn]}
            chosen.append(TimedQuestion(conversation, ["all", *held_out, *signals]))
    counts = {"looked_at": looked_at, "gold_in_kb": gold_in_kb, "in_space": len(chosen)}
    if most is not None and len(chosen) > most:
        chosen = [chosen[place] for place in sorted(random.Random(SEED).sample(range(len(chosen)), most))]
    return {**counts, "asked": len(chosen)}, chosen


def tells(evidence: Evidence, gold: list[Entity], linked: Iterable[QuestionEntity]) -> bool:
    """Return True if a fact holds a gold answer together with a linked item that is not this answer."""
    entities = evidence["wikidata_entities"]
    if evidence["fact"][1]["id"] in _CLASSES:
        return False
    present = {entity["item"]["id"] for entity in linked} & {entity["id"] for entity in entities}
    return any(is_right(entity, gold) and present - {entity["id"]} for entity in entities)


def temporal(bench: Bench) -> Figures:
    with closing(knowledge_base(bench.folder, bench.cache, dated=True)) as kb:
        note("looking for questions whose answer is in their space ...")
        keys = {"kb_path": str(kb.path), "ers_wikipedia_dump": None, "ers_use_cache": False}
        config = parse_config(keys)
        retriever = ClocqRetriever(config, resources=Resources(config, kb=kb))
        found = {
            name: in_space(
                name, islice(faith_questions(bench.folder, name), bench.size.first), retriever, bench.size.most
            )
            for name in SETS
        }
    counts = {SETS[name]: numbers for name, (numbers, _) in found.items()}
    bench.compare("questions", ("data set",), COUNTS, {(): counts})
    tables: Figures = {name: {} for name in SETS}
    for configuration in CONFIGURATIONS:
        note(f"{configuration} ...")
        with Pipeline(load_config(configuration, **keys)) as pipeline:
            for name, (_, questions) in found.items():
                done = pipeline.run([question.conversation for question in questions], "kb")
                turns: dict[str, list[Turn]] = {"all": [], "held out": []}
                for question, answered in zip(questions, done, strict=True):
                    for subset in question.subsets:
                        turns.setdefault(subset, []).append(answered["questions"][0])
                for subset, chosen in turns.items():
                    tables[name].setdefault(subset, {})[configuration] = figures(chosen)
    for name, groups in tables.items():
        bench.compare(f"{SETS[name]}, answer in the space, evidences of kb", ("subset", "system"), COLUMNS, groups)
    return {"systems": tables}


_SIZES = (Size(100, 20), Size(None, 400), Size())
SPEC = Spec("temporal", __doc__, {"temporal": temporal}, _SIZES)

if __name__ == "__main__":
    run(SPEC)
