"""Training of the yes/no head, on BoolQ and InfoTabS, over the trunk as it is: its hidden states are computed once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from convinse.encoder.checkpoint import Checkpoint
from convinse.encoder.devices import find_device
from convinse.encoder.heads import YesNoHead
from convinse.encoder.tokens import TextTokenizer
from convinse.training.objective import FitResult
from recipes.embedded.examples import chooses
from recipes.embedded.frozen import States, fit_head, read_by_trunk
from recipes.embedded.negatives import part_of
from recipes.embedded.ranking_sets import Decided
from recipes.embedded.recipe import Recipe


def train_yes_no(
    checkpoint: Checkpoint, questions: Sequence[Decided], recipe: Recipe, state: Path, most: int | None = None
) -> tuple[YesNoHead, FitResult]:
    """Train the head over a joint model, which stays as it is; held-out questions choose the epoch."""
    settings, max_length, device, seed = recipe.yes_no, recipe.max_length, recipe.device, recipe.seed
    parts = {part: [one for one in questions if part_of("boolq", one.key) == part] for part in ("train", "dev")}
    parts["dev"] = [one for one in parts["dev"] if chooses(one.key)]
    parts = {part: own[:most] for part, own in parts.items()}
    tokenizer = TextTokenizer.of(checkpoint, max_length)
    checkpoint.model.to(find_device(device))
    train, dev = (
        read_by_trunk(
            checkpoint.model,
            settings.layer,
            tokenizer.pairs([(decided.question, decided.passage) for decided in own]),
            np.array([decided.yes for decided in own], dtype=np.float32),
            recipe.token_budget,
            f"yes or no: {part}",
        )
        for part, own in parts.items()
    )
    config = checkpoint.model.to("cpu").config
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        heads, inner = config.num_attention_heads, config.intermediate_size
        head = YesNoHead(config.hidden_size, heads, settings.layer, inner, settings.dropout)
    fitted = fit_head(
        head, train, settings, lambda model, places: _loss(model, train, places), lambda model: measures(model, dev), state,
        learned=(parts, max_length), device=device, seed=seed, title="yes or no",
    )  # fmt: skip
    return head, fitted


def measures(head: YesNoHead, read: States) -> dict[str, float]:
    """Return accuracy of decided questions, share of right verdicts, log loss, and the accuracy of a constant."""
    device = next(head.parameters()).device
    odds = np.empty(len(read.targets))
    order = np.argsort([len(one) for one in read.states], kind="stable")
    with torch.inference_mode():
        for places in np.array_split(order, max(1, len(order) // 32)):
            hidden, mask, _ = read.batch(places, device)
            odds[places] = head(hidden, mask).float().cpu().numpy()
    targets = read.targets.astype(np.float64)
    decided = targets != 0.5
    yes = targets[decided] > 0.5
    return {
        "accuracy": float(((odds[decided] > 0) == yes).mean()),
        "verdict": float((thirds(1 / (1 + np.exp(-odds))) == thirds(targets)).mean()),
        "log loss": float((np.logaddexp(0, odds) - targets * odds).mean()),
        "majority": float(max(yes.mean(), 1 - yes.mean())),
    }


def thirds(chances: np.ndarray) -> np.ndarray:
    """[n] verdicts of probabilities of yes: 0 for no, 1 for "does not say", 2 for yes."""
    return np.digitize(chances, (1 / 3, 2 / 3))


def _loss(head: YesNoHead, read: States, places: np.ndarray) -> torch.Tensor:
    hidden, mask, yes = read.batch(places, next(head.parameters()).device)
    return functional.binary_cross_entropy_with_logits(head(hidden, mask).float(), yes)
