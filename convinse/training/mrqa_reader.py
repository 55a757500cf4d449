"""Training of a reader on several MRQA files at once: the multi-task baseline of the shared task (Fisch et al., 2019)."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from ..config import ReaderTraining
from ..encoder.checkpoint import load_checkpoint
from ..encoder.extractive_reader import ExtractiveReader
from ..formats.mrqa_baseline import Row, Scores, comparison
from ..formats.tokens import DOCUMENT_MARK, PARAGRAPH_MARK, TITLE_MARK
from ..heterogeneous_answering.dataset_predictions import best_answers
from ..resources import model_path
from ..scoring.mrqa import evaluate
from ..support.files import sha256
from ..support.progress import progress
from .mrqa_sets import DevQuestion, dev_questions, find_sets, train_examples
from .output import check_output, settings_list, validation_table, write_trained
from .reader import ReaderSettings, add_tokens, train_reader
from .reader_examples import mixed_steps

LOGGER = logging.getLogger(__name__)
MARKS = (TITLE_MARK, DOCUMENT_MARK, PARAGRAPH_MARK)
_MACRO = "macro"
_CHUNK = 512  # questions read together in validation


class Trained(NamedTuple):
    """The model folder and (EM, F1) of its model on every dev set, by the name of its file."""

    folder: Path
    scores: dict[str, Scores]

    def table(self) -> list[Row]:
        """The figures beside those of the task's baseline."""
        return comparison(self.scores)


def train_on_mrqa(settings: ReaderTraining, quiet: bool = False) -> Trained:
    """Train on files of the MRQA format, keep the validation with the best mean F1 over the dev sets, write a model folder.

    `[TLE]`, `[DOC]` and `[PAR]` become tokens of the model. A stopped training goes on after its last validation. An
    older model at the output is replaced when the new one is written.

    Raises:
        ConfigError: a named training set is not there, or a folder has no files.
        DataError: a file cannot be read, a span is outside of its context, or nothing can be learned from.
        ModelError: the checkpoint cannot be loaded, or training diverges.
        OutputError: at the output is something else than a model that was trained here.
    """
    output = Path(settings.output).expanduser()
    check_output(output, "output")
    train_files = find_sets([Path(settings.train_folder).expanduser()], "train_folder", settings.train_sets)
    dev_files = find_sets([Path(folder).expanduser() for folder in settings.dev_folders], "dev_folders")
    checkpoint = load_checkpoint(
        model_path(settings.base), "question-answering", "base", new_head=True, seed=settings.seed
    )
    checkpoint = add_tokens(checkpoint, MARKS, settings.seed)
    from .loop import FitSettings

    train = {name: train_examples(path, settings.examples, settings.seed) for name, path in train_files.items()}
    for name, examples in train.items():
        LOGGER.info("train reader: %s: %d questions to train on", name, len(examples))
    dev = {name: dev_questions(path, settings.dev_questions, settings.seed) for name, path in dev_files.items()}
    LOGGER.info("train reader: %d questions of %d sets to validate on", sum(map(len, dev.values())), len(dev))
    start = time.perf_counter()
    parts = settings.validations
    fitted = train_reader(
        checkpoint,
        lambda number: mixed_steps(list(train.values()), settings.batch_size, parts, number, settings.seed),
        lambda reader: validate(reader, dev, quiet),
        lambda measures: measures[f"{_MACRO} F1"],
        ReaderSettings(
            FitSettings.of(settings, settings.device, settings.seed, parts),
            settings.max_length,
            settings.stride,
            settings.negative_windows,
            settings.token_budget,
        ),
        output,
        _run_id(settings, [*train_files.values(), *dev_files.values()], checkpoint.model_id),
        title="train reader",
        quiet=quiet,
    )
    if settings.dev_questions is None:
        measures = fitted.history[fitted.best]
    else:
        measures = _measure_all(settings, checkpoint, dev_files, quiet)
    trained = Trained(output, {name: (measures[f"{name} EM"], measures[f"{name} F1"]) for name in dev_files})
    card = _card(
        settings,
        {name: len(examples) for name, examples in train.items()},
        fitted,
        trained.table(),
        time.perf_counter() - start,
    )
    record = {"dev": {name: {"exact_match": em, "f1": f1} for name, (em, f1) in trained.scores.items()}}
    write_trained(checkpoint, output, card, fitted, record)
    LOGGER.info("train reader: validation %d is in %s", fitted.best, output)
    return trained


