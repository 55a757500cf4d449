"""Temporal questions over wikidata-27k with its dated statements: how well TimeQuestions (dev) and TIQ (dev) are answered from facts.

    bash run.sh bench temporal
    bash run.sh bench temporal --full
    bash run.sh bench temporal --config my.yml --work DIR

Only questions whose answer is in their space are asked: a fact that is retrieved for the question holds a gold answer, that is an
item of the knowledge base, a date, a year or a number, together with an item that is linked in the question and is not this answer.
The class of a thing ("Paris, instance of, capital") does not count. By default at most 400 of a data set are drawn with a fixed seed,
with --full all. The configuration and lexical.yml answer them from evidences of `kb`, each as a command of its own. Gold texts count
as the date or the number that they hold, a bare year as any date in it. To rank and to read the embedded model has learned from
questions of TimeQuestions; "held out" are those about items that it kept for its dev part.
"""

import json
import random
from collections.abc import Iterable, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import yaml

from convinse.config import find_config, load_config, parse_config
from convinse.evidence_retrieval_scoring.clocq_retriever import ClocqRetriever
from convinse.formats.run_folder import TURNS
from convinse.knowledge_base.search_space import is_named
from convinse.records.conversation import Conversation, Turn
from convinse.records.evidence import Entity, Evidence
from convinse.records.literals import is_item
from convinse.records.representation import QuestionEntity
from convinse.resources import Resources
from convinse.scoring.pipeline_runs import measured_turns
from recipes.embedded.negatives import part_of
from recipes.embedded.turns import FaithQuestion, answer_entity, faith_questions
from recipes.embedded.wikidata import knowledge_base

from .conversations import HIT, is_right, place_of_gold, rank_of_gold
from .harness import Bench, Figures, Spec, note, run
from .measures import Rank, mean_reciprocal_rank, share_within
from .timing import command

SETS = {"timequestions": "TimeQuestions dev", "tiq": "TIQ dev"}
SEED = 5  # of the questions that are drawn
LEXICAL = "lexical.yml"
COLUMNS = {
    "questions": ("questions", "{}"), "presence": ("answer_presence", "{:.1%}"), "P@1": ("p_at_1", "{:.1%}"),
    "MRR": ("mrr", "{:.1%}"), "Hit@5": ("h_at_5", "{:.1%}"),
}  # fmt: skip
COUNTS = {
    "different": ("looked_at", "{}"), "gold item in the knowledge base": ("gold_in_kb", "{}"),
    "answer in the space": ("in_space", "{}"), "asked": ("asked", "{}"),
}  # fmt: skip
_CLASSES = frozenset(("P31", "P279"))


class TimedQuestion(NamedTuple):
    """A question whose answer is in its space."""

    data_set: str
    question_id: str
    text: str
    gold: list[Entity]  # the gold answers that the knowledge base can give
    signals: tuple[str, ...]
    item: str  # the first item that is linked in the question; questions about one item are not independent
    held_out: bool  # whether the recipe of the embedded model keeps examples about this item for its dev part

    @property
    def subsets(self) -> list[str]:
        signals = self.signals or ("a time is asked for",)
        return ["all", *(["held out"] if self.held_out else []), *signals]

    @property
    def conversation(self) -> Conversation:
        turn = {"turn": 0, "question_id": self.question_id, "question": self.text, "answers": self.gold}
        return {"conv_id": self.question_id, "domain": self.data_set, "questions": [turn]}  # type: ignore[list-item]


class TimedSet(NamedTuple):
    looked_at: int
    gold_in_kb: int  # a gold answer is an item of the knowledge base
    in_space: int
    questions: list[TimedQuestion]  # all in the space, or those drawn of them


class TimedAnswer(NamedTuple):
    rank: Rank
    place: Rank


class Size(NamedTuple):
    """How many questions of a data set are looked at, and asked at the most; None for all."""

    first: int | None = None
    most: int | None = None


# -- questions ---------------------------------------------------------------------------------------------------------


def in_space(name: str, questions: Iterable[FaithQuestion], retriever: ClocqRetriever, most: int | None) -> TimedSet:
    """Of the different questions of a data set those whose answer is in their space, or so many drawn of them."""
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
    drawn = chosen
    if most is not None and len(chosen) > most:
        drawn = [chosen[place] for place in sorted(random.Random(SEED).sample(range(len(chosen)), most))]
    return TimedSet(looked_at, gold_in_kb, len(chosen), drawn)


