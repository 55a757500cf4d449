"""Extractive answering: a ranking of spans that a reader marks, entities of the evidences and results of computations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

from ..config import Config
from ..encoder.checkpoint import Checkpoint, model_path
from ..encoder.extractive_reader import AnswerSpan, ExtractiveReader
from ..records.conversation import RankedAnswer, Turn
from ..records.ranked_rows import as_read
from ..resources import Resources
from ..support.errors import ConfigError
from .abstention import note_abstention
from .entity_voting import EntityVoting
from .question import Question
from .ranked_answers import AnswerCandidate, answers
from .ranking import AnswerRanking
from .reader import in_evidences
from .sentences import mark_verdict, with_clause, with_period, with_sentence
from .tables.table import Table
from .yes_no import Judge, Verdict, yes_or_no

_SPANS = 5  # of an evidence
_NO_MODEL = "ha: extractive needs ha_model: a folder of a question-answering model, or a hub name"


class ExtractiveAnswering(EntityVoting):
    """Rank answers with an extractive reader (`ha_model`), the evidences of all turns read together.

    Candidates are the entities and names of the evidences, the spans that the reader marks, and the results of computations over
    tables and facts (`computed`). A trained ranking (`ha_ranker`) gives each a probability; the remainder to 1 is the
    probability of "none of these". A turn is marked (`abstained`) if its best answer is less probable than `ha_abstain_below`, or
    if it names something unknown. Evidences with score 0, which the cascade left unread, are not read if others have a higher
    score. Questions for yes or no are decided by `yes_no`.

    Args:
        config: `ha_model`, `ha_heads`, `ha_ranker`, `ha_abstain_below`, `ha_max_answers`,
            `sr_delimiter`, `kb_path` and those of all models (`device`, `precision` ...) are used.
        resources: the files and models that the stages of a pipeline share.
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
        elif config.ha_model and config.evs_model and model_path(config.ha_model) == model_path(config.evs_model):
            # a joint model reads the evidences while it ranks them
            self.resources.models.share_spans()

    @cached_property
    def reader(self) -> ExtractiveReader:
        """The reader that `ha_model` names, loaded on first use."""
        if not self.config.ha_model:  # the configuration may have a base for training only
            raise ConfigError(_NO_MODEL)
        return self.build_reader(self.config.ha_model)

    @cached_property
    def ranker(self) -> AnswerRanking:
        """The trained ranking of answers. Raises `ModelError` if the file is missing, damaged or of another version."""
        return AnswerRanking.read(Path(model_path(self.config.ha_ranker)))

    @cached_property
    def judge(self) -> Judge | None:
        """The yes/no head of `ha_heads`; None if it has none."""
        reader = self.resources.yes_no_reader()
        return None if reader is None else lambda pairs: reader.probabilities(pairs).tolist()

    def build_reader(self, model: str | Checkpoint) -> ExtractiveReader:
        """Return a reader with the configured settings."""
        return self.resources.reader(model, best=_SPANS)

    def decide(self, question: Question, of_documents: Sequence[Table] = ()) -> Verdict:
        """See the base class; the head of `ha_heads` judges, too."""
        return yes_or_no(question, self.judge, of_documents)

    def read(self, questions: Sequence[Question]) -> Iterable[Sequence[AnswerSpan]]:
        """Yield the spans that the reader marks in the evidences of questions, all read together."""
        form = self.reader.row_form
        texts = [
            [
                as_read(evidence.evidence, form) if share > 0 else ""
                for evidence, share in zip(question.evidences, question.shares, strict=True)
            ]
            for question in questions
        ]
        marked = self.reader.read_all([question.spoken for question in questions], texts)
        return (
            in_evidences(spans, question.evidences, form) for question, spans in zip(questions, marked, strict=True)
        )

    def finish(
        self, turn: Turn, question: Question, ranked: Sequence[AnswerCandidate], is_covered: bool
    ) -> list[RankedAnswer]:
        """Return the answers of a turn; mark it as `abstained` if it is better left without an answer, or not `is_covered`."""
        note_abstention(turn, question, ranked, self.config.ha_abstain_below if is_covered else 1.0)
        ranking = answers(
            with_sentence(question, with_period(question, with_clause(question, ranked))),
            self.config.ha_max_answers,
            question.evidences,
        )
        if question.expected.kind == "yesno":
            mark_verdict(question, ranking)
        return ranking
