"""Fusion-in-Decoder: a BART or T5 reads all evidences together and writes the answers, which are linked as in CONVINSE."""

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
from .question import NO, YES, questions_of
from .ranked_answers import AnswerCandidate, answers, merged
from .written_names import NamesInEvidences

if TYPE_CHECKING:
    from ..encoder.fusion_in_decoder import FusionInDecoder

_NO_MODEL = "ha: seq2seq needs ha_model: a folder of a trained BART or T5 (see train ha), or a hub name"


class Seq2SeqAnswering(HeterogeneousAnswering):
    """Answer with the texts that a Fusion-in-Decoder model (`ha_model`) writes from the best evidences.

    A text counts as an answer if the evidences contain it (`NamesInEvidences`); the score of an answer is the probability of the
    texts that name it, times their likeness to its name. A question for yes or no is answered by the words `yes` and `no`. A turn
    is marked (`abstained`) if its best answer is less probable than `ha_abstain_below`, or if it names something unknown.

    Args:
        config: `ha_model`, `evs_max_evidences`, `num_beams`, `ha_abstain_below`, `ha_max_answers`, `sr_delimiter`, `kb_path`, `device`, `precision` and
            `token_budget` are used.
        resources: shared by the stages of a pipeline.
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
        """The model that `ha_model` names, loaded on first use. Raises `ConfigError` if it is not set, or `ModelError`."""
        name = self.config.ha_model
        if not name:  # named for training only
            raise ConfigError(_NO_MODEL)
        return self.build_writer(load_checkpoint(name, "sequence-to-sequence", "ha_model"))

    def build_writer(self, checkpoint: Checkpoint) -> FusionInDecoder:
        """Return a writer with the configured settings; the checkpoint must not be used elsewhere."""
        from ..encoder.fusion_in_decoder import FusionInDecoder

        config = self.config
        return FusionInDecoder(checkpoint, config.num_beams, config.device, config.precision, config.token_budget)

    def inference_on_turn(self, turn: Turn, sources: Sequence[str]) -> list[RankedAnswer]:
        """Read and write; see the base class. A turn that is better left without an answer is marked (`abstained`)."""
        (question,) = questions_of([turn], self.resources)
        evidences = question.evidences[: self.config.evs_max_evidences]
        written = self.writer.write([model_input(question.spoken, evidence.evidence) for evidence in evidences])
        candidates = []
        if question.expected.kind == "yesno":
            places = tuple(range(len(question.evidences)))
            for text, probability in written:
                for entity in (YES, NO):
                    if text.strip().rstrip(".!").lower() == entity["label"].lower():
                        candidates.append(AnswerCandidate(entity, probability, places, ("written",)))
        else:
            names = NamesInEvidences(question, range(len(question.evidences)))
            for text, probability in written:
                if (named := names.named(text)) is not None:
                    candidates.append(named._replace(score=probability * named.score, reasons=("written",)))
        ranked = merged(candidates)
        note_abstention(turn, question, ranked, self.config.ha_abstain_below)
        return answers(ranked, self.config.ha_max_answers)


def model_input(question: str, evidence: Evidence) -> str:
    """Return the text of an evidence for the model, as in Fusion-in-Decoder: the question, the title, the evidence."""
    about = evidence.get("retrieved_for_entity")
    title = f"title: {about['label']} " if about else ""
    return f"question: {question} {title}context: {evidence['evidence_text']}"
