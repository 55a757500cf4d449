"""Averages of the weights before and after a training, which read better than either (Wortsman et al., CVPR 2022)."""

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch

from convinse.training.loop import copied

LOGGER = logging.getLogger("convinse.train_embedded")
Weights = Mapping[str, torch.Tensor]


def keep_best_average(
    model: Any, before: Weights, shares: Iterable[float], validated: Callable[[Any], dict[str, float]]
) -> dict[str, float]:
    """Leave in the model the average with the weights `before` that validates best, and return its measures.

    A share is that of the trained weights; 1, the trained ones alone, is always tried. The best has the highest "mean".
    """
    trained = copied(model)
    measures = {}
    for share in (1.0, *shares):
        model.load_state_dict(averaged(before, trained, share))
        measures[share] = validated(model)
        LOGGER.info("share %.2f: F1 %.4f, mean %.4f", share, measures[share]["F1"], measures[share]["mean"])
    best = max(measures, key=lambda share: measures[share]["mean"])
    model.load_state_dict(averaged(before, trained, best))
    return measures[best]


def averaged(before: Weights, trained: Weights, share: float) -> dict[str, torch.Tensor]:
    return {
        name: torch.lerp(before[name], tensor, share) if tensor.is_floating_point() else tensor
        for name, tensor in trained.items()
    }
