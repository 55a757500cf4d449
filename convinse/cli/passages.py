"""Commands of passage retrieval: retrieve index, retrieve search."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from .arguments import Commands, console, positive, size

if TYPE_CHECKING:
    from ..passages.search import Reranker

_CANDIDATES = 200


def add(commands: Commands) -> None:
    """`retrieve index|search`."""
    commands = commands.group("retrieve", "index plain passages and search them")

    sub = commands.add("index", _index, "build the BM25 index of a file of passages")
    sub.add_argument("passages", metavar="PASSAGES.jl",
                     help="JSON lines with id, text and optional title and meta; plain, .gz, .bz2 or .zst")  # fmt: skip
    sub.add_argument("--output", required=True, metavar="DIR", help="the index")
    sub.add_argument("--language", default="mul", metavar="CODE",
                     help="of the passages, such as pl or en: its stemmer and stop words (default mul: neither)")  # fmt: skip
    sub.add_argument(
        "--title-weight", type=float, metavar="W", help="of a word in the title against one in the text (default 2)"
    )
    sub.add_argument("--k1", type=float, metavar="K1", help="of BM25 (default 1.2)")
    sub.add_argument("--b", type=float, metavar="B", help="of BM25 (default 0.75)")
    sub.add_argument("--memory", type=size, default="2GB", metavar="SIZE", help="such as 512MB (default 2GB)")
    sub.add_argument("--force", action="store_true", help="replace an index that is there")

    sub = commands.add("search", _search, "the best passages for the questions of a file")
    sub.add_argument("folder", metavar="DIR", help="an index, or a folder with an index for each set of in.tsv")
    sub.add_argument("questions", metavar="QUESTIONS", help="questions.jl (id, text) or in.tsv (set name, text)")
    sub.add_argument("--output", required=True, metavar="OUT")
    sub.add_argument("--top", type=positive, default=10, metavar="N", help="passages of a question (default 10)")
    sub.add_argument("--format", choices=("poleval", "trec", "jsonl"), default="poleval",
                     help="a submission to PolEval 2022 (default), a TREC run, or JSON lines with texts")  # fmt: skip
    sub.add_argument("--language", metavar="CODE", help="refuse an index of another language")
    sub.add_argument("--rerank", action="store_true", help="order the best ones by the configured neural scorer")
    sub.add_argument(
        "--config", default="config.yml", help="where --rerank finds evs_model, evs_bi_encoder and the like"
    )
    sub.add_argument("--candidates", type=positive, default=_CANDIDATES, metavar="N",
                     help=f"passages that --rerank sees (default {_CANDIDATES})")  # fmt: skip
    sub.add_argument("--force", action="store_true", help="replace OUT")


def _index(options: argparse.Namespace) -> int:
    from pathlib import Path

    from rich.table import Table

    from ..passages.build import build_index
    from ..passages.layout import Parameters

    given = {name: getattr(options, name) for name in ("language", "title_weight", "k1", "b")}
    parameters = Parameters(**{name: value for name, value in given.items() if value is not None})
    output = Path(options.output)
    built = build_index(
        Path(options.passages), output, parameters, memory=options.memory, force=options.force, quiet=options.quiet
    )
    manifest = built.manifest
    table = Table(title=str(output), title_justify="left", show_header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_row("language", manifest.parameters.language)
    table.add_row("passages", f"{manifest.passages:,}")
    table.add_row("terms", f"{manifest.terms:,}")
    table.add_row("postings", f"{manifest.postings:,}")
    table.add_row("terms of a passage", f"{manifest.mean_length:.1f}")
    table.add_row("size", f"{manifest.size / 10**6:,.1f} MB")
    table.add_row("build id", manifest.build_id)
    table.add_row("seconds", f"{built.seconds:.1f}")
    console().print(table)
    return 0


def _search(options: argparse.Namespace) -> int:
    import time
    from pathlib import Path

    from rich.table import Table

    from ..passages.questions import read_questions
    from ..passages.runs import check_free, write_run
    from ..passages.search import Collection, by_set, search

    output = Path(options.output)
    check_free(output, options.force)
    questions = read_questions(Path(options.questions))
    collection = Collection(Path(options.folder), options.language)
    reranker = _reranker(options.config) if options.rerank else None
    start = time.monotonic()
    answers = search(collection, questions, options.top, reranker, options.candidates, options.quiet)
    write_run(output, answers, options.format, options.force)
    seconds = time.monotonic() - start
    table = Table(title=str(output), title_justify="left", show_header=False)
    table.add_column()
    table.add_column(justify="right")
    for name, number in by_set(questions).items():
        table.add_row(f"questions{' of ' if name else ''}{name}", f"{number:,}")
    table.add_row("seconds", f"{seconds:.1f}")
    console().print(table)
    return 0


def _reranker(config_name: str) -> Reranker:
    from ..config import load_config
    from ..errors import ConfigError
    from ..evidence_retrieval_scoring.native import scoring_method
    from ..evidence_retrieval_scoring.neural import build_scorer
    from ..evidence_retrieval_scoring.passage_retriever import GivenScores

    config = load_config(config_name)
    method = scoring_method(config)
    if method == "bm25":
        raise ConfigError(f"{config_name}: --rerank needs evs_model (a cross-encoder), evs_bi_encoder, or both")
    scorer: Any = build_scorer(config, method, GivenScores())
    return scorer
