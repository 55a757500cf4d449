"""Questions of one turn and of conversations, with retrieved evidences by distant supervision."""

import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from convinse.config import load_config, parse_config
from convinse.evidence_retrieval_scoring.bm25 import BM25Scorer, QueryExpansion
from convinse.evidence_retrieval_scoring.clocq_retriever import ClocqRetriever
from convinse.evidence_retrieval_scoring.native import NativeERS
from convinse.knowledge_base.search_space import is_named
from convinse.language.language import english
from convinse.question_understanding.base import history_turn
from convinse.question_understanding.naive_concat import NcInitPrev
from convinse.question_understanding.slots import Slots
from convinse.records.evidence import SOURCES, Entity, Evidence
from convinse.records.literals import date_entity, is_date
from convinse.records.written_values import find_literals
from convinse.resources import Resources
from convinse.scoring.convqa import has_answer
from convinse.training.answering import answer_spans
from convinse.training.conversations import understood_conversations
from recipes.embedded.examples import Candidate, Example
from recipes.embedded.negatives import part_of
from recipes.embedded.wikidata import SOURCE as FACTS
from recipes.embedded.wikidata import Bench, bench_items, is_item, knowledge_base
from recipes.sources import records

_STAMP = re.compile(r"(-?[0-9]{4,})-([0-9]{2})-([0-9]{2})T00:00:00Z")
_FEW_DIGITS = re.compile(r"[0-9]{1,2}")
_MOST_RIGHT = 5  # evidences with an answer: of more, most have it by chance
_NEGATIVES = 6
_RELEVANT = 3


Ranked = list[
    tuple[Evidence, list[tuple[int, int]]]
]  # best first by BM25, with the places of the answers, if there are any


def timequestions(data: Path, work: Path, seed: int) -> Iterator[Example]:
    """TimeQuestions (dev) with facts of wikidata-27k; see `_one_turn`."""
    questions = faith_questions(data, "timequestions")
    yield from _one_turn("timequestions", {question.text: question.answers for question in questions}, data, work, seed)


def lcquad(data: Path, work: Path, seed: int) -> Iterator[Example]:
    """LC-QuAD 2.0 (dev of CLOCQ) with facts of wikidata-27k; see `_one_turn`."""
    questions = {}
    for entry in records(data, "lcquad2-cq", "LC_QuAD20_CQ.dev.json.gz"):
        question = " ".join(entry["question"].split()).strip('"')
        if "{" not in question:  # else a template that was never put into words
            questions[question] = list(entry["answers"])
    yield from _one_turn("lcquad", questions, data, work, seed)


def conversations(data: Path, work: Path, seed: int) -> Iterator[Example]:
    """The train conversations that ship with the package, with evidences of all sources; the key is the conversation."""
    config = load_config("lexical.yml", ers_use_cache=False)
    concat, ers = NcInitPrev(config), NativeERS(config)
    for conversation in understood_conversations(config, "train"):
        key = str(conversation["conv_id"])
        for number, turn in enumerate(conversation["questions"]):
            if _is_yes_or_no(turn["question"], turn["answers"]):
                continue
            query = turn["structured_representation"]
            ranked = _ranked(ers.bm25, query, ers.retrieve(turn, SOURCES), turn["answers"])
            chosen = _candidates(ranked, turn["answers"])
            if chosen:
                history = [history_turn(question, True) for question in conversation["questions"][:number]]
                joined = concat.inference_on_turn({"question": turn["question"]}, history)
                for text in dict.fromkeys((query, joined["structured_representation"])):
                    yield Example(text, chosen, "conversations", key, f"conversations:{key}")


