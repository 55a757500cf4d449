"""Commands that train: a stage of the pipeline, a reader, a retriever, the embedded model; and annotate."""

from __future__ import annotations

import argparse
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ..support.errors import ConfigError
from .arguments import Commands, add_dropped, add_words, options_set, positive, sources_and_config
from .develop import train_embedded
from .output import say_next
from .tables import print_rows

_KEPT = "finished epochs are kept, run the command again to go on"
_STAGES = MappingProxyType(
    {
        "qu": "the model of question understanding",
        "ers": "the cross-encoder of evidence scoring",
        "ha": "the reader of answering, or the ranking of answers",
        "all": "qu, ers and ha in order",
    }
)
_RETRIEVER = (
    ("--candidates", positive, "N", "best passages by BM25 that negatives are drawn from (default 100)"),
    ("--negatives", positive, "N", "of a relevant passage (default 7)"),
    ("--held-out", float, "SHARE", "of the questions, to validate (default 0.1)"),
    ("--epochs", positive, "N", "at most (default 3)"),
    ("--minutes", float, "M", "of training steps at most"),
    ("--learning-rate", float, "R", "the highest (default 3e-5)"),
    ("--max-length", positive, "N", "tokens (default 256)"),
    ("--device", str, "NAME", "auto (default), cpu, cuda or cuda:1"),
    ("--seed", int, "N", "of all choices (default 42)"),
)


def add(commands: Commands) -> None:
    """Add `train qu|ers|ha|all|reader|retriever|embedded`, `annotate`."""
    train = commands.group("train", "train a stage, a reader on MRQA data, a retriever, or the embedded model")
    for stage, model in _STAGES.items():
        sub = train.add(stage, _train_stage, f"train {model}", _KEPT)
        add_words(sub)
        sub.set_defaults(stage=stage)
        if stage == "ha":
            add_dropped(sub, "--from", "name conversations with gold answers in train_input_path")

    sub = train.add("reader", _train_reader, "train a reader on files of the MRQA format", _KEPT)
    sub.add_argument("--config", metavar="FILE", required=True, help="such as config/mrqa/bert_base.yml")
    sub.add_argument("--data", metavar="DIR", help="take DIR/train and DIR/dev, DIR/dev-in, DIR/dev-out instead")
    sub.add_argument("--base", metavar="FOLDER", help="the model or hub name to start from instead")
    sub.add_argument("--output", metavar="FOLDER", help="the model folder to write instead")

    sub = train.add("retriever", _train_retriever, "train a cross-encoder or a bi-encoder on judged passages", _KEPT)
    sub.add_argument("pairs", metavar="PAIRS", help="pairs.tsv: question id, passage id, score")
    sub.add_argument("--index", metavar="DIR", required=True, help="the index with the passages of PAIRS")
    sub.add_argument("--questions", metavar="FILE", required=True, help="questions.jl (id, text)")
    sub.add_argument("--base", metavar="FOLDER", required=True, help="the model or hub name to start from")
    sub.add_argument("--output", metavar="FOLDER", required=True, help="the model folder to write")
    sub.add_argument("--bi-encoder", action="store_true", help="a bi-encoder, not a cross-encoder")
    for name, kind, metavar, text in _RETRIEVER:
        sub.add_argument(name, type=kind, metavar=metavar, help=text)
    add_dropped(sub, "--loss", "a relevant passage stands against all its negatives (listwise)")
    add_dropped(sub, "--batch-questions", "a step has eight relevant passages with their negatives")

    text = "train the model that ships with the project; further arguments go to its recipe, see docs/model.md"
    train.add("embedded", train_embedded, text, _KEPT).set_defaults(takes_more=True)

    text = "find what in questions and their history leads to the gold answers: training data of train qu"
    sub = commands.add("annotate", _annotate, text, "the files of finished parts are kept")
    add_words(sub)
    sub.add_argument("--part", choices=("train", "dev", "test"), help="the conversations to annotate (default all)")


def _train_stage(options: argparse.Namespace) -> int:
    from ..pipeline import STAGES, build_stage
    from ..support.errors import NothingToTrainError

    sources, config = sources_and_config(options.words, options.settings)
    for stage in STAGES if options.stage == "all" else [options.stage]:
        module = build_stage(stage, config)
        if module.trainer is None and type(module).train is STAGES[stage].train:
            print(f"{stage}: '{config[stage]}' has nothing to train")
            continue
        try:
            module.train(sources)
        except NothingToTrainError as error:
            if options.stage != "all":
                raise
            print(f"{stage}: {error}")
        module.store_cache()
    return 0


def _train_reader(options: argparse.Namespace) -> int:
    from ..config import load_settings
    from ..training.mrqa_baseline import shown
    from ..training.mrqa_reader import ReaderTraining, train_on_mrqa

    changes: dict[str, Any] = {"base": options.base, "output": options.output}
    if options.data:
        data = Path(options.data)
        folders = [data / name for name in ("dev", "dev-in", "dev-out") if (data / name).is_dir()]
        if not folders:
            raise ConfigError(f"--data: {data}: has no folder dev, dev-in or dev-out; docs/reader.md shows the layout")
        changes |= {"train_folder": str(data / "train"), "dev_folders": [str(folder) for folder in folders]}
    folder, table = train_on_mrqa(
        load_settings(ReaderTraining, options.config, **options_set(**changes)), options.quiet
    )
    rows: list[list[str] | None] = []
    for title, scores in table:
        if title.startswith("mean"):
            rows.append(None)
        rows.append([title, *map(shown, scores)])
    columns = ("(I) in-domain, (O) out-of-domain", "BERT-Base", "BERT-Large", "this model")
    print_rows("EM / F1 on the dev sets", columns, rows)
    print(f"{folder}: model, card (README.md), training.json")
    return 0


def _train_retriever(options: argparse.Namespace) -> int:
    from ..config import check_settings
    from ..training.retriever import RetrieverTraining, train_retriever

    names = [name.strip("-").replace("-", "_") for name, *_ in _RETRIEVER]
    changes = options_set(**{name: getattr(options, name) for name in ("base", "bi_encoder", *names)})
    output = str(Path(options.output).expanduser())
    settings = check_settings({**changes, "output": output}, RetrieverTraining, "train retriever")
    pairs, questions, index = (Path(name) for name in (options.pairs, options.questions, options.index))
    fitted, lexical, counts = train_retriever(pairs, questions, index, settings, options.quiet)
    rows = [
        [name, *(f"{measures[key]:.4f}" for key in ("mrr_at_10", "hit_at_1", "hit_at_10"))]
        for name, measures in {"BM25 alone": lexical, **fitted.rows()}.items()
    ]
    title = f"{counts['dev']:,} held-out questions, {counts['train']:,} to train on"
    print_rows(title, ("epoch", "MRR@10", "hit@1", "hit@10"), rows)
    print(f"{settings.output}: name it in {'evs_bi_encoder' if settings.bi_encoder else 'evs_model'}")
    return 0


def _annotate(options: argparse.Namespace) -> int:
    from ..training.distant_supervision import OUTCOMES, PARTS, annotate

    sources, config = sources_and_config(options.words, options.settings)
    done = annotate(config, sources, [options.part] if options.part else PARTS, options.quiet)
    counts = ("turns", *OUTCOMES)
    rows = [[path.stem.removeprefix("annotated_"), *(str(of[name]) for name in counts)] for path, of in done.items()]
    print_rows(f"turns, by evidences of {'_'.join(sources)}", ["", *counts], rows)
    for path in done:
        print(path)
    say_next(f"train qu {' '.join(options.words)}".rstrip(), "learns from these files")
    return 0
