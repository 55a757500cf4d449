"""How the models of the stages are trained; the settings of other trainers stand beside them, in `training`."""

from __future__ import annotations

from typing import Literal

from .value_types import InputPath, Minutes, Positive, Rate, Settings, Share


class FitSettings(Settings, frozen=True, kw_only=True):
    """How a model is fitted: the settings that all trainings share.

    epochs: passes over the steps, of which the best one is kept; minutes: of training steps, validation not counted, after which the epoch is cut short
    and is the last; learning_rate: the highest; warmup: share of all steps over which it rises to that, before it falls to 0.
    """

    epochs: Positive = 5
    minutes: Minutes | None = None
    learning_rate: Rate = 5e-5
    warmup: Share = 0.1


class StageTraining(FitSettings, frozen=True, kw_only=True):
    """How `train` trains the model of a stage.

    base: the checkpoint to start from (default: the stage's configured model); output: the model folder to write
    (default: `{output_path}/{name}/`, then `qu_model`, `evs_model` or `ha_model`).
    """

    base: InputPath | None = None
    output: str | None = None


class QuTraining(StageTraining, frozen=True, kw_only=True):
    """How `train qu` trains the model of `qu: sr` on the files that `annotate` writes.

    batch_size: questions of one step.
    """

    batch_size: Positive = 10


class EvsTraining(StageTraining, frozen=True, kw_only=True):
    """How `train ers` trains the cross-encoder.

    negatives: for each positive.
    """

    negatives: Positive = 11


class HaTraining(StageTraining, frozen=True, kw_only=True):
    """How `train ha` trains the extractive reader, or the ranking of its answers, or the model of `ha: seq2seq`.

    `ha: seq2seq` takes the settings of all trainings, and `batch_size`: turns of one step.

    trains (0.2): `reader`, or `ranking` (takes minutes, needs `output` only);
    batch_size: evidences of one step.
    """

    epochs: Positive = 3
    learning_rate: Rate = 3e-5
    trains: Literal["reader", "ranking"] = "reader"
    batch_size: Positive = 16
