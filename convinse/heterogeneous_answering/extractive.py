"""Extractive answering: a reader marks answers in the top evidences, which are merged and named by items."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from ..config import Config
from ..encoder.checkpoint import Checkpoint
from ..encoder.extractive_reader import AnswerSpan, ExtractiveReader
from ..records.conversation import RankedAnswer, Turn
from ..records.evidence import Entity
from ..records.ranked_rows import as_read
from ..resources import Resources, model_path
from ..support.errors import ConfigError
from .abstention import reason_to_abstain
from .answer_weights import AnswerWeights, read_answer_weights
from .base import HeterogeneousAnswering
from .candidate_features import Candidates, Given, candidates
from .entity_voting import votes
from .operations import operated, with_operations
from .quantities import numbers
from .question import AskedQuestion, likely_classes
from .ranking import AnswerCandidate, answers, ordered
from .reader import in_evidences, read_answers
from .yes_no import Judge, yes_or_no

_SPANS = 5  # of an evidence
_LEAST_FIT = 0.01  # of what is read: word lists know nothing of "twelve", where nothing else fits either
_LEAST_READ = 1e-3  # share of what is read: parts of names that nothing marks have less
_NO_MODEL = "ha: extractive needs ha_model: a folder of a question-answering model, or a hub name"


class _Answered(NamedTuple):
    answers: list[RankedAnswer]
    abstained: str | None


class ExtractiveAnswering(HeterogeneousAnswering):
    """Answers with an extractive reader (`ha_model`), all evidences of all turns read together.

    What the reader marks, the evidences vote for and state (`entity_voting.votes`, `quantities.numbers`), an operation gives
    (`operations`), and cells and values that name no item, are candidates. A trained ranking (`ha_ranker`) says of each how
    probable it is that it answers the question; what is missing to 1 is the probability that none does. A turn whose best
    answer is less probable than `ha_abstain_below`, or which names what nothing is known of, is marked (`abstained`).
    Evidences whose score is 0, which the cascade left unread, are not read here either where there are better evidences.
    Questions for yes or no are not read: facts and words decide them, and what no fact decides is read by the yes/no head of
    the model, where it has one. What the answer is expected to be tells the answer type head of the model, where it has one,
    else the word lists.

    Args:
        config: `ha_model`, `ha_ranker`, `ha_abstain_below`, `ha_max_answers`, `ha_max_length`, `ha_stride`, `ha_share_pass`,
            `sr_delimiter`, `kb_path` and those of all models (`device`, `precision` ...) are used.
        resources: what the stages of a pipeline share.
        reader: the reader to use instead of the configured one.
    """

    trainer = "convinse.training.answering:train_answering"

    def __init__(
        self, config: Config, resources: Resources | None = None, reader: ExtractiveReader | None = None
    ) -> None:
        super().__init__(config, resources)
        if reader is not None:
            self.reader = reader
        elif not config.ha_model and not config.ha_training.base:
            raise ConfigError(_NO_MODEL)
        elif (
            config.ha_share_pass
            and (config.ha_model and config.evs_model)
            and model_path(config.ha_model) == model_path(config.evs_model)
        ):  # what has ranked the evidences need not read them again
            self.resources.models.share_spans()

    @cached_property
    def reader(self) -> ExtractiveReader:
        """The reader that `ha_model` names, loaded on first use."""
        if not self.config.ha_model:  # named for training only
            raise ConfigError(_NO_MODEL)
        return self.build_reader(self.config.ha_model)

    @cached_property
    def ranker(self) -> AnswerWeights:
        """The trained ranking of answers, read on first use. Raises `ModelError`: it is missing, damaged or of another version."""
        return read_answer_weights(Path(model_path(self.config.ha_ranker)).expanduser())

    @cached_property
    def judge(self) -> Judge | None:
        """Reads whether a text says yes: the yes/no head of `ha_model`; None where it has none."""
        reader = self.resources.yes_no_reader()
        if reader is None:
            return None
        return lambda question, text: float(reader.probabilities([(question, text)])[0])

    def build_reader(self, model: str | Checkpoint) -> ExtractiveReader:
        """A reader with the configured settings."""
        return self.resources.reader(model, best=_SPANS)

    def with_reader(self, reader: ExtractiveReader) -> ExtractiveAnswering:
        """The same module with another reader."""
        module = copy.copy(self)
        module.reader = reader
        return module

    def inference_on_turn(self, turn: Turn, sources: Sequence[str]) -> list[RankedAnswer]:
        """Read and rank; see the base class."""
        return ExtractiveAnswering.inference_on_turns(self, [turn], sources)[0]

    def inference_on_turns(self, turns: Sequence[Turn], sources: Sequence[str]) -> list[list[RankedAnswer]]:
        """Read and rank, all turns together. A turn that is better left without an answer says why (`abstained`)."""
        answered = self._answer_all(turns)
        for turn, given in zip(turns, answered, strict=True):
            if given.abstained is not None:
                turn["abstained"] = {"reason": given.abstained}
        return [given.answers for given in answered]

    def _answer_all(self, turns: Sequence[Turn]) -> list[_Answered]:
        delimiter = self.config.sr_delimiter
        likely_classes(turns, delimiter, self.resources)  # asked together: each of them finds its own known
        asked = [AskedQuestion.of(turn, delimiter, self.resources) for turn in turns]
        candidates_of = iter(self.found([question for question in asked if question.expected.kind != "yesno"]))
        return [
            self._decided(question)
            if question.expected.kind == "yesno"
            else self._ranked(question, next(candidates_of))
            for question in asked
        ]

    def found(self, asked: Sequence[AskedQuestion]) -> list[Candidates]:
        """The candidates of questions, whose evidences are read together."""
        form = self.reader.row_form
        texts = [  # what counts for nothing is not read
            [as_read(own, form) if share > 0 else "" for own, share in zip(q.evidences, q.shares, strict=True)]
            for q in asked
        ]
        spans = self.reader.read_all([question.spoken for question in asked], texts)
        return [self._candidates(question, own) for question, own in zip(asked, spans, strict=True)]

    def _candidates(self, asked: AskedQuestion, spans: Sequence[AnswerSpan]) -> Candidates:
        own = in_evidences(spans, asked.evidences, self.reader.row_form)

        def fit(entity: Entity) -> float:
            return asked.fit(entity) or _LEAST_FIT

        read = read_answers(own, asked.evidences, asked.shares, fit, asked.language.words)
        trust, ordered = operated(asked)
        given = Given(
            read=[answer for answer in read if answer.score >= _LEAST_READ],
            voted=votes(asked),
            stated=numbers(asked),
            ordered=ordered,
            trust=trust,
            surest=max((span.probability for span in own), default=0.0),
        )
        return candidates(asked, given)

    def _decided(self, asked: AskedQuestion) -> _Answered:
        verdict = yes_or_no(asked, self.judge)
        ranked = with_operations(asked, verdict._replace(yes=self.ranker.yes(verdict.features)).candidates())
        is_told = any(verdict.features) or "yes_no" not in ranked[0].reasons
        return self._answered_with(asked, ranked, self.config.ha_abstain_below if is_told else 1.0)

    def _ranked(self, asked: AskedQuestion, given: Candidates) -> _Answered:
        chances = self.ranker.probabilities(given).tolist()
        ranked = ordered(own._replace(score=chance) for own, chance in zip(given.given, chances, strict=True))
        return self._answered_with(asked, ranked, self.config.ha_abstain_below)

    def _answered_with(self, asked: AskedQuestion, ranked: list[AnswerCandidate], least: float) -> _Answered:
        return _Answered(
            answers(ranked, self.config.ha_max_answers, asked.evidences), reason_to_abstain(asked, ranked, least)
        )
