"""Passage retrieval measured: time to index, to open and to search, memory; beside other engines; on real questions.

    bash run.sh bench passages [--full]

Synthetic passages of about 65 words (`scripts/recipes/synthetic_passages.py`) with 1,291 questions of 8 words: 100,000 by
default, 5,000 with `--quick`; `--full` adds 1,000,000 and 7,097,322. Other engines run at the sizes they manage: tantivy
and bm25s up to a million, rank_bm25 up to 100,000. They are not needed for anything else. Every engine has a process of its
own. Of BoolQ every passage is a candidate for every question. Corpora and indexes lie in a temporary folder (TMPDIR; 10 GB for the largest).
"""

from __future__ import annotations

import itertools
import json
import math
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from convinse.passages.analysis import Analyzer
from convinse.passages.build import build_index
from convinse.passages.index import PassageIndex
from convinse.passages.layout import Parameters
from convinse.support.errors import DataError
from convinse.support.jsonlines import read_documents
from recipes.sources import json_lines

from .engines import (
    ENGINES,
    LANGUAGE,
    QUESTIONS,
    TOP,
    Search,
    index_engine,
    index_tantivy,
    load_tantivy,
    search_engine,
    write_corpus,
)
from .harness import Bench, Figures, Spec, run, timed
from .measures import first_right, share_within
from .processes import ChildError, apart, disk

SEED = 1
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


def read(paths: Sequence[Path]) -> tuple[dict[tuple[str, str], str], list[tuple[str, str]]]:
    """Passages (title, text) with their ids, and questions with the id of the passage that answers each."""
    passages: dict[tuple[str, str], str] = {}
    questions = []
    for row in itertools.chain.from_iterable(map(json_lines, paths)):
        questions.append((row["question"], passages.setdefault((row["title"], row["passage"]), str(len(passages)))))
    return passages, questions


def boolq(bench: Bench) -> Figures:
    """BM25 over the passages of BoolQ, all of which are candidates for every question."""
    try:
        passages, questions = read([bench.data("boolq", f"{part}.jsonl.gz") for part in ("train", "dev")])
    except DataError as error:
        bench.console.print(f"BoolQ: {error}")
        return {"left_out": str(error)}
    corpus = bench.work / "boolq.jl"
    rows = ({"id": key, "title": title, "text": text} for (title, text), key in passages.items())
    corpus.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    build_index(corpus, bench.work / "boolq", Parameters("en"))
    index = PassageIndex(bench.work / "boolq")

    def lexical(text: str) -> list[str]:
        return [hit.id for hit in index.search(text, TOP)]

    measured = {"BM25": measures(questions, lexical)}
    bench.compare(f"BoolQ, {len(passages):,} passages", ("ranked by",), BOOLQ_COLUMNS, {(): measured})
    return {"passages": len(passages), "rows": measured}


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
        asked = apart(search_engine, engine, folder)
    except ChildError as error:
        return {"left_out": str(error)}
    return {
        "index_seconds": built.seconds, "index_peak_mb": built.peak / 1e6, "disk_mb": disk(folder / engine) / 1e6,
        **asked.result, "search_peak_mb": asked.peak / 1e6,
    }  # fmt: skip


def brute_force(bench: Bench) -> Figures:
    """How many questions have the same ten passages as every passage scored by the formula, one after the other; and by tantivy alone.

    Titles count once, as for tantivy.
    """
    folder, parameters, analyzer = bench.work / "checked", Parameters(LANGUAGE, title_weight=1.0), Analyzer(LANGUAGE)
    apart(write_corpus, folder, CHECKED // 10 if bench.options.quick else CHECKED)
    build_index(folder / "passages.jl", folder / "index", parameters)
    index_tantivy(folder, MEMORY)
    own, beside = PassageIndex(folder / "index"), load_tantivy(folder)
    engines: dict[str, Search] = {"convinse": lambda text: [hit.id for hit in own.search(text, TOP)], "tantivy": beside}
    ids, counts = [], []
    postings: dict[str, list[int]] = defaultdict(list)
    for number, (_, passage) in enumerate(read_documents(folder / "passages.jl")):
        count = Counter(analyzer.terms([passage["text"]]))
        for term in analyzer.terms([passage["title"]]):
            count[term] += parameters.title_weight
        for term in count:
            postings[term].append(number)
        ids.append(passage["id"])
        counts.append(count)
    lengths = [count.total() for count in counts]
    mean = sum(lengths) / len(lengths)
    same = dict.fromkeys(engines, 0)
    questions = [question["text"] for _, question in read_documents(folder / "questions.jl")]
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
        for engine, search in engines.items():
            same[engine] += {ids[number] for number in best} == set(search(question))
    title = f"{len(counts):,} passages, {len(questions):,} questions: the top {TOP} of a brute-force BM25"
    rows = {engine: {"same": number} for engine, number in same.items()}
    bench.compare(title, ("engine",), {"the same": ("same", "{:,}")}, {(): rows})
    return {"passages": len(counts), "questions": len(questions), "same": same}


SPEC = Spec(
    "passages", __doc__, {"synthetic": synthetic, "brute_force": brute_force, "boolq": boolq},
    ((5_000,), (100_000,), (100_000, 1_000_000, 7_097_322)),
    peers=("tantivy", "bm25s", "numba", "rank-bm25"),
)  # fmt: skip

if __name__ == "__main__":
    run(SPEC)
