"""The recipe of the embedded model: a mixture of data sets, the training and the calibration of its two heads."""

import hashlib
import logging
import random
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
import numpy as np
import torch

from convinse.config import Device, FitSettings, Minutes, NotNegative, Positive, Share, Weight
from convinse.encoder.checkpoint import Checkpoint
from convinse.encoder.devices import find_device
from convinse.encoder.tokens import TextTokenizer
from convinse.support.errors import ConfigError
from convinse.training.loop import fit
from convinse.training.objective import FitResult, Objective
from convinse.training.trainer import code_of, hash_of
from recipes.embedded.batches import Batch, batch, drawn, drawn_list, joined, with_foreign
from recipes.embedded.examples import Example
from recipes.embedded.losses import embed, embedding_losses, list_losses, listwise_loss
from recipes.embedded.mining import with_mined
from recipes.embedded.negatives import HeldOut
from recipes.embedded.prepared import Prepared
from recipes.embedded.validation import calibrate, shown, validate

LOGGER = logging.getLogger("convinse.train_embedded")
_LONG = 300  # characters of a text beside which there is one negative only
_NEGATIVES = 2  # irrelevant texts beside each shorter one, of the same example
_FOREIGN = 0.3  # share of the examples that get one more from another example, the easy case
# weights of the embedding's losses: against other texts, and against the teacher's cosines
_CONTRAST, _DISTILLATION = 0.5, 0.5
_TOGETHER = 3  # portions of a run: texts of like length are computed together, so that several have less padding
_LONGEST_EMBEDDED = 150  # tokens of a text that the embedding learns from
_HEADS = ("yes_no", "answer_type", "rewrite")


