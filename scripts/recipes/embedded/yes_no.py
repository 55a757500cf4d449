"""Training of the yes/no head over the trunk as it is."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from convinse.encoder.checkpoint import Checkpoint
from convinse.encoder.heads import YesNoHead
from convinse.encoder.tokens import TextTokenizer
from convinse.training.objective import FitResult
from recipes.embedded.examples import chooses, part_of_key
from recipes.embedded.frozen import States, fit_head, read_by_trunk
from recipes.embedded.recipe import Recipe
from recipes.embedded.statements import Decided


def train_yes_no(
    checkpoint: Checkpoint, questions: Sequence[Decided], recipe: Recipe, state: Path, most: int | None = None
) -> tuple[YesNoHead, FitResult]:
    """Train the head over a joint model, which stays as it is; held-out questions choose the epoch."""
    settings, tokenizer = recipe.yes_no, TextTokenizer.of(checkpoint, recipe.max_length)
    parts = {
        part: [question for question in questions if part_of_key(question.key) == part] for part in ("train", "dev")
    }
    parts["dev"] = [question for question in parts["dev"] if chooses(question.key)]
    train, dev = (
        read_by_trunk(
            checkpoint, settings.layer, tokenizer.pairs([(question.question, question.passage) for question in part[:most]]),
            np.array([question.yes for question in part[:most]], dtype=np.float32), recipe,
        )
        for part in parts.values()
    )  # fmt: skip
    config = checkpoint.model.config
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.seed)
        heads, inner = config.num_attention_heads, config.intermediate_size
        head = YesNoHead(config.hidden_size, heads, settings.layer, inner, settings.dropout)

    def loss(head: YesNoHead, places: np.ndarray) -> torch.Tensor:
        hidden, mask, yes = train.batch(places, head)
        return functional.binary_cross_entropy_with_logits(head(hidden, mask).float(), yes)

    return head, fit_head("yes_no", head, train, recipe, state, loss, lambda head: measures(head, dev))


def measures(head: YesNoHead, read: States) -> dict[str, float]:
    """Return accuracy of decided questions, share of right verdicts, log loss, and the accuracy of a constant."""
    odds, targets = read.outputs(head).astype(np.float64), read.targets.astype(np.float64)
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
