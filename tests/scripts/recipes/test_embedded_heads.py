"""What the heads over the trunk minimise and are measured by."""

import numpy as np
import pytest

from convinse.encoder.engine import POINTER_SIZE
from convinse.encoder.question_readers import SHARPNESS
from recipes.embedded import heads
from tiny_models import torch

LENGTHS, FIRSTS = (9, 12, 7), (4, 6, 5)  # tokens of question and history together, and of the question


def log_softmax(values):
    return values - np.log(np.exp(values).sum())


def batch(seed):
    """Outputs, mask and targets of three questions, some of whose tokens point at spans of the history."""
    chance = torch.Generator().manual_seed(seed)
    outputs = torch.randn(3, max(LENGTHS), 4 * POINTER_SIZE, generator=chance) / 4
    mask = torch.tensor([[int(token < length) for token in range(max(LENGTHS))] for length in LENGTHS])
    targets = torch.full((3, 8, 2), -1)
    for row, first in enumerate(FIRSTS):
        targets[row, :first] = 0
    targets[0, 2], targets[1, 0], targets[1, 5] = torch.tensor([[5, 7], [6, 10], [8, 8]])
    return outputs, mask, targets


def test_the_loss_of_rewrites_is_that_of_pointers_into_the_history():
    outputs, mask, targets = batch(1)
    expected = []
    for row, (length, first) in enumerate(zip(LENGTHS, FIRSTS, strict=True)):
        start_query, end_query, start_key, end_key = np.split(outputs[row].numpy().astype(np.float64), 4, axis=1)
        tokens = [0, *range(first, length - 1)]  # [CLS] for nothing, and the history
        loss = 0.0
        for place in range(first):
            for query, key, target in zip(
                (start_query, end_query), (start_key, end_key), targets[row, place], strict=True
            ):
                likely = log_softmax(key[tokens] @ query[place] * SHARPNESS)
                loss -= likely[tokens.index(int(target))]
        expected.append(loss)
    assert heads.rewrite_loss(outputs, mask, targets).item() == pytest.approx(np.mean(expected), rel=1e-4)
    measured = heads.pointed_well(outputs, mask, targets).numpy()
    np.testing.assert_allclose(measured[:, 1], expected, rtol=1e-4)
    assert heads.rewrite_measures(measured, None) == {
        "right": 0.0,
        "log loss": pytest.approx(np.mean(expected), rel=1e-4),
    }


def test_a_rewrite_is_right_if_all_its_pointers_are():
    outputs, mask, targets = batch(2)
    logits, _ = heads.pointer_logits(outputs, mask, targets)
    best = logits.argmax(dim=-1).mT
    beyond = targets[:, : best.shape[1]] == -1
    right = torch.where(beyond, -1, best)
    assert heads.pointed_well(outputs, mask, right)[:, 0].tolist() == [1, 1, 1]
    right[1, 3, 0] = 0 if right[1, 3, 0] else 6
    assert heads.pointed_well(outputs, mask, right)[:, 0].tolist() == [1, 0, 1]
