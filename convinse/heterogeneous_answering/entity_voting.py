"""Answering without a model: the candidates of the evidences and of computations, ranked by the features that need no reader."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from ..encoder.checkpoint import model_path
from ..records.conversation import RankedAnswer, Turn
from .base import HeterogeneousAnswering
from .candidates import find_candidates
from .features import Measured, measure
from .lists import with_list
from .question import Question, questions_of
from .ranked_answers import AnswerCandidate, answers
from .ranking import AnswerWeights, read_answer_weights
from .table_questions import computed_answers
from .yes_no import Verdict, yes_or_no

SHIPPED = "snapshot:voting"


class EntityVoting(HeterogeneousAnswering):
    """Rank the entities of the top evidences without a model, by a logit whose features need no reader (`ranking`).

    Args:
        config: `kb_path` (types of items), `sr_delimiter`, `ha_max_answers` are used.
        resources: shared by the stages of a pipeline.
    """

    can_answer_again = True

    @cached_property
    def ranker(self) -> AnswerWeights:
        """The shipped ranking. Raises `ModelError` if the file is missing or damaged."""
        return read_answer_weights(Path(model_path(SHIPPED)), "ha: entity_voting")

    def inference_on_turns(self, turns: Sequence[Turn], sources: Sequence[str]) -> list[list[RankedAnswer]]:
        """Rank the answers of all turns, measured together."""
        questions = questions_of(turns, self.resources)
        measured = iter(self.measure([question for question in questions if question.expected.kind != "yesno"]))
        results = []
        for turn, question in zip(turns, questions, strict=True):
            if question.expected.kind == "yesno":
                verdict = self.decide(question)
                ranked = verdict.candidates(self.ranker.yes(verdict.features))
                results.append(self.finish(turn, question, ranked, verdict.is_covered))
            else:
                row = next(measured)
                ranked = with_list(question, row.candidates, self.ranker.ranked(row))
                results.append(self.finish(turn, question, ranked, is_covered=True))
        return results

    def finish(
        self, turn: Turn, question: Question, ranked: Sequence[AnswerCandidate], is_covered: bool
    ) -> list[RankedAnswer]:
        """Return the answers of a turn; `is_covered`: the evidences say something about its question."""
        return answers(ranked, self.config.ha_max_answers)

    def decide(self, question: Question) -> Verdict:
        """Return the verdict of the evidences on a question for yes or no."""
        return yes_or_no(question)

    def measure(self, questions: Sequence[Question]) -> Iterator[Measured]:
        """Yield the candidates of questions with their features."""
        for question in questions:
            yield measure(question, find_candidates(question, computed=computed_answers(question)))
