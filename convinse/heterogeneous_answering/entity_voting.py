"""Answering without a model: the candidates of the evidences and of computations, ranked by the features that need no reader."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from ..records.conversation import RankedAnswer, Turn
from ..resources import model_path
from .base import HeterogeneousAnswering
from .candidates import find_candidates
from .features import Measured, measure
from .lists import with_list
from .question import Knowledge, Question, questions_of
from .ranked_answers import answers
from .ranking import AnswerWeights, read_answer_weights
from .table_questions import computed_answers
from .yes_no import Verdict, yes_or_no

SHIPPED = "snapshot:voting"


class EntityVoting(HeterogeneousAnswering):
    """Ranks the entities of the top evidences without a model, by a logit whose features need no reader (`ranking`).

    Args:
        config: `kb_path` (types of items), `sr_delimiter`, `ha_max_answers` are used.
        resources: what the stages of a pipeline share.
    """

    @cached_property
    def ranker(self) -> AnswerWeights:
        """The shipped ranking. Raises `ModelError`: it is missing or damaged."""
        return read_answer_weights(Path(model_path(SHIPPED)), "ha: entity_voting")

    def inference_on_turn(self, turn: Turn, sources: Sequence[str]) -> list[RankedAnswer]:
        """Rank; see the base class."""
        (question,) = questions_of([turn], self.config.sr_delimiter, Knowledge.of(self.resources))
        if question.expected.kind == "yesno":
            verdict = self.decide(question)
            ranked = verdict.candidates(self.ranker.yes(verdict.features))
        else:
            (measured,) = self.measure([question])
            ranked = with_list(question, measured.candidates, self.ranker.ranked(measured))
        return answers(ranked, self.config.ha_max_answers)

    def decide(self, question: Question) -> Verdict:
        """What the evidences say to a question for yes or no."""
        return yes_or_no(question)

    def measure(self, questions: Sequence[Question]) -> Iterator[Measured]:
        """The candidates of questions with their features."""
        for question in questions:
            yield measure(question, find_candidates(question, computed=computed_answers(question)))