def _one_turn(name: str, questions: Mapping[str, list[str]], data: Path, work: Path, seed: int) -> Iterator[Example]:
    """Questions with the facts that the pipeline retrieves; the key is the question's first linked item."""
    chance = random.Random(f"{name} {seed}")
    bench = bench_items(data)
    with closing(knowledge_base(data, work)) as kb:
        config = parse_config({"kb_path": str(kb.path), "ers_wikipedia_dump": None, "ers_use_cache": False})
        resources = Resources(config, kb=kb)
        retriever = ClocqRetriever(config, resources=resources)
        understanding, scorer = Slots(config, resources), BM25Scorer(QueryExpansion(kb.properties()))
        for question, written in questions.items():
            answers = [entity for text in written if (entity := answer_entity(text, kb.label)) is not None]
            answers = [answer for answer in answers if not is_item(answer["id"]) or kb.has(answer["id"])]
            if not answers or _is_yes_or_no(question, answers):
                continue
            found, entities = retriever.retrieve_KB_facts(question)
            item_ids = [entity["item"]["id"] for entity in entities if is_named(entity)]
            answers = [answer for answer in answers if answer["id"] not in item_ids]
            if not item_ids or not answers or item_ids[0] in bench.items:
                continue
            train = part_of(name, item_ids[0]) == "train"
            ranked = _ranked(scorer, question, [fact for fact in found if _is_usable(fact, bench, train)], answers)
            if sum(bool(spans) for _, spans in ranked) > _MOST_RIGHT:
                continue
            query = question
            if chance.random() < 0.5:
                query = understanding.inference_on_turn({"question": question}, [])["structured_representation"]
            main = [{entity["id"] for entity in fact["wikidata_entities"][:2]} for fact, _ in ranked]
            earlier = [
                (fact, [] if ids.isdisjoint(item_ids) else spans)
                for ids, (fact, spans) in zip(main, ranked, strict=True)
            ]
            chosen = _candidates(earlier, answers, lambda fact: fact["fact"][1]["id"])
            if chosen:
                yield Example(query, chosen, name, item_ids[0], f"{name}:{item_ids[0]}")


def _is_usable(evidence: Evidence, bench: Bench, train: bool) -> bool:
    ids = [entity["id"] for entity in evidence["wikidata_entities"]]
    if ids[0] in bench.items or not bench.seeds.isdisjoint(ids):
        return False
    return not train or part_of(FACTS, evidence["wikidata_entities"][0]["label"]) == "train"


def _ranked(scorer: BM25Scorer, query: str, evidences: Sequence[Evidence], answers: Sequence[Entity]) -> Ranked:
    best = scorer.rank(query, evidences, len(evidences))
    return [(evidence, answer_spans(evidence, answers) if has_answer(evidence, answers) else []) for evidence in best]


def _candidates(
    ranked: Ranked, answers: Sequence[Entity], alike: Callable[[Evidence], object] = lambda evidence: None
) -> tuple[Candidate, ...]:
    """The best evidences with an answer, then the best without one; nothing if one of both is missing."""
    right: dict[str, Candidate] = {}
    wrong: dict[str, Candidate] = {}
    common = set()
    for evidence, spans in ranked:
        if spans:
            text = evidence["evidence_text"]
            right.setdefault(text, Candidate(text, True, tuple(spans)))
            common.add(alike(evidence))
    for evidence, _ in ranked:
        text = evidence["evidence_text"]
        if len(wrong) == _NEGATIVES:
            break
        is_alike = alike(evidence) in common - {None}
        if (
            text not in right
            and not is_alike
            and not answer_spans(evidence, answers)
            and not has_answer(evidence, answers)
        ):
            wrong.setdefault(text, Candidate(text))
    return (*list(right.values())[:_RELEVANT], *wrong.values()) if right and wrong else ()


def _is_yes_or_no(question: str, answers: Iterable[Entity]) -> bool:
    decided = any(answer["id"].casefold() in ("yes", "no") for answer in answers)
    return decided or english().answer_types.is_existential(question)


# -- answers as they are written -----------------------------------------------------------------------------------------


class FaithQuestion(NamedTuple):
    """A question with its answers as they are written, and what its data set says of the time in it."""

    text: str
    answers: list[str]
    signals: tuple[str, ...]  # such as BEFORE, OVERLAP, ORDINAL; none if a time is asked for


def faith_questions(data: Path, name: str) -> Iterator[FaithQuestion]:
    """The questions of the dev part of a set of the shared data, some of which come twice."""
    for entry in records(data, name, "dev.json.gz"):
        answers = (answer.get("WikidataQid") or answer.get("AnswerArgument") for answer in entry["Answer"])
        signals = tuple(signal for signal in entry.get("Temporal signal", ()) if signal != "No signal")
        yield FaithQuestion(" ".join(entry["Question"].split()), [answer for answer in answers if answer], signals)


def answer_entity(text: str, label: Callable[[str], str]) -> Entity | None:
    """An answer as it is written in the data sets as an entity; None for what no fact holds safely."""
    if is_item(text):
        return {"id": text, "label": label(text)}
    if match := _STAMP.fullmatch(text):
        year, month, day = (int(part) for part in match.groups())
        return date_entity(year) if (month, day) == (1, 1) else date_entity(year, month, day)
    spans = list(find_literals(text))
    if len(spans) != 1 or (spans[0].start, spans[0].end) != (0, len(text)):
        return None
    entity = spans[0].entity
    return entity if is_date(entity["id"]) or not _FEW_DIGITS.fullmatch(entity["id"]) else None