def tells(evidence: Evidence, gold: list[Entity], linked: Iterable[QuestionEntity]) -> bool:
    """Whether a fact holds a gold answer together with a linked item that is not this answer."""
    entities = evidence["wikidata_entities"]
    if evidence["fact"][1]["id"] in _CLASSES:
        return False
    present = {entity["item"]["id"] for entity in linked} & {entity["id"] for entity in entities}
    return any(is_right(entity, gold) and present - {entity["id"]} for entity in entities)


# -- answers -----------------------------------------------------------------------------------------------------------


def answer(bench: Bench, config: str, number: int, kb: Path, questions: Path) -> dict[str, Turn]:
    folder = bench.work / f"system-{number}"
    folder.mkdir()
    keys = {
        **yaml.safe_load(find_config(config).read_text(encoding="utf-8")),
        "name": "temporal", "benchmark": "convmix", "test_input_path": str(questions), "kb_path": str(kb),
        "ers_wikipedia_dump": None, "output_path": "results", "ers_cache_path": "cache",
    }  # fmt: skip
    (folder / "temporal.yml").write_text(yaml.safe_dump(keys), encoding="utf-8")
    note(f"{config} ...")
    command(["pipeline", "kb", "temporal.yml", "--quiet"], folder)
    turns = measured_turns(folder / "results" / "temporal" / "kb" / TURNS)
    return {measured.question_id: measured.turn for measured in turns}


def figures(answered: Sequence[TimedAnswer]) -> Figures:
    ranks = [result.rank for result in answered]
    return {
        "questions": len(answered),
        "answer_presence": sum(result.place is not None for result in answered) / max(1, len(answered)),
        "p_at_1": share_within(ranks, 1), "mrr": mean_reciprocal_rank(ranks), "h_at_5": share_within(ranks, HIT),
    }  # fmt: skip


def temporal(bench: Bench) -> Figures:
    options, size = bench.options, bench.size
    with closing(knowledge_base(bench.folder, bench.kept, dated=True)) as kb:
        note("looking for questions whose answer is in their space ...")
        config = parse_config({"kb_path": str(kb.path), "ers_wikipedia_dump": None, "ers_use_cache": False})
        retriever = ClocqRetriever(config, resources=Resources(config, kb=kb))
        sets = {
            name: in_space(name, islice(faith_questions(bench.folder, name), size.first), retriever, size.most)
            for name in SETS
        }
    asked = [question for own in sets.values() for question in own.questions]
    file = bench.work / "questions.json"
    file.write_text(json.dumps([question.conversation for question in asked]), encoding="utf-8")
    answered: dict[str, dict[str, TimedAnswer]] = {}
    for number, config in enumerate(dict.fromkeys((options.config, LEXICAL))):
        turns = answer(bench, config, number, kb.path, file)
        told = {own.question_id: {**turns[own.question_id], "answers": own.gold} for own in asked}
        answered[config] = {key: TimedAnswer(rank_of_gold(turn), place_of_gold(turn)) for key, turn in told.items()}
    counts = {SETS[name]: {**own._asdict(), "asked": len(own.questions)} for name, own in sets.items()}
    bench.compare("questions", ("data set",), COUNTS, {(): counts})
    tables = {}
    for name, own in sets.items():
        subsets: dict[str, list[str]] = {"all": [], "held out": []}
        for question in own.questions:
            for subset in question.subsets:
                subsets.setdefault(subset, []).append(question.question_id)
        tables[name] = {
            subset: {config: figures([results[own] for own in ids]) for config, results in answered.items()}
            for subset, ids in subsets.items()
            if ids
        }
        title = f"{SETS[name]}, answer in the space, evidences of kb"
        rows = {(subset,): systems for subset, systems in tables[name].items()}
        bench.compare(title, ("subset", "system"), COLUMNS, rows)
    return {"config": options.config, "systems": tables}


def prepare(bench: Bench) -> None:
    load_config(bench.options.config)  # a wrong name shows before anything is built


_OPTIONS = {"--config": {"default": "wikidata-27k.yml", "metavar": "NAME", "help": "its stages (default: %(default)s)"}}
_SIZES = (Size(100, 20), Size(None, 400), Size())
SPEC = Spec("temporal", __doc__, {"temporal": temporal}, _SIZES, options=_OPTIONS, prepare=prepare)

if __name__ == "__main__":
    run(SPEC)
