"""Training of the model of `qu: sr` on conversations with silver representations; see `silver`."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..config import Config
from ..encoder.checkpoint import Checkpoint, load_checkpoint
from ..formats.convmix import read_conversations
from ..question_understanding.base import history_turn
from ..question_understanding.structured_representation import StructuredRepresentation, model_input, split_slots
from ..support.errors import DataError
from .objective import Measures, Objective, batches, shuffled_batches
from .silver import annotated_parts, representation_text
from .trainer import Run, identity_of, start_of

if TYPE_CHECKING:
    import torch


WritingExample = tuple[str, str]  # the text that the model reads, and the representation to write


def train_representation(qu: StructuredRepresentation, sources: Sequence[str] = ()) -> Path:
    """Train on `annotated_train.json`, made with the same sources; returns the model folder, for `qu_model`.

    The best epoch has the lowest loss on `annotated_dev.json`. Settings are in `config.qu_training`; see `trainer`.
    """
    config, settings = qu.config, qu.config.qu_training
    base, key, output = start_of(config, "qu", ", a BART or T5")
    files = annotated_parts(config)
    train, dev = (read_examples(config, path) for path in files)
    checkpoint = load_checkpoint(base, "sequence-to-sequence", key)
    from ..encoder.devices import inference
    from ..encoder.sequence_to_sequence import (
        INPUT_TOKENS,
        OUTPUT_TOKENS,
        writing_loss,
    )  # after the check that PyTorch is there

    lengths = [min(most, checkpoint.max_length) for most in (INPUT_TOKENS, OUTPUT_TOKENS)]
    parameters = [*lengths, config.history_separator, config.sr_delimiter, config.seed]
    identity = identity_of(settings, checkpoint.model_id, files, parameters, without=["annotated"])
    run = Run("train qu", base, output, checkpoint, settings, identity, config.device, config.seed)
    run.log_sizes("turns", len(train), len(dev))

    def loss(model: Any, step: Sequence[WritingExample]) -> tuple[torch.Tensor, int]:
        return writing_loss(model, checkpoint.tokenizer, step, *lengths)

    def validate(model: Any) -> Measures:
        with inference(model):
            losses = [loss(model, batch) for batch in batches(dev, settings.batch_size)]
        return {"loss": sum(mean.item() * number for mean, number in losses) / sum(number for _, number in losses)}

    fitted = run.fit(
        Objective(
            steps=lambda epoch: shuffled_batches(train, settings.batch_size, random.Random(f"{config.seed} {epoch}")),
            loss=lambda model, step: loss(model, step)[0],
            validate=validate,
            criterion=lambda measures: -measures["loss"],
        )
    )
    matched = exact_match(qu, checkpoint, dev)
    written = config.sr_delimiter.join(("context", "question entities", "predicate", "answer type"))
    return run.write(
        fitted,
        "A model that writes the structured representation of a question in a conversation",
        f"""
Input: the earlier turns' questions and answers in order, then the question, joined by `{config.history_separator}`.
Output: `{written}`.""",
        f"""
Benchmark `{config.benchmark}`: {len(train)} turns to train on and {len(dev)} to validate on, those for which distant supervision
(`convinse annotate`) found what leads to the gold answer.""",
        f"""
Loss: the mean of the tokens of the dev part. The kept model writes {100 * matched:.1f} % of its representations exactly.""",
        record={"exact_match": matched},
        remark=f" ({100 * matched:.1f} % of the dev representations exact); name it in qu_model",
    )


def read_examples(config: Config, path: Path) -> list[WritingExample]:
    """Read the turns of an annotated file that have a silver representation, with the gold answers of earlier turns.

    Raises `DataError` if a representation is not of the format, or no turn has one.
    """
    examples = []
    for conversation in read_conversations(path):
        turns = conversation["questions"]
        for number, turn in enumerate(turns):
            where = f"{path}: conversation '{conversation['conv_id']}', turn {number}"
            representation = representation_text(turn.get("silver_SR"), config.sr_delimiter, where)
            if representation is not None:
                history = [history_turn(earlier, True) for earlier in turns[:number]]
                read = model_input(turn["question"], history, config.history_separator)
                examples.append((read, representation))
    if not examples:
        raise DataError(f"{path}: no turn has a representation in silver_SR; there is nothing to learn from")
    return examples


def exact_match(qu: StructuredRepresentation, checkpoint: Checkpoint, examples: Sequence[WritingExample]) -> float:
    """Return the share of the examples whose slots the model writes as in the silver representation, in any case."""
    written = qu.build_writer(checkpoint).write([read for read, _ in examples])

    def slots(text: str) -> list[str]:
        return [slot.casefold() for slot in split_slots(text, qu.config.sr_delimiter)]

    right = [slots(text) == slots(representation) for text, (_, representation) in zip(written, examples, strict=True)]
    return sum(right) / len(right)
