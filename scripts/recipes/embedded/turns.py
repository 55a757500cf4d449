"""Questions of one turn and of conversations, with retrieved evidences by distant supervision."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
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
from convinse.resources import Resources
from convinse.scoring.convqa import has_answer
from convinse.support.jsonlines import read_documents
from convinse.training.answering import answer_spans
from convinse.training.conversations import understood_conversations
from recipes.embedded.examples import Candidate, Example
from recipes.embedded.negatives import part_of
from recipes.embedded.wikidata import SOURCE as FACTS
from recipes.embedded.wikidata import Bench, bench_items, is_item, knowledge_base
from recipes.sources import needed
from recipes.temporal import answer_entity, faith_questions

_MOST_RIGHT = 5  # evidences with an answer: of more, most have it by chance
_NEGATIVES = 6
_RELEVANT = 3
Read = Callable[[Path], Iterator[tuple[str, list[str]]]]


class Ranked(NamedTuple):
    """The evidences of a question, best first by BM25, and the places of the answers in each that has one."""

    evidences: list[Evidence]
    spans: list[list[tuple[int, int]]]


def timequestions(data: Path, work: Path, seed: int) -> Iterator[Example]:
    """TimeQuestions (dev) with facts of wikidata-27k; see `_one_turn`."""
    yield from _one_turn("timequestions", needed(data, "timequestions", "dev.json.gz"), _read_faith, data, work, seed)


def tiq(data: Path, work: Path, seed: int) -> Iterator[Example]:
    """TIQ (dev) with facts of wikidata-27k; see `_one_turn`."""
    yield from _one_turn("tiq", needed(data, "tiq", "dev.json.gz"), _read_faith, data, work, seed)


def lcquad(data: Path, work: Path, seed: int) -> Iterator[Example]:
    """LC-QuAD 2.0 (dev of CLOCQ) with facts of wikidata-27k; see `_one_turn`.

    The other file of its folder, first questions of ConvQuestions, is of the bench's own kind and left out.
    """
    path = needed(data, "lcquad2-cq", "LC_QuAD20_CQ.dev.json.gz")
    yield from _one_turn("lcquad", path, _read_clocq, data, work, seed)


def conversations(data: Path, work: Path, seed: int) -> Iterator[Example]:
    """The train conversations that ship with the package, with evidences of all sources; the key is the conversation.

    Each turn gives two examples: one with the representation of `slots`, one with the first and the last turn before
    it in front of the question.
    """
    config = load_config("lexical.yml", ers_use_cache=False)
    concat = NcInitPrev(config)
    ers = NativeERS(config)
    try:
        for conversation in understood_conversations(config, "train"):
            for number, turn in enumerate(conversation["questions"]):
                if _is_yes_or_no(turn["question"], turn["answers"]):
                    continue
                query = turn["structured_representation"]
                candidates = ers.retrieve(turn, SOURCES)
                ranked = _ranked(ers.bm25, query, candidates, turn["answers"])
                chosen = _candidates(ranked, turn["answers"])
                if chosen:
                    history = [history_turn(one, True) for one in conversation["questions"][:number]]
                    joined = concat.inference_on_turn({"question": turn["question"]}, history)
                    key = str(conversation["conv_id"])
                    for text in dict.fromkeys((query, joined["structured_representation"])):
                        yield Example(text, chosen, "conversations", key, f"conversations:{key}")
    finally:
        ers.store_cache()


def _one_turn(name: str, path: Path, read: Read, data: Path, work: Path, seed: int) -> Iterator[Example]:
    """Questions with the facts that the pipeline retrieves; the key is the question's first linked item.

    Facts with a gold answer are relevant, where there are not more than five; an answer that the question itself names
    does not count. Against them stand the best other facts by BM25, without those of a relevant one's property. No
    question and no fact is about an item of `convquestions/val_wd27k`; facts of the dev part of `facts` are in no
    example of the train part.
    """
    chance = random.Random(f"{name} {seed}")
    bench = bench_items(data)
    with closing(knowledge_base(data, work)) as kb:
        config = parse_config({"kb_path": str(kb.path), "ers_wikipedia_dump": None, "ers_use_cache": False})
        resources = Resources(config, kb=kb)
        retriever = ClocqRetriever(config, resources=resources)
        understanding, scorer = Slots(config, resources), BM25Scorer(QueryExpansion(kb.properties()))
        try:
            for question, written in dict(read(path)).items():
                answers = [entity for text in written if (entity := answer_entity(text, kb.label)) is not None]
                answers = [one for one in answers if not is_item(one["id"]) or kb.has(one["id"])]
                if not answers or _is_yes_or_no(question, answers):
                    continue
                found, entities = retriever.retrieve_KB_facts(question)
                asked = [entity["item"]["id"] for entity in entities if is_named(entity)]
                answers = [one for one in answers if one["id"] not in asked]
                if not asked or not answers or asked[0] in bench.items:
                    continue
                train = part_of(name, asked[0]) == "train"
                own = [evidence for evidence in found if _is_usable(evidence, bench, train)]
                ranked = _ranked(scorer, question, own, answers)
                if sum(map(bool, ranked.spans)) > _MOST_RIGHT:
                    continue
                ranked = _of_entities(ranked, asked)
                query = question
                if chance.random() < 0.5:
                    query = understanding.inference_on_turn({"question": question}, [])["structured_representation"]
                chosen = _candidates(ranked, answers, _property)
                if chosen:
                    yield Example(query, chosen, name, asked[0], f"{name}:{asked[0]}")
        finally:
            retriever.store_cache()


def _is_usable(evidence: Evidence, bench: Bench, train: bool) -> bool:
    """Whether a fact may be learned from: it is not the bench's, nor held out by `facts`."""
    ids = [entity["id"] for entity in evidence["wikidata_entities"]]
    if ids[0] in bench.items or not bench.seeds.isdisjoint(ids):
        return False
    return not train or part_of(FACTS, evidence["wikidata_entities"][0]["label"]) == "train"


