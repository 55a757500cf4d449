"""Passage retrieval measured: time to index, to open and to search, memory; beside other engines; on real questions.

    bash run.sh bench passages [--full]

Synthetic passages of about 65 words (`scripts/bench/synthetic_passages.py`) with 1,291 questions of 8 words: 100,000 by
default, 5,000 with `--quick`; `--full` adds 1,000,000 and 7,097,322. Other engines run at the sizes they manage: tantivy
and bm25s up to a million, rank_bm25 up to 100,000. They are not needed for anything else. Every engine has a process of its
own. Of BoolQ every passage is a candidate for every question. Corpora and indexes lie in a temporary folder (TMPDIR; 10 GB for the largest).
"""

import json
import math
import shutil
from collections import Counter, defaultdict
from pathlib import Path

from convinse.passages.analysis import Analyzer
from convinse.passages.build import build_index
from convinse.passages.index import PassageIndex
from convinse.passages.layout import Parameters
from convinse.support.jsonlines import read_documents
from recipes.sources import records

from .engines import (
    ENGINES,
    LANGUAGE,
    QUESTIONS,
    TOP,
    Search,
    index_engine,
    index_tantivy,
    load_tantivy,
    passages,
    search_engine,
    write_corpus,
)
from .harness import Bench, Figures, Spec, run
from .measures import first_right, share_within
from .timing import ChildError, apart, disk, timed

BOOLQ_COLUMNS = {
    "questions": ("questions", "{:,}"), "hit@1": ("hit_at_1", "{:.2f}"), "hit@10": ("hit_at_10", "{:.2f}"),
    "NDCG@10": ("ndcg_at_10", "{:.2f}"), "ms a question": ("ms_per_question", "{:.2f}"),
}  # fmt: skip
MOST = {"tantivy": 1_000_000, "bm25s": 1_000_000, "rank_bm25": 100_000}  # passages that an engine is given
CHECKED = 20_000  # passages of the comparison with brute force
MEMORY = 2_000_000_000  # bytes that an index may be built in
COLUMNS = {
    "index s": ("index_seconds", "{:.1f}"), "peak MB": ("index_peak_mb", "{:,.0f}"), "disk MB": ("disk_mb", "{:,.0f}"),
    "open s": ("open_seconds", "{:.3f}"), "median ms": ("median_ms", "{:.2f}"), "p95 ms": ("p95_ms", "{:.2f}"),
    "queries/s": ("queries_per_second", "{:,.0f}"), "peak MB ": ("search_peak_mb", "{:,.0f}"),
    "hit@10": ("hit_at_10", "{:.3f}"), "": ("left_out", "{}"),
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
    seconds, found = timed(lambda: [index.search(text, TOP) for text, _ in questions])
    ranks = [first_right([hit.id for hit in hits], {gold}) for hits, (_, gold) in zip(found, questions, strict=True)]
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
        built = apart(index_engine, engine, folder, MEMORY)
        searched = apart(search_engine, engine, folder)
    except ChildError as error:
        return {"left_out": str(error)}
    size = disk(folder / engine) / 1e6
    built_in = {"index_seconds": built.seconds, "index_peak_mb": built.peak / 1e6, "disk_mb": size}
    return {**built_in, **searched.result, "search_peak_mb": searched.peak / 1e6}


def brute_force(bench: Bench) -> Figures:
    """How many questions have the same ten passages as every passage scored by the formula, one after the other; and by tantivy alone.

    Titles count once, as for tantivy.
    """
    folder, parameters, analyzer = bench.work / "checked", Parameters(LANGUAGE, title_weight=1.0), Analyzer(LANGUAGE)
    apart(write_corpus, folder, CHECKED // 10 if bench.options.quick else CHECKED)
    build_index(folder / "passages.jl", folder / "index", parameters)
    index_tantivy(folder, MEMORY)
    index, beside = PassageIndex(folder / "index"), load_tantivy(folder)
    engines: dict[str, Search] = {
        "convinse": lambda text: [hit.id for hit in index.search(text, TOP)],
        "tantivy": beside,
    }
    ids, texts = zip(*passages(folder), strict=True)
    counts = [Counter(analyzer.terms([text])) for text in texts]
    lengths = [count.total() for count in counts]
    mean = sum(lengths) / len(lengths)
    postings: dict[str, list[int]] = defaultdict(list)
    for number, count in enumerate(counts):
        for term in count:
            postings[term].append(number)
    same = dict.fromkeys(engines, 0)
    questions = [question["text"] for _, question in read_documents(folder / "questions.jl")]
    for question in questions:
        scores: dict[int, float] = defaultdict(float)
        for term in dict.fromkeys(analyzer.terms([question])):
            having = postings.get(term, [])
            idf = math.log(1 + (len(counts) - len(having) + 0.5) / (len(having) + 0.5))
            for number in having:
                norm = parameters.k1 * (1 - parameters.b + parameters.b * lengths[number] / mean)
                scores[number] += idf * counts[number][term] / (counts[number][term] + norm)
        best = sorted(scores, key=lambda number: (-round(scores[number], 9), number))[:TOP]
        for engine, search in engines.items():
            same[engine] += {ids[number] for number in best} == set(search(question))
    title = f"{len(counts):,} passages, {len(questions):,} questions: the top {TOP} of a brute-force BM25"
    rows = {engine: {"same": number} for engine, number in same.items()}
    bench.compare(title, ("engine",), {"the same": ("same", "{:,}")}, {(): rows})
    return {"passages": len(counts), "questions": len(questions), "same": same}


_PARTS = {"synthetic": synthetic, "brute_force": brute_force, "boolq": boolq}
SPEC = Spec("passages", __doc__, _PARTS, ((5_000,), (100_000,), (100_000, 1_000_000, 7_097_322)))

if __name__ == "__main__":
    run(SPEC)
