"""Real questions over wikidata-27k with candidate evidences, pairs and pools of them: what benches of linking and scoring ask.

The candidates are the facts that are retrieved. None of the items of ConvQuestions has a page among wikipedia-pages, so
each of its questions also gets the evidences of a saved page, all pages in turn: real texts of real lengths, from all
four sources.
"""

import itertools
import random
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from convinse.config import parse_config
from convinse.evidence_retrieval_scoring.clocq_retriever import ClocqRetriever
from convinse.records.evidence import SOURCES, Evidence
from recipes.built_sources import CONVQUESTIONS, SAVED, build_sources
from recipes.sources import records

SEED = 5


def distinct_turns(conversations: Iterable[dict]) -> Iterator[tuple[dict, dict]]:
    """(seed entity, turn) of each (seed entity, question) once: a conversation is there in 32 wordings."""
    seen = set()
    for conversation in conversations:
        seed = conversation["questions"][0]["entities"][0]
        for turn in conversation["questions"]:
            key = (seed["id"], turn["question"])
            if key not in seen:
                seen.add(key)
                yield seed, turn


def convquestions(data: Path) -> list[str]:
    """The questions of turn 0, and of the turns one hop from the seed entity with its label in front."""
    first, one_hop = [], []
    for seed, turn in distinct_turns(records(data, *CONVQUESTIONS)):
        if turn["turn"] == 0:
            first.append(turn["question"])
        if turn["one_hop"] and turn["label_agrees"] is not False:
            one_hop.append(f"{seed['label']} {turn['question']}")
    return first + one_hop


class Candidates(NamedTuple):
    query: str  # the seed entity's label and the question
    facts: list[Evidence]  # evidences retrieved from the knowledge base
    page: list[Evidence]  # evidences of a saved page, which need not have to do with the question

    @property
    def evidences(self) -> list[Evidence]:
        return self.facts + self.page


class Gathered(NamedTuple):
    """The questions with their candidates, and (id, label, aliases) of the knowledge base's properties."""

    questions: list[Candidates]
    properties: list[tuple[str, str, list[str]]]


def gather(data: Path, work: Path, most: int | None = None) -> Gathered:
    """Build knowledge base and Wikipedia dump in the folder `work`, and retrieve for all questions, or the first `most`."""
    sources = build_sources(data, work)
    retriever = ClocqRetriever(parse_config({**sources, "ers_use_cache": False}))
    with closing(retriever.resources):
        of_pages = list(_page_evidences(retriever, data))
        questions = []
        turns = itertools.islice(distinct_turns(records(data, *CONVQUESTIONS)), most)
        for (seed, turn), page in zip(turns, itertools.cycle(of_pages)):
            query = f"{seed['label']} {turn['question']}"
            facts, _ = retriever.retrieve_evidences(query, SOURCES)
            questions.append(Candidates(query, facts, page))
        retriever.store_cache()
        return Gathered(questions, list(retriever.kb.properties()))


def _page_evidences(retriever: ClocqRetriever, data: Path) -> Iterator[list[Evidence]]:
    for page in records(data, *SAVED):
        item = {"id": page["qid"], "label": retriever.kb.label(page["qid"])}
        linked = {"item": item, "question_word": item["label"], "score": 1.0, "rank": 0}
        if evidences := retriever.retrieve_wikipedia_evidences(linked):
            yield evidences


def draw_pairs(questions: Sequence[Candidates], size: int) -> list[tuple[str, str, str]]:
    """Random (question, text of a candidate, source), of all sources; each at most once."""
    candidates = ((question.query, evidence) for question in questions for evidence in question.evidences)
    pairs = dict.fromkeys((query, evidence["evidence_text"], evidence["source"]) for query, evidence in candidates)
    return random.Random(SEED).sample(list(pairs), size)


def draw_lists(questions: Sequence[Candidates], least: int, most_pairs: int) -> list[tuple[str, list[str]]]:
    """Random questions with all texts of their candidates, `least` or more, as long as the pairs suffice."""
    lists = []
    for question in random.Random(SEED).sample(list(questions), len(questions)):
        texts = list(dict.fromkeys(evidence["evidence_text"] for evidence in question.evidences))
        if least <= len(texts) <= most_pairs:
            lists.append((question.query, texts))
            most_pairs -= len(texts)
    return lists
