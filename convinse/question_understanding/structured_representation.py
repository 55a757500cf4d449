"""CONVINSE's structured representation, written by a sequence-to-sequence model (Christmann et al., SIGIR 2022)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

from ..encoder.checkpoint import Checkpoint, load_checkpoint
from ..records.conversation import Turn, Understanding
from ..records.representation import SLOTS, without_answer_type
from ..support.errors import ConfigError
from .base import QuestionUnderstanding
from .history import answer_text, parts_with_words

NO_REPEAT = 2  # tokens that are not written twice, as CONVINSE has it


class Writer(Protocol):
    """A sequence-to-sequence model; see `encoder.sequence_to_sequence.Generator`."""

    def write(self, texts: Sequence[str]) -> list[str]:
        """Return the output texts for input texts, in their order."""


class StructuredRepresentation(QuestionUnderstanding):
    """`context || question entities || predicate || expected answer type`, written by a model that is trained for it.

    Args:
        config: `qu_model`, `num_beams`, `history_separator`, `sr_delimiter` and `device` are used.
        resources: shared by the stages of a pipeline.
    """

    trainer = "convinse.training.representation:train_representation"
    conversations_at_once = 10  # texts that `Generator` computes together

    @cached_property
    def writer(self) -> Writer:
        """The configured model, loaded on first use.

        Raises:
            ConfigError: `qu_model` is not set.
            ModelError: the model cannot be loaded.
        """
        name = self.config.qu_model
        if name is None:
            raise ConfigError("qu: sr needs qu_model: a folder of a trained BART or T5 (see train qu), or a hub name")
        return self.build_writer(load_checkpoint(name, "sequence-to-sequence", "qu_model"))

    def build_writer(self, checkpoint: Checkpoint) -> Writer:
        """Return a writer with the configured settings; the checkpoint must not be used elsewhere."""
        from ..encoder.sequence_to_sequence import Generator

        config = self.config
        return Generator(checkpoint, config.num_beams, NO_REPEAT, config.device)

    def inference_on_turns(self, turns: Sequence[Turn], histories: Sequence[Sequence[Turn]]) -> list[Understanding]:
        """Write the representations of all turns together; see the base class."""
        texts = [
            model_input(turn["question"], history, self.config.history_separator)
            for turn, history in zip(turns, histories, strict=True)
        ]
        understood: list[Understanding] = []
        delimiter = self.config.sr_delimiter
        for turn, history, written in zip(turns, histories, self.writer.write(texts), strict=True):
            text = delimiter.join(split_slots(written, delimiter))
            named = without_answer_type(text, delimiter)
            used = parts_with_words(named, turn["question"], history, self.language.words)
            understood.append({"structured_representation": text, "history_used": used})
        return understood


def model_input(question: str, history: Sequence[Turn], separator: str) -> str:
    """Return the input of the model: the questions and answers of the earlier turns in their order, then the question."""
    parts = [part for earlier in history for part in (earlier["question"], answer_text(earlier))]
    return separator.join(part.strip() for part in (*parts, question) if part.strip())


def split_slots(written: str, delimiter: str) -> list[str]:
    """Return the four slots of a model's output.

    If slots are missing, the context is empty, or the last slots if the text begins with a delimiter. Text behind a fourth
    delimiter belongs to the last slot.
    """
    mark = delimiter.strip()
    slots = [slot.strip() for slot in written.split(mark, SLOTS - 1)]
    if len(slots) < SLOTS and slots[0]:
        slots.insert(0, "")
    slots += [""] * (SLOTS - len(slots))
    slots[-1] = " ".join(slots[-1].replace(mark, " ").split())
    return slots
