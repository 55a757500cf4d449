"""Training of the yes/no head, on BoolQ, over the trunk as it is: its hidden states are computed once."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn import functional

from convinse.config import FitSettings
from convinse.encoder.batches import token_batches
from convinse.encoder.checkpoint import Checkpoint
from convinse.encoder.devices import autocast, find_device
from convinse.encoder.tokens import TextTokenizer
from convinse.encoder.torch_backend import model_inputs
from convinse.encoder.yes_no_head import YesNoHead
from convinse.encoder.yes_no_head import states as states_of
from convinse.support.progress import progress
from convinse.training.learning import FitResult, Learning
from convinse.training.loop import fit
from recipes.embedded.examples import chooses
from recipes.embedded.negatives import part_of
from recipes.embedded.ranking_sets import Decided
from recipes.embedded.recipe import Recipe

_POOL = 2048  # examples among which those of a step are of similar length


class States(NamedTuple):
    """Questions that the trunk has read.

    states: of each question the hidden states, [tokens, hidden] float16; yes: [n] float32, 1 for yes.
    """

    states: list[np.ndarray]
    yes: np.ndarray

    def batch(self, places: np.ndarray, device: torch.device) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """States [b, longest, hidden], mask [b, longest] and answers [b] of some questions."""
        longest = max(len(self.states[place]) for place in places)
        hidden = np.zeros((len(places), longest, self.states[places[0]].shape[1]), dtype=np.float32)
        mask = np.zeros((len(places), longest), dtype=np.int64)
        for row, place in enumerate(places):
            hidden[row, : len(self.states[place])] = self.states[place]
            mask[row, : len(self.states[place])] = 1
        return tuple(torch.from_numpy(array).to(device) for array in (hidden, mask, self.yes[places]))  # type: ignore[return-value]


def train_yes_no(
    checkpoint: Checkpoint, questions: Sequence[Decided], recipe: Recipe, state: Path, most: int | None = None
) -> tuple[YesNoHead, FitResult]:
    """Train the head of a recipe that has one for a joint model, which stays as it is; held-out questions that
    may choose (`chooses`) choose the epoch.

    Args:
        state: what a stopped run goes on from.
        most: questions of each part; None: all.
    """
    settings, max_length, device, seed = recipe.yes_no, recipe.max_length, recipe.device, recipe.seed
    parts = {part: [one for one in questions if part_of("boolq", one.key) == part] for part in ("train", "dev")}
    parts["dev"] = [one for one in parts["dev"] if chooses(one.key)]
    parts = {part: own[:most] for part, own in parts.items()}
    tokenizer = TextTokenizer.of(checkpoint, max_length)
    checkpoint.model.to(find_device(device))
    read = partial(read_by_trunk, checkpoint.model, settings.layer, tokenizer, budget=recipe.token_budget)
    train, dev = (read(own, title=f"yes or no: {part}") for part, own in parts.items())
    config = checkpoint.model.to("cpu").config
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        heads, inner = config.num_attention_heads, config.intermediate_size
        head = YesNoHead(config.hidden_size, heads, settings.layer, inner, settings.dropout)
    given = hashlib.sha256(repr((parts, settings, max_length, seed)).encode())
    given.update(b"".join(np.ascontiguousarray(one[0]).tobytes() for one in train.states))  # as the trunk reads
    learning = Learning(
        steps=lambda number: _steps(train, settings.batch_size, random.Random(f"yes or no {seed} {number}")),
        loss=lambda model, places: _loss(model, train, places),
        validate=lambda model: measures(model, dev),
        criterion=lambda found: -found["log loss"],
    )
    fitted = fit(
        head,
        learning,
        FitSettings(epochs=settings.epochs, learning_rate=settings.learning_rate, patience=settings.epochs),
        state,
        given.hexdigest()[:32],
        device=device,
        seed=seed,
        title="yes or no",
    )
    return head, fitted


def read_by_trunk(
    model: Any, layer: int, tokenizer: TextTokenizer, questions: Sequence[Decided], budget: int, title: str
) -> States:
    """What the trunk makes of questions and their passages."""
    sequences = tokenizer.pairs([(one.question, one.passage) for one in questions])
    states: list[np.ndarray] = [np.zeros((0, 0), dtype=np.float16)] * len(questions)
    with progress(title, len(questions), "questions") as advance:
        for places in token_batches(sequences.lengths, budget):
            with torch.inference_mode(), autocast(model.device):
                hidden = states_of(model.eval().bert, layer, **model_inputs(model, sequences, places, model.device))
            found = hidden.cpu().numpy().astype(np.float16)
            for row, place in enumerate(places):
                states[place] = found[row, : sequences.lengths[place]].copy()
                advance()
    return States(states, np.array([one.yes for one in questions], dtype=np.float32))


def measures(head: YesNoHead, read: States) -> dict[str, float]:
    """Accuracy, log loss, and the share of the more frequent answer, which a constant would have as accuracy."""
    device = next(head.parameters()).device
    odds = np.empty(len(read.yes))
    order = np.argsort([len(one) for one in read.states], kind="stable")
    with torch.inference_mode():
        for places in np.array_split(order, max(1, len(order) // 32)):
            hidden, mask, _ = read.batch(places, device)
            odds[places] = head(hidden, mask).float().cpu().numpy()
    yes = read.yes > 0
    right = np.where(yes, 1.0, -1.0) * odds
    return {
        "accuracy": float(((odds > 0) == yes).mean()),
        "log loss": float(np.logaddexp(0, -right).mean()),
        "majority": float(max(yes.mean(), 1 - yes.mean())),
    }


def _steps(read: States, size: int, chance: random.Random) -> list[np.ndarray]:
    """All questions in random order, those of a step of similar length."""
    order = chance.sample(range(len(read.states)), len(read.states))
    steps = []
    for start in range(0, len(order), _POOL):
        pool = sorted(order[start : start + _POOL], key=lambda place: len(read.states[place]))
        steps += [np.array(pool[begin : begin + size]) for begin in range(0, len(pool), size)]
    chance.shuffle(steps)
    return steps


def _loss(head: YesNoHead, read: States, places: np.ndarray) -> torch.Tensor:
    hidden, mask, yes = read.batch(places, next(head.parameters()).device)
    return functional.binary_cross_entropy_with_logits(head(hidden, mask).float(), yes)
