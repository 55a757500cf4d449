"""Passage retrieval measured: time to index, to open and to search, memory; beside other engines; on real questions.

    bash run.sh bench passages [--size N ...] [--quick] [--bi-encoder MODEL] [--reranker MODEL]

Default sizes are 100,000, 1,000,000 and 7,097,322 synthetic passages of about 65 words (`scripts/synthetic_passages.py`)
with 1,291 questions of 8 words; `--quick` takes 20,000. Other engines run at the sizes they manage: tantivy and bm25s up to
a million, rank_bm25 up to 100,000. They are not needed for anything else: pip install bm25s numba rank-bm25.
Every engine has a process of its own; all use the Polish stop words and the Polish Snowball stemmer. BoolQ (every passage
a candidate for every question) comes from ../shared/data or CONVINSE_DATA; `--bi-encoder` and `--reranker` add their rows.
Corpora and indexes lie in a temporary folder (TMPDIR; 10 GB for the largest). Figures go to results/bench/passages.json.
"""

from __future__ import annotations

import argparse
import functools
import gzip
import importlib.util
import itertools
import json
import math
import os
import platform
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table

SIZES, QUICK = (100_000, 1_000_000, 7_097_322), (20_000,)
QUESTIONS, SEED, TOP = 1_291, 1, 10
LANGUAGE = "pl"
MOST = {"tantivy": 1_000_000, "bm25s": 1_000_000, "rank_bm25": 100_000}  # passages that an engine is given
FEW_QUESTIONS = {"rank_bm25": 50}
PACKAGES = {"tantivy": "tantivy", "bm25s": "bm25s numba", "rank_bm25": "rank-bm25"}
CHECKED = 20_000  # passages of the comparison with brute force
CANDIDATES, RERANKED = 200, 500  # passages of a question, and questions, that models see
OUTPUT = Path("results/bench/passages.json")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, action="append", metavar="N", help="passages; may be given several times")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--memory", type=int, default=2_000_000_000, help="bytes for the index (default 2 GB)")
    parser.add_argument("--only", action="append", metavar="ENGINE", help="convinse, tantivy, bm25s or rank_bm25")
    parser.add_argument("--no-boolq", action="store_true")
    parser.add_argument("--bi-encoder", metavar="MODEL")
    parser.add_argument("--reranker", metavar="MODEL")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(child(*options.child, options.memory)))
        return
    sizes = options.size or (QUICK if options.quick else SIZES)
    results: dict[str, Any] = {"machine": machine(), "synthetic": {}}
    console = Console(width=110, highlight=False)
    with tempfile.TemporaryDirectory(prefix="convinse-bench-") as name:
        for size in sizes:
            folder = Path(name) / str(size)
            rows = synthetic(folder, size, options)
            results["synthetic"][str(size)] = rows
            shutil.rmtree(folder)
            print_synthetic(console, size, rows)
        if not options.only or "convinse" in options.only:
            results["brute_force"] = brute_force(Path(name) / "checked")
            console.print(
                "{same} of {questions} questions have the top 10 of a brute-force BM25 over {passages:,} passages".format(
                    **results["brute_force"]
                )
            )
        if not options.no_boolq:
            results["boolq"] = boolq(Path(name), options)
            print_boolq(console, results["boolq"])
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    OUTPUT.write_text(json.dumps(results, indent=2) + "\n")
    print(OUTPUT)


def machine() -> dict[str, Any]:
    return {
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "architecture": platform.machine(),
        "python": platform.python_version(),
    }


# -- synthetic passages ------------------------------------------------------------------------------------------------


def synthetic(folder: Path, size: int, options: argparse.Namespace) -> dict[str, Any]:
    """The figures of all engines at one size."""
    script = Path(__file__).with_name("synthetic_passages.py")
    start = time.perf_counter()
    subprocess.run(
        [
            sys.executable,
            str(script),
            str(folder),
            "--passages",
            str(size),
            "--questions",
            str(QUESTIONS),
            "--seed",
            str(SEED),
        ],
        check=True,
        stderr=subprocess.DEVNULL,
    )
    rows: dict[str, Any] = {"corpus_seconds": time.perf_counter() - start}
    for engine in ENGINES:
        if options.only and engine not in options.only:
            continue
        if size > MOST.get(engine, size):
            rows[engine] = {"left_out": f"more than {MOST[engine]:,} passages"}
        elif engine in PACKAGES and importlib.util.find_spec(engine) is None:
            rows[engine] = {"left_out": f"not installed; pip install {PACKAGES[engine]}"}
        else:
            rows[engine] = {**in_child("index", engine, folder, options), **in_child("search", engine, folder, options)}
    return rows