def _ranked(scorer: BM25Scorer, query: str, evidences: Sequence[Evidence], answers: Sequence[Entity]) -> Ranked:
    best = scorer.rank(query, evidences, len(evidences))
    return Ranked(best, [answer_spans(one, answers) if has_answer(one, answers) else [] for one in best])


def _of_entities(ranked: Ranked, asked: Sequence[str]) -> Ranked:
    """Without the places of answers in facts that have no item of the question as subject or object.

    Such a fact has it as a qualifier ("together with"), and says the answer of somebody else.
    """
    spans = []
    for evidence, found in zip(ranked.evidences, ranked.spans, strict=True):
        main = {entity["id"] for entity in evidence["wikidata_entities"][:2]}
        spans.append([] if main.isdisjoint(asked) else found)
    return Ranked(ranked.evidences, spans)


def _candidates(
    ranked: Ranked, answers: Sequence[Entity], alike: Callable[[Evidence], str] | None = None
) -> tuple[Candidate, ...]:
    """The best evidences with an answer, then the best without one; nothing where one of both is missing.

    Args:
        ranked: the evidences.
        answers: the gold answers; an evidence that names one without holding its item is neither right nor wrong.
        alike: what a wrong evidence must not have in common with a right one.
    """
    right: dict[str, Candidate] = {}
    wrong: dict[str, Candidate] = {}
    common = set()
    for evidence, spans in zip(ranked.evidences, ranked.spans, strict=True):
        if spans:
            text = evidence["evidence_text"]
            right.setdefault(text, Candidate(text, True, tuple(spans)))
            common.add(alike(evidence) if alike else None)
    for evidence in ranked.evidences:
        text = evidence["evidence_text"]
        if len(wrong) == _NEGATIVES:
            break
        if text in right or (alike and alike(evidence) in common) or has_answer(evidence, answers):
            continue
        if not answer_spans(evidence, answers):
            wrong.setdefault(text, Candidate(text))
    if not right or not wrong:
        return ()
    return (*list(right.values())[:_RELEVANT], *wrong.values())


def _property(evidence: Evidence) -> str:
    """The property of a fact."""
    return evidence["fact"][1]["id"]


def _is_yes_or_no(question: str, answers: Iterable[Entity]) -> bool:
    decided = any(answer["id"].casefold() in ("yes", "no") for answer in answers)
    return decided or english().answer_types.is_existential(question)


# -- formats -----------------------------------------------------------------------------------------------------------


def _read_faith(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Questions and answers of FAITH's data sets."""
    return ((question.text, question.answers) for question in faith_questions(path))


def _read_clocq(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Questions and answers of CLOCQ's benchmarks."""
    for _, entry in read_documents(path, unwrap=True):
        question = " ".join(entry["question"].split()).strip('"')
        if "{" not in question:  # else a template that nobody has put into words
            yield question, list(entry["answers"])
