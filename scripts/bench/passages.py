"""Passage retrieval measured: time to index, to open and to search, memory; beside other engines; on real questions.

    bash run.sh bench passages [--full]

Synthetic passages of about 65 words (`scripts/recipes/synthetic_passages.py`) with 1,291 questions of 8 words: 100,000 by default, 5,000
with `--quick`; `--full` adds 1,000,000 and 7,097,322. tantivy and bm25s run up to a million; they are not needed for anything else.
Every engine has a process of its own. Of BoolQ every passage is a candidate for every question. Corpora and indexes lie in a temporary
folder (TMPDIR; 10 GB for the largest).
"""

import json
import math
import shutil

from convinse.passages.build import build_index
from convinse.passages.index import PassageIndex
from convinse.passages.layout import Parameters
from recipes.sources import records

from .engines import ENGINES, QUESTIONS, TOP, index_engine, search_engine, write_corpus
from .harness import Bench, Figures, Spec, run
from .measures import first_right, share_within
from .timing import apart, disk, timed

BOOLQ_COLUMNS = {
    "questions": ("questions", "{:,}"), "hit@1": ("hit_at_1", "{:.2f}"), "hit@10": ("hit_at_10", "{:.2f}"),
    "NDCG@10": ("ndcg_at_10", "{:.2f}"), "ms a question": ("ms_per_question", "{:.2f}"),
}  # fmt: skip
PEERS_MOST = 1_000_000  # passages that other engines are given
MEMORY = 2_000_000_000  # bytes that an index may be built in
COLUMNS = {
    "index s": ("index_seconds", "{:.1f}"), "peak MB": ("index_peak_mb", "{:,.0f}"), "disk MB": ("disk_mb", "{:,.0f}"),
    "open s": ("open_seconds", "{:.3f}"), "median ms": ("median_ms", "{:.2f}"), "p95 ms": ("p95_ms", "{:.2f}"),
    "queries/s": ("queries_per_second", "{:,.0f}"), "peak MB ": ("search_peak_mb", "{:,.0f}"),
    "hit@10": ("hit_at_10", "{:.3f}"),
}  # fmt: skip


def boolq(bench: Bench) -> Figures:
    """BM25 over the passages of BoolQ, all of which are candidates for every question."""
    ids: dict[tuple[str, str], str] = {}  # of title and text
    questions = []
    for row in (row for part in ("train", "dev") for row in records(bench.folder, "boolq", f"{part}.jsonl.gz")):
        questions.append((row["question"], ids.setdefault((row["title"], row["passage"]), str(len(ids)))))
    corpus = bench.work / "boolq.jl"
    rows = ({"id": key, "title": title, "text": text} for (title, text), key in ids.items())
    corpus.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    build_index(corpus, bench.work / "boolq", Parameters("en"))
    index = PassageIndex(bench.work / "boolq")
    seconds, hits = timed(lambda: [index.search(text, TOP) for text, _ in questions])
    ranks = [first_right([hit.id for hit in found], {key}) for found, (_, key) in zip(hits, questions, strict=True)]
    measured = {
        "questions": len(ranks),
        "hit_at_1": 100 * share_within(ranks, 1),
        "hit_at_10": 100 * share_within(ranks, TOP),
        "ndcg_at_10": 100 * sum(1 / math.log2(rank + 1) for rank in ranks if rank) / len(ranks),
        "ms_per_question": 1000 * seconds / len(ranks),
    }
    bench.compare(f"BoolQ, {len(ids):,} passages", ("ranked by",), BOOLQ_COLUMNS, {(): {"BM25": measured}})
    return {"passages": len(ids), **measured}


def synthetic(bench: Bench) -> Figures:
    return {str(size): _size(bench, size) for size in bench.size}


def _size(bench: Bench, size: int) -> Figures:
    folder = bench.work / str(size)
    apart(write_corpus, folder, size)
    rows: Figures = {}
    for engine in ENGINES:
        if engine == "convinse" or (size <= PEERS_MOST and bench.has(engine)):
            built = apart(index_engine, engine, folder, MEMORY)
            searched = apart(search_engine, engine, folder)
            rows[engine] = {
                "index_seconds": built.seconds, "index_peak_mb": built.peak / 1e6,
                "disk_mb": disk(folder / engine) / 1e6, **searched.result, "search_peak_mb": searched.peak / 1e6,
            }  # fmt: skip
    shutil.rmtree(folder)
    bench.compare(f"{size:,} synthetic passages, {QUESTIONS:,} questions of 8 words", ("engine",), COLUMNS, {(): rows})
    return rows


_PARTS = {"synthetic": synthetic, "boolq": boolq}
SPEC = Spec("passages", __doc__, _PARTS, ((5_000,), (100_000,), (100_000, 1_000_000, 7_097_322)))

if __name__ == "__main__":
    run(SPEC)
