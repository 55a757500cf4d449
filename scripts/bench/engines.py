"""The engines of `bench passages`: each indexes a folder's passages.jl, and searches its index.

They load their packages when they are called: an engine's memory is its own.
All use the Polish stop words and the Polish Snowball stemmer.
"""

import functools
import json
import os
import statistics
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .timing import percentile, timed

TOP = 10
LANGUAGE = "pl"
QUESTIONS, SEED = 1_291, 1
FEW_QUESTIONS = {"rank_bm25": 50}
Search = Callable[[str], Sequence[str]]  # question -> ids of passages, best first


def passages(folder: Path) -> Iterator[tuple[str, str]]:
    with (folder / "passages.jl").open("rb") as file:
        for passage in map(json.loads, file):
            yield passage["id"], f"{passage['title']} {passage['text']}"


def _analyzer() -> Any:
    """For tantivy and rank_bm25: the first has no Polish stemmer, the second no analysis at all."""
    from convinse.passages.analysis import Analyzer

    return Analyzer(LANGUAGE)


def index_convinse(folder: Path, memory: int) -> None:
    from convinse.passages.build import build_index
    from convinse.passages.layout import Parameters

    build_index(folder / "passages.jl", folder / "convinse", Parameters(LANGUAGE), memory=memory)


def load_convinse(folder: Path) -> Search:
    from convinse.passages.index import PassageIndex

    index = PassageIndex(folder / "convinse")
    return lambda question: [hit.id for hit in index.search(question, TOP)]


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
    for key, text in passages(folder):
        writer.add_document(tantivy.Document(id=key, text=" ".join(filter(None, map(terms, split(text))))))
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


@functools.cache
def _bm25s_tokens() -> Callable[..., Any]:
    import bm25s
    import Stemmer

    from convinse.passages.analysis import stop_words

    words, stemmer = sorted(stop_words(LANGUAGE)), Stemmer.Stemmer("polish")
    return functools.partial(bm25s.tokenize, stopwords=words, stemmer=stemmer, show_progress=False)


def index_bm25s(folder: Path, memory: int) -> None:
    import bm25s

    ids, texts = zip(*passages(folder), strict=True)
    engine = bm25s.BM25(k1=1.2, b=0.75)
    engine.index(_bm25s_tokens()(list(texts)), show_progress=False)
    engine.save(str(folder / "bm25s"))
    (folder / "bm25s" / "ids.json").write_text(json.dumps(ids))


def load_bm25s(folder: Path) -> Search:
    import bm25s

    engine = bm25s.BM25.load(str(folder / "bm25s"), mmap=True)
    if find_spec("numba"):
        engine.backend = "numba"
        engine.activate_numba_scorer()
    ids = json.loads((folder / "bm25s" / "ids.json").read_text())

    def search(question: str) -> list[str]:
        tokens = _bm25s_tokens()(question, return_ids=False)
        places, _ = engine.retrieve(tokens, k=TOP, show_progress=False, n_threads=1)
        return [ids[number] for number in places[0].tolist()]

    return search


def load_rank_bm25(folder: Path) -> Search:
    """It has no file: its index is built anew to search."""
    import numpy as np
    from rank_bm25 import BM25Okapi

    analyzer = _analyzer()
    ids, terms = zip(*((key, analyzer.terms([text])) for key, text in passages(folder)), strict=True)
    engine = BM25Okapi(terms, k1=1.2, b=0.75)

    def search(question: str) -> list[str]:
        scores = engine.get_scores(list(dict.fromkeys(analyzer.terms([question]))))
        best = np.argpartition(scores, -TOP)[-TOP:]
        return [ids[number] for number in best[np.argsort(-scores[best])].tolist()]

    return search


ENGINES: dict[str, tuple[Callable[[Path, int], object], Callable[[Path], Search]]] = {
    "convinse": (index_convinse, load_convinse),
    "tantivy": (index_tantivy, load_tantivy),
    "bm25s": (index_bm25s, load_bm25s),
    "rank_bm25": (lambda folder, memory: load_rank_bm25(folder), load_rank_bm25),
}


def write_corpus(folder: str, passages: int) -> None:
    from .synthetic_passages import write

    write(Path(folder), passages, QUESTIONS, SEED)


def index_engine(engine: str, folder: str, memory: int) -> None:
    ENGINES[engine][0](Path(folder), memory)


def search_engine(engine: str, name: str) -> dict[str, float]:
    folder = Path(name)
    questions = [json.loads(line) for line in (folder / "questions.jl").read_text("utf-8").splitlines()]
    questions = questions[: FEW_QUESTIONS.get(engine)]
    gold = dict(line.split("\t")[:2] for line in (folder / "pairs.tsv").read_text("utf-8").splitlines()[1:])
    opened, search = timed(lambda: ENGINES[engine][1](folder))
    search(questions[0]["text"])
    answered = [timed(lambda question=question: search(question["text"])) for question in questions]
    seconds = [spent for spent, _ in answered]
    hits = sum(gold[question["id"]] in ids for question, (_, ids) in zip(questions, answered, strict=True))
    return {
        "open_seconds": opened, "questions": len(questions), "median_ms": 1000 * statistics.median(seconds),
        "p95_ms": 1000 * percentile(seconds, 0.95), "queries_per_second": len(seconds) / sum(seconds),
        "hit_at_10": hits / len(questions),
    }  # fmt: skip
