"""Passage retrieval measured: time to index, to open and to search, memory; beside other engines; on real questions.

    bash run.sh bench passages [--size N ...] [--full] [--bi-encoder MODEL] [--reranker MODEL] [--only-boolq]

Synthetic passages of about 65 words (`scripts/recipes/synthetic_passages.py`) with 1,291 questions of 8 words: 100,000 by
default, 5,000 with `--quick`; `--full` adds 1,000,000 and 7,097,322. Other engines run at the sizes they manage: tantivy
and bm25s up to a million, rank_bm25 up to 100,000. They are not needed for anything else. Every engine has a process of its
own. BoolQ (every passage a candidate for every question) comes from ../shared/data or CONVINSE_DATA; `--bi-encoder` and
`--reranker` add their rows. Corpora and indexes lie in a temporary folder (TMPDIR; 10 GB for the largest).
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
from collections import Counter
from pathlib import Path

from convinse.passages.analysis import Analyzer
from convinse.passages.build import build_index
from convinse.passages.index import PassageIndex
from convinse.passages.layout import Parameters

from . import boolq
from .engines import ENGINES, LANGUAGE, QUESTIONS, TOP, index_engine, search_engine, write_corpus
from .harness import Bench, ChildError, Figures, Spec, apart, disk, run

MOST = {"tantivy": 1_000_000, "bm25s": 1_000_000, "rank_bm25": 100_000}  # passages that an engine is given
CHECKED = 20_000  # passages of the comparison with brute force
COLUMNS = {
    "index s": ("index_seconds", ".1f"), "peak MB": ("index_peak_mb", ",.0f"), "disk MB": ("disk_mb", ",.0f"),
    "open s": ("open_seconds", ".3f"), "median ms": ("median_ms", ".2f"), "p95 ms": ("p95_ms", ".2f"),
    "queries/s": ("queries_per_second", ",.0f"), "peak MB ": ("search_peak_mb", ",.0f"), "hit@10": ("hit_at_10", ".3f"),
}  # fmt: skip


def synthetic(bench: Bench) -> Figures:
    """The engines at all sizes."""
    return {str(size): _size(bench, size) for size in bench.options.size or bench.size}


def _size(bench: Bench, size: int) -> Figures:
    folder = bench.work / str(size)
    rows: Figures = {"corpus_seconds": apart(write_corpus, folder, size).seconds}
    for engine in ENGINES:
        if bench.options.only and engine not in bench.options.only:
            continue
        if size > MOST.get(engine, size):
            rows[engine] = {"left_out": f"more than {MOST[engine]:,} passages"}
        elif engine == "convinse" or bench.has(engine):
            rows[engine] = _engine(engine, folder, bench.options.memory)
    shutil.rmtree(folder)
    whole = {name: row for name, row in rows.items() if "open_seconds" in (row if isinstance(row, dict) else ())}
    table = [(name, *(format(row[key], form) for key, form in COLUMNS.values())) for name, row in whole.items()]
    bench.show(f"{size:,} synthetic passages, {QUESTIONS:,} questions of 8 words", ("engine", *COLUMNS), table)
    for name, row in rows.items():
        if isinstance(row, dict) and name not in whole:
            bench.console.print(f"{name}: {row.get('left_out') or row['failed']}")
    return rows


def _engine(engine: str, folder: Path, memory: int) -> Figures:
    try:
        built = apart(index_engine, engine, folder, memory, tree=True)
        asked = apart(search_engine, engine, folder)
    except ChildError as error:
        return {"failed": str(error)}
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
    counts = []
    with (folder / "passages.jl").open("rb") as file:
        for line in file:
            passage = json.loads(line)
            count = Counter(analyzer.terms([passage["text"]]))
            for term in analyzer.terms([passage["title"]]):
                count[term] += parameters.title_weight
            counts.append((passage["id"], count))
    lengths = [sum(count.values()) for _, count in counts]
    mean = sum(lengths) / len(lengths)
    postings: dict[str, list[int]] = {}
    for number, (_, count) in enumerate(counts):
        for term in count:
            postings.setdefault(term, []).append(number)
    same = 0
    questions = [json.loads(line)["text"] for line in (folder / "questions.jl").read_text("utf-8").splitlines()]
    for question in questions:
        scores: Counter[int] = Counter()
        for term in dict.fromkeys(analyzer.terms([question])):
            having = postings.get(term, [])
            idf = math.log(1 + (len(counts) - len(having) + 0.5) / (len(having) + 0.5))
            for number in having:
                often = counts[number][1][term]
                norm = parameters.k1 * (1 - parameters.b + parameters.b * lengths[number] / mean)
                scores[number] += idf * often / (often + norm)  # type: ignore[assignment]
        best = sorted(scores, key=lambda number: (-round(scores[number], 9), number))[:TOP]
        same += {counts[number][0] for number in best} == {hit.id for hit in index.search(question, TOP)}
    bench.console.print(
        f"{same} of {len(questions)} questions have the top {TOP} of a brute-force BM25 over {len(counts):,} passages"
    )
    return {"passages": len(counts), "questions": len(questions), "same": same}


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--size", type=int, action="append", metavar="N", help="passages; may be given several times")
    parser.add_argument("--memory", type=int, default=2_000_000_000, help="bytes for the index (default 2 GB)")
    parser.add_argument("--only", action="append", metavar="ENGINE", help=f"of {', '.join(ENGINES)}")
    parts = parser.add_mutually_exclusive_group()
    parts.add_argument("--no-boolq", action="store_true")
    parts.add_argument("--only-boolq", action="store_true")
    boolq.add_options(parser)


def _default(options: argparse.Namespace) -> list[str]:
    checked = not options.only or "convinse" in options.only
    own = ["synthetic", *(["brute_force"] if checked else [])]
    return [*([] if options.only_boolq else own), *([] if options.no_boolq else ["boolq"])]


SPEC = Spec(
    "passages", __doc__, {"synthetic": synthetic, "brute_force": brute_force, "boolq": boolq.boolq},
    ((5_000,), (100_000,), (100_000, 1_000_000, 7_097_322)), options=_options, default=_default, part_options=("--parts",),
    peers=("tantivy", "bm25s", "numba", "rank-bm25"),
)  # fmt: skip

if __name__ == "__main__":
    run(SPEC)
