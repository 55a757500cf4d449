"""Real questions for `bench passages`: those of BoolQ, every passage of the data a candidate for every question."""

from __future__ import annotations

import argparse
import itertools
import json
import math
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from convinse.encoder.bi_encoder import BiEncoder
from convinse.encoder.reranker import BertReranker
from convinse.evidence_retrieval_scoring.cascade import Cascade
from convinse.evidence_retrieval_scoring.passage_retriever import GivenScores
from convinse.passages.build import build_index
from convinse.passages.index import PassageIndex
from convinse.passages.layout import Parameters
from convinse.passages.search import candidate_evidences, passage_text
from convinse.support.errors import DataError
from convinse.support.vector_cache import VectorCache
from recipes.embedded.negatives import part_of
from recipes.sources import json_lines

from .harness import Bench, Figures, timed
from .measures import first_right, share_within

SEED, TOP = 1, 10
CANDIDATES = 200  # passages of a question that models see
READ = 10  # of them that the cross-encoder reads by BM25's choice, and as many by the bi-encoder's
QUESTIONS = 300  # that models see


COLUMNS = {
    "questions": ("questions", "{:,}"), "hit@1": ("hit_at_1", "{:.2f}"), "hit@10": ("hit_at_10", "{:.2f}"),
    "NDCG@10": ("ndcg_at_10", "{:.2f}"), "ms a question": ("ms_per_question", "{:.2f}"),
}  # fmt: skip


def add_options(parser: argparse.ArgumentParser) -> None:
    """Which models to measure."""
    parser.add_argument("--bi-encoder", metavar="MODEL", help="for the rows of BoolQ")
    parser.add_argument("--reranker", metavar="MODEL", help="for the rows of BoolQ")


def read(paths: Sequence[Path]) -> tuple[dict[tuple[str, str], str], list[tuple[str, str]]]:
    """Passages (title, text) with their ids, and questions with the id of the passage that answers each."""
    passages: dict[tuple[str, str], str] = {}
    questions = []
    for row in itertools.chain.from_iterable(map(json_lines, paths)):
        questions.append((row["question"], passages.setdefault((row["title"], row["passage"]), str(len(passages)))))
    return passages, questions


def boolq(bench: Bench) -> Figures:
    """BM25 over all questions; and BM25, bi-encoder, fusion and cascade over the same questions, where models are given.

    The bi-encoder compares a question with every passage. Fusion and cascade are those of `retrieve search --rerank`: they
    order the best passages by BM25.
    """
    try:
        passages, questions = read([bench.data("boolq", f"{part}.jsonl.gz") for part in ("train", "dev")])
    except DataError as error:
        bench.console.print(f"BoolQ: {error}")
        return {"left_out": str(error)}
    options = bench.options
    if options.quick:
        questions = questions[:QUESTIONS]
    corpus = bench.work / "boolq.jl"
    rows = ({"id": key, "title": title, "text": text} for (title, text), key in passages.items())
    corpus.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    build_index(corpus, bench.work / "boolq", Parameters("en"))
    index = PassageIndex(bench.work / "boolq")

    def lexical(text: str) -> list[str]:
        return [hit.id for hit in index.search(text, TOP)]

    measured = {"BM25, all questions": measures(questions, lexical)}
    result: Figures = {"passages": len(passages), "rows": measured}
    if options.bi_encoder or options.reranker:
        # the embedded model was trained on the other pages of BoolQ
        title_of = {key: title for (title, _), key in passages.items()}
        held_out = [pair for pair in questions if part_of("boolq", title_of[pair[1]]) == "dev"]
        result["held_out"] = len(held_out)
        held_out = held_out or questions
        sample = random.Random(SEED).sample(held_out, min(QUESTIONS, len(held_out)))
        measured["BM25"] = measures(sample, lexical)

    def cascade(*models: Any) -> Callable[[str], list[str]]:
        scorer = Cascade(GivenScores(), *models, lexical=READ, dense=READ)

        def search(text: str) -> list[str]:
            best = scorer.rank(text, candidate_evidences(index, text, CANDIDATES), TOP)
            return [evidence["passage"][0] for evidence in best]  # type: ignore[typeddict-item]

        return search

    bi_encoder = vectors = None
    if options.bi_encoder:
        bi_encoder = BiEncoder(options.bi_encoder)
        texts = [passage_text(*key) for key in passages]
        result["embedding_seconds"], matrix = timed(lambda: bi_encoder.embed(texts))
        vectors = VectorCache(None, bi_encoder.model_id, bi_encoder.dimension)
        vectors.put(texts, matrix)
        names = list(passages.values())

        def dense(text: str) -> list[str]:
            scores = matrix @ bi_encoder.embed([text])[0]
            return [names[place] for place in (-scores).argsort(kind="stable")[:TOP].tolist()]

        measured["bi-encoder"] = measures(sample, dense)
        measured["BM25 and bi-encoder, fused"] = measures(sample, cascade(None, bi_encoder, vectors))
    if options.reranker:
        name = "cascade" if options.bi_encoder else "BM25, then cross-encoder"
        measured[name] = measures(sample, cascade(BertReranker(options.reranker), bi_encoder, vectors))
    bench.compare(f"BoolQ, {len(passages):,} passages", ("ranked by",), COLUMNS, {(): measured})
    if "embedding_seconds" in result:
        bench.console.print(f"embedding the passages: {result['embedding_seconds']:.0f} s")
    return result


def measures(questions: Sequence[tuple[str, str]], search: Callable[[str], Sequence[str]]) -> dict[str, float]:
    """Of one way to search, in percent; a question has one relevant passage."""
    seconds, found = timed(lambda: [search(text) for text, _ in questions])
    ranks = [first_right(ids, {wanted}) for ids, (_, wanted) in zip(found, questions, strict=True)]
    return {
        "questions": len(ranks),
        "hit_at_1": 100 * share_within(ranks, 1),
        "hit_at_10": 100 * share_within(ranks, TOP),
        "ndcg_at_10": 100 * sum(1 / math.log2(rank + 1) for rank in ranks if rank) / len(ranks),
        "ms_per_question": 1000 * seconds / len(ranks),
    }