def in_child(task: str, engine: str, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    command = [sys.executable, __file__, "--child", task, engine, str(folder), "--memory", str(options.memory)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def child(task: str, engine: str, name: str, memory: int) -> dict[str, Any]:
    """One engine's index, or its searches, in a process of its own."""
    folder = Path(name)
    index, load = ENGINES[engine]
    if task == "index":
        start = time.perf_counter()
        index(folder, memory)
        return {
            "index_seconds": time.perf_counter() - start,
            "index_peak_mb": peak_mb(),
            "disk_mb": disk_mb(folder / engine),
        }
    questions = [json.loads(line) for line in (folder / "questions.jl").read_text("utf-8").splitlines()]
    questions = questions[: FEW_QUESTIONS.get(engine)]
    gold = dict(line.split("\t")[:2] for line in (folder / "pairs.tsv").read_text("utf-8").splitlines()[1:])
    start = time.perf_counter()
    search = load(folder)
    opened = time.perf_counter() - start
    search(questions[0]["text"])
    seconds, found = [], 0
    for question in questions:
        start = time.perf_counter()
        ids = search(question["text"])
        seconds.append(time.perf_counter() - start)
        found += gold[question["id"]] in ids
    return {
        "open_seconds": opened,
        "questions": len(questions),
        "median_ms": 1000 * statistics.median(seconds),
        "p95_ms": 1000 * sorted(seconds)[int(0.95 * len(seconds))],
        "queries_per_second": len(seconds) / sum(seconds),
        "search_peak_mb": peak_mb(),
        "hit_at_10": found / len(questions),
    }


def peak_mb() -> float:
    """Peak memory of this process and, as if all had it at once, of as many children as there are cores."""
    unit = 1e6 if sys.platform == "darwin" else 1e3
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return (own + (os.cpu_count() or 1) * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) / unit


def disk_mb(path: Path) -> float:
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) / 1e6


def passages(folder: Path) -> Iterator[tuple[str, str]]:
    """Id, and title and text in one."""
    from convinse.passages.blocks import Passage

    decoder = msgspec.json.Decoder(Passage)
    with (folder / "passages.jl").open("rb") as file:
        for line in file:
            passage = decoder.decode(line)
            yield passage.id, f"{passage.title} {passage.text}"


Search = Callable[[str], Sequence[str]]


def index_convinse(folder: Path, memory: int) -> None:
    from convinse.passages.build import build_index
    from convinse.passages.layout import Parameters

    build_index(folder / "passages.jl", folder / "convinse", Parameters(LANGUAGE), memory=memory)


def load_convinse(folder: Path) -> Search:
    from convinse.passages.index import PassageIndex

    index = PassageIndex(folder / "convinse")
    return lambda question: [hit.id for hit in index.search(question, TOP)]


def _stop_words() -> list[str]:
    from convinse.passages.analysis import stop_words

    return sorted(stop_words(LANGUAGE))


def _analyzer() -> Any:
    """For tantivy and rank_bm25: the first has no Polish stemmer, the second no analysis at all."""
    from convinse.passages.analysis import Analyzer

    return Analyzer(LANGUAGE)


def _tantivy_schema() -> Any:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("text", tokenizer_name="whitespace", index_option="freq")
    return builder.build()


def index_tantivy(folder: Path, memory: int) -> None:
    import tantivy

    (folder / "tantivy").mkdir()
    index = tantivy.Index(_tantivy_schema(), path=str(folder / "tantivy"))
    terms = functools.lru_cache(1_000_000)(_analyzer().term)
    split = _analyzer().words
    writer = index.writer(heap_size=memory // 4, num_threads=os.cpu_count() or 1)
    for one, text in passages(folder):
        writer.add_document(tantivy.Document(id=one, text=" ".join(filter(None, map(terms, split(text))))))
    writer.commit()
    writer.wait_merging_threads()


def load_tantivy(folder: Path) -> Search:
    import tantivy

    index = tantivy.Index.open(str(folder / "tantivy"))
    index.reload()
    searcher, analyzer, schema = index.searcher(), _analyzer(), _tantivy_schema()

    def search(question: str) -> list[str]:
        parts = [
            (tantivy.Occur.Should, tantivy.Query.term_query(schema, "text", term, index_option="freq"))
            for term in dict.fromkeys(analyzer.terms([question]))
        ]
        hits = searcher.search(tantivy.Query.boolean_query(parts), TOP, count=False).hits
        return [searcher.doc(address)["id"][0] for _, address in hits]

    return search


def _bm25s_stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("polish")


def index_bm25s(folder: Path, memory: int) -> None:
    import bm25s

    ids, texts = zip(*passages(folder), strict=True)
    tokens = bm25s.tokenize(list(texts), stopwords=_stop_words(), stemmer=_bm25s_stemmer(), show_progress=False)
    engine = bm25s.BM25(k1=1.2, b=0.75)
    engine.index(tokens, show_progress=False)
    engine.save(str(folder / "bm25s"))
    (folder / "bm25s" / "ids.json").write_text(json.dumps(ids))


def load_bm25s(folder: Path) -> Search:
    import bm25s

    engine = bm25s.BM25.load(str(folder / "bm25s"), mmap=True)
    if importlib.util.find_spec("numba") is not None:
        engine.backend = "numba"
        engine.activate_numba_scorer()
    ids = json.loads((folder / "bm25s" / "ids.json").read_text())
    stemmer, words = _bm25s_stemmer(), _stop_words()

    def search(question: str) -> list[str]:
        tokens = bm25s.tokenize(question, stopwords=words, stemmer=stemmer, show_progress=False, return_ids=False)
        found, _ = engine.retrieve(tokens, k=TOP, show_progress=False, n_threads=1)
        return [ids[number] for number in found[0].tolist()]

    return search


def index_rank_bm25(folder: Path, memory: int) -> None:
    _rank_bm25(folder)  # it has no file: what is built here is built again to search


def load_rank_bm25(folder: Path) -> Search:
    import numpy as np

    analyzer, ids, engine = _rank_bm25(folder)

    def search(question: str) -> list[str]:
        scores = engine.get_scores(list(dict.fromkeys(analyzer.terms([question]))))
        best = np.argpartition(scores, -TOP)[-TOP:]
        return [ids[number] for number in best[np.argsort(-scores[best])].tolist()]

    return search


def _rank_bm25(folder: Path) -> tuple[Any, list[str], Any]:
    from rank_bm25 import BM25Okapi

    analyzer = _analyzer()
    ids, terms = zip(*((one, analyzer.terms([text])) for one, text in passages(folder)), strict=True)
    return analyzer, list(ids), BM25Okapi(terms, k1=1.2, b=0.75)


ENGINES: dict[str, tuple[Callable[[Path, int], None], Callable[[Path], Search]]] = {
    "convinse": (index_convinse, load_convinse),
    "tantivy": (index_tantivy, load_tantivy),
    "bm25s": (index_bm25s, load_bm25s),
    "rank_bm25": (index_rank_bm25, load_rank_bm25),
}


def print_synthetic(console: Console, size: int, rows: dict[str, Any]) -> None:
    table = Table(title=f"{size:,} synthetic passages, {QUESTIONS:,} questions of 8 words", title_justify="left")
    columns = {
        "index s": ("index_seconds", ".1f"), "peak MB": ("index_peak_mb", ",.0f"), "disk MB": ("disk_mb", ",.0f"),
        "open s": ("open_seconds", ".3f"), "median ms": ("median_ms", ".2f"), "p95 ms": ("p95_ms", ".2f"),
        "queries/s": ("queries_per_second", ",.0f"), "peak MB ": ("search_peak_mb", ",.0f"), "hit@10": ("hit_at_10", ".3f"),
    }  # fmt: skip
    table.add_column("engine")
    for column in columns:
        table.add_column(column, justify="right")
    notes = []
    for engine, row in rows.items():
        if not isinstance(row, dict):
            continue
        if "left_out" in row or "failed" in row:
            notes.append(f"{engine}: {row.get('left_out') or row['failed']}")
        else:
            table.add_row(engine, *(format(row[key], form) for key, form in columns.values()))
    console.print(table)
    for note in notes:
        console.print(note)


# -- exactness -------------------------------------------------------------------------------------------------------


def brute_force(folder: Path) -> dict[str, int]:
    """How many questions have the same ten passages as every passage scored by the formula, one after the other."""
    from convinse.passages.build import build_index
    from convinse.passages.index import PassageIndex
    from convinse.passages.layout import Parameters

    script = Path(__file__).with_name("synthetic_passages.py")
    subprocess.run(
        [sys.executable, str(script), str(folder), "--passages", str(CHECKED), "--seed", str(SEED)],
        check=True,
        stderr=subprocess.DEVNULL,
    )
    parameters = Parameters(LANGUAGE)
    build_index(folder / "passages.jl", folder / "index", parameters)
    index, analyzer = PassageIndex(folder / "index"), _analyzer()
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
        scores = Counter()
        for term in dict.fromkeys(analyzer.terms([question])):
            having = postings.get(term, [])
            idf = math.log(1 + (len(counts) - len(having) + 0.5) / (len(having) + 0.5))
            for number in having:
                often = counts[number][1][term]
                norm = parameters.k1 * (1 - parameters.b + parameters.b * lengths[number] / mean)
                scores[number] += idf * often / (often + norm)
        best = sorted(scores, key=lambda number: (-round(scores[number], 9), number))[:TOP]
        same += {counts[number][0] for number in best} == {hit.id for hit in index.search(question, TOP)}
    return {"passages": len(counts), "questions": len(questions), "same": same}


# -- BoolQ -------------------------------------------------------------------------------------------------------------


def boolq(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """hit@1, hit@10 and NDCG@10 of BM25 over all questions, and of all rows over a sample that models can manage."""
    data = Path(os.environ.get("CONVINSE_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data") / "boolq"
    if not data.is_dir():
        return {"left_out": f"{data} is not there"}
    from convinse.passages.build import build_index
    from convinse.passages.index import PassageIndex
    from convinse.passages.layout import Parameters
    from convinse.passages.search import candidate_evidences, passage_text

    ids: dict[tuple[str, str], str] = {}
    questions: list[tuple[str, str]] = []
    for part in ("train", "dev"):
        with gzip.open(data / f"{part}.jsonl.gz", "rt", encoding="utf-8") as file:
            for line in file:
                row = json.loads(line)
                questions.append((row["question"], ids.setdefault((row["title"], row["passage"]), str(len(ids)))))
    corpus = folder / "boolq.jl"
    corpus.write_text(
        "".join(json.dumps({"id": one, "title": t, "text": x}) + "\n" for (t, x), one in ids.items()), "utf-8"
    )
    build_index(corpus, folder / "boolq", Parameters("en"))
    index = PassageIndex(folder / "boolq")
    rows = {"BM25, all questions": ranks(questions, lambda text: [hit.id for hit in index.search(text, TOP)])}
    if not (options.bi_encoder or options.reranker):
        return {"passages": len(ids), "rows": rows}
    sample = random.Random(SEED).sample(questions, min(RERANKED, len(questions)))
    rows["BM25"] = ranks(sample, lambda text: [hit.id for hit in index.search(text, TOP)])
    bi_encoder = reranker = None
    if options.bi_encoder:
        from convinse.encoder.bi_encoder import BiEncoder

        bi_encoder = BiEncoder(options.bi_encoder)
        vectors = bi_encoder.embed([passage_text(*key) for key in ids])
        names = list(ids.values())

        def dense(text: str) -> list[str]:
            scores = vectors @ bi_encoder.embed([text])[0]
            return [names[place] for place in (-scores).argsort(kind="stable")[:TOP].tolist()]

        rows["bi-encoder"] = ranks(sample, dense)
    if options.reranker:
        from convinse.evidence_retrieval_scoring.reranker import BertReranker

        reranker = BertReranker(options.reranker)
    from convinse.evidence_retrieval_scoring.cascade import Cascade
    from convinse.evidence_retrieval_scoring.passage_retriever import GivenScores

    cascade = Cascade(GivenScores(), reranker, bi_encoder)

    def both(text: str) -> list[str]:
        best = cascade.rank(text, candidate_evidences(index, text, CANDIDATES), TOP)
        return [one["passage"][0] for one in best]  # type: ignore[typeddict-item]

    rows["cascade" if reranker else "fusion of BM25 and bi-encoder"] = ranks(sample, both)
    return {"passages": len(ids), "rows": rows}


def ranks(questions: Sequence[tuple[str, str]], search: Search) -> dict[str, float]:
    """The measures of one way to search; a question has one relevant passage."""
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


def print_boolq(console: Console, result: dict[str, Any]) -> None:
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


if __name__ == "__main__":
    main()
