"""Training of the model of `qu: sr` on conversations with silver representations; see `annotation`."""

from __future__ import annotations

import hashlib
import logging
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ..config import Config, to_dict
from ..encoder.checkpoint import Checkpoint, load_checkpoint
from ..formats.convmix import read_conversations
from ..question_understanding.base import history_turn
from ..question_understanding.structured_representation import StructuredRepresentation, model_input, split_slots
from ..resources import model_path
from ..support.errors import DataError
from ..support.files import sha256
from .output import settings_list, start_of, state_of, validation_table, write_trained
from .silver import annotated_path, representation_text

if TYPE_CHECKING:
    import torch


class Example(NamedTuple):
    """What the model reads and what it is to write."""

    given: str
    wanted: str


class _Learner:
    """The steps, the loss and the validation of one training."""

    def __init__(
        self, config: Config, checkpoint: Checkpoint, train: Sequence[Example], dev: Sequence[Example]
    ) -> None:
        self._config = config
        self._tokenizer = checkpoint.tokenizer
        self._train, self._dev = train, dev
        self._input = min(config.qu_sr.max_input_length, checkpoint.max_length)
        self._output = min(config.qu_sr.max_output_length, checkpoint.max_length)

    def steps(self, epoch: int) -> list[list[Example]]:
        """All examples in an order of the epoch's own, cut into batches."""
        drawn = list(self._train)
        random.Random(f"{self._config.seed} {epoch}").shuffle(drawn)
        return self._batches(drawn)

    def loss(self, model: Any, step: Sequence[Example]) -> torch.Tensor:
        """The loss of a step."""
        from ..encoder.sequence_to_sequence import writing_loss

        return writing_loss(model, self._tokenizer, step, self._input, self._output)[0]

    def validate(self, model: Any) -> dict[str, float]:
        """The mean loss of a token of the dev part."""
        import torch

        from ..encoder.sequence_to_sequence import writing_loss
        from .loop import autocast

        total = tokens = 0.0
        with torch.inference_mode(), autocast(model.device):
            for batch in self._batches(self._dev):
                loss, number = writing_loss(model, self._tokenizer, batch, self._input, self._output)
                total += loss.item() * number
                tokens += number
        return {"loss": total / tokens}

    def _batches(self, examples: Sequence[Example]) -> list[list[Example]]:
        size = self._config.qu_training.batch_size
        return [list(examples[start : start + size]) for start in range(0, len(examples), size)]


def train_representation(qu: StructuredRepresentation) -> Path:
    """Train on `annotated_train.json`, keep the epoch of the lowest loss on `annotated_dev.json`, write a model folder.

    A stopped training goes on after its last epoch. An older model at the output is replaced when the new one is
    written.

    Args:
        qu: the module; its `config.qu_training` says how to train, `config.qu_sr` how long the texts may be.

    Returns:
        The model folder, for `qu_model`.

    Raises:
        NothingToTrainError: no checkpoint to start from is named.
        DataError: an annotated file is missing, or has no representation to learn from.
        ModelError: the checkpoint cannot be loaded, or training diverges.
        OutputError: at the output is something else than a model that was trained here.
    """
    config, settings = qu.config, qu.config.qu_training
    base, key, output = start_of(config, "qu", settings, config.qu_model, "qu", ", a BART or T5")
    paths = {part: annotated_path(config, part, settings.annotated) for part in ("train", "dev")}
    train, dev = (read_examples(config, path) for path in paths.values())
    checkpoint = load_checkpoint(model_path(base), "sequence-to-sequence", key)
    from .loop import FitSettings, fit

    learner = _Learner(config, checkpoint, train, dev)
    qu.logger.info("train qu: %d turns to train on, %d to validate on", len(train), len(dev))
    start = time.perf_counter()
    fitted = fit(
        checkpoint.model,
        learner.steps,
        learner.loss,
        learner.validate,
        lambda measures: -measures["loss"],
        FitSettings.of(settings, config.device, config.seed),
        state_of(output),
        _run_id(config, checkpoint.model_id, list(paths.values())),
        title="train qu",
        quiet=not qu.logger.isEnabledFor(logging.INFO),
        keep_untrained=True,
    )
    matched = exact_match(config, checkpoint, dev)
    card = _card(config, base, fitted, len(train), len(dev), matched, time.perf_counter() - start)
    write_trained(checkpoint, output, card, fitted, {"exact_match": matched})
    qu.logger.info(
        "train qu: epoch %d is in %s (%.1f %% of the dev representations exact); name it in qu_model",
        fitted.best, output, 100 * matched,
    )  # fmt: skip
    return output


def read_examples(config: Config, path: Path) -> list[Example]:
    """The turns of an annotated file that have a silver representation, with the gold answers of earlier turns.

    Raises:
        DataError: there is no such file, or a representation in it is not of the format; none has one.
    """
    if not path.is_file():
        raise DataError(f"{path}: no such file; run bash run.sh annotate, or name the folder in qu_training: annotated")
    examples = []
    for conversation in read_conversations(path):
        turns = conversation["questions"]
        for number, turn in enumerate(turns):
            where = f"{path}: conversation '{conversation['conv_id']}', turn {number}"
            wanted = representation_text(turn.get("silver_SR"), config.sr_delimiter, where)
            if wanted is not None:
                history = [history_turn(earlier, True) for earlier in turns[:number]]
                examples.append(Example(model_input(turn["question"], history, config.history_separator), wanted))
    if not examples:
        raise DataError(f"{path}: no turn has a representation in silver_SR; there is nothing to learn from")
    return examples


def exact_match(config: Config, checkpoint: Checkpoint, examples: Sequence[Example]) -> float:
    """The share of the examples whose slots the model writes as wanted, without regard to case."""
    from ..encoder.sequence_to_sequence import Generator

    written = Generator(checkpoint, config.qu_sr, config.device).write([example.given for example in examples])

    def slots(text: str) -> list[str]:
        return [slot.casefold() for slot in split_slots(text, config.sr_delimiter)]

    right = [slots(text) == slots(example.wanted) for text, example in zip(written, examples, strict=True)]
    return sum(right) / len(right)


def _run_id(config: Config, model_id: str, paths: Sequence[Path]) -> str:
    lengths = [config.qu_sr.max_input_length, config.qu_sr.max_output_length]
    settings = {**to_dict(config)["qu_training"], "output": None, "annotated": None}
    parts = [settings, lengths, config.history_separator, config.sr_delimiter, config.seed, model_id]
    return hashlib.sha256(msgspec.json.encode([*parts, *map(sha256, paths)], order="sorted")).hexdigest()[:32]


def _card(config: Config, base: str, fitted: Any, train: int, dev: int, matched: float, seconds: float) -> str:
    return f"""---
library_name: transformers
---
# A model that writes the structured representation of a question in a conversation

Input: the earlier turns' questions and answers in order, then the question, joined by `{config.history_separator}`.
Output: `context{config.sr_delimiter}question entities{config.sr_delimiter}predicate{config.sr_delimiter}answer type`.
Trained by `convinse train qu` from `{base}` in {seconds:.0f} s, seed {config.seed}.

## Data
Benchmark `{config.benchmark}`: {train} turns to train on and {dev} to validate on, those for which distant supervision
(`convinse annotate`) found what leads to the gold answer.

## Settings
{settings_list({**to_dict(config)["qu_training"], **to_dict(config)["qu_sr"]})}

## Validation
Loss: the mean of the tokens of the dev part. The kept model writes {100 * matched:.1f} % of its representations exactly.

{validation_table(fitted)}
"""
