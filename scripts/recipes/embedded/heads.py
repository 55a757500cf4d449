"""Training of the heads over the trunk as it is, whose hidden states are computed once: yes or no, answer type, rewrite."""

import copy
import hashlib
import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from convinse.config import FitSettings
from convinse.encoder.answer_classes import YES_NO, AnswerClasses
from convinse.encoder.batches import token_batches
from convinse.encoder.checkpoint import Checkpoint
from convinse.encoder.devices import autocast, find_device
from convinse.encoder.engine import POINTER_SIZE
from convinse.encoder.heads import AnswerTypeHead, RewriteHead, TrunkHead, YesNoHead
from convinse.encoder.question_readers import MAX_LENGTH, SHARPNESS, softmax
from convinse.encoder.tokens import Sequences, TextTokenizer
from convinse.encoder.torch_backend import model_inputs
from convinse.language.language import english
from convinse.records.rewriting import history_text
from convinse.training.loop import fit
from convinse.training.objective import FitResult, Measures, Objective
from convinse.training.trainer import hash_of
from recipes.embedded.answer_classes import TypedQuestion, TypedQuestions, common_words, names_in
from recipes.embedded.examples import chooses, digest, part_of_key
from recipes.embedded.recipe import Recipe
from recipes.embedded.requests import as_decision, as_keywords, as_request
from recipes.embedded.rewrites import Rewrite, RewriteExamples, edits
from recipes.embedded.statements import Decided

_POOL = 2048  # examples among which those of a step are of similar length
_CHOOSING = 10  # one key of so many of the train part chooses the epoch and the temperature of answer types
_AFTER, _NAMES = 0.08, 0.04  # share of the questions that are learned once more behind another one, or before a name
_SEVERAL = 1.5  # sum of the targets of a question whose answer may be of any of its classes
_REQUESTS, _KEYWORDS = 0.2, 0.15  # share of the questions that are learned once more as a request, or as keywords
_TEMPERATURES = np.arange(0.5, 1.55, 0.05)
_BEYOND = -1  # target of a token that is not the question's

Trained = tuple[TrunkHead, FitResult]


class HeadTask(NamedTuple):
    """What a head learns: to train on and to choose the epoch by."""

    parts: list[tuple[Sequences, np.ndarray]]  # of both the inputs of the trunk and [n, ...] targets
    build: Callable[[], TrunkHead]
    loss: Callable[[Tensor, Tensor, Tensor], Tensor]  # of outputs, mask and targets of a batch
    measures: Callable[[np.ndarray, np.ndarray], Measures]  # of all outputs and targets, with "log loss"
    # what the measures need of outputs, mask and targets of a batch
    measured: Callable[[Tensor, Tensor, Tensor], Tensor] = lambda outputs, mask, targets: outputs


