"""Commands of passage retrieval: retrieve index, retrieve search."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from pathlib import Path

from .arguments import Commands, add_config, configured, options_set, positive, size
from .output import say_next
from .tables import print_pairs

_CANDIDATES = 200  # passages that a model ranks again


def add(commands: Commands) -> None:
    """Add `retrieve index|search`."""
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
    sub.add_argument("--rerank", action="store_true", help="order the best ones by the configured neural scorer")
    add_config(sub, "lexical.yml")
    sub.add_argument("--reranker", metavar="MODEL", help="rerank by this cross-encoder, not evs_model")
    sub.add_argument("--bi-encoder", metavar="MODEL", help="rerank by this bi-encoder, not evs_bi_encoder")
    sub.add_argument("--candidates", type=positive, default=_CANDIDATES, metavar="N",
                     help=f"passages that --rerank sees (default {_CANDIDATES})")  # fmt: skip
    sub.add_argument("--force", action="store_true", help="replace OUT")


def _index(options: argparse.Namespace) -> int:
    from ..passages.build import build_index
    from ..passages.layout import Parameters

    parameters = Parameters(
        **options_set(language=options.language, title_weight=options.title_weight, k1=options.k1, b=options.b)
    )
    output = Path(options.output)
    start = time.monotonic()
    manifest = build_index(
        Path(options.passages), output, parameters, memory=options.memory, force=options.force, quiet=options.quiet
    )
    pairs = {
        "language": manifest.parameters.language,
        "passages": f"{manifest.passages:,}",
        "terms": f"{manifest.terms:,}",
        "postings": f"{manifest.postings:,}",
        "terms of a passage": f"{manifest.mean_length:.1f}",
        "size": f"{manifest.size / 10**6:,.1f} MB",
        "build id": manifest.build_id,
        "seconds": f"{time.monotonic() - start:.1f}",
    }
    print_pairs(str(output), pairs)
    say_next(f"retrieve search {output} QUESTIONS --output OUT.tsv")
    return 0


def _search(options: argparse.Namespace) -> int:
    from ..formats.poleval.questions import read_questions
    from ..formats.poleval.runs import check_free, write_run
    from ..passages.search import Ranking, indexes_of, search
    from ..support.errors import ConfigError

    output = Path(options.output)
    check_free(output, options.force)
    questions = read_questions(Path(options.questions))
    indexes = indexes_of(Path(options.folder), questions)
    models = options_set(evs_model=options.reranker, evs_bi_encoder=options.bi_encoder)
    rank: Ranking | None = None
    if options.rerank or models:
        from ..evidence_retrieval_scoring.neural import build_scorer, scoring_method
        from ..evidence_retrieval_scoring.passage_retriever import IndexScores
        from ..resources import Resources

        config = configured(options, **models)
        method = scoring_method(config)
        if method == "bm25":
            raise ConfigError(
                f"{options.config}: --rerank needs evs_model (a cross-encoder), evs_bi_encoder, or both; or give --reranker MODEL"
            )
        if not config.evs_bi_encoder:
            method = "cross_encoder"  # there is nothing to choose by: it reads all candidates
        rank = build_scorer(Resources(config), method, IndexScores()).rank_all
    start = time.monotonic()
    with_texts = options.format == "jsonl"
    rankings = search(indexes, questions, options.top, rank, options.candidates, options.quiet, with_texts)
    write_run(output, rankings, options.format, options.force)
    numbers = sorted(Counter(question.set or "" for question in questions).items())
    counts = {f"questions{' of ' if name else ''}{name}": f"{number:,}" for name, number in numbers}
    print_pairs(str(output), {**counts, "seconds": f"{time.monotonic() - start:.1f}"})
    return 0
