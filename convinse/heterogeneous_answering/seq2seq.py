"""Fusion-in-Decoder: a BART or T5 reads all evidences together and writes the answers, which are named as in CONVINSE."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol

from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from ..config import Config
from ..encoder.checkpoint import Checkpoint, load_checkpoint
from ..language.text import fold
from ..records.conversation import RankedAnswer, Turn
from ..records.evidence import Entity, Evidence
from ..records.literals import is_date, year_of
from ..records.written_values import value_at
from ..resources import Resources, model_path
from ..support.errors import ConfigError
from .abstention import reason_to_abstain
from .base import HeterogeneousAnswering
from .question import NO, YES, Knowledge, Question, questions_of
from .ranked_answers import AnswerCandidate, answers, in_year, merged
from .reader import as_words, names_in

if TYPE_CHECKING:
    from ..encoder.fusion_in_decoder import WrittenText

_LEAST_LIKE = 0.5  # likeness of a text and a name; below it more is edited than kept
_SHORTEST = 4  # characters of a name that is looked for within a text
_NO_MODEL = "ha: seq2seq needs ha_model: a folder of a trained BART or T5 (see train ha), or a hub name"


class AnswerWriter(Protocol):
    """Writes answers to texts that it reads together; see `encoder.fusion_in_decoder.FusionInDecoder`."""

    def write(self, texts: Sequence[str]) -> Sequence[WrittenText]:
        """The answers, the most probable first."""


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

    def __init__(self, config: Config, resources: Resources | None = None, writer: AnswerWriter | None = None) -> None:
        super().__init__(config, resources)
        if writer is not None:
            self.writer = writer
        elif not config.ha_model and not config.ha_training.base:
            raise ConfigError(_NO_MODEL)

    @cached_property
    def writer(self) -> AnswerWriter:
        """The model that `ha_model` names, loaded on first use. Raises `ConfigError` (none is named) or `ModelError`."""
        name = self.config.ha_model
        if not name:  # named for training only
            raise ConfigError(_NO_MODEL)
        return self.build_writer(load_checkpoint(model_path(name), "sequence-to-sequence", "ha_model"))

    def build_writer(self, checkpoint: Checkpoint) -> AnswerWriter:
        """A writer with the configured settings; it takes the checkpoint for itself."""
        from ..encoder.fusion_in_decoder import FusionInDecoder

        config = self.config
        return FusionInDecoder(checkpoint, config.ha_seq2seq, config.device, config.precision, config.token_budget)

    def with_writer(self, writer: AnswerWriter) -> Seq2SeqAnswering:
        """The same module with another writer."""
        module = copy.copy(self)
        module.writer = writer
        return module

    def inference_on_turn(self, turn: Turn, sources: Sequence[str]) -> list[RankedAnswer]:
        """Read and write; see the base class. A turn that is better left without an answer says why (`abstained`)."""
        (question,) = questions_of([turn], self.config.sr_delimiter, Knowledge.of(self.resources))
        evidences = question.evidences[: self.config.ha_seq2seq.evidences]
        written = self.writer.write([model_input(question.spoken, evidence) for evidence in evidences])
        ranked = _decided(question, written) if question.expected.kind == "yesno" else _named(question, written)
        reason = reason_to_abstain(question, ranked, self.config.ha_abstain_below)
        if reason is not None:
            turn["abstained"] = {"reason": reason}
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
    names = NamesInEvidences(question)
    candidates = []
    for own in written:
        if (named := names.named(own.text)) is not None:
            entity = in_year(named.entity) if question.asks_for_year else named.entity
            candidates.append(AnswerCandidate(entity, own.probability * named.likeness, named.places, ("written",)))
    return merged(candidates)


class NamedText(NamedTuple):
    """The entity that a written text names.

    Attributes:
        entity: an item, a date, a number, or words that are their own id.
        likeness: of text and name, from 0 to 1: 1 minus the edits for each character of the longer one.
        places: of the evidences that hold it, in their order.
    """

    entity: Entity
    likeness: float
    places: tuple[int, ...]


class NamesInEvidences:
    """The names that the evidences of a question have for items, dates and numbers.

    CONVINSE (Christmann et al., SIGIR 2022) takes the mention of an evidence with the smallest edit distance to the text.
    Here that comes last, after what is certain, counts less the farther it is, and ends where more is edited than kept.
    """

    def __init__(self, question: Question) -> None:
        self._fit = question.fit
        self._entities: dict[str, dict[str, Entity]] = {}  # folded name -> by id, those of the best evidences first
        self._places: dict[str, list[int]] = {}  # id -> of the evidences that name it
        for place, evidence in enumerate(question.evidences):
            own = names_in(evidence)
            for name, entity in own.items():
                self._entities.setdefault(name, {}).setdefault(entity["id"], entity)
            for entity_id in {entity["id"] for entity in own.values()}:
                self._places.setdefault(entity_id, []).append(place)
        self._texts = [f" {fold(evidence['evidence_text'])} " for evidence in question.evidences]

    def named(self, text: str) -> NamedText | None:
        """Return the entity that a text names; None if the evidences hold nothing of it.

        In this order: the entity with this name, but for case, accents and punctuation; the date or the number that is written
        out, the year of a date included; the longest name in the text; the name that the text is a part of; the words
        themselves, if they stand in an evidence; the name with the smallest edit distance for its length, if that is half of it
        at most. Of several entities with a name the one that fits the expected type best.
        """
        name = fold(text)
        if not name:
            return None
        if name in self._entities:
            return self._of_name(name)
        if (value := value_at(text, 0, len(text))) is not None:
            return self._of_value(value)
        within = [own for own in self._entities if len(own) >= _SHORTEST and f" {own} " in f" {name} "]
        if within:
            return self._of_name(max(within, key=len))
        around = [own for own in self._entities if f" {name} " in f" {own} "]
        if around:
            return self._of_name(_nearest(name, around)[0])
        holding = tuple(place for place, own in enumerate(self._texts) if f" {name} " in own)
        if holding:
            return NamedText(as_words(text), 1.0, holding)
        nearest, likeness = _nearest(name, list(self._entities)) if self._entities else ("", 0.0)
        return self._of_name(nearest, likeness) if likeness >= _LEAST_LIKE else None

    def _of_name(self, name: str, likeness: float = 1.0) -> NamedText:
        entity = max(self._entities[name].values(), key=self._fit)  # the first of equal ones
        return NamedText(entity, likeness, tuple(self._places[entity["id"]]))

    def _of_value(self, value: Entity) -> NamedText | None:
        places = self._places.get(value["id"], [])
        if not places and is_date(value["id"]) and year_of(value["id"]) == value:
            years = {own: at for own, at in self._places.items() if is_date(own) and year_of(own) == value}
            places = sorted({place for at in years.values() for place in at})
        return NamedText(value, 1.0, tuple(places)) if places else None


def _nearest(name: str, names: Sequence[str]) -> tuple[str, float]:
    """The nearest name with its likeness; of equally near ones the longest, then that of the better evidence."""
    near = process.extract(name, names, scorer=Levenshtein.normalized_similarity, limit=None)
    best, likeness, _ = max(near, key=lambda own: (own[1], len(own[0]), -own[2]))
    return best, likeness
