"""Heads over a trunk that stays as it is: its hidden states are computed once."""

import copy
import hashlib
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from convinse.config import FitSettings
from convinse.encoder.batches import token_batches
from convinse.encoder.devices import autocast
from convinse.encoder.tokens import Sequences
from convinse.encoder.torch_backend import model_inputs
from convinse.support.progress import progress
from convinse.training.loop import fit
from convinse.training.objective import FitResult, Objective

_POOL = 2048  # examples among which those of a step are of similar length


class States(NamedTuple):
    """Questions that the trunk has read."""

    states: list[np.ndarray]  # of each question the hidden states, [tokens, hidden] float16
    targets: np.ndarray  # [n, ...] float32

    def batch(self, places: np.ndarray, device: torch.device) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """States [b, longest, hidden], mask [b, longest] and targets [b, ...] of some questions."""
        longest = max(len(self.states[place]) for place in places)
        hidden = np.zeros((len(places), longest, self.states[places[0]].shape[1]), dtype=np.float32)
        mask = np.zeros((len(places), longest), dtype=np.int64)
        for row, place in enumerate(places):
            hidden[row, : len(self.states[place])] = self.states[place]
            mask[row, : len(self.states[place])] = 1
        return tuple(torch.from_numpy(array).to(device) for array in (hidden, mask, self.targets[places]))  # type: ignore[return-value]


def read_by_trunk(model: Any, layer: int, sequences: Sequences, targets: np.ndarray, budget: int, title: str) -> States:
    states: list[np.ndarray] = [np.zeros((0, 0), dtype=np.float16)] * len(sequences.ids)
    trunk = copy.copy(model.eval().bert)  # what is above need not be computed
    trunk._modules = {**trunk._modules, "encoder": copy.copy(trunk.encoder)}
    trunk.encoder._modules = {**trunk.encoder._modules, "layer": trunk.encoder.layer[:layer]}
    with progress(title, len(states), "questions") as advance:
        for places in token_batches(sequences.lengths, budget):
            with torch.inference_mode(), autocast(model.device):
                hidden = trunk(**model_inputs(model, sequences, places, model.device)).last_hidden_state.float()
            found = hidden.cpu().numpy().astype(np.float16)
            for row, place in enumerate(places):
                states[place] = found[row, : sequences.lengths[place]].copy()
                advance()
    return States(states, targets)


def steps(read: States, size: int, chance: random.Random) -> list[np.ndarray]:
    order = chance.sample(range(len(read.states)), len(read.states))
    drawn = []
    for start in range(0, len(order), _POOL):
        pool = sorted(order[start : start + _POOL], key=lambda place: len(read.states[place]))
        drawn += [np.array(pool[begin : begin + size]) for begin in range(0, len(pool), size)]
    chance.shuffle(drawn)
    return drawn


def fit_head(
    head: Any,
    train: States,
    settings: Any,
    loss: Callable[[Any, Any], torch.Tensor],
    validate: Callable[[Any], dict[str, float]],
    state: Path,
    *,
    learned: object,
    device: str,
    seed: int,
    title: str,
) -> FitResult:
    """Train a head in place; the epoch of the lowest `log loss` that `validate` gives is kept."""
    given = hashlib.sha256(repr((learned, settings, seed)).encode())
    given.update(b"".join(np.ascontiguousarray(read[0]).tobytes() for read in train.states))  # as the trunk reads
    learning: Objective[np.ndarray] = Objective(
        steps=lambda number: steps(train, settings.batch_size, random.Random(f"{title} {seed} {number}")),
        loss=loss,
        validate=validate,
        criterion=lambda found: -found["log loss"],
    )
    return fit(
        head,
        learning,
        FitSettings(epochs=settings.epochs, learning_rate=settings.learning_rate, patience=settings.epochs),
        state,
        given.hexdigest()[:32],
        device=device,
        seed=seed,
        title=title,
    )
