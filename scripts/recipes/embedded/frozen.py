"""Heads over a trunk that stays as it is: its hidden states are computed once."""

import copy
import hashlib
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import torch

from convinse.config import FitSettings
from convinse.encoder.batches import token_batches
from convinse.encoder.checkpoint import Checkpoint
from convinse.encoder.devices import autocast, find_device
from convinse.encoder.tokens import Sequences
from convinse.encoder.torch_backend import model_inputs
from convinse.training.loop import fit
from convinse.training.objective import FitResult, Objective
from convinse.training.trainer import hash_of
from recipes.embedded.recipe import Recipe

_POOL = 2048  # examples among which those of a step are of similar length


class States(NamedTuple):
    """Questions that the trunk has read."""

    states: list[np.ndarray]  # of each question the hidden states, [tokens, hidden] float16
    targets: np.ndarray  # [n, ...] float32

    def batch(self, places: np.ndarray, head: Any) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """States [b, longest, hidden], mask [b, longest] and targets [b, ...] of some questions, where the head is."""
        longest = max(len(self.states[place]) for place in places)
        hidden = np.zeros((len(places), longest, self.states[places[0]].shape[1]), dtype=np.float32)
        mask = np.zeros((len(places), longest), dtype=np.int64)
        for row, place in enumerate(places):
            hidden[row, : len(self.states[place])] = self.states[place]
            mask[row, : len(self.states[place])] = 1
        device = next(head.parameters()).device
        return tuple(torch.from_numpy(array).to(device) for array in (hidden, mask, self.targets[places]))  # type: ignore[return-value]

    def outputs(self, head: Any) -> np.ndarray:
        """The outputs of a head for all questions, computed in batches of similar length."""
        head.eval()
        order = np.argsort([len(state) for state in self.states], kind="stable")
        made = []
        with torch.inference_mode():
            for places in np.array_split(order, len(order) // 64 + 1):
                hidden, mask, _ = self.batch(places, head)
                made.append(head(hidden, mask).float().cpu().numpy())
        return np.concatenate(made)[np.argsort(order)]


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


def steps(read: States, size: int, chance: random.Random) -> list[np.ndarray]:
    order = chance.sample(range(len(read.states)), len(read.states))
    drawn = []
    for start in range(0, len(order), _POOL):
        pool = sorted(order[start : start + _POOL], key=lambda place: len(read.states[place]))
        drawn += [np.array(pool[begin : begin + size]) for begin in range(0, len(pool), size)]
    chance.shuffle(drawn)
    return drawn


def fit_head(
    name: str, head: Any, train: States, recipe: Recipe, state: Path,
    loss: Callable[[Any, Any], torch.Tensor], validate: Callable[[Any], dict[str, float]],
) -> FitResult:  # fmt: skip
    """Train a head in place by the settings of its name; the epoch of the lowest `log loss` that `validate` gives is kept."""
    settings, seed = getattr(recipe, name), recipe.seed
    data = hashlib.sha256()
    for array in (*train.states, train.targets):  # as the trunk reads
        data.update(np.ascontiguousarray(array).tobytes())
    identity = {"data": data.hexdigest()[:32], "settings": hash_of([msgspec.to_builtins(settings), seed])}
    learning: Objective[np.ndarray] = Objective(
        steps=lambda number: steps(train, settings.batch_size, random.Random(f"{name} {seed} {number}")),
        loss=loss,
        validate=validate,
        criterion=lambda measures: -measures["log loss"],
    )
    epochs = FitSettings(epochs=settings.epochs, learning_rate=settings.learning_rate)
    return fit(
        head, learning, epochs, state, identity, device=recipe.device, seed=seed, title=name
    )  # fmt: skip
