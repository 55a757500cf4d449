"""Training of the answer type head, over the trunk as it is."""

import hashlib
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import torch

from convinse.encoder.answer_classes import YES_NO, AnswerClasses
from convinse.encoder.checkpoint import Checkpoint
from convinse.encoder.heads import AnswerTypeHead
from convinse.encoder.question_readers import softmax
from convinse.encoder.tokens import TextTokenizer
from convinse.language.language import english
from convinse.training.objective import FitResult
from recipes.embedded.answer_classes import TypedQuestion, TypedQuestions, common_words, names_in
from recipes.embedded.frozen import fit_head, read_by_trunk
from recipes.embedded.recipe import Recipe
from recipes.embedded.requests import as_decision, as_keywords, as_request

_CHOOSING = 10  # one key of so many of the train part chooses the epoch and the temperature
_AFTER, _NAMES = 0.08, 0.04  # share of the questions that are learned once more behind another one, or before a name
_SEVERAL = 1.5  # sum of the targets of a question whose answer may be of any of its classes
_REQUESTS, _KEYWORDS = 0.2, 0.15  # share of the questions that are learned once more as a request, or as keywords
_TEMPERATURES = np.arange(0.5, 1.55, 0.05)


def train_answer_type(
    checkpoint: Checkpoint, typed: TypedQuestions, recipe: Recipe, state: Path, most: int | None = None
) -> tuple[AnswerTypeHead, FitResult]:
    """Train the head of a recipe that has one for a joint model, which stays as it is."""
    settings, seed = recipe.answer_type, recipe.seed
    parts: dict[str, list[TypedQuestion]] = {"train": [], "choosing": []}
    for question in typed.questions:
        if question.part == "train":
            digest = hashlib.sha256(f"choosing {question.key}".encode()).digest()
            is_choosing = int.from_bytes(digest[:4], "big") % _CHOOSING == 0
            parts["choosing" if is_choosing else "train"].append(question)
    parts = {part: questions[:most] for part, questions in parts.items()}
    others = after_others(parts["train"], random.Random(f"after others {seed}"))
    parts = {part: in_other_words(questions, random.Random(f"{part} {seed}")) for part, questions in parts.items()}
    parts["train"] += others
    classes = AnswerClasses(typed.names, typed.joined, {"verb_first": verb_first_shares(parts["train"], typed.names)})
    tokenizer = TextTokenizer.of(checkpoint, recipe.max_length)
    train, choosing = (
        read_by_trunk(
            checkpoint, settings.layer, tokenizer.singles([question.text for question in questions]),
            _targets(questions, classes), recipe,
        )
        for questions in parts.values()
    )  # fmt: skip
    hidden_size = checkpoint.model.config.hidden_size
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        head = AnswerTypeHead(hidden_size, settings.layer, classes, settings.looks, settings.inner, settings.dropout)

    def loss(head: AnswerTypeHead, places: np.ndarray) -> torch.Tensor:
        hidden, mask, targets = train.batch(places, head)
        log_chances = head(hidden, mask).float().log_softmax(dim=-1)
        exact = -(targets * log_chances).sum(dim=1)
        any_of = -(log_chances + targets.log()).logsumexp(dim=1)
        return torch.where(targets.sum(dim=1) > _SEVERAL, any_of, exact).mean()

    def validate(head: AnswerTypeHead) -> dict[str, float]:
        return _measures(choosing.outputs(head), choosing.targets)

    fitted = fit_head("answer_type", head, train, recipe, state, loss, validate)
    _cool(head, choosing.outputs(head), choosing.targets)
    return head, fitted


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


def begins_with_verb(question: TypedQuestion) -> bool:
    """Whether a question as asked begins with the verb, as questions for yes or no do."""
    return english().answer_types.is_existential(question.question)


def verb_first_shares(questions: Sequence[TypedQuestion], names: Iterable[str]) -> str:
    """Of each class the share of its questions that begin with the verb, as the head's file keeps it."""
    counts: Counter[str] = Counter()
    first: Counter[str] = Counter()
    for question in questions:
        is_first, together = begins_with_verb(question), sum(question.classes.values())
        for name, share in question.classes.items():
            counts[name] += share / together  # type: ignore[assignment]
            first[name] += share / together * is_first  # type: ignore[assignment]
    rest = sum(counts.values()) - counts[YES_NO]
    usual = (sum(first.values()) - first[YES_NO] + 1) / (rest + 2)
    return " ".join(f"{(first[name] + usual) / (counts[name] + 1):.6f}" for name in names)


def _targets(questions: Sequence[TypedQuestion], classes: AnswerClasses) -> np.ndarray:
    targets = np.zeros((len(questions), len(classes.names)), dtype=np.float32)
    for row, question in enumerate(questions):
        for name, share in question.classes.items():
            targets[row, classes.place[name]] = share
    return targets


def _cool(head: AnswerTypeHead, values: np.ndarray, targets: np.ndarray) -> None:
    """Divide the logits of a head by what makes it surest of the answers' classes together, of questions that chose."""
    # one answer may have several classes, which count together
    right = [np.where(targets > 0, softmax(values / by), 0).sum(axis=1) for by in _TEMPERATURES]
    by = float(_TEMPERATURES[int(np.argmax([np.log(chances.clip(1e-9)).mean() for chances in right]))])
    with torch.no_grad():
        head.classes.weight /= by
        head.classes.bias /= by


def _measures(values: np.ndarray, targets: np.ndarray) -> dict[str, float]:
    chances = softmax(values)
    exact = -(targets * np.log(chances.clip(1e-9))).sum(axis=1)
    any_of = -np.log((targets * chances).sum(axis=1).clip(1e-9))
    expected = np.where(targets.sum(axis=1) > _SEVERAL, any_of, exact)
    right = targets[np.arange(len(targets)), chances.argmax(axis=1)] > 0
    return {"right": float(right.mean()), "log loss": float(expected.mean())}
