"""How models are trained, and settings tried: structures of keys, and files of their own."""

from __future__ import annotations

from typing import Literal

from .value_types import (
    Device,
    InputPath,
    Minutes,
    NotNegative,
    Positive,
    Rate,
    Settings,
    Share,
    Shared,
    Tokens,
    Weight,
    Window,
)


class FitSettings(Settings, frozen=True, kw_only=True):
    """How a model is fitted: the settings that all trainings share.

    epochs: passes over the steps; minutes: of training steps, validation not counted, after which the epoch is cut short
    and is the last; patience: epochs without a better validation after which training stops (the best one is kept);
    learning_rate: the highest; warmup: share of all steps over which it rises to that, before it falls to 0;
    weight_decay: of all weights but biases and norms.
    """

    epochs: Positive = 3
    minutes: Minutes | None = None
    patience: Positive = 2
    learning_rate: Rate = 3e-5
    warmup: Share = 0.1
    weight_decay: Weight = 0.01


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

    epochs: Positive = 5
    batch_size: Positive = 10
    learning_rate: Rate = 5e-5


class EvsTraining(StageTraining, frozen=True, kw_only=True):
    """How `train ers` trains the cross-encoder.

    negatives: for each positive; positives: of a
    turn in one epoch; batch_turns: groups (one positive, its negatives) of one step.
    """

    epochs: Positive = 5
    batch_turns: Positive = 4
    positives: Positive = 4
    negatives: Positive = 11
    learning_rate: Rate = 5e-5


class HaTraining(StageTraining, frozen=True, kw_only=True):
    """How `train ha` trains the extractive reader, or the ranking of its answers, or the model of `ha: seq2seq`.

    `ha: seq2seq` takes the settings of all trainings, and `batch_size`: turns of one step.

    trains (0.2): `reader`, or `ranking` (takes minutes, needs `output` only);
    batch_size: evidences of one step; positives, negatives: evidences with and without an answer of a turn in one epoch.
    """

    trains: Literal["reader", "ranking"] = "reader"
    batch_size: Positive = 16
    positives: Positive = 4
    negatives: NotNegative = 4


class ReaderTraining(FitSettings, frozen=True, kw_only=True):
    """A file of `train reader`: how to train a reader on MRQA files (NAME.jsonl or NAME.jsonl.gz).

    base: the checkpoint to start from; output: the model folder to write; train_folder, dev_folders: where the files
    are; train_sets: names of the files to train on (null: all of the folder); examples: questions drawn from each
    (null: all); dev_questions: questions drawn from each dev set to choose the epoch by (null: all; the final figures
    are always of all); validations: of an epoch, each of which keeps the best weights and what a stopped run goes on
    from, and of which `patience` counts; batch_size: questions of one step; token_budget: most tokens computed at a time
    (null: the device's default); max_length, stride: of a window, and shared by two of them; device: what computes; seed: of drawing
    and order.
    """

    base: str
    output: str
    train_folder: str
    dev_folders: list[str]
    train_sets: list[str] | None = None
    examples: Positive | None = 75_000
    dev_questions: Positive | None = None
    epochs: Positive = 2
    validations: Positive = 1
    batch_size: Positive = 32
    token_budget: Tokens | None = None
    max_length: Window = 512
    stride: Shared = 128
    device: Device = "auto"
    seed: NotNegative = 42


class RetrieverTraining(FitSettings, frozen=True, kw_only=True):
    """The options of `train retriever`: how to train a cross-encoder or a bi-encoder on judged passages.

    base: the checkpoint to start from; output: the model folder to write; bi_encoder: train a bi-encoder; candidates: best
    passages by BM25 of a question, from which negatives come and which validation ranks; held_out: share of the questions
    that validate; negatives: of a relevant passage at most; max_length: most tokens of a question with a passage (cross-encoder), or of either;
    device: what computes; seed: of drawing and order.
    """

    base: str
    output: str
    bi_encoder: bool = False
    candidates: Positive = 100
    held_out: Share = 0.1
    negatives: Positive = 7
    max_length: Tokens = 256
    device: Device = "auto"
    seed: int = 42