class YesNo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the yes/no head is trained: the epoch with the best log loss on held-out questions is kept."""

    epochs: Positive = 4
    learning_rate: Weight = 3e-4  # the highest
    batch_size: Positive = 32  # questions of a step
    dropout: Weight = 0.1  # in the head
    layer: Positive = 4  # of the trunk, that the head reads: the last ones know little beside ranking and reading


class AnswerType(YesNo, frozen=True, forbid_unknown_fields=True):
    """How the answer type head is trained; see `encoder.heads`."""

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

    base: str | None = None  # a folder with the weights to start from; None: those of the package of all-MiniLM-L6-v2
    layers: Annotated[list[NotNegative], msgspec.Meta(min_length=1)] | None = None  # of the base, from 0; None: all
    still: NotNegative = 0  # lowest layers that do not learn: a third of a step is saved by half of them
    teacher: Literal["base", "all-MiniLM-L6-v2"] = "base"  # the model whose cosines the embedding stays close to
    reader: str | None = None  # a folder of a wider model, whose choices and spans are learned
    files: dict[str, str] = {}  # data sets of one's own: name -> a file of the data folder, in MRQA's JSON lines
    mixture: dict[str, Positive]  # examples drawn from each data set (all, if it has fewer)
    passes: Positive = 1  # over the mixture, each with other negatives
    validations: Positive = (
        4  # a multiple of the passes; each keeps the best weights, and a stopped run goes on from it
    )
    learning_rate: Weight = 1e-4  # the highest
    alone: dict[str, Share] = {}  # share of a data set's examples without negatives: reading costs a third so
    mined: dict[str, Positive] = {}  # data set -> negatives of each of its examples that the base finds (`with_mined`)
    negatives: dict[str, NotNegative] = {}  # data set -> irrelevant texts beside each relevant one
    lists: dict[str, Positive] = {}  # data set -> texts of each of its examples (`drawn_list`), in place of `negatives`
    embedding_every: Positive = 4  # steps between those that also train the embedding
    listwise: Weight = 0.0  # of the loss that teaches the embedding the cross-encoder's order of an example's texts
    batch_size: Positive = 32  # examples of a step
    max_length: Annotated[int, msgspec.Meta(ge=64)] = 384  # tokens of a pair; of longer texts a window is learned from
    portion: Positive = 1408  # tokens, padding counted, that are computed at once
    token_budget: Positive = 4096  # tokens that are computed at once if nothing is learned
    dev_examples: Positive = 80  # of each data set, that a validation looks at
    seed: int = 42
    device: Device = "auto"
    minutes: Minutes | None = None  # of steps, after which the training is cut short
    # of the loss: the distance from the teacher, where there is one; the rest is of the answers
    taught: Share = 0.75
    temperature: Weight = 1.5  # of both distributions in that distance
    yes_no: YesNo | None = None  # heads, trained after the rest; None: not trained
    answer_type: AnswerType | None = None
    rewrite: RewriteSettings | None = None


@dataclass(frozen=True)
class Data:
    train: dict[str, list[Example]]
    dev: dict[str, list[Example]]
    run_id: str


def gather(
    builders: Mapping[str, Callable[[], Iterable[Example]]], names: Collection[str], texts: Collection[str]
) -> Data:
    """Build the sets `names`, those over text (`texts`) without texts that share eight words in a row with a held-out one.

    Each example is in the part that its key says.
    """
    train: dict[str, list[Example]] = {}
    dev: dict[str, list[Example]] = {}
    digest = hashlib.sha256()
    for name in sorted({*names, *texts}):
        start = time.perf_counter()
        examples = list(builders[name]())
        train[name] = [example for example in examples if example.part == "train"]
        dev[name] = [example for example in examples if example.part == "dev"]
        digest.update(repr(examples).encode())
        LOGGER.info("%s: %d to train on (%.0f s)", name, len(train[name]), time.perf_counter() - start)
    # sets overlap: a paragraph of one is a sentence of another, in the other part
    held = HeldOut(candidate.text for name in texts for example in dev[name] for candidate in example.candidates)
    for name in {*names} & {*texts}:
        train[name] = [rest for example in train[name] if (rest := held.without(example))]
    parts = ({name: part[name] for name in sorted(names)} for part in (train, dev))
    return Data(*parts, digest.hexdigest()[:32])


# -- training ----------------------------------------------------------------------------------------------------------


class Teachers(NamedTuple):
    """Models that stay as they are."""

    embedding: Any
    reader: Any = None


@dataclass(frozen=True)
class Step:
    """Examples to learn from at once; the seed of the windows drawn."""

    examples: list[Example]
    seed: str


def steps(train: dict[str, list[Example]], recipe: Recipe, number: int) -> list[Step]:
    """The steps before validation `number`, from 1: each data set is spread evenly over all of a pass."""
    parts = recipe.validations // recipe.passes
    number_of_pass, place_in_pass = divmod(number - 1, parts)
    chance = random.Random(f"{recipe.seed} {number_of_pass}")
    order = []
    for name, most in sorted(recipe.mixture.items()):
        examples = train[name]
        places = chance.sample(range(len(examples)), min(most, len(examples)))
        order += [((rank + chance.random()) / len(places), name, place) for rank, place in enumerate(places)]
    order.sort()
    count = max(1, len(order) // (recipe.batch_size * parts)) * parts
    bounds = [len(order) * step // count for step in range(count + 1)]
    made = []
    for step in range(place_in_pass * count // parts, (place_in_pass + 1) * count // parts):
        examples = [
            _drawn(train[name][place], name, recipe, chance)
            for _, name, place in order[bounds[step] : bounds[step + 1]]
        ]
        made.append(Step(with_foreign(examples, _FOREIGN, chance), f"{recipe.seed} {number_of_pass} {step}"))
    return made


def _drawn(example: Example, name: str, recipe: Recipe, chance: random.Random) -> Example:
    if name in recipe.lists:
        return drawn_list(example, recipe.lists[name], chance)
    most = recipe.negatives.get(name, 1 if len(example.candidates[0].text) > _LONG else _NEGATIVES)
    if name in recipe.alone and chance.random() < recipe.alone[name]:
        most = 0
    return drawn(example, most, chance)


def prepare(data: Data, recipe: Recipe, tokenizer: TextTokenizer, model: Any = None) -> Prepared:
    """Return the examples of a recipe as tokens; `model` finds the negatives of the sets in `mined`."""
    if recipe.validations % recipe.passes:
        raise ConfigError(f"validations: {recipe.validations} is not a multiple of passes ({recipe.passes})")
    for key in ("alone", "mined", "negatives", "lists"):
        if unknown := sorted(set(getattr(recipe, key)) - set(recipe.mixture)):
            raise ConfigError(f"{key}: {unknown[0]} is not in the mixture; it has {', '.join(recipe.mixture)}")
    chance = random.Random(recipe.seed)
    dev = {}
    for name in sorted(recipe.mixture):
        if choosing := [example for example in data.dev.get(name, ()) if example.chooses]:
            dev[name] = shown(chance.sample(choosing, min(recipe.dev_examples, len(choosing))))
    train = dict(data.train)
    for name, most in sorted(recipe.mined.items()):
        train[name] = with_mined(model, tokenizer, train[name], most, recipe.token_budget)
    order = [step for number in range(1, recipe.validations + 1) for step in steps(train, recipe, number)]
    return Prepared(
        joined(batch(step.examples, tokenizer, random.Random(step.seed)) for step in order),
        np.cumsum([0, *(len(step.examples) for step in order)]),
        {name: batch(examples, tokenizer, None) for name, examples in dev.items()},
        data.run_id,
        {name: len(examples) for name, examples in data.train.items()},
    )


def train_trunk(
    checkpoint: Checkpoint, teachers: Teachers, prepared: Prepared, recipe: Recipe, state: Path
) -> FitResult:
    """Train the model in place, and calibrate it on the held-out examples; a stopped run goes on from `state`."""
    model = checkpoint.model
    still = [model.bert.embeddings.word_embeddings]
    if recipe.still:
        still = [model.bert.embeddings, *model.bert.encoder.layer[: recipe.still]]
    if model.config.distances:  # as MPNet learned them; with their gradient a GPU does not take its fused attention
        still.append(model.bert.distance)
    for module in still:
        module.requires_grad_(False)
    steps_of_each = (len(prepared.steps) - 1) // recipe.validations
    learning = Objective(
        steps=lambda number: range((number - 1) * steps_of_each, number * steps_of_each),
        loss=TrunkLoss(teachers, prepared, recipe).of_step,
        validate=lambda model: validate(model, prepared.dev, recipe.token_budget),
        criterion=lambda measures: measures["mean"],
        headline="F1",
    )
    rate, minutes = recipe.learning_rate, recipe.minutes
    settings = FitSettings(epochs=recipe.validations, minutes=minutes, learning_rate=rate, warmup=0.06)
    # what the heads are trained with undoes no training of the trunk
    named = {key: value for key, value in msgspec.to_builtins(recipe).items() if key not in _HEADS}
    identity = {
        "data": prepared.run_id,
        "settings": hash_of(named),
        "base": checkpoint.model_id,
        "code": code_of(Path(__file__).parent),
    }
    result = fit(
        model, learning, settings, state, identity, device=recipe.device, seed=recipe.seed, title="the embedded model"
    )
    for module in still:
        module.requires_grad_(True)
    if prepared.dev:
        calibrate(model.to(find_device(recipe.device)), checkpoint.tokenizer.decode, prepared.dev.values())
        model.to("cpu")
    return result


@dataclass(frozen=True)
class TrunkLoss:
    teachers: Teachers
    prepared: Prepared
    recipe: Recipe

    def of_step(self, model: Any, step: int) -> Iterable[torch.Tensor]:
        recipe, train = self.recipe, self.prepared.train
        first, end = self.prepared.steps[step : step + 2].tolist()
        for teacher in self.teachers:
            if teacher is not None:
                teacher.to(model.device)
        reader, share = self.teachers.reader, recipe.taught
        odds: list[torch.Tensor] = []
        for start, stop in train.runs(first, end, _TOGETHER * recipe.portion):  # the memory of a step is that of a run
            made = train.part(start, stop)
            answering, each, taught, found = list_losses(model, made, recipe.portion, reader, recipe.temperature)
            odds += found.split(made.sizes)
            gold = answering + each
            yield (gold if reader is None else (1 - share) * gold + share * taught) / (end - first)
        if step % recipe.embedding_every == 0:
            yield from self._of_embedding(model, train.part(first, end), odds)

    def _of_embedding(self, model: Any, made: Batch, odds: Sequence[torch.Tensor]) -> Iterable[torch.Tensor]:
        """The loss of the embedding; nothing is learned through `odds`, each example's log odds of relevance."""
        recipe = self.recipe
        starts = made.starts.tolist()
        ids, firsts, ends = made.sequences.ids, made.firsts, made.ends
        places = [
            place
            for place, pair in enumerate(starts[:-1])
            if made.relevant[pair] and ends[pair] - firsts[pair] <= _LONGEST_EMBEDDED
        ]
        if len(places) < 2:
            return
        # one negative is enough to tell relevant texts from others; the order of all is for the cross-encoder's list
        hard = []
        for row, place in enumerate(places):
            numbers = range(1, made.sizes[place] if recipe.listwise else min(2, made.sizes[place]))
            hard += [(row, number, starts[place] + number) for number in numbers]
        first_pairs = [starts[place] for place in places]
        queries = made.singles([ids[pair][1 : firsts[pair] - 1] for pair in first_pairs])
        pairs = [*first_pairs, *(pair for _, _, pair in hard)]
        texts = made.singles([ids[pair][firsts[pair] : ends[pair]][:_LONGEST_EMBEDDED] for pair in pairs])
        with torch.no_grad():
            targets = [embed(self.teachers.embedding, part, recipe.portion) for part in (queries, texts)]
        owners = [*range(len(places)), *(row for row, _, _ in hard)]
        vectors = embed(model, queries, recipe.portion), embed(model, texts, recipe.portion)
        groups = [made.groups[place] for place in places]
        contrast, distillation = embedding_losses(*vectors, *targets, groups, owners)
        loss = _CONTRAST * contrast + _DISTILLATION * distillation
        if recipe.listwise:
            of_examples = [odds[place] for place in places]
            teaching = [row[0] for row in of_examples] + [of_examples[row][number] for row, number, _ in hard]
            loss = loss + recipe.listwise * listwise_loss(*vectors, torch.stack(teaching), owners)
        yield loss
