"""Questions with candidate evidences, pairs, and candidate pools: what the benches of scoring measure on.

The questions are the distinct ones of convquestions/val_wd27k, the seed entity's label in front. Their candidates are
the facts that are retrieved from wikidata-27k. None of their items has a page among wikipedia-pages, so each question
also gets the evidences of a saved page, all pages in turn: real texts of real lengths, from all four sources.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from convinse.config import parse_config
from convinse.evidence_retrieval_scoring.clocq_retriever import ClocqRetriever
from convinse.records.evidence import SOURCES, Evidence
from convinse.support.errors import DataError
from convinse.support.files import sha256
from recipes.embedded.wikidata import knowledge_base
from recipes.sources import needed

from .questions import convquestions_path, distinct_turns, is_right, read_json

SEED = 5


class Sources(NamedTuple):
    """The folder of the knowledge base and the file of the Wikipedia dump."""

    kb: Path
    pages: Path


def build_sources(data: Path, work: Path) -> Sources:
    """Knowledge base and Wikipedia dump of `config/wikidata-27k.yml` in the folder `work`; what is there already is kept."""
    from convinse.wikipedia.build import build

    pages, titles = _pages(data), data / "wikipedia-pages" / "title2qid.tsv.gz"
    with closing(knowledge_base(data, work)) as kb:
        dump = work / f"wikidata-27k-pages-{sha256(pages)[:12]}.db"
        if not dump.is_file():
            build(pages, dump, titles=titles if titles.is_file() else None)
        return Sources(kb.path, dump)


def _pages(data: Path) -> Path:
    return needed(data, "wikipedia-pages", "pages_with_qid.jsonl.gz")


class Candidates(NamedTuple):
    """A question and its candidate evidences.

    Attributes:
        query: the seed entity's label and the question.
        gold: the answers: item ids or texts.
        one_hop: whether an answer is one fact away from the seed entity.
        facts: evidences retrieved from the knowledge base.
        page: evidences of a saved page, which need not have to do with the question.
    """

    query: str
    gold: tuple[str, ...]
    one_hop: bool
    facts: list[Evidence]
    page: list[Evidence]

    @property
    def evidences(self) -> list[Evidence]:
        """All candidates."""
        return self.facts + self.page


class Pair(NamedTuple):
    """What a cross-encoder scores."""

    query: str
    text: str
    source: str


class Pool(NamedTuple):
    """Many candidates of different texts, and questions that some of them were retrieved for."""

    queries: list[str]
    evidences: list[Evidence]


class Gathered(NamedTuple):
    """The questions with their candidates, (id, label, aliases) of the knowledge base's properties, and its folder."""

    questions: list[Candidates]
    properties: list[tuple[str, str, list[str]]]
    kb: Path


def gather(data: Path, work: Path, most: int | None = None) -> Gathered:
    """Build knowledge base and Wikipedia dump in the folder `work`, and retrieve for all questions, or the first `most`."""
    sources = build_sources(data, work)
    retriever = ClocqRetriever(
        parse_config({"kb_path": str(sources.kb), "ers_wikipedia_dump": str(sources.pages), "ers_use_cache": False})
    )
    try:
        of_pages = list(_page_evidences(retriever, _pages(data)))
        questions = []
        for number, (seed, turn, gold) in enumerate(distinct_turns(read_json(convquestions_path(data)))):
            if number == most:
                break
            query = f"{seed['label']} {turn['question']}"
            facts, _ = retriever.retrieve_evidences(query, SOURCES)
            page = of_pages[number % len(of_pages)]
            questions.append(Candidates(query, gold, turn["one_hop"], facts, page))
        return Gathered(questions, list(retriever.kb.properties()), sources.kb)
    finally:
        retriever.store_cache()
        retriever.kb.close()


def _page_evidences(retriever: ClocqRetriever, pages: Path) -> Iterator[list[Evidence]]:
    """What users get of each saved page, filters applied."""
    with gzip.open(pages, "rt", encoding="utf-8") as file:
        for line in file:
            page = json.loads(line)
            item = {"id": page["qid"], "label": retriever.kb.label(page["qid"])}
            found = retriever.retrieve_wikipedia_evidences(
                {"item": item, "question_word": item["label"], "score": 1.0, "rank": 0}
            )
            if found:
                yield found


def draw_pairs(questions: Sequence[Candidates], size: int) -> list[Pair]:
    """Random pairs of a question and one of its candidates, of all sources; each at most once."""
    pairs = {
        Pair(question.query, evidence["evidence_text"], evidence["source"]): None
        for question in questions
        for evidence in question.evidences
    }
    if len(pairs) < size:
        raise DataError(f"the data gives {len(pairs)} pairs only, not {size}")
    drawn = random.Random(SEED).sample(list(pairs), size)
    lacking = set(SOURCES) - {pair.source for pair in drawn}
    if lacking:
        raise DataError(f"no pair from {', '.join(sorted(lacking))}; draw more than {size}")
    return drawn


def draw_lists(questions: Sequence[Candidates], least: int, most_pairs: int) -> list[tuple[str, list[str]]]:
    """Random questions with all texts of their candidates, `least` or more, as long as the pairs suffice."""
    lists = []
    for question in random.Random(SEED).sample(list(questions), len(questions)):
        texts = list(dict.fromkeys(evidence["evidence_text"] for evidence in question.evidences))
        if least <= len(texts) <= most_pairs:
            lists.append((question.query, texts))
            most_pairs -= len(texts)
    return lists


def pools(questions: Iterable[Candidates], size: int) -> list[Pool]:
    """As many pools of exactly `size` different texts as the candidates give; no text is in two of them."""
    made: list[Pool] = []
    seen: set[str] = set()
    pool = Pool([], [])
    for question in questions:
        pool.queries.append(question.query)
        for evidence in question.evidences:
            if evidence["evidence_text"] not in seen:
                seen.add(evidence["evidence_text"])
                pool.evidences.append(evidence)
                if len(pool.evidences) == size:
                    made.append(pool)
                    pool = Pool([question.query], [])
    return made


def widened(question: Candidates, others: Sequence[Evidence], size: int, seed: int) -> list[Evidence]:
    """The facts of a question and random other evidences, none of them with a gold answer, up to `size` texts."""
    found = list({evidence["evidence_text"]: evidence for evidence in question.facts}.values())
    texts = {evidence["evidence_text"] for evidence in found}
    for evidence in random.Random(seed).sample(others, len(others)):
        if len(found) >= size:
            break
        if evidence["evidence_text"] not in texts and not is_right(evidence, question.gold):
            texts.add(evidence["evidence_text"])
            found.append(evidence)
    return found
