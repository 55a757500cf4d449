"""Training of a reader on several MRQA files at once: the multi-task baseline of the shared task (Fisch et al., 2019)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from ..config import ReaderTraining
from ..encoder.checkpoint import Checkpoint, add_tokens, load_checkpoint
from ..encoder.extractive_reader import ExtractiveReader
from ..formats.mrqa_baseline import Row, Scores, comparison
from ..formats.tokens import DOCUMENT_MARK, PARAGRAPH_MARK, TITLE_MARK
from ..heterogeneous_answering.dataset_predictions import best_answers
from ..resources import model_path
from ..scoring.mrqa import evaluate
from ..support.progress import progress
from .learning import Measures, batches
from .mrqa_sets import DevQuestion, dev_questions, find_sets, mixed_steps, train_examples
from .reader import WindowSettings, reader_learning, reader_of
from .trainer import LOGGER, Run, Start, check_output, run_id

MARKS = (TITLE_MARK, DOCUMENT_MARK, PARAGRAPH_MARK)
_MACRO = "macro"
_CHUNK = 512  # questions read together in validation
_BASELINE = """EM / F1 in percent by the task's own rules; the baselines' figures are those of its README.

| | BERT-Base | BERT-Large | this model |
|---|---|---|---|
"""
_WHERE = ("token_budget", "train_folder", "dev_folders")  # settings that change no result


class Trained(NamedTuple):
    """The model folder and (EM, F1) of its model on every dev set, by the name of its file."""

    folder: Path
    scores: dict[str, Scores]

    def table(self) -> list[Row]:
        """The figures beside those of the task's baseline."""
        return comparison(self.scores)


def train_on_mrqa(settings: ReaderTraining, quiet: bool = False) -> Trained:
    """Train on files of the MRQA format; the validation with the best mean F1 over the dev sets is kept. See `trainer`.

    `[TLE]`, `[DOC]` and `[PAR]` become tokens of the model.

    Raises:
        ConfigError: a named training set is not there, or a folder has no files.
    """
    start = Start(settings.base, "base", Path(settings.output).expanduser())
    check_output(start.output, "output")
    train_files = find_sets([Path(settings.train_folder).expanduser()], "train_folder", settings.train_sets)
    dev_files = find_sets([Path(folder).expanduser() for folder in settings.dev_folders], "dev_folders")
    seed, parts, device = settings.seed, settings.validations, settings.device
    checkpoint = load_checkpoint(model_path(start.base), "question-answering", start.key, new_head=True, seed=seed)
    checkpoint = add_tokens(checkpoint, MARKS, seed)
    train = {name: train_examples(path, settings.examples, seed) for name, path in train_files.items()}
    for name, examples in train.items():
        LOGGER.info("train reader: %s: %d questions to train on", name, len(examples))
    dev = {name: dev_questions(path, settings.dev_questions, seed) for name, path in dev_files.items()}
    LOGGER.info("train reader: %d questions of %d sets to validate on", sum(map(len, dev.values())), len(dev))
    files = [*train_files.values(), *dev_files.values()]
    identity = run_id(settings, checkpoint.model_id, files, [path.name for path in files], without=_WHERE)
    fitting = msgspec.structs.replace(settings, epochs=settings.epochs * parts)
    run = Run("train reader", start, checkpoint, fitting, identity, device, seed, quiet)

    def build_reader(copied: Checkpoint) -> ExtractiveReader:
        return ExtractiveReader(copied, device, max_length=settings.max_length, stride=settings.stride)

    learning = reader_learning(
        run,
        WindowSettings(settings.max_length, settings.stride, settings.negative_windows, settings.token_budget),
        lambda number: mixed_steps(list(train.values()), settings.batch_size, parts, number, seed),
        build_reader,
        lambda reader: validate(reader, dev, quiet),
        lambda measures: measures[f"{_MACRO} F1"],
    )
    fitted = run.fit(learning)
    measures = fitted.history[fitted.best]
    if settings.dev_questions is not None:  # all questions, one set in memory at a time
        reader = reader_of(checkpoint, build_reader)
        for name, path in dev_files.items():
            measures = measures | validate(reader, {name: dev_questions(path, None, seed)}, quiet)
    trained = Trained(start.output, {name: (measures[f"{name} EM"], measures[f"{name} F1"]) for name in dev_files})
    rows = (f"| {row.title} | {shown(row.base)} | {shown(row.large)} | {shown(row.own)} |" for row in trained.table())
    sets = (f"{name} ({len(examples):,} questions)" for name, examples in train.items())
    run.write(
        fitted,
        "An extractive reader in the manner of the MRQA 2019 baseline",
        "Input: `[CLS] question [SEP] a window of the context [SEP]`; output: start and end of the answer, [CLS] for none.\n"
        "`[TLE]`, `[DOC]` and `[PAR]` are tokens.",
        f"{', '.join(sets)}; every step is drawn over all of them by their sizes.",
        f"{'Drawn' if settings.dev_questions else 'All'} questions of the dev sets; an epoch has {parts} validations.",
        task="question-answering",
        settings=settings,
        sections={"Dev sets": _BASELINE + "\n".join(rows)},
        names=[f"{_MACRO} EM", f"{_MACRO} F1"],
        record={"dev": {name: {"exact_match": em, "f1": f1} for name, (em, f1) in trained.scores.items()}},
        unit="validation",
    )
    return trained


def validate(reader: ExtractiveReader, dev: Mapping[str, Sequence[DevQuestion]], quiet: bool = False) -> Measures:
    """`NAME EM` and `NAME F1` of every dev set, and their means as `macro EM` and `macro F1`; all in percent."""
    measures: Measures = {}
    with progress("validation", sum(map(len, dev.values())), "questions", quiet) as advance:
        for name, questions in dev.items():
            predictions: dict[str, str] = {}
            for chunk in batches(questions, _CHUNK):
                answers = best_answers(reader, [(question.question, question.context) for question in chunk])
                predictions |= {question.qid: answer.text for question, answer in zip(chunk, answers, strict=True)}
                advance(len(chunk))
            scores = evaluate({question.qid: question.answers for question in questions}, predictions, name=name)
            measures |= {f"{name} EM": scores["exact_match"], f"{name} F1": scores["f1"]}
    for measure in ("EM", "F1"):
        measures[f"{_MACRO} {measure}"] = sum(measures[f"{name} {measure}"] for name in dev) / len(dev)
    return measures


def shown(scores: Scores | None) -> str:
    """`78.5 / 86.7`, or a dash."""
    return "–" if scores is None else f"{scores[0]:.1f} / {scores[1]:.1f}"
