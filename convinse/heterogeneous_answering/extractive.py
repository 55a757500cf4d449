"""Extractive answering: a reader marks answers in the top evidences, which are merged and named by items."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from ..config import Config
from ..encoder.checkpoint import Checkpoint
from ..encoder.extractive_reader import ExtractiveReader
from ..encoder.pool import ModelPool
from ..knowledge_base.index import KnowledgeBase
from ..records.conversation import RankedAnswer, Turn, asked_in_full
from ..records.evidence import question_items
from ..resources import load_reader, load_yes_no_reader
from ..support.errors import ConfigError
from .answers import rank_answers
from .entity_voting import EntityVoting
from .ranking import combined, score_shares
from .yes_no import Judge

_SPANS = 5  # of an evidence
_LEAST_FIT = 0.01  # of what does not fit the expected type: the answer where nothing fits, such as "twelve"
_FITTING = 0.3  # fit from which on the votes count in full: that of an unknown type
_NO_MODEL = "ha: extractive needs ha_model: a folder of a question-answering model, or a hub name"


class ExtractiveAnswering(EntityVoting):
    """Answers with an extractive reader (`ha_model`), all evidences of all turns read together.

    An answer's score adds up, over the evidences, the probability of its spans times the evidence's score (as a share
    of the best score) and how well it fits the expected answer type. Evidences whose score is 0, which the cascade left
    unread, are not read here either where there are better evidences. The items that the question is about are no answers.
    The votes of `EntityVoting` are added with the weight `ha_votes`: they know nearness in rows and lists better. They weigh
    less where no entity fits the expected type.
    Questions for yes or no are not read; they, stated numbers and years are answered as in `entity_voting`.

    Args:
        config: `ha_model`, `ha_max_answers`, `ha_max_length`, `ha_stride`, `ha_share_pass`, `kb_path` and those of
            all models (`device`, `precision` ...) are used.
        kb: the knowledge base to use instead of the configured one.
        reader: the reader to use instead of the configured one.
    """

    trainer = "convinse.training.answering:train_answering"

    def __init__(self, config: Config, kb: KnowledgeBase | None = None, reader: ExtractiveReader | None = None) -> None:
        super().__init__(config, kb)
        if reader is not None:
            self.reader = reader
        elif not config.ha_model and not config.ha_training.base:
            raise ConfigError(_NO_MODEL)

    @cached_property
    def reader(self) -> ExtractiveReader:
        """The reader that `ha_model` names, loaded on first use."""
        if not self.config.ha_model:  # named for training only
            raise ConfigError(_NO_MODEL)
        return self.build_reader(self.config.ha_model)

    @cached_property
    def judge(self) -> Judge | None:  # type: ignore[override]
        """Reads whether a text says yes: the yes/no head of `ha_model`; None where it has none."""
        reader = load_yes_no_reader(self.config, self.model_pool)
        if reader is None:
            return None
        return lambda question, text: float(reader.probabilities([(question, text)])[0])

    def build_reader(self, model: str | Checkpoint) -> ExtractiveReader:
        """A reader with the configured settings."""
        return load_reader(self.config, model, best=_SPANS, models=self.model_pool)

    def use_models(self, models: ModelPool) -> None:
        """Share models, and with `ha_share_pass` what they read while they rank; see the base class."""
        super().use_models(models)
        if self.config.ha_share_pass and "reader" not in self.__dict__:  # a given reader has a model of its own
            models.share_spans()

    def inference_on_turn(self, turn: Turn, sources: Sequence[str]) -> list[RankedAnswer]:
        """Read and merge; see the base class."""
        self._answer([turn])
        return turn["pred_answers"]

    def inference_on_turns(self, turns: Iterable[Turn], sources: Sequence[str]) -> list[list[RankedAnswer]]:
        """Read the evidences of all turns together; see the base class."""
        turns = list(turns)
        if type(self).inference_on_turn is not ExtractiveAnswering.inference_on_turn:
            return super().inference_on_turns(turns, sources)
        self._answer(turns)
        for turn in turns:
            self.finish_turn(turn, turn["pred_answers"])
        return [turn["pred_answers"] for turn in turns]

    def _answer(self, turns: Sequence[Turn]) -> None:
        expected = [self.expected(turn) for turn in turns]
        reading = [turn for turn, wanted in zip(turns, expected, strict=True) if wanted.kind != "yesno"]
        weights = {id(turn): score_shares(turn["top_evidences"]) for turn in reading}
        spans = self.reader.read_all(
            [asked_in_full(turn) for turn in reading],
            [
                [  # what counts for nothing is not read
                    evidence["evidence_text"] if weight > 0 else ""
                    for evidence, weight in zip(turn["top_evidences"], weights[id(turn)], strict=True)
                ]
                for turn in reading
            ],
        )
        read = dict(zip(map(id, reading), spans, strict=True))
        for turn, wanted in zip(turns, expected, strict=True):
            evidences = turn["top_evidences"]
            if wanted.kind == "yesno":
                turn["pred_answers"] = self.yes_or_no(turn)
                continue
            own = {item["id"] for item in question_items(evidences)}
            answers = rank_answers(
                read[id(turn)],
                evidences,
                weights[id(turn)],
                lambda entity: 0.0 if entity["id"] in own else max(_LEAST_FIT, self.fit(wanted, entity)),  # noqa: B023
                None,
                self.language.words,
            )
            share, most = self.config.ha_votes, self.config.ha_max_answers
            voted = self.votes(turn, wanted) if share else []
            # where no entity is of the expected type, the votes are for things that nobody asked for
            fitting = max((self.fit(wanted, answer["answer"]) for answer in voted), default=0.0)
            trusted = share * min(1.0, fitting / _FITTING)
            answers = combined(answers, voted, trusted / (1 - share + trusted) if trusted else 0.0, None)
            turn["pred_answers"] = self.of_type(turn, wanted, answers)[:most]