def validate(
    reader: ExtractiveReader, dev: Mapping[str, Sequence[DevQuestion]], quiet: bool = False
) -> dict[str, float]:
    """`NAME EM` and `NAME F1` of every dev set, and their means as `macro EM` and `macro F1`; all in percent."""
    measures: dict[str, float] = {}
    with progress("validation", sum(map(len, dev.values())), "questions", quiet) as advance:
        for name, questions in dev.items():
            scores = _score(reader, name, questions, advance)
            measures[f"{name} EM"], measures[f"{name} F1"] = scores
    for measure in ("EM", "F1"):
        measures[f"{_MACRO} {measure}"] = sum(measures[f"{name} {measure}"] for name in dev) / len(dev)
    return measures


def _score(
    reader: ExtractiveReader, name: str, questions: Sequence[DevQuestion], advance: Callable[[int], None]
) -> Scores:
    predictions: dict[str, str] = {}
    for start in range(0, len(questions), _CHUNK):
        chunk = questions[start : start + _CHUNK]
        found = best_answers(reader, [(question.question, question.context) for question in chunk])
        predictions.update((question.qid, answer.text) for question, answer in zip(chunk, found, strict=True))
        advance(len(chunk))
    scores = evaluate({question.qid: question.answers for question in questions}, predictions, name=name)
    return scores["exact_match"], scores["f1"]


def _measure_all(settings, checkpoint, files: Mapping[str, Path], quiet: bool) -> dict[str, float]:  # noqa: ANN001
    """The measures of the trained model on all questions of the dev sets, one set in memory at a time."""
    import copy
    import dataclasses

    copied = dataclasses.replace(checkpoint, model=copy.deepcopy(checkpoint.model))
    reader = ExtractiveReader(copied, settings.device, max_length=settings.max_length, stride=settings.stride)
    measures: dict[str, float] = {}
    for name, path in files.items():
        measures.update(validate(reader, {name: dev_questions(path, None, settings.seed)}, quiet))
    return measures


def _run_id(settings: ReaderTraining, files: Sequence[Path], model_id: str) -> str:
    values = msgspec.to_builtins(settings)
    for key in ("output", "device", "token_budget", "train_folder", "dev_folders"):  # where, not what
        del values[key]
    parts = [values, model_id, [(path.name, sha256(path)) for path in files]]
    return hashlib.sha256(msgspec.json.encode(parts, order="sorted")).hexdigest()[:32]


def shown(scores: Scores | None) -> str:
    """`78.5 / 86.7`, or a dash."""
    return "–" if scores is None else f"{scores[0]:.1f} / {scores[1]:.1f}"


def _card(settings: ReaderTraining, sizes: Mapping[str, int], fitted, rows: Sequence[Row], seconds: float) -> str:  # noqa: ANN001
    sets = ", ".join(f"{name} ({size:,} questions)" for name, size in sizes.items())
    table = "\n".join(f"| {row.title} | {shown(row.base)} | {shown(row.large)} | {shown(row.own)} |" for row in rows)
    return f"""---
library_name: transformers
pipeline_tag: question-answering
---
# An extractive reader in the manner of the MRQA 2019 baseline

Input: `[CLS] question [SEP] a window of the context [SEP]`; output: start and end of the answer, [CLS] for none.
`[TLE]`, `[DOC]` and `[PAR]` are tokens. Trained by `convinse train reader` from `{settings.base}` in {seconds:.0f} s, seed {settings.seed}.

## Data
{sets}; every step is drawn over all of them by their sizes.

## Settings
{settings_list(msgspec.to_builtins(settings))}

## Dev sets
EM / F1 in percent by the task's own rules; the baselines' figures are those of its README.

| | BERT-Base | BERT-Large | this model |
|---|---|---|---|
{table}

## Validation
{"Drawn questions of each dev set" if settings.dev_questions else "All questions of the dev sets"}; an epoch has {settings.validations} of them.

{validation_table(fitted, [f"{_MACRO} EM", f"{_MACRO} F1"])}
"""
