"""Real questions for `bench passages`: those of BoolQ, every passage of the data a candidate for every question."""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import math
import os
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

SEED, TOP = 1, 10
CANDIDATES = 200  # passages of a question that models see
READ = 10  # of them that the cross-encoder reads by BM25's choice, and as many by the bi-encoder's
QUESTIONS = 500  # that models see, by default


class BoolQ(NamedTuple):
    """Passages (title, text) with their ids, and questions with the id of the passage that answers each."""

    passages: dict[tuple[str, str], str]
    questions: list[tuple[str, str]]


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--bi-encoder", metavar="MODEL", help="for the rows of BoolQ")
    parser.add_argument("--reranker", metavar="MODEL", help="for the rows of BoolQ")
    parser.add_argument(
        "--boolq-questions", type=int, default=QUESTIONS, metavar="N", help=f"that models see (default {QUESTIONS})"
    )


def data_folder() -> Path:
    return Path(os.environ.get("CONVINSE_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data") / "boolq"


def read(folder: Path) -> BoolQ:
    found = BoolQ({}, [])
    for part in ("train", "dev"):
        with gzip.open(folder / f"{part}.jsonl.gz", "rt", encoding="utf-8") as file:
            for line in file:
                row = json.loads(line)
                key = (row["title"], row["passage"])
                found.questions.append((row["question"], found.passages.setdefault(key, str(len(found.passages)))))
    return found


def boolq(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """BM25 over all questions; and BM25, bi-encoder, fusion and cascade over the same questions, where models are given.

    The bi-encoder compares a question with every passage. Fusion and cascade are those of `retrieve search --rerank`: they
    order the best passages by BM25.
    """
    data = data_folder()
    if not data.is_dir():
        return {"left_out": f"{data} is not there"}
    from convinse.evidence_retrieval_scoring.cascade import Cascade
    from convinse.evidence_retrieval_scoring.passage_retriever import GivenScores
    from convinse.passages.build import build_index
    from convinse.passages.index import PassageIndex
    from convinse.passages.layout import Parameters
    from convinse.passages.search import candidate_evidences, passage_text
    from recipes.embedded.negatives import part_of

    passages, questions = read(data)
    corpus = folder / "boolq.jl"
    corpus.write_text(
        "".join(json.dumps({"id": one, "title": t, "text": x}) + "\n" for (t, x), one in passages.items()), "utf-8"
    )
    build_index(corpus, folder / "boolq", Parameters("en"))
    index = PassageIndex(folder / "boolq")

    def lexical(text: str) -> list[str]:
        return [hit.id for hit in index.search(text, TOP)]

    rows = {"BM25, all questions": measures(questions, lexical)}
    result: dict[str, Any] = {"passages": len(passages), "rows": rows}
    if not (options.bi_encoder or options.reranker):
        return result
    # the embedded model was trained on the other pages of BoolQ
    title_of = {one: title for (title, _), one in passages.items()}
    held_out = [pair for pair in questions if part_of("boolq", title_of[pair[1]]) == "dev"]
    result["held_out"] = len(held_out)
    held_out = held_out or questions
    sample = random.Random(SEED).sample(held_out, min(options.boolq_questions, len(held_out)))
    rows["BM25"] = measures(sample, lexical)

    def cascade(*models: Any) -> Callable[[str], list[str]]:
        scorer = Cascade(GivenScores(), *models, lexical=READ, dense=READ)

        def search(text: str) -> list[str]:
            best = scorer.rank(text, candidate_evidences(index, text, CANDIDATES), TOP)
            return [one["passage"][0] for one in best]  # type: ignore[typeddict-item]

        return search

    bi_encoder = vectors = None
    if options.bi_encoder:
        from convinse.encoder.bi_encoder import BiEncoder
        from convinse.support.vector_cache import VectorCache

        bi_encoder = BiEncoder(options.bi_encoder)
        texts = [passage_text(*key) for key in passages]
        start = time.perf_counter()
        matrix = bi_encoder.embed(texts)
        result["embedding_seconds"] = time.perf_counter() - start
        vectors = VectorCache(None, bi_encoder.model_id, bi_encoder.dimension)
        vectors.put(texts, matrix)
        names = list(passages.values())

        def dense(text: str) -> list[str]:
            scores = matrix @ bi_encoder.embed([text])[0]
            return [names[place] for place in (-scores).argsort(kind="stable")[:TOP].tolist()]

        rows["bi-encoder"] = measures(sample, dense)
        rows["BM25 and bi-encoder, fused"] = measures(sample, cascade(None, bi_encoder, vectors))
    if options.reranker:
        from convinse.encoder.reranker import BertReranker

        name = "cascade" if options.bi_encoder else "BM25, then cross-encoder"
        rows[name] = measures(sample, cascade(BertReranker(options.reranker), bi_encoder, vectors))
    return result


def measures(questions: Sequence[tuple[str, str]], search: Callable[[str], Sequence[str]]) -> dict[str, float]:
    """Of one way to search, in percent; a question has one relevant passage."""
    start = time.perf_counter()
    places = []
    for text, wanted in questions:
        found = list(search(text))
        places.append(found.index(wanted) + 1 if wanted in found else 0)
    seconds = time.perf_counter() - start
    number = len(places)
    return {
        "questions": number,
        "hit_at_1": 100 * sum(place == 1 for place in places) / number,
        "hit_at_10": 100 * sum(place > 0 for place in places) / number,
        "ndcg_at_10": 100 * sum(1 / math.log2(place + 1) for place in places if place) / number,
        "ms_per_question": 1000 * seconds / number,
    }


def show(console: Console, result: dict[str, Any]) -> None:
    if "left_out" in result:
        console.print(f"BoolQ: {result['left_out']}")
        return
    table = Table(title=f"BoolQ, {result['passages']:,} passages", title_justify="left")
    for column in ("", "questions", "hit@1", "hit@10", "NDCG@10", "ms a question"):
        table.add_column(column, justify="right" if column else "left")
    for name, row in result["rows"].items():
        figures = itertools.islice(row.values(), 1, None)
        table.add_row(name, f"{row['questions']:,}", *(f"{figure:.2f}" for figure in figures))
    console.print(table)
    if "embedding_seconds" in result:
        console.print(f"embedding the passages: {result['embedding_seconds']:.0f} s")
