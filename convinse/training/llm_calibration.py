"""Calibration of a language model's answers on the dev part: from its own confidence to the share of right answers."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import msgspec
import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from ..config import parse_config, to_dict
from ..heterogeneous_answering.llm import LanguageModelAnswering
from ..language_models.calibration import Calibration, odds, write_calibration
from ..scoring.convqa import calibration_error, is_answer
from ..support.errors import DataError
from .conversations import turns_with_evidences

LOGGER = logging.getLogger(__name__)

_AT_ONCE = 256  # turns that are asked about together
_LEAST = 20  # answers to fit two numbers to
_TOLERANCE = 1e-12  # of the loss, relative
_RIDGE = 1e-3  # so that answers that are all right, or all equally sure, have a solution


def train_calibration(ha: LanguageModelAnswering, sources: Sequence[str]) -> Path:
    """Fit the calibration to the first answers of the dev part; returns the file, for `ha_llm.calibration`.

    The model answers every turn of the part; answers of an earlier run are reused. Raises `DataError` at fewer than 20 answers.
    """
    config = ha.config
    output = Path(
        config.ha_training.output or Path(config.output_path) / config.name / "ha_calibration.json"
    ).expanduser()
    raw = parse_config({**to_dict(config), "ha_llm": {**to_dict(config)["ha_llm"], "calibration": None}})
    module = LanguageModelAnswering(raw, ha.resources)
    sure: list[float] = []
    right: list[bool] = []
    dev = (turn.copy() for turn in turns_with_evidences(config, "dev", sources, ha.resources))
    while turns := list(islice(dev, _AT_ONCE)):
        for turn, answers in zip(turns, module.inference_on_turns(turns, sources), strict=True):
            for answer in answers[:1]:
                sure.append(answer["score"])
                right.append(is_answer(answer["answer"], turn["answers"]))
    if len(sure) < _LEAST:
        raise DataError(
            f"train ha: the model answers {len(sure)} questions of the dev part; give at least {_LEAST} to learn from"
        )
    calibration = fitted(sure, right, Calibration(model=config.ha_llm.model or "", samples=config.ha_llm.samples))
    write_calibration(output, calibration)
    LOGGER.info(
        "%s: calibration error %.3f, %.3f before, on %d answers of the dev part", output, calibration.error,
        calibration.error_before, calibration.turns,
    )  # fmt: skip
    return output


def fitted(sure: Sequence[float], right: Sequence[bool], empty: Calibration) -> Calibration:
    """Fit a calibration by logistic regression with the targets of Platt and a slope that is not negative."""
    features = np.column_stack((np.array([odds(value) for value in sure]), np.ones(len(sure))))
    is_right = np.array(right, dtype=bool)
    hits, misses = int(is_right.sum()), int((~is_right).sum())
    targets = np.where(is_right, (hits + 1) / (hits + 2), 1 / (misses + 2))

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        logits = features @ weights
        value = np.logaddexp(0, logits).sum() - targets @ logits + _RIDGE / 2 * weights @ weights
        return float(value), features.T @ (expit(logits) - targets) + _RIDGE * weights

    # the surer the likelier, or sureness says nothing
    bounds = [(0.0, None), (None, None)]
    weights = minimize(loss, np.zeros(2), jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": _TOLERANCE}).x
    fit = msgspec.structs.replace(
        empty, slope=round(float(weights[0]), 6), intercept=round(float(weights[1]), 6), turns=len(sure)
    )
    return msgspec.structs.replace(
        fit,
        error_before=round(calibration_error(sure, right), 4),
        error=round(calibration_error(map(fit.probability, sure), right), 4),
    )
