"""Training of a reader on several MRQA files at once: the multi-task baseline of the shared task (Fisch et al., 2019)."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from ..config import Device, FitSettings, NotNegative, Positive
from ..config.value_types import Rate, Shared, Tokens, Window
from ..encoder.checkpoint import Checkpoint, add_tokens, load_checkpoint
from ..encoder.extractive_reader import ExtractiveReader, best_answers
from ..formats.mrqa import PlainQuestion, read_plain
from ..formats.tokens import DOCUMENT_MARK, PARAGRAPH_MARK, TITLE_MARK
from ..scoring.mrqa import evaluate
from ..support.errors import ConfigError, DataError, nearest
from ..support.progress import progress
from .mrqa_baseline import BaselineRow, comparison, file_names, shown
from .objective import Measures, batches
from .reader import ReadExample, reader_objective, reader_of
from .trainer import LOGGER, Run, check_output, identity_of

T = TypeVar("T")
MARKS = (TITLE_MARK, DOCUMENT_MARK, PARAGRAPH_MARK)
_MACRO = "macro"
_CHUNK = 512  # questions read together in validation
_BASELINE = """EM / F1 in percent by the task's own rules; the baselines' figures are those of its README.

| | BERT-Base | BERT-Large | this model |
|---|---|---|---|
"""
_WHERE = ("token_budget", "train_folder", "dev_folders")  # settings that change no result
DevQuestion = tuple[str, PlainQuestion]  # a context, and a question on it to validate on


class ReaderTraining(FitSettings, frozen=True, kw_only=True):
    """A file of `train reader`: how to train a reader on MRQA files (NAME.jsonl or NAME.jsonl.gz).

    base: the checkpoint to start from; output: the model folder to write; train_folder, dev_folders: where the files
    are; train_sets: names of the files to train on (null: all of the folder); examples: questions drawn from each
    (null: all); dev_questions: questions drawn from each dev set to choose the epoch by (null: all; the final figures
    are always of all); validations: of an epoch, each of which keeps the best weights and what a stopped run goes on
    from; batch_size: questions of one step; token_budget: most tokens computed at a time
    (null: the device's default); max_length, stride: of a window, and shared by two of them; device: what computes; seed: of drawing
    and order.
    """

    base: str
    output: str
    train_folder: str
    dev_folders: list[str]
    train_sets: list[str] | None = None
    examples: Positive | None = 75_000
    dev_questions: Positive | None = None
    epochs: Positive = 2
    learning_rate: Rate = 3e-5
    validations: Positive = 1
    batch_size: Positive = 32
    token_budget: Tokens | None = None
    max_length: Window = 512
    stride: Shared = 128
    device: Device = "auto"
    seed: NotNegative = 42


def train_on_mrqa(settings: ReaderTraining, quiet: bool = False) -> tuple[Path, list[BaselineRow]]:
    """Train on files of the MRQA format; the validation with the best mean F1 over the dev sets is kept. See `trainer`.

    Returns the model's folder, and its figures on the dev sets beside those of the task's baseline.

    `[TLE]`, `[DOC]` and `[PAR]` become tokens of the model. Raises also the errors of `find_sets` and `train_examples`.
    """
    output = Path(settings.output).expanduser()
    check_output(output, "output")
    train_files = find_sets([Path(settings.train_folder).expanduser()], "train_folder", settings.train_sets)
    dev_files = find_sets([Path(folder).expanduser() for folder in settings.dev_folders], "dev_folders")
    seed, parts, device = settings.seed, settings.validations, settings.device
    checkpoint = load_checkpoint(settings.base, "question-answering", "base", new_head=True, seed=seed)
    checkpoint = add_tokens(checkpoint, MARKS, seed)
    train = {name: train_examples(path, settings.examples, seed) for name, path in train_files.items()}
    for name, examples in train.items():
        LOGGER.info("train reader: %s: %d questions to train on", name, len(examples))
    dev = {name: dev_questions(path, settings.dev_questions, seed) for name, path in dev_files.items()}
    LOGGER.info("train reader: %d questions of %d sets to validate on", sum(map(len, dev.values())), len(dev))
    files = [*train_files.values(), *dev_files.values()]
    identity = identity_of(settings, checkpoint.model_id, files, [path.name for path in files], without=_WHERE)
    fitting = msgspec.structs.replace(settings, epochs=settings.epochs * parts)
    run = Run("train reader", settings.base, output, checkpoint, fitting, identity, device, seed, quiet)

    def build_reader(copied: Checkpoint) -> ExtractiveReader:
        return ExtractiveReader(copied, device, max_length=settings.max_length, stride=settings.stride)

    objective = reader_objective(
        run,
        lambda number: mixed_steps(list(train.values()), settings.batch_size, parts, number, seed),
        build_reader,
        lambda reader: validate(reader, dev, quiet),
        lambda measures: measures[f"{_MACRO} F1"],
        max_length=settings.max_length,
        stride=settings.stride,
        token_budget=settings.token_budget,
    )
    fitted = run.fit(objective)
    measures = fitted.history[fitted.best]
    if settings.dev_questions is not None:  # all questions, one set in memory at a time
        reader = reader_of(checkpoint, build_reader)
        for name, path in dev_files.items():
            measures = measures | validate(reader, {name: dev_questions(path, None, seed)}, quiet)
    scores = {name: (measures[f"{name} EM"], measures[f"{name} F1"]) for name in dev_files}
    table = comparison(scores)
    rows = (f"| {title} | {' | '.join(map(shown, columns))} |" for title, columns in table)
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
        record={"dev": {name: {"exact_match": em, "f1": f1} for name, (em, f1) in scores.items()}},
        unit="validation",
    )
    return output, table


def validate(reader: ExtractiveReader, dev: Mapping[str, Sequence[DevQuestion]], quiet: bool = False) -> Measures:
    """Measure `NAME EM` and `NAME F1` of every dev set, and their means `macro EM` and `macro F1`; all in percent."""
    measures: Measures = {}
    with progress("validation", sum(map(len, dev.values())), "questions", quiet) as advance:
        for name, questions in dev.items():
            predictions: dict[str, str] = {}
            for chunk in batches(questions, _CHUNK):
                answers = best_answers(reader, [(question.question, context) for context, question in chunk])
                predictions |= {question.qid: text for (_, question), (text, _) in zip(chunk, answers, strict=True)}
                advance(len(chunk))
            scores = evaluate({question.qid: question.answers for _, question in questions}, predictions, name=name)
            measures |= {f"{name} EM": scores["exact_match"], f"{name} F1": scores["f1"]}
    for measure in ("EM", "F1"):
        measures[f"{_MACRO} {measure}"] = sum(measures[f"{name} {measure}"] for name in dev) / len(dev)
    return measures


def find_sets(folders: Sequence[Path], key: str, names: Sequence[str] | None = None) -> dict[str, Path]:
    """Find the files NAME.jsonl and NAME.jsonl.gz of some folders, by NAME: all, or those of `names` in their order."""
    sets: dict[str, Path] = {}
    for folder in folders:
        paths = sorted([*folder.glob("*.jsonl"), *folder.glob("*.jsonl.gz")])
        if not paths:
            raise ConfigError(
                f"{key}: {folder}: no NAME.jsonl or NAME.jsonl.gz there; download MRQA data or name another folder (--data)"
            )
        for path in paths:
            name = path.name.removesuffix(".gz").removesuffix(".jsonl")
            if sets.setdefault(name, path) != path:
                raise ConfigError(f"{key}: {path}: the data set is there twice, the other file is {sets[name]}")
    if names is None:
        return sets
    chosen = {}
    for name in names:
        file_name = next((alias for alias in (name, *file_names(name)) if alias in sets), None)
        if file_name is None:
            raise ConfigError(
                f"train_sets: no {name}.jsonl or {name}.jsonl.gz in {folders[0]}; {nearest(name, list(sets))}"
            )
        chosen[file_name] = sets[file_name]
    return chosen


def train_examples(path: Path, number: int | None, seed: int) -> list[ReadExample]:
    """Draw `number` questions of a file at random (None: all) as examples; the rest is not held in memory.

    A question without an answer in its context is left out, unless it is marked as `is_impossible`.
    Raises `DataError` if the file cannot be read, a span is outside of the context, or no question is left.
    """

    def read() -> Iterator[ReadExample]:
        for context, question, line in read_plain(path):
            spans = sorted({span for answer in question.detected_answers for span in answer.char_spans})
            for start, end in spans:
                if not 0 <= start <= end < len(context):
                    raise DataError(
                        f"{path}:{line}: qid '{question.qid}': the character span [{start}, {end}] is outside of the "
                        f"context ({len(context)} characters)"
                    )
            if spans or question.is_impossible:
                yield ReadExample(question.question, context, tuple((start, end + 1) for start, end in spans))

    return _drawn(path, read(), number, seed, "no question with an answer in its context")


def dev_questions(path: Path, number: int | None, seed: int) -> list[DevQuestion]:
    """Draw `number` questions of a file that have accepted answers (None: all). Raises `DataError`."""
    answered = ((context, question) for context, question, _ in read_plain(path) if question.answers)
    return _drawn(path, answered, number, seed, "no question with accepted answers")


def _drawn(path: Path, items: Iterable[T], number: int | None, seed: int, none: str) -> list[T]:
    # Vitter's algorithm R
    chance = random.Random(f"{seed} {path.name}")
    sample: list[T] = []
    for place, item in enumerate(items):
        if number is None or place < number:
            sample.append(item)
        elif (instead := chance.randrange(place + 1)) < number:
            sample[instead] = item
    if not sample:
        raise DataError(f"{path}: {none}")
    return sample


def mixed_steps(
    sets: Sequence[Sequence[ReadExample]], batch_size: int, parts: int, number: int, seed: int
) -> list[list[ReadExample]]:
    """Return the steps of a part of an epoch, each drawn over all sets by their sizes; every epoch has its own order.

    All parts have the same number of steps; `number` (1, 2, ...) counts the parts of all epochs. Sizes of steps, `batch_size`
    at most, differ by one at most.
    """
    epoch, part = divmod(number - 1, parts)
    chance = random.Random(f"{seed} {epoch}")
    order = []
    for which, examples in enumerate(sets):
        places = list(range(len(examples)))
        chance.shuffle(places)
        # equally far from one another, so that any stretch of the order holds each set's share
        order += [((rank + chance.random()) / len(places), which, place) for rank, place in enumerate(places)]
    order.sort()
    per_part = max(1, -(-len(order) // (batch_size * parts)))
    steps, total = per_part * parts, len(order)
    bounds = [total * step // steps for step in range(part * per_part, (part + 1) * per_part + 1)]
    return [
        [sets[which][place] for _, which, place in order[start:end]]
        for start, end in zip(bounds, bounds[1:], strict=False)
    ]
