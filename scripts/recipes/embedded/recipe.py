"""The recipe of the embedded model: mixtures of data sets, stages of training, calibration, a model folder.

Each stage goes on from the one before, whose model may find harder negatives for it.
"""

from __future__ import annotations

import gzip
import hashlib
import logging
import random
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
import torch
from torch.utils.data import DataLoader

from convinse.config import Device, FitSettings, NotNegative, Positive, Share, Weight
from convinse.encoder.checkpoint import Checkpoint
from convinse.encoder.devices import find_device
from convinse.encoder.tokens import TextTokenizer
from convinse.support.errors import ConfigError, DataError, one_line
from convinse.support.files import replacing
from convinse.training.loop import fit
from convinse.training.objective import FitResult, Objective
from recipes.embedded.batches import STRIDE, Batch, batch, drawn, drawn_list, with_foreign
from recipes.embedded.examples import Example, Part
from recipes.embedded.losses import embed, embedding_losses, list_losses, listwise_loss
from recipes.embedded.mining import LONGEST_EMBEDDED, with_mined
from recipes.embedded.negatives import HeldOut
from recipes.embedded.tables import PLAIN, Rows
from recipes.embedded.validation import calibrate, validate

LOGGER = logging.getLogger("convinse.train_embedded")
_LONG = 300  # characters of a text beside which there is one negative only
_OWN_SETTINGS = ("stages", "yes_no", "answer_type", "rewrite")


class Stage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One run over the mixture."""

    mixture: dict[str, Positive]  # examples drawn from each data set in an epoch (all, if it has fewer)
    epochs: Positive = 1  # of that size
    validations: Positive = 4  # of an epoch; each keeps the best weights and what a stopped run goes on from
    learning_rate: Weight = 1e-4  # the highest
    alone: dict[
        str, Share
    ] = {}  # share of a data set's examples that are learned from without negatives: reading costs a third so
    mined: dict[
        str, Positive
    ] = {}  # data set -> negatives of each of its examples that the model of the stage before finds (`with_mined`)
    negatives: dict[
        str, NotNegative
    ] = {}  # data set -> irrelevant texts beside each relevant one, instead of the recipe's
    lists: dict[str, Positive] = {}  # data set -> texts of each of its examples (`drawn_list`), in place of `negatives`
    embedding_every: Positive = 4  # steps between those that also train the embedding
    listwise: Weight = (
        0.0  # weight of the loss that teaches the embedding the cross-encoder's order of an example's texts
    )
    minutes: Weight | None = None  # of training steps, after which the stage ends early; None: no limit


class YesNo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the yes/no head is trained: `epochs` over all questions, of which the best by log loss on held-out ones is kept."""

    epochs: Positive = 4
    learning_rate: Weight = 3e-4  # the highest
    batch_size: Positive = 32  # questions of a step
    dropout: Weight = 0.1  # in the head
    layer: Positive = 4  # of the trunk, that the head reads: the last ones know little beside ranking and reading


class AnswerType(YesNo, frozen=True, forbid_unknown_fields=True):
    """How the answer type head is trained; see `encoder.heads`. A tenth of the templates chooses the epoch."""

    epochs: Positive = 6
    learning_rate: Weight = 2e-3
    batch_size: Positive = 64
    looks: Positive = 8  # at the tokens
    inner: Positive = 128  # numbers that they see
    least: Positive = 100  # questions of a class that stands for itself


class RewriteSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the rewrite head is trained; see `encoder.heads`."""

    epochs: Positive = 2
    learning_rate: Weight = 2e-4  # the highest
    batch_size: Positive = 32  # questions of a step
    layer: Positive = 3  # of the trunk, that the head's own layers read
    synthetic: Positive = 10_000  # turns of synthetic conversations


class Recipe(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How the embedded model is trained; see `config/model/embedded.yml`."""

    base: str | None = (
        None  # a folder with the weights to start from, or None for those of the package that carries all-MiniLM-L6-v2
    )
    layers: Annotated[list[NotNegative], msgspec.Meta(min_length=1)] | None = (
        None  # of the base that are kept, from 0; None: all
    )
    reader: str | None = (
        None  # a folder of a wider model of the same vocabulary, whose choices and spans it learns; None: there is none
    )
    taught: Weight = 1.0  # weight of that
    teacher: Literal["base", "all-MiniLM-L6-v2"] = "base"  # the model whose cosines the embedding stays close to
    stages: Annotated[list[Stage], msgspec.Meta(min_length=1)]  # one after the other
    batch_size: Positive = 32  # examples of a step
    negatives: NotNegative = 2  # irrelevant texts beside each relevant one, of the same example; 1 beside a long one
    foreign: Share = 0.3  # share of the examples that get one more from another example, the easy case
    max_length: Annotated[int, msgspec.Meta(ge=64)] = 192  # tokens of a pair; of longer texts a window is learned from
    stride: NotNegative = STRIDE  # tokens that such a window shares with the one before
    portion: Positive = 1408  # tokens, padding counted, that are computed at once
    token_budget: Positive = 4096  # tokens that are computed at once if nothing is learned
    contrast: Weight = 0.5  # weights of the embedding's losses: against other texts, and against the teacher's cosines
    distillation: Weight = (
        0.5  # weights of the embedding's losses: against other texts, and against the teacher's cosines
    )
    dev_examples: Positive = 80  # of each data set, that a validation looks at
    warmup: Share = 0.06
    weight_decay: Weight = 0.01
    patience: Positive = 99
    rows: Rows = PLAIN  # how the rows of tables are learned from
    apart: bool = False  # whether texts that share eight words in a row with held-out ones are left out (`overlap`)
    frozen: NotNegative = 0  # layers of the trunk, the lowest, that stay as they are, and the heads that read them
    seed: int = 42
    device: Device = "auto"
    workers: NotNegative = 0  # processes that make batches while a GPU computes
    yes_no: YesNo | None = YesNo()  # how the yes/no head is trained when the rest is done; None: there is none
    answer_type: AnswerType | None = None  # how the answer type head is trained; None: there is none
    rewrite: RewriteSettings | None = None  # how the rewrite head is trained; None: there is none


@dataclass(frozen=True)
class Data:
    train: dict[str, list[Example]]
    dev: dict[str, list[Example]]
    run_id: str


def gather(builders: dict[str, Callable[[], Iterable[Example]]]) -> Data:
    """Build all data sets; each example is in the part that its key says."""
    train: dict[str, list[Example]] = {}
    dev: dict[str, list[Example]] = {}
    digest = hashlib.sha256()
    for name, build in builders.items():
        start = time.perf_counter()
        examples = list(build())
        train[name] = [example for example in examples if example.part == "train"]
        dev[name] = [example for example in examples if example.part == "dev"]
        digest.update(repr(examples).encode())
        LOGGER.info(
            "%s: %d examples to train on, %d held out (%.0f s)",
            name, len(train[name]), len(dev[name]), time.perf_counter() - start,
        )  # fmt: skip
    return Data(train, dev, digest.hexdigest()[:32])


class _Kept(msgspec.Struct, frozen=True):
    name: str
    part: Part
    example: Example


def write_examples(data: Data, path: Path) -> None:
    """Keep examples as compressed JSON lines, the first line the id of the data."""
    parts: list[tuple[Part, dict[str, list[Example]]]] = [("train", data.train), ("dev", data.dev)]
    with replacing(path) as temporary, gzip.open(temporary, "wb", compresslevel=6) as file:
        file.write(msgspec.json.encode(data.run_id) + b"\n")
        for part, sets in parts:
            for name, examples in sets.items():
                file.writelines(msgspec.json.encode(_Kept(name, part, example)) + b"\n" for example in examples)


def read_examples(path: Path) -> Data:
    """The data of a file of `write_examples`. Raises `DataError` if it cannot be read."""
    train: dict[str, list[Example]] = defaultdict(list)
    dev: dict[str, list[Example]] = defaultdict(list)
    try:
        with gzip.open(path, "rb") as file:
            run_id = msgspec.json.decode(file.readline(), type=str)
            for line in file:
                kept = msgspec.json.decode(line, type=_Kept)
                (train if kept.part == "train" else dev)[kept.name].append(kept.example)
    except (OSError, EOFError, msgspec.DecodeError) as error:
        raise DataError(f"--examples: {path}: cannot be read ({one_line(error)}); remove it to gather anew") from error
    return Data(dict(train), dict(dev), run_id)


def without_held_out(data: Data, texts: Collection[str], names: Collection[str]) -> Data:
    """The sets `names`; those over text without texts that share eight words in a row with a held-out one."""
    examples = (example for name in sorted(texts) for example in data.dev[name])
    held = HeldOut(candidate.text for example in examples for candidate in example.candidates)
    train = {}
    for name in sorted(names):
        given = data.train[name]
        train[name] = [kept for own in given if (kept := held.without(own))] if name in texts else given
        if len(train[name]) < len(given):
            LOGGER.info("%s: %d examples share words with held-out texts", name, len(given) - len(train[name]))
    return replace(data, train=train, dev={name: data.dev[name] for name in names})


