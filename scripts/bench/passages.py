"""Passage retrieval measured: time to index, to open and to search, memory; beside other engines; on real questions.

    bash run.sh bench passages [--size N ...] [--quick] [--bi-encoder MODEL] [--reranker MODEL] [--only-boolq]

Default sizes are 100,000, 1,000,000 and 7,097,322 synthetic passages of about 65 words (`scripts/recipes/synthetic_passages.py`)
with 1,291 questions of 8 words; `--quick` takes 20,000. Other engines run at the sizes they manage: tantivy and bm25s up to
a million, rank_bm25 up to 100,000. They are not needed for anything else: pip install bm25s numba rank-bm25.
Every engine has a process of its own; all use the Polish stop words and the Polish Snowball stemmer. BoolQ (every passage
a candidate for every question) comes from ../shared/data or CONVINSE_DATA; `--bi-encoder` and `--reranker` add their rows.
Corpora and indexes lie in a temporary folder (TMPDIR; 10 GB for the largest). Figures go to results/bench/passages.json, where
those of other sizes and parts of earlier runs stay.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import json
import math
import os
import platform
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

from bench import passages_boolq

SIZES, QUICK = (100_000, 1_000_000, 7_097_322), (20_000,)
QUESTIONS, SEED, TOP = 1_291, 1, 10
LANGUAGE = "pl"
MOST = {"tantivy": 1_000_000, "bm25s": 1_000_000, "rank_bm25": 100_000}  # passages that an engine is given
FEW_QUESTIONS = {"rank_bm25": 50}
PACKAGES = {"tantivy": "tantivy", "bm25s": "bm25s numba", "rank_bm25": "rank-bm25"}
CHECKED = 20_000  # passages of the comparison with brute force
OUTPUT = Path("results/bench/passages.json")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, action="append", metavar="N", help="passages; may be given several times")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--memory", type=int, default=2_000_000_000, help="bytes for the index (default 2 GB)")
    parser.add_argument("--only", action="append", metavar="ENGINE", help="convinse, tantivy, bm25s or rank_bm25")
    parts = parser.add_mutually_exclusive_group()
    parts.add_argument("--no-boolq", action="store_true")
    parts.add_argument("--only-boolq", action="store_true")
    passages_boolq.add_options(parser)
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(child(*options.child, options.memory)))
        return
    sizes = () if options.only_boolq else options.size or (QUICK if options.quick else SIZES)
    results = earlier()
    console = Console(width=110, highlight=False)
    with tempfile.TemporaryDirectory(prefix="convinse-bench-") as name:
        if sizes:
            results["machine"] = machine()
        for size in sizes:
            folder = Path(name) / str(size)
            rows = synthetic(folder, size, options)
            results.setdefault("synthetic", {})[str(size)] = rows
            shutil.rmtree(folder)
            print_synthetic(console, size, rows)
        if sizes and (not options.only or "convinse" in options.only):
            results["brute_force"] = brute_force(Path(name) / "checked")
            console.print(
                "{same} of {questions} questions have the top 10 of a brute-force BM25 over {passages:,} passages".format(
                    **results["brute_force"]
                )
            )
        if not options.no_boolq:
            results["boolq"] = {"machine": machine(), **passages_boolq.boolq(Path(name), options)}
            passages_boolq.show(console, results["boolq"])
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    OUTPUT.write_text(json.dumps(results, indent=2) + "\n")
    print(OUTPUT)


def earlier() -> dict[str, Any]:
    """The figures of earlier runs."""
    if not OUTPUT.exists():
        return {}
    try:
        results = json.loads(OUTPUT.read_text())
        if not isinstance(results, dict):
            raise ValueError("no object")
    except ValueError as error:
        sys.exit(f"{OUTPUT}: is no file of figures ({error}); move it away")
    return results


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
    script = Path(__file__).parents[1] / "recipes" / "synthetic_passages.py"
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
    command = [
        sys.executable,
        "-m",
        "bench.passages",
        "--child",
        task,
        engine,
        str(folder),
        "--memory",
        str(options.memory),
    ]
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

    script = Path(__file__).parents[1] / "recipes" / "synthetic_passages.py"
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


if __name__ == "__main__":
    main()
