"""Fusion-in-Decoder: a BART or T5 reads all evidences together and writes the answers, which are named as in CONVINSE."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from ..config import Config
from ..encoder.checkpoint import Checkpoint, load_checkpoint
from ..records.conversation import RankedAnswer, Turn
from ..records.evidence import Evidence
from ..resources import Resources
from ..support.errors import ConfigError
from .abstention import note_abstention
from .base import HeterogeneousAnswering
from .question import NO, YES, Knowledge, Question, questions_of
from .ranked_answers import AnswerCandidate, answers, merged
from .written_names import NamesInEvidences

if TYPE_CHECKING:
    from ..encoder.fusion_in_decoder import FusionInDecoder, WrittenText

_NO_MODEL = "ha: seq2seq needs ha_model: a folder of a trained BART or T5 (see train ha), or a hub name"


class Seq2SeqAnswering(HeterogeneousAnswering):
    """Answers that a Fusion-in-Decoder model (`ha_model`) writes after it has read the best evidences, one by one.

    A text that it wrote counts as an answer if the evidences hold it (`NamesInEvidences`); the score of an answer is the
    probability of the texts that name it, times their likeness to its name. A question for yes or no is answered by the
    words `yes` and `no`. A turn whose best answer is less probable
    than `ha_abstain_below`, or which names what nothing is known of, is marked (`abstained`).

    Args:
        config: `ha_model`, `ha_seq2seq`, `ha_abstain_below`, `ha_max_answers`, `sr_delimiter`, `kb_path`, `device`, `precision` and
            `token_budget` are used.
        resources: what the stages of a pipeline share.
        writer: the model to use instead of the configured one.
    """

    trainer = "convinse.training.fusion:train_fusion"

    def __init__(
        self, config: Config, resources: Resources | None = None, writer: FusionInDecoder | None = None
    ) -> None:
        super().__init__(config, resources)
        if writer is not None:
            self.writer = writer
        elif not config.ha_model and not config.ha_training.base:
            raise ConfigError(_NO_MODEL)

    @cached_property
    def writer(self) -> FusionInDecoder:
        """The model that `ha_model` names, loaded on first use. Raises `ConfigError` (none is named) or `ModelError`."""
        name = self.config.ha_model
        if not name:  # named for training only
            raise ConfigError(_NO_MODEL)
        return self.build_writer(load_checkpoint(name, "sequence-to-sequence", "ha_model"))

    def build_writer(self, checkpoint: Checkpoint) -> FusionInDecoder:
        """A writer with the configured settings; it takes the checkpoint for itself."""
        from ..encoder.fusion_in_decoder import FusionInDecoder

        config = self.config
        return FusionInDecoder(checkpoint, config.ha_seq2seq, config.device, config.precision, config.token_budget)

    def inference_on_turn(self, turn: Turn, sources: Sequence[str]) -> list[RankedAnswer]:
        """Read and write; see the base class. A turn that is better left without an answer says why (`abstained`)."""
        (question,) = questions_of([turn], self.config.sr_delimiter, Knowledge.of(self.resources))
        evidences = question.evidences[: self.config.ha_seq2seq.evidences]
        written = self.writer.write([model_input(question.spoken, evidence) for evidence in evidences])
        ranked = _decided(question, written) if question.expected.kind == "yesno" else _named(question, written)
        note_abstention(turn, question, ranked, self.config.ha_abstain_below)
        return answers(ranked, self.config.ha_max_answers)


def model_input(question: str, evidence: Evidence) -> str:
    """The text of an evidence for the model, as Fusion-in-Decoder has it: the question, the title, the evidence."""
    about = evidence.get("retrieved_for_entity")
    title = f"title: {about['label']} " if about else ""
    return f"question: {question} {title}context: {evidence['evidence_text']}"


def _decided(question: Question, written: Sequence[WrittenText]) -> list[AnswerCandidate]:
    places = tuple(range(len(question.evidences)))
    return merged(
        AnswerCandidate(entity, own.probability, places, ("written",))
        for own in written
        for entity in (YES, NO)
        if own.text.strip().rstrip(".!").lower() == entity["label"].lower()
    )


def _named(question: Question, written: Sequence[WrittenText]) -> list[AnswerCandidate]:
    names = NamesInEvidences(question, range(len(question.evidences)))
    candidates = []
    for own in written:
        if (named := names.named(own.text)) is not None:
            score = own.probability * named.likeness
            candidates.append(AnswerCandidate(named.entity, score, named.places, ("written",)))
    return merged(candidates)
