"""Passage retrieval measured: time to index, to open and to search, memory; beside other engines; on real questions.

    bash run.sh bench passages [--full] [--bi-encoder MODEL] [--reranker MODEL]

Synthetic passages of about 65 words (`scripts/recipes/synthetic_passages.py`) with 1,291 questions of 8 words: 100,000 by
default, 5,000 with `--quick`; `--full` adds 1,000,000 and 7,097,322. Other engines run at the sizes they manage: tantivy
and bm25s up to a million, rank_bm25 up to 100,000. They are not needed for anything else. Every engine has a process of its
own. BoolQ (every passage a candidate for every question) comes from ../shared/data or CONVINSE_DATA; `--bi-encoder` and
`--reranker` add their rows. Corpora and indexes lie in a temporary folder (TMPDIR; 10 GB for the largest).
"""

from __future__ import annotations

import json
import math
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from convinse.passages.analysis import Analyzer
from convinse.passages.build import build_index
from convinse.passages.index import PassageIndex
from convinse.passages.layout import Parameters

from . import boolq
from .engines import ENGINES, LANGUAGE, QUESTIONS, TOP, index_engine, search_engine, write_corpus
from .harness import Bench, ChildError, Figures, Spec, apart, disk, run

MOST = {"tantivy": 1_000_000, "bm25s": 1_000_000, "rank_bm25": 100_000}  # passages that an engine is given
CHECKED = 20_000  # passages of the comparison with brute force
MEMORY = 2_000_000_000  # bytes that an index may be built in
COLUMNS = {
    "index s": ("index_seconds", "{:.1f}"), "peak MB": ("index_peak_mb", "{:,.0f}"), "disk MB": ("disk_mb", "{:,.0f}"),
    "open s": ("open_seconds", "{:.3f}"), "median ms": ("median_ms", "{:.2f}"), "p95 ms": ("p95_ms", "{:.2f}"),
    "queries/s": ("queries_per_second", "{:,.0f}"), "peak MB ": ("search_peak_mb", "{:,.0f}"),
    "hit@10": ("hit_at_10", "{:.3f}"), "": ("left_out", "{}"),
}  # fmt: skip


def synthetic(bench: Bench) -> Figures:
    """The engines at all sizes."""
    return {str(size): _size(bench, size) for size in bench.size}


def _size(bench: Bench, size: int) -> Figures:
    folder = bench.work / str(size)
    seconds = apart(write_corpus, folder, size).seconds
    rows: Figures = {}
    for engine in ENGINES:
        if size > MOST.get(engine, size):
            rows[engine] = {"left_out": f"more than {MOST[engine]:,} passages"}
        elif engine == "convinse" or bench.has(engine):
            rows[engine] = _engine(engine, folder)
    shutil.rmtree(folder)
    bench.compare(f"{size:,} synthetic passages, {QUESTIONS:,} questions of 8 words", ("engine",), COLUMNS, {(): rows})
    return {"corpus_seconds": seconds, **rows}


def _engine(engine: str, folder: Path) -> Figures:
    try:
        built = apart(index_engine, engine, folder, MEMORY, tree=True)
        asked = apart(search_engine, engine, folder)
    except ChildError as error:
        return {"left_out": str(error)}
    return {
        "index_seconds": built.seconds, "index_peak_mb": built.peak / 1e6, "disk_mb": disk(folder / engine) / 1e6,
        **asked.result, "search_peak_mb": asked.peak / 1e6,
    }  # fmt: skip


def brute_force(bench: Bench) -> Figures:
    """How many questions have the same ten passages as every passage scored by the formula, one after the other."""
    folder, parameters, analyzer = bench.work / "checked", Parameters(LANGUAGE), Analyzer(LANGUAGE)
    apart(write_corpus, folder, CHECKED // 10 if bench.options.quick else CHECKED)
    build_index(folder / "passages.jl", folder / "index", parameters)
    index = PassageIndex(folder / "index")
    ids, counts = [], []
    postings: dict[str, list[int]] = defaultdict(list)
    for number, passage in enumerate(_records(folder / "passages.jl")):
        count = Counter(analyzer.terms([passage["text"]]))
        for term in analyzer.terms([passage["title"]]):
            count[term] += parameters.title_weight
        for term in count:
            postings[term].append(number)
        ids.append(passage["id"])
        counts.append(count)
    lengths = [count.total() for count in counts]
    mean = sum(lengths) / len(lengths)
    same = 0
    questions = [question["text"] for question in _records(folder / "questions.jl")]
    for question in questions:
        scores: Counter[int] = Counter()
        for term in dict.fromkeys(analyzer.terms([question])):
            having = postings.get(term, [])
            idf = math.log(1 + (len(counts) - len(having) + 0.5) / (len(having) + 0.5))
            for number in having:
                often = counts[number][term]
                norm = parameters.k1 * (1 - parameters.b + parameters.b * lengths[number] / mean)
                scores[number] += idf * often / (often + norm)  # type: ignore[assignment]
        best = sorted(scores, key=lambda number: (-round(scores[number], 9), number))[:TOP]
        same += {ids[number] for number in best} == {hit.id for hit in index.search(question, TOP)}
    bench.console.print(
        f"{same} of {len(questions)} questions have the top {TOP} of a brute-force BM25 over {len(counts):,} passages"
    )
    return {"passages": len(counts), "questions": len(questions), "same": same}


def _records(path: Path) -> Iterator[Any]:
    with path.open("rb") as file:
        yield from map(json.loads, file)


SPEC = Spec(
    "passages", __doc__, {"synthetic": synthetic, "brute_force": brute_force, "boolq": boolq.boolq},
    ((5_000,), (100_000,), (100_000, 1_000_000, 7_097_322)), options=boolq.add_options,
    peers=("tantivy", "bm25s", "numba", "rank-bm25"),
)  # fmt: skip

if __name__ == "__main__":
    run(SPEC)