class Teachers(NamedTuple):
    """Models that stay as they are: one whose cosines the embedding stays close to, one whose reading is learned, or None."""

    embedding: Any
    reader: Any = None


@dataclass(frozen=True)
class Step:
    """Examples to learn from at once; whether the embedding learns from them, too; the seed of the windows drawn."""

    examples: list[Example]
    embeds: bool
    seed: str


def steps(train: dict[str, list[Example]], stage: Stage, recipe: Recipe, number: int) -> list[Step]:
    """The steps of one part of an epoch, counted on through the stages: each data set spread evenly over them."""
    epoch, part = divmod(number - 1, stage.validations)
    chance = random.Random(f"{recipe.seed} {epoch}")
    order = []
    for name, most in sorted(stage.mixture.items()):
        examples = train[name]
        places = chance.sample(range(len(examples)), min(most, len(examples)))
        order += [((rank + chance.random()) / len(places), name, place) for rank, place in enumerate(places)]
    order.sort()
    count = max(1, len(order) // (recipe.batch_size * stage.validations)) * stage.validations
    bounds = [len(order) * step // count for step in range(count + 1)]
    steps = []
    for step in range(part * count // stage.validations, (part + 1) * count // stage.validations):
        examples = []
        for _, name, place in order[bounds[step] : bounds[step + 1]]:
            example = train[name][place]
            if name in stage.lists:
                examples.append(drawn_list(example, stage.lists[name], chance))
                continue
            most = 1 if len(example.candidates[0].text) > _LONG else recipe.negatives
            most = stage.negatives.get(name, most)
            if name in stage.alone and chance.random() < stage.alone[name]:
                most = 0
            examples.append(drawn(example, most, chance))
        embeds = step % stage.embedding_every == 0
        steps.append(Step(with_foreign(examples, recipe.foreign, chance), embeds, f"{recipe.seed} {epoch} {step}"))
    return steps


def with_batches(ahead: Sequence[Step], tokenizer: TextTokenizer, recipe: Recipe) -> Iterable[tuple[Step, Batch]]:
    """Steps with their batches, which `recipe.workers` processes make ahead of the GPU."""

    def made(step: Step) -> tuple[Step, Batch]:
        return step, batch(step.examples, tokenizer, random.Random(step.seed), recipe.stride)

    return DataLoader(list(ahead), batch_size=None, num_workers=recipe.workers, collate_fn=made)  # type: ignore[arg-type]


def train_stages(
    checkpoint: Checkpoint, teachers: Teachers, data: Data, recipe: Recipe, state: Path
) -> list[FitResult]:
    tokenizer = TextTokenizer.of(checkpoint, recipe.max_length)
    bert = checkpoint.model.bert
    still = [bert.embeddings.word_embeddings, *bert.encoder.layer[: recipe.frozen]]
    if recipe.frozen:
        still.append(bert.embeddings)
    for part in still:
        part.requires_grad_(False)
    chance = random.Random(recipe.seed)
    dev = {}
    for name in sorted(recipe.stages[-1].mixture):
        choosing = [example for example in data.dev.get(name, ()) if example.chooses]
        if choosing:
            dev[name] = chance.sample(choosing, min(recipe.dev_examples, len(choosing)))
    results: list[FitResult] = []
    learned = replace(data, dev=dev)
    for number, stage in enumerate(recipe.stages, 1):
        if stage.mined:
            # what is found follows from data and recipe but for the last digits of cosines, so the run's id does without
            mined = {
                name: with_mined(checkpoint.model, tokenizer, data.train[name], most, recipe.token_budget)
                for name, most in sorted(stage.mined.items())
                if name in data.train
            }
            LOGGER.info("negatives of the model itself: %d examples", sum(map(len, mined.values())))
            learned = replace(learned, train={**data.train, **mined})
        loss = StageLoss(teachers, tokenizer, recipe, stage.listwise)
        results.append(_stage(number, checkpoint, loss, learned, recipe, state))
    for part in still:
        part.requires_grad_(True)
    held_out = [example for examples in dev.values() for example in examples]
    checkpoint.model.to(find_device(recipe.device))
    calibrate(checkpoint.model, tokenizer, held_out, stride=recipe.stride)
    checkpoint.model.to("cpu")
    return results


def _stage(place: int, checkpoint: Checkpoint, loss: StageLoss, data: Data, recipe: Recipe, state: Path) -> FitResult:
    *before, stage = recipe.stages[:place]
    done = sum(earlier.epochs for earlier in before)
    if unknown := sorted(set(stage.mixture) - set(data.train)):
        raise ConfigError(f"stages: mixture: unknown data set {unknown[0]}; known: {', '.join(sorted(data.train))}")
    for key in ("alone", "mined", "negatives", "lists"):
        if unknown := sorted(set(getattr(stage, key)) - set(stage.mixture)):
            raise ConfigError(f"stages: {key}: {unknown[0]} is not in the mixture; it has {', '.join(stage.mixture)}")
    settings = FitSettings(
        epochs=stage.epochs * stage.validations,
        minutes=stage.minutes,
        patience=recipe.patience,
        learning_rate=stage.learning_rate,
        warmup=recipe.warmup,
        weight_decay=recipe.weight_decay,
    )
    learning = Objective(
        steps=lambda number: steps(data.train, stage, recipe, done * stage.validations + number),
        loss=loss.of_step,
        made=lambda _, ahead: with_batches(ahead, loss.tokenizer, recipe),
        validate=lambda model: validate(model, loss.tokenizer, data.dev, recipe.token_budget, recipe.stride),
        criterion=lambda measures: measures["mean"],
    )
    # the settings that hold for all stages: a change of later ones does not undo an earlier one
    shared = {key: value for key, value in msgspec.to_builtins(recipe).items() if key not in _OWN_SETTINGS}
    return fit(
        checkpoint.model,
        learning,
        settings,
        state / f"stage {place}",
        hashlib.sha256(repr((data.run_id, shared, recipe.stages[:place])).encode()).hexdigest()[:32],
        device=recipe.device,
        seed=recipe.seed,
        title=f"stage {place} of {len(recipe.stages)}",
    )


@dataclass(frozen=True)
class StageLoss:
    """The loss of the steps of a stage, whose `listwise` it has."""

    teachers: Teachers
    tokenizer: TextTokenizer
    recipe: Recipe
    listwise: float = 0.0

    def of_step(self, model: Any, given: tuple[Step, Batch]) -> Iterable[torch.Tensor]:
        recipe, (step, made) = self.recipe, given
        for teacher in self.teachers:
            if teacher is not None:
                teacher.to(model.device)
        answering, each, taught, odds = list_losses(model, made, recipe.portion, self.teachers.reader)
        yield (answering + each + recipe.taught * taught) / len(step.examples)
        if step.embeds:
            learned = [
                (example, own)
                for example, own in zip(step.examples, odds.split(made.sizes), strict=True)
                if example.answered and len(example.candidates[0].text) <= LONGEST_EMBEDDED
            ]
            if len(learned) > 1:
                yield self._of_embedding(model, *zip(*learned, strict=True))

    def _of_embedding(self, model: Any, examples: Sequence[Example], odds: Sequence[torch.Tensor]) -> torch.Tensor:
        """Args: odds: of each example's candidates the log odds of relevance, which nothing is learned through."""
        recipe, tokenizer = self.recipe, self.tokenizer
        queries = tokenizer.singles([example.query for example in examples])
        texts = [example.candidates[0].text for example in examples]
        # one negative is enough to tell relevant texts from others; the order of all is for the cross-encoder's list
        most = None if self.listwise else 2
        hard = [
            (place, number, candidate.text)
            for place, example in enumerate(examples)
            for number, candidate in enumerate(example.candidates[1:most], 1)
        ]
        texts += [text for _, _, text in hard]
        sequences = tokenizer.singles([text[:LONGEST_EMBEDDED] for text in texts])
        with torch.no_grad():
            targets = [embed(self.teachers.embedding, part, recipe.portion) for part in (queries, sequences)]
        groups = [example.group or example.key for example in examples]
        owners = [*range(len(examples)), *(place for place, _, _ in hard)]
        found = embed(model, queries, recipe.portion), embed(model, sequences, recipe.portion)
        contrast, distillation = embedding_losses(*found, *targets, groups, owners)
        loss = recipe.contrast * contrast + recipe.distillation * distillation
        if self.listwise:
            teaching = torch.stack([row[0] for row in odds] + [odds[place][number] for place, number, _ in hard])
            loss = loss + self.listwise * listwise_loss(*found, teaching, owners)
        return loss