class States(NamedTuple):
    """Questions that the trunk has read."""

    states: list[np.ndarray]  # of each question the hidden states, [tokens, hidden] float16
    targets: np.ndarray

    def computed(self, places: np.ndarray, head: Any) -> tuple[Tensor, Tensor, Tensor]:
        """Outputs of the head, mask [b, longest] and targets [b, ...] of some questions."""
        longest = max(len(self.states[place]) for place in places)
        hidden = np.zeros((len(places), longest, self.states[places[0]].shape[1]), dtype=np.float32)
        mask = np.zeros((len(places), longest), dtype=np.int64)
        for row, place in enumerate(places):
            hidden[row, : len(self.states[place])] = self.states[place]
            mask[row, : len(self.states[place])] = 1
        device = next(head.parameters()).device
        arrays = (hidden, mask, self.targets[places])
        inputs, real, targets = (torch.from_numpy(array).to(device) for array in arrays)
        return head(inputs, real).float(), real, targets

    def outputs(self, head: Any, measured: Callable[[Tensor, Tensor, Tensor], Tensor]) -> np.ndarray:
        """The measures of the outputs for all questions, computed in batches of similar length."""
        head.eval()
        order = np.argsort([len(state) for state in self.states], kind="stable")
        made = []
        with torch.inference_mode():
            for places in np.array_split(order, len(order) // 64 + 1):
                made.append(measured(*self.computed(places, head)).cpu().numpy())
        return np.concatenate(made)[np.argsort(order)]

    def steps(self, size: int, chance: random.Random) -> list[np.ndarray]:
        order = chance.sample(range(len(self.states)), len(self.states))
        drawn = []
        for start in range(0, len(order), _POOL):
            pool = sorted(order[start : start + _POOL], key=lambda place: len(self.states[place]))
            drawn += [np.array(pool[begin : begin + size]) for begin in range(0, len(pool), size)]
        chance.shuffle(drawn)
        return drawn


def read_by_trunk(
    checkpoint: Checkpoint, layer: int, sequences: Sequences, targets: np.ndarray, recipe: Recipe
) -> States:
    model = checkpoint.model.eval().to(find_device(recipe.device))
    states: list[np.ndarray] = [np.zeros((0, 0), dtype=np.float16)] * len(sequences.ids)
    trunk = copy.copy(model.bert)  # what is above need not be computed
    trunk._modules = {**trunk._modules, "encoder": copy.copy(trunk.encoder)}
    trunk.encoder._modules = {**trunk.encoder._modules, "layer": trunk.encoder.layer[:layer]}
    for places in token_batches(sequences.lengths, recipe.token_budget):
        with torch.inference_mode(), autocast(model.device):
            hidden = trunk(**model_inputs(model, sequences, places, model.device)).last_hidden_state.float()
        found = hidden.cpu().numpy().astype(np.float16)
        for row, place in enumerate(places):
            states[place] = found[row, : sequences.lengths[place]].copy()
    model.to("cpu")
    return States(states, targets)


def train_head(
    name: str, checkpoint: Checkpoint, questions: Any, recipe: Recipe, state: Path, most: int | None = None
) -> Trained:
    """Train a head by the settings of its name; the epoch with the lowest log loss on held-out questions is kept."""
    settings, seed = getattr(recipe, name), recipe.seed
    task = _TASKS[name](checkpoint, questions, recipe, most)
    train, dev = (read_by_trunk(checkpoint, settings.layer, *part, recipe) for part in task.parts)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        head = task.build()
    data = hashlib.sha256()
    for array in (*train.states, train.targets):  # as the trunk reads
        data.update(np.ascontiguousarray(array).tobytes())
    identity = {"data": data.hexdigest()[:32], "settings": hash_of([msgspec.to_builtins(settings), seed])}
    learning: Objective[np.ndarray] = Objective(
        steps=lambda number: train.steps(settings.batch_size, random.Random(f"{name} {seed} {number}")),
        loss=lambda head, places: task.loss(*train.computed(places, head)),
        validate=lambda head: task.measures(dev.outputs(head, task.measured), dev.targets),
        criterion=lambda measures: -measures["log loss"],
    )
    epochs = FitSettings(epochs=settings.epochs, learning_rate=settings.learning_rate)
    fitted = fit(head, learning, epochs, state, identity, device=recipe.device, seed=seed, title=name)
    if isinstance(head, AnswerTypeHead):
        _cool(head, dev.outputs(head, task.measured), dev.targets)
    return head, fitted


# -- yes or no ---------------------------------------------------------------------------------------------------------


def _yes_no(checkpoint: Checkpoint, questions: Sequence[Decided], recipe: Recipe, most: int | None) -> HeadTask:
    settings, config = recipe.yes_no, checkpoint.model.config
    tokenizer = TextTokenizer.of(checkpoint, recipe.max_length)
    train = [question for question in questions if part_of_key(question.key) == "train"][:most]
    dev = [question for question in questions if part_of_key(question.key) == "dev" and chooses(question.key)][:most]

    def build() -> YesNoHead:
        heads, inner = config.num_attention_heads, config.intermediate_size
        return YesNoHead(config.hidden_size, heads, settings.layer, inner, settings.dropout)

    parts = []
    for part in (train, dev):
        sequences = tokenizer.pairs([(question.question, question.passage) for question in part])
        parts.append((sequences, np.array([question.yes for question in part], dtype=np.float32)))
    return HeadTask(parts, build, _yes_no_loss, yes_no_measures)


def _yes_no_loss(odds: Tensor, _: Tensor, yes: Tensor) -> Tensor:
    return functional.binary_cross_entropy_with_logits(odds, yes)


def yes_no_measures(odds: np.ndarray, targets: np.ndarray) -> Measures:
    """Return accuracy of decided questions, share of right verdicts, log loss, and the accuracy of a constant."""
    odds, targets = odds.astype(np.float64), targets.astype(np.float64)
    decided = targets != 0.5
    yes = targets[decided] > 0.5
    return {
        "accuracy": float(((odds[decided] > 0) == yes).mean()),
        "verdict": float((_thirds(1 / (1 + np.exp(-odds))) == _thirds(targets)).mean()),
        "log loss": float((np.logaddexp(0, odds) - targets * odds).mean()),
        "majority": float(max(yes.mean(), 1 - yes.mean())),
    }


def _thirds(chances: np.ndarray) -> np.ndarray:
    # [n] verdicts of probabilities of yes: 0 for no, 1 for "does not say", 2 for yes
    return np.digitize(chances, (1 / 3, 2 / 3))


# -- answer type -------------------------------------------------------------------------------------------------------


def _answer_type(checkpoint: Checkpoint, typed: TypedQuestions, recipe: Recipe, most: int | None) -> HeadTask:
    settings, seed = recipe.answer_type, recipe.seed
    train, choosing = [], []
    for question in typed.questions:
        if question.part == "train":
            (train if digest(f"choosing {question.key}") % _CHOOSING else choosing).append(question)
    train, choosing = train[:most], choosing[:most]
    others = after_others(train, random.Random(f"after others {seed}"))
    train = [*in_other_words(train, random.Random(f"train {seed}")), *others]
    choosing = in_other_words(choosing, random.Random(f"choosing {seed}"))
    classes = AnswerClasses(typed.names, typed.joined, {"verb_first": verb_first_shares(train, typed.names)})
    tokenizer, hidden = TextTokenizer.of(checkpoint, recipe.max_length), checkpoint.model.config.hidden_size

    def build() -> AnswerTypeHead:
        return AnswerTypeHead(hidden, settings.layer, classes, settings.looks, settings.inner, settings.dropout)

    parts = []
    for part in (train, choosing):
        sequences = tokenizer.singles([question.text for question in part])
        parts.append((sequences, _class_targets(part, classes)))
    return HeadTask(parts, build, _answer_type_loss, answer_type_measures)


def after_others(questions: Sequence[TypedQuestion], chance: random.Random) -> list[TypedQuestion]:
    """Questions behind another one, of which the last one counts, or before a name."""
    made = []
    common = common_words(question.question for question in questions)
    for question in questions:
        drawn = chance.random()
        if drawn < _AFTER + _NAMES:
            other = chance.choice(questions)
            if drawn < _AFTER:
                made.append(question._replace(in_full=f"{other.text} {question.in_full}"))
            elif names := names_in(other.question, common):
                made.append(question._replace(in_full=f"{question.in_full} {max(names, key=len)}?"))
    return made


def in_other_words(questions: Sequence[TypedQuestion], chance: random.Random) -> list[TypedQuestion]:
    """The questions, and a share of them once more, as requests and as keywords; those for yes or no in other forms of these."""
    made = list(questions)
    for question in questions:
        drawn = chance.random()
        if drawn < _REQUESTS + _KEYWORDS:
            reword = as_decision if YES_NO in question.classes else as_request if drawn < _REQUESTS else as_keywords
            text = reword(question.question, chance)
            made.append(question._replace(question=text, in_full=text))
    return made


def verb_first_shares(questions: Sequence[TypedQuestion], names: Iterable[str]) -> str:
    """Of each class the share of its questions that begin with the verb, as the head's file keeps it."""
    counts: Counter[str] = Counter()
    first: Counter[str] = Counter()
    for question in questions:
        is_first, together = english().answer_types.is_existential(question.question), sum(question.classes.values())
        for name, share in question.classes.items():
            counts[name] += share / together  # type: ignore[assignment]
            first[name] += share / together * is_first  # type: ignore[assignment]
    rest = sum(counts.values()) - counts[YES_NO]
    usual = (sum(first.values()) - first[YES_NO] + 1) / (rest + 2)
    return " ".join(f"{(first[name] + usual) / (counts[name] + 1):.6f}" for name in names)


def _class_targets(questions: Sequence[TypedQuestion], classes: AnswerClasses) -> np.ndarray:
    targets = np.zeros((len(questions), len(classes.names)), dtype=np.float32)
    for row, question in enumerate(questions):
        for name, share in question.classes.items():
            targets[row, classes.place[name]] = share
    return targets


def _answer_type_loss(logits: Tensor, _: Tensor, targets: Tensor) -> Tensor:
    log_chances = logits.log_softmax(dim=-1)
    exact = -(targets * log_chances).sum(dim=1)
    any_of = -(log_chances + targets.log()).logsumexp(dim=1)
    return torch.where(targets.sum(dim=1) > _SEVERAL, any_of, exact).mean()


def answer_type_measures(values: np.ndarray, targets: np.ndarray) -> Measures:
    """Return the share of questions whose likeliest class is right, and the log loss."""
    right = targets[np.arange(len(targets)), values.argmax(axis=1)] > 0
    loss = _answer_type_loss(torch.from_numpy(values), torch.empty(0), torch.from_numpy(targets))
    return {"right": float(right.mean()), "log loss": float(loss)}


def _cool(head: AnswerTypeHead, values: np.ndarray, targets: np.ndarray) -> None:
    """Divide the logits of a head by what makes it surest of the answers' classes together, of questions that chose."""
    # one answer may have several classes, which count together
    right = [np.where(targets > 0, softmax(values / by), 0).sum(axis=1) for by in _TEMPERATURES]
    by = float(_TEMPERATURES[int(np.argmax([np.log(chances.clip(1e-9)).mean() for chances in right]))])
    with torch.no_grad():
        head.classes.weight /= by
        head.classes.bias /= by


# -- rewrite -----------------------------------------------------------------------------------------------------------


def _rewrite(checkpoint: Checkpoint, examples: RewriteExamples, recipe: Recipe, most: int | None) -> HeadTask:
    settings, model = recipe.rewrite, checkpoint.model
    tokenizer = TextTokenizer.of(checkpoint, MAX_LENGTH)

    def build() -> RewriteHead:
        head = RewriteHead(model.config, settings.layer, model.config.num_hidden_layers - settings.layer)
        for layer, above in zip(head.layers, model.bert.encoder.layer[settings.layer :], strict=True):
            layer.begin_as(above)
        return head

    parts = [pointers_of(part[:most], tokenizer) for part in examples]
    return HeadTask(parts, build, rewrite_loss, rewrite_measures, pointed_well)


def pointers_of(examples: Sequence[Rewrite], tokenizer: TextTokenizer) -> tuple[Sequences, np.ndarray]:
    """Pairs of question and history, and their targets.

    These are [n, tokens, 2]: of each token of the question first and last token of the span before it, or 0.
    """
    histories = [history_text(example.history) for example in examples]
    questions = [example.question for example in examples]
    sequences = tokenizer.pairs(list(zip(questions, histories, strict=True)))
    targets = np.full((len(examples), int(sequences.firsts.max(initial=0)), 2), _BEYOND)
    offsets = zip(tokenizer.offsets(questions), tokenizer.offsets(histories), strict=True)
    for number, (example, (old, new)) in enumerate(zip(examples, offsets, strict=True)):
        length, first = int(sequences.lengths[number]), int(sequences.firsts[number])
        targets[number, :first] = 0
        if len(old) == first - 2:  # else the question was cut
            edit = edits(example.question, example.history, example.rewrite)
            inserted = list(edit.inserted)
            if edit.replaced is not None:
                inserted.append((-1, *edit.replaced))  # [CLS] points at what is replaced
            for gap, start, end in inserted:
                place = 1 + int(np.searchsorted(old[:, 0], gap)) if gap >= 0 else 0
                span = np.flatnonzero((new[:, 1] > start) & (new[:, 0] < end))
                if len(span) and first + span[-1] < length - 1:
                    targets[number, place] = first + span[0], first + span[-1]
    return sequences, targets


def pointer_logits(outputs: Tensor, mask: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """Log odds [b, 2, question, tokens] of starts and ends, of [CLS] and the history alone, and their targets [b, 2, question]."""
    start_query, end_query, start_key, end_key = outputs.split(POINTER_SIZE, dim=-1)
    queries = torch.stack([start_query, end_query], dim=1)[:, :, : targets.shape[1]]
    logits = queries @ torch.stack([start_key, end_key], dim=1).mT * SHARPNESS
    firsts, lengths = (targets[:, :, 0] != _BEYOND).sum(dim=1), mask.sum(dim=1)
    tokens = torch.arange(mask.shape[1], device=mask.device)
    is_history = (tokens >= firsts[:, None]) & (tokens < lengths[:, None] - 1)
    logits = logits.masked_fill(~(is_history | (tokens == 0))[:, None, None, :], -torch.inf)
    return logits, targets[:, : logits.shape[2]].mT


def rewrite_loss(outputs: Tensor, mask: Tensor, targets: Tensor) -> Tensor:
    logits, targets = pointer_logits(outputs, mask, targets)
    total = functional.cross_entropy(logits.flatten(0, 2), targets.flatten(), ignore_index=_BEYOND, reduction="sum")
    return total / len(logits)


def pointed_well(outputs: Tensor, mask: Tensor, targets: Tensor) -> Tensor:
    """[b, 2] whether all pointers of a question are right, and its loss."""
    logits, targets = pointer_logits(outputs, mask, targets)
    right = ((logits.argmax(dim=-1) == targets) | (targets == _BEYOND)).flatten(1).all(dim=1)
    losses = functional.cross_entropy(logits.movedim(-1, 1), targets, ignore_index=_BEYOND, reduction="none")
    return torch.stack([right.float(), losses.flatten(1).sum(dim=1)], dim=1)


def rewrite_measures(pointed: np.ndarray, _: np.ndarray) -> Measures:
    """The share of questions whose insertions are all right, and the log loss."""
    right, loss = pointed.mean(axis=0).tolist()
    return {"right": right, "log loss": loss}


_TASKS: dict[str, Callable[[Checkpoint, Any, Recipe, int | None], HeadTask]] = {
    "yes_no": _yes_no, "answer_type": _answer_type, "rewrite": _rewrite,
}  # fmt: skip
