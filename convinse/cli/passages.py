"""Commands of passage retrieval: retrieve index, retrieve search, train retriever."""

from __future__ import annotations

import argparse
from pathlib import Path

from .arguments import Commands, add_config, configured, options_set, positive, size
from .output import say_next
from .tables import print_pairs, print_rows

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
    sub.add_argument("folder", metavar="DIR",
                     help="an index, or a folder with an index for each set of in.tsv")  # fmt: skip
    sub.add_argument("questions", metavar="QUESTIONS", help="questions.jl (id, text) or in.tsv (set name, text)")
    sub.add_argument("--output", required=True, metavar="OUT")
    sub.add_argument("--top", type=positive, default=10, metavar="N", help="passages of a question (default 10)")
    sub.add_argument("--format", choices=("poleval", "trec", "jsonl"), default="poleval",
                     help="a submission to PolEval 2022 (default), a TREC run, or JSON lines with texts")  # fmt: skip
    sub.add_argument("--language", metavar="CODE", help="refuse an index of another language")
    sub.add_argument("--rerank", action="store_true", help="order the best ones by the configured neural scorer")
    add_config(sub, "lexical.yml")
    sub.add_argument("--reranker", metavar="MODEL", help="the cross-encoder of --rerank instead of evs_model")
    sub.add_argument("--bi-encoder", metavar="MODEL", help="the bi-encoder of --rerank instead of evs_bi_encoder")
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
    built = build_index(
        Path(options.passages), output, parameters, memory=options.memory, force=options.force, quiet=options.quiet
    )
    manifest = built.manifest
    pairs = {
        "language": manifest.parameters.language,
        "passages": f"{manifest.passages:,}",
        "terms": f"{manifest.terms:,}",
        "postings": f"{manifest.postings:,}",
        "terms of a passage": f"{manifest.mean_length:.1f}",
        "size": f"{manifest.size / 10**6:,.1f} MB",
        "build id": manifest.build_id,
        "seconds": f"{built.seconds:.1f}",
    }
    print_pairs(str(output), pairs)
    say_next(f"retrieve search {output} QUESTIONS --output OUT.tsv")
    return 0


def _search(options: argparse.Namespace) -> int:
    import time

    from ..formats.poleval.questions import read_questions
    from ..formats.poleval.runs import check_free, write_run
    from ..passages.search import Collection, Reranker, by_set, search
    from ..support.errors import ConfigError

    output = Path(options.output)
    check_free(output, options.force)
    questions = read_questions(Path(options.questions))
    collection = Collection(Path(options.folder), options.language)
    models = options_set(evs_model=options.reranker, evs_bi_encoder=options.bi_encoder)
    reranker: Reranker | None = None
    if options.rerank:
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
        reranker = build_scorer(Resources(config), method, IndexScores())
    elif models:
        raise ConfigError("--reranker and --bi-encoder belong to --rerank; add it")
    start = time.monotonic()
    with_texts = options.format == "jsonl"
    rankings = search(collection, questions, options.top, reranker, options.candidates, options.quiet, with_texts)
    write_run(output, rankings, options.format, options.force)
    seconds = time.monotonic() - start
    counts = {f"questions{' of ' if name else ''}{name}": f"{number:,}" for name, number in by_set(questions).items()}
    print_pairs(str(output), {**counts, "seconds": f"{seconds:.1f}"})
    return 0


def add_training(parser: argparse.ArgumentParser) -> None:
    """The options of `train retriever` beside --base and --output; None where they are not given."""
    group = parser.add_argument_group(
        "train retriever", "train retriever PAIRS --index DIR --questions FILE --base MODEL --output FOLDER"
    )
    group.add_argument("--index", metavar="DIR", help="the index with the passages of PAIRS, pairs.tsv")
    group.add_argument("--questions", metavar="FILE", help="questions.jl (id, text)")
    group.add_argument("--bi-encoder", action="store_true", default=None, help="a bi-encoder, not a cross-encoder")
    group.add_argument("--candidates", type=positive, metavar="N",
                       help="best passages by BM25 that negatives are drawn from (default 100)")  # fmt: skip
    group.add_argument("--negatives", type=positive, metavar="N", help="of a relevant passage (default 7)")
    group.add_argument("--held-out", type=_share, metavar="SHARE", help="of the questions, to validate (default 0.1)")
    group.add_argument("--loss", choices=("listwise", "pairwise"), help="of a cross-encoder (default listwise)")
    group.add_argument("--epochs", type=positive, metavar="N", help="at most (default 3)")
    group.add_argument("--minutes", type=_above_0, metavar="M", help="of training steps at most")
    group.add_argument("--batch-questions", type=positive, metavar="N", help="of a step (default 8)")
    group.add_argument("--learning-rate", type=_above_0, metavar="R", help="the highest (default 3e-5)")
    group.add_argument("--max-length", type=positive, metavar="N", help="tokens (default 256)")
    group.add_argument("--device", type=_device, metavar="NAME", help="auto (default), cpu, cuda or cuda:1")
    group.add_argument("--seed", type=int, metavar="N", help="of all choices (default 42)")


TRAINING = (
    "index", "questions", "bi_encoder", "candidates", "negatives", "held_out", "loss", "epochs", "minutes",
    "batch_questions", "learning_rate", "max_length", "device", "seed",
)  # fmt: skip


def _share(text: str) -> float:
    share = float(text)
    if not 0 < share < 1:
        raise argparse.ArgumentTypeError("must lie between 0 and 1")
    return share


def _above_0(text: str) -> float:
    number = float(text)
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError("must be above 0")
    return number


def _device(text: str) -> str:
    import re

    if not re.fullmatch(r"auto|cpu|cuda(:\d+)?", text):
        raise argparse.ArgumentTypeError("must be auto, cpu, cuda or cuda:1")
    return text


def train_retriever(options: argparse.Namespace) -> int:
    """`train retriever`."""
    from ..config import RetrieverTraining
    from ..support.errors import ConfigError
    from ..training.retriever import train_retriever

    missing = [f"--{name}" for name in ("index", "questions", "base", "output") if getattr(options, name) is None]
    if missing or len(options.words) != 1:
        raise ConfigError(
            f"train retriever needs {', '.join(missing) or 'one file of pairs'}: "
            "train retriever PAIRS --index DIR --questions FILE --base MODEL --output FOLDER"
        )
    changes = {name: getattr(options, name) for name in TRAINING if name not in ("index", "questions")}
    settings = RetrieverTraining(
        base=options.base, output=str(Path(options.output).expanduser()), **options_set(**changes)
    )
    pairs, questions, index = (Path(name) for name in (options.words[0], options.questions, options.index))
    trained = train_retriever(pairs, questions, index, settings, options.quiet)
    rows = [
        [name, *(f"{measures[key]:.4f}" for key in ("mrr_at_10", "hit_at_1", "hit_at_10"))]
        for name, measures in {"BM25 alone": trained.lexical, **trained.fitted.rows()}.items()
    ]
    title = f"{trained.dev:,} held-out questions, {trained.train:,} to train on"
    print_rows(title, ("epoch", "MRR@10", "hit@1", "hit@10"), rows)
    print(f"{settings.output}: name it in {'evs_bi_encoder' if settings.bi_encoder else 'evs_model'}")
    return 0
