"""Answering without a model: the candidates of the evidences and of computations, ranked by the features that need no reader."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ..encoder.checkpoint import model_path
from ..records.conversation import RankedAnswer, Turn
from ..records.evidence import Entity
from ..records.literals import is_known
from .admission import kind_test
from .base import HeterogeneousAnswering
from .candidates import EntityCandidate
from .computed import computed_answers
from .features import Features, QuestionFeatures, measure
from .finding import find_candidates
from .lists import cite_list, with_list
from .merging import number_in_words
from .question import Question, questions_of
from .ranked_answers import AnswerCandidate, answers, with_days
from .ranking import AnswerRanking
from .reader import read_answers
from .sentences import with_definition
from .tables.cell_answers import head_keywords
from .tables.of_documents import document_tables
from .tables.table import Table, whole_tables
from .yes_no import Verdict, both_answers, yes_or_no

if TYPE_CHECKING:
    from ..encoder.extractive_reader import AnswerSpan

SHIPPED = "snapshot:voting"
_MIN_FIT = 0.01  # of a span to the expected type, so that no span is lost


class EntityVoting(HeterogeneousAnswering):
    """Rank the entities of the top evidences without a model, by a logit whose features need no reader (`ranking`).

    Args:
        config: `kb_path` (types of items), `sr_delimiter`, `ha_max_answers` are used.
        resources: shared by the stages of a pipeline.
    """

    can_answer_again = True

    @cached_property
    def ranker(self) -> AnswerRanking:
        """The shipped ranking. Raises `ModelError` if the file is missing or damaged."""
        return AnswerRanking.read(Path(model_path(SHIPPED)), "ha: entity_voting")

    def inference_on_turns(self, turns: Sequence[Turn], sources: Sequence[str]) -> list[list[RankedAnswer]]:
        """Read the evidences of all turns together; then find, measure and rank the candidates of each."""
        questions = questions_of(turns, self.resources)
        read = iter(self.read([question for question in questions if question.expected.kind != "yesno"]))
        results = []
        # the tables of documents, by the question: attribution asks it again with fewer evidences
        tables: dict[str, list[Table]] = {}
        for turn, question in zip(turns, questions, strict=True):
            if question.in_full not in tables:
                tables[question.in_full] = document_tables(question)
            of_documents = [table.among(question.evidences) for table in tables[question.in_full]]
            if question.expected.kind == "yesno":
                verdict, places = self.decide(question, of_documents)
                ranked = both_answers(self.ranker.yes(verdict), places)
                results.append(self.finish(turn, question, ranked, verdict.is_covered))
            else:
                candidates, features, of_question = self.measure(question, next(read), of_documents)
                # what is of another kind has its share of the probability, so that the rest is no surer for its absence
                ranked = self.ranker.ranked(candidates, features, of_question, kind_test(question))
                if question.is_of_files and not question.language.answer_types.asks_for_year(question.in_full):
                    ranked = with_days(ranked)
                ranked = with_list(question, candidates, ranked)
                question, ranked = cite_list(turn, question, candidates, ranked)
                question, ranked = with_definition(turn, question, ranked, sources)
                results.append(self.finish(turn, question, ranked, is_covered=True))
        return results

    def finish(
        self, turn: Turn, question: Question, ranked: Sequence[AnswerCandidate], is_covered: bool
    ) -> list[RankedAnswer]:
        """Return the answers of a turn; `is_covered`: the evidences say something about its question."""
        return answers(ranked, self.config.ha_max_answers)

    def decide(self, question: Question, of_documents: Sequence[Table] = ()) -> Verdict:
        """Return the verdict of the evidences, and of `document_tables`, on a question for yes or no."""
        return yes_or_no(question, of_documents=of_documents)

    def read(self, questions: Sequence[Question]) -> Iterable[Sequence[AnswerSpan]]:
        """Yield the spans that a reader marks in the evidences of questions: none."""
        return ([] for _ in questions)

    def measure(
        self, question: Question, spans: Sequence[AnswerSpan], of_documents: Sequence[Table] | None = None
    ) -> tuple[Sequence[EntityCandidate], list[Features], QuestionFeatures]:
        """Return the candidates of a question, their features and its own; `of_documents` are its `document_tables` if they are known."""

        head, keywords = head_keywords(question), question.language.properties.keywords

        def fit(entity: Entity) -> float:
            if not is_known(entity) and (words := keywords(entity["label"])) and words <= head:
                return _MIN_FIT  # "port" of "port 6120", for "Which port ...?"
            return question.fit(question.as_asked(number_in_words(entity, question.language))) or _MIN_FIT

        is_for_reason = question.language.operations.reasoning.match(question.in_full) is not None
        read = read_answers(spans, question.evidences, question.shares, fit, is_for_reason)
        if of_documents is None:
            of_documents = document_tables(question)
        tables = [*whole_tables(question), *of_documents]
        candidates = find_candidates(question, read, computed_answers(question, tables), tables)
        return candidates, *measure(question, candidates, max((span.probability for span in spans), default=0.0))
